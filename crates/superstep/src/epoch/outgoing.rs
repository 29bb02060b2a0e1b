//! What leaves this processor: a lane to each processor, and how much is under way in them.

use super::{
    lane::{Lane, Way},
    pool::Pool,
    tuning::Tuning,
};
use crate::error::{Error, Result};
use fabric::{Circle, Tray};
use std::cell::{Cell, RefCell};

#[derive(Default)]
pub(super) struct Outgoing {
    pub(super) lanes: RefCell<Vec<Lane>>,
    pub(super) pool: RefCell<Pool>,
    /// Letters that were sent in this epoch.
    pub(super) sent: Cell<u64>,
    /// How many letters may be under way to one processor before requests wait here that might send it more.
    allowance: Cell<u64>,
    /// Whether so many were, when it was looked at last.
    is_crowded: Cell<bool>,
}

impl Outgoing {
    pub(super) fn new(rank: usize, size: usize, circle: &dyn Circle) -> Self {
        let way = |to| match to {
            _ if to == rank => Way::Here,
            _ if circle.shares(to) => Way::Near,
            _ => Way::Far,
        };
        Self { lanes: RefCell::new((0..size).map(|to| Lane::new(way(to))).collect()), ..Self::default() }
    }

    pub(super) fn begin(&self, tuning: &Tuning) {
        for lane in self.lanes.borrow_mut().iter_mut() {
            lane.begin(if lane.way == Way::Far { tuning.far } else { tuning.near });
        }
        self.sent.set(0);
        // What bodies send is held back before.
        self.allowance.set(tuning.window.saturating_mul(2));
        self.is_crowded.set(false);
    }

    /// Takes what waits for another processor as a letter, which is about to be sent.
    pub(super) fn take_letter(&self, to: usize) -> Tray {
        let lane = &mut self.lanes.borrow_mut()[to];
        // One that only says how many were taken in is not answered by another.
        lane.sent += u64::from(!lane.is_empty());
        if lane.under_way() > self.allowance.get() {
            self.is_crowded.set(true);
        }
        self.sent.update(|sent| sent + 1);
        if lane.is_all_written() {
            return Tray { bytes: lane.take_bytes(), moved: Vec::new() };
        }
        let (empty, mut tray) = self.pool.borrow_mut().take_letter();
        tray.moved.push(lane.take_moved(empty));
        tray
    }

    /// Counts a letter of `from` as taken in; says whether it is time to tell that, even if nothing else goes there.
    pub(super) fn acknowledge(&self, from: usize, window: u64) -> bool {
        let lane = &mut self.lanes.borrow_mut()[from];
        lane.taken_here += 1;
        lane.taken_here - lane.told > window / 2
    }

    pub(super) fn tell(&self, error: &Error) -> Result {
        let mut lanes = self.lanes.borrow_mut();
        lanes.iter_mut().filter(|lane| lane.way != Way::Here).try_for_each(|lane| lane.fault(error))
    }

    /// Whether so many letters are under way to `to` that this processor waits for it.
    pub(super) fn is_behind(&self, to: usize, window: u64) -> bool {
        let lane = &self.lanes.borrow()[to];
        lane.way != Way::Here && lane.under_way() > window
    }

    /// Whether so many letters are under way to somebody that what might send more has to wait.
    pub(super) fn is_crowded(&self) -> bool {
        if self.is_crowded.get() {
            self.is_crowded.set(self.lanes.borrow().iter().any(|lane| lane.under_way() > self.allowance.get()));
        }
        self.is_crowded.get()
    }

    /// Whether requests of `from` may run while this processor waits. A slow one may wait for its own.
    pub(super) fn may_run(&self, from: usize) -> bool {
        !self.is_crowded() || self.lanes.borrow()[from].under_way() > self.allowance.get()
    }

    /// Lets more letters be under way: nobody can go on otherwise.
    pub(super) fn allow_more(&self) {
        if self.is_crowded() {
            let most = self.lanes.borrow().iter().map(Lane::under_way).max().unwrap_or_default();
            self.allowance.set(most.saturating_mul(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            letter::{Enclosure, MovedLetter, Parcel},
            methods::{Absent, Entrance},
            tuning::Bundle,
        },
        *,
    };
    use crate::error::ErrorKind;

    fn method() -> Entrance {
        Entrance::new::<Absent>(())
    }

    fn outgoing(near: Bundle) -> Outgoing {
        let lanes = [Way::Here, Way::Near, Way::Far].map(Lane::new).into();
        let outgoing = Outgoing { lanes: RefCell::new(lanes), ..Outgoing::default() };
        let tuning = Tuning { near, far: near, window: 2, ..Tuning::default() };
        outgoing.begin(&tuning);
        outgoing
    }

    const MUCH: Bundle = Bundle { bytes: 1 << 20, count: 1 << 20 };

    /// What is in a letter that moves, one line for each parcel.
    fn lines(letter: &MovedLetter) -> Vec<String> {
        let values = |moved: &super::super::letter::Moved| match moved.downcast_ref::<Vec<u64>>() {
            Some(values) => format!("{values:?}"),
            None => format!("{:?}", moved.downcast_ref::<Vec<Option<u64>>>().expect("they are numbers")),
        };
        let line = |enclosure: &Enclosure| match enclosure {
            Enclosure::Written(bytes) => format!("{} bytes", bytes.len()),
            Enclosure::Parcel(Parcel::Requests(it)) => {
                format!("to {} from {:?} on, {}: {}", it.object, it.ticket, it.count, values(&it.arguments))
            }
            Enclosure::Parcel(Parcel::Answers { first, count, answers: Ok(answers) }) => {
                format!("from {first} on, {count}: {}", values(answers))
            }
            Enclosure::Parcel(Parcel::Answers { first, answers: Err(error), .. }) => format!("no {first}: {error}"),
            Enclosure::Parcel(Parcel::Note { number, about, .. }) => format!("note {number} about {about}"),
            Enclosure::Parcel(Parcel::Fault(error)) => format!("fault: {error}"),
        };
        letter.parcels.iter().map(line).collect()
    }

    fn taken(outgoing: &Outgoing, to: usize) -> Vec<String> {
        let mut letter = outgoing.take_letter(to);
        assert!(letter.bytes.is_empty());
        let letter = letter.moved.pop().expect("it moves").downcast::<MovedLetter>();
        lines(&letter.unwrap_or_else(|_| panic!("it is a letter")))
    }

    #[test]
    fn requests_of_one_method_and_object_are_one_series() {
        let outgoing = outgoing(MUCH);
        let mut lanes = outgoing.lanes.borrow_mut();
        let near = &mut lanes[1];
        let mut ask =
            |object, ticket, value: u64| near.request((method(), object), ticket, value, false, &outgoing.pool);
        for value in 1..4 {
            assert!(!ask(5, None, value).unwrap());
        }
        ask(6, None, 4).unwrap();
        // Questions go on with their numbers, and not past a gap.
        for (ticket, value) in [(0, 5), (1, 6), (3, 7)] {
            ask(6, Some(ticket), value).unwrap();
        }
        assert_eq!([near.next_ticket(), near.next_ticket()], [0, 1]);
        assert!(!near.is_empty() && !near.is_all_written() && !near.is_urgent);
        drop(lanes);
        let said = [
            "to 5 from None on, 1: [1, 2, 3]",
            "to 6 from None on, 1: [4]",
            "to 6 from Some(0) on, 2: [5, 6]",
            "to 6 from Some(3) on, 1: [7]",
        ];
        assert_eq!(taken(&outgoing, 1), said);
        assert!(outgoing.lanes.borrow()[1].is_empty());
        assert_eq!(outgoing.sent.get(), 1);
    }

    #[test]
    fn answers_that_follow_each_other_are_one_parcel() {
        let outgoing = outgoing(MUCH);
        let mut lanes = outgoing.lanes.borrow_mut();
        let near = &mut lanes[1];
        for (ticket, answer) in [(4, 40), (5, 50), (7, 70), (8, 80)] {
            assert!(!near.answer::<u64>(ticket, answer, false).unwrap());
        }
        assert!(near.is_urgent);
        near.fail(9, &Error::new(ErrorKind::Panicked, "boom")).unwrap();
        near.fault(&Error::new(ErrorKind::Panicked, "bang")).unwrap();
        assert!(!near.note::<u64>(2, 3, 4).unwrap());
        drop(lanes);
        let letter = taken(&outgoing, 1);
        assert_eq!(letter[..2], ["from 4 on, 2: [Some(40), Some(50)]", "from 7 on, 2: [Some(70), Some(80)]"]);
        assert!(letter[2].starts_with("no 9: ") && letter[2].contains("boom"), "{letter:?}");
        assert!(letter[3].starts_with("fault: ") && letter[3].contains("bang"), "{letter:?}");
        assert_eq!(letter[4..], ["note 2 about 3"]);
        assert!(!outgoing.lanes.borrow()[1].is_urgent, "it has left");
    }

    /// A letter is full with as many requests, or as many bytes, as it may have.
    #[test]
    fn a_letter_is_full_by_number_or_by_bytes() {
        let fills = |bundle: Bundle| {
            let outgoing = outgoing(bundle);
            let mut lanes = outgoing.lanes.borrow_mut();
            let mut ask = |value: u64| lanes[1].request((method(), 1), None, value, false, &outgoing.pool).unwrap();
            (1..=100).find(|&number| ask(number)).expect("it is full some time")
        };
        assert_eq!([1, 2, 7].map(|count| fills(Bundle { count, ..MUCH })), [1, 2, 7]);
        let first = 8 + size_of::<Enclosure>();
        for more in [0, 1, 5] {
            assert_eq!(fills(Bundle { bytes: first + 8 * more as usize, ..MUCH }), more + 1);
        }
        // The same many at a time, of which the first begins the series.
        let outgoing = outgoing(Bundle { count: 10, ..MUCH });
        let mut lanes = outgoing.lanes.borrow_mut();
        let items: Vec<u64> = (0..20).collect();
        let mut ask = |items: &[u64]| lanes[1].requests((method(), 1), items, |&item| item, &outgoing.pool).unwrap();
        assert_eq!(ask(&[]), (0, false));
        assert_eq!(ask(&items), (1, false));
        assert_eq!(ask(&items[1..5]), (4, false));
        assert_eq!(ask(&items[5..]), (5, true));
        drop(lanes);
        assert_eq!(taken(&outgoing, 1), ["to 1 from None on, 1: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"]);
        // There is room again.
        let again = outgoing.lanes.borrow_mut()[1].requests((method(), 1), &items[..1], |&item| item, &outgoing.pool);
        assert_eq!(again.unwrap(), (1, false));
    }

    #[test]
    fn what_is_for_another_process_is_written_and_what_is_cleared_is_gone() {
        let outgoing = outgoing(MUCH);
        let mut lanes = outgoing.lanes.borrow_mut();
        let far = &mut lanes[2];
        assert!(far.is_empty());
        assert!(!far.answer::<u64>(1, 10, false).unwrap());
        assert!(!far.is_empty() && far.is_all_written());
        far.clear();
        assert!(far.is_empty());
        far.answer::<u64>(1, 10, false).unwrap();
        let near = &mut lanes[1];
        near.answer::<u64>(1, 10, false).unwrap();
        near.request((method(), 1), None, 2u64, false, &outgoing.pool).unwrap();
        near.clear();
        assert!(near.is_empty());
        drop(lanes);
        let letter = outgoing.take_letter(2);
        assert!(letter.moved.is_empty() && letter.bytes.len() > 8);
        // An error is told to everybody else, and leaves at once.
        outgoing.tell(&Error::new(ErrorKind::Panicked, "boom")).unwrap();
        let told = outgoing.lanes.borrow().iter().map(|lane| (lane.is_empty(), lane.is_urgent)).collect::<Vec<_>>();
        assert_eq!(told, [(true, false), (false, true), (false, true)]);
    }

    #[test]
    fn letters_under_way_are_counted_and_too_many_hold_back_what_might_send_more() {
        let outgoing = outgoing(MUCH);
        let send = |to: usize| {
            let asked = outgoing.lanes.borrow_mut()[to].request((method(), 1), None, 2u64, false, &outgoing.pool);
            asked.unwrap();
            outgoing.take_letter(to);
        };
        let under_way = |to: usize| outgoing.lanes.borrow()[to].under_way();
        outgoing.take_letter(1);
        assert_eq!((under_way(1), outgoing.sent.get()), (0, 1), "one with nothing in it is not waited for");
        for count in 1..=4 {
            send(1);
            assert_eq!((under_way(1), outgoing.is_behind(1, 2)), (count, count > 2));
            assert!(!outgoing.is_crowded() && outgoing.may_run(0), "twice the window may be under way");
        }
        send(1);
        assert!(outgoing.is_crowded() && !outgoing.may_run(0) && outgoing.may_run(1));
        // What is sent to oneself holds nobody up.
        for _ in 0..4 {
            send(0);
        }
        assert!(!outgoing.is_behind(0, 2));
        outgoing.lanes.borrow_mut()[1].taken_there = 1;
        assert!(!outgoing.is_crowded() && outgoing.may_run(0));
        send(1);
        assert!(outgoing.is_crowded());
        outgoing.allow_more();
        assert!(!outgoing.is_crowded());
        send(1);
        assert!(!outgoing.is_crowded(), "twice as many may be under way now");
        // It is told after more than half of a window that letters were taken in.
        assert_eq!([0; 4].map(|_| outgoing.acknowledge(2, 4)), [false, false, true, true]);
        outgoing.take_letter(2);
        assert!(!outgoing.acknowledge(2, 4), "the last letter has said so");
        outgoing.begin(&Tuning::default());
        assert_eq!((under_way(1), outgoing.sent.get()), (0, 0));
    }

    #[test]
    fn vectors_are_kept_for_those_who_need_their_type() {
        let mut pool = Pool::default();
        let of = |room: usize| Box::new(Vec::<u64>::with_capacity(room));
        pool.keep(80, of(10));
        pool.keep(8, Box::new(Vec::<u8>::with_capacity(8)));
        let room =
            |moved: super::super::letter::Moved| moved.downcast::<Vec<u64>>().expect("it is of the type").capacity();
        assert_eq!(room(pool.take::<u64>()), 10);
        assert_eq!(room(pool.take::<u64>()), 0, "there is none, and another one makes place");
        assert_eq!(pool.take::<u8>().downcast::<Vec<u8>>().expect("it is of the type").capacity(), 0);
        // No more is kept than there may be, and what was taken makes room.
        pool.keep(4 << 20, of(1));
        assert_eq!(room(pool.take::<u64>()), 0);
        for _ in 0..3 {
            pool.keep((4 << 20) - 64, of(2));
            assert_eq!(room(pool.take::<u64>()), 2);
        }
    }

    #[test]
    fn near_and_far_letters_are_full_at_numbers_of_their_own() {
        let outgoing = outgoing(MUCH);
        let (near, far) = (Bundle { count: 3, ..MUCH }, Bundle { count: 5, ..MUCH });
        outgoing.begin(&Tuning { near, far, ..Tuning::default() });
        let fills = |lane: &mut Lane| (1..10).find(|&number| lane.answer::<u64>(number, 7, false).unwrap());
        let fills: Vec<_> = outgoing.lanes.borrow_mut().iter_mut().map(fills).collect();
        assert_eq!(fills, [Some(3), Some(3), Some(5)]);
    }

    /// Inside a process numbers move in vectors of their own, and are written where those were short of late.
    #[test]
    fn numbers_are_written_where_series_are_short_and_move_where_they_are_long() {
        let outgoing = outgoing(MUCH);
        let ask = |object: u64, count: u64| {
            let near = &mut outgoing.lanes.borrow_mut()[1];
            for value in 0..count {
                near.request((method(), object), None, value, false, &outgoing.pool).unwrap();
            }
        };
        (0..12).for_each(|round| ask(round % 2, 3));
        assert_eq!(taken(&outgoing, 1).len(), 12);
        (0..12).for_each(|round| ask(round % 2, 2));
        let letter = taken(&outgoing, 1);
        assert!(letter.len() == 5 && letter[4].ends_with("bytes"), "{letter:?}");
        // However many were short, a few in a row are enough to move again.
        (0..20).for_each(|round| ask(round % 2, 1));
        ask(9, 10);
        let again = "to 9 from None on, 1: [6, 7, 8, 9]";
        assert_eq!(taken(&outgoing, 1)[1..], [again]);
        // What cannot be written counts as well.
        for round in 0..20 {
            let near = &mut outgoing.lanes.borrow_mut()[1];
            near.request((method(), round), None, String::new(), false, &outgoing.pool).unwrap();
        }
        outgoing.lanes.borrow_mut()[1].clear();
        ask(9, 10);
        assert_eq!(taken(&outgoing, 1)[1..], [again]);
    }
}
