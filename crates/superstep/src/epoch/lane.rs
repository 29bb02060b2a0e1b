//! The way from this processor to one other: requests wait here until there are enough for a letter.

use super::{
    letter::{Enclosure, Moved, MovedLetter, Parcel, Requests},
    methods::{Entrance, Recent},
    pool::Pool,
    tuning::Bundle,
    written::{Header, Tag, WrittenLetter},
};
use crate::{
    engine::{Value, encode_next, is_fixed, mix, owned_bytes, type_hash},
    error::{Error, ErrorKind, Result},
};
use std::cell::RefCell;

/// How a processor is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is this one.
    Here,
    /// It shares memory with this one.
    Near,
    /// It is in another process.
    Far,
}

/// The series of requests that is still growing, between processors that share memory.
struct Growing {
    requests: Requests<Moved>,
    /// How many requests had room when it began.
    room: usize,
}

impl Growing {
    /// The arguments, if another request with these can go on with the series.
    #[inline]
    fn arguments_for<A: Value>(&mut self, method: Entrance, object: u64, ticket: Option<u64>) -> Option<&mut Vec<A>> {
        let requests = &mut self.requests;
        let goes_on = requests.method == method
            && requests.object == object
            && requests.ticket.map(|first| first + requests.count) == ticket;
        if goes_on { requests.arguments.downcast_mut() } else { None }
    }
}

pub(super) struct Lane {
    pub(super) way: Way,
    growing: Option<Growing>,
    moved: Box<MovedLetter>,
    written: WrittenLetter,
    /// How many more requests, and about how many more bytes, fit into the letter.
    room: Bundle,
    usual: Bundle,
    /// The names of methods. A processor of another process has been told of these in this epoch.
    names: Recent<Entrance, u64>,
    /// How often, of late, a series was too short for a vector of its own.
    changes: u8,
    /// Whether somebody waits for what is in the letter.
    pub(super) is_urgent: bool,
    /// The number of the next question.
    next_ticket: u64,
    /// Letters that were sent, and those that the other side says it has taken in.
    pub(super) sent: u64,
    pub(super) taken_there: u64,
    /// Letters that were taken in here, and how many of them the other side knows of.
    pub(super) taken_here: u64,
    pub(super) told: u64,
}

/// A series of up to so many requests is short. After so many short series numbers are written.
const SHORT: usize = 2;
const CHANGES: u8 = 4;

/// Estimated heap bytes of a value of unknown size.
const ELSEWHERE: usize = 120;

impl Lane {
    pub(super) fn new(way: Way) -> Self {
        let none = Bundle { bytes: 0, count: 0 };
        Self {
            way,
            growing: None,
            moved: Box::default(),
            written: WrittenLetter::default(),
            room: none,
            usual: none,
            names: Recent::default(),
            changes: 0,
            is_urgent: false,
            next_ticket: 0,
            sent: 0,
            taken_there: 0,
            taken_here: 0,
            told: 0,
        }
    }

    pub(super) fn begin(&mut self, usual: Bundle) {
        self.clear();
        if self.way == Way::Far {
            self.names.clear();
        }
        (self.usual, self.room) = (usual, usual);
        (self.next_ticket, self.is_urgent) = (0, false);
        (self.sent, self.taken_there, self.taken_here, self.told) = (0, 0, 0, 0);
    }

    pub(super) fn clear(&mut self) {
        self.growing = None;
        self.moved.parcels.clear();
        self.written.clear();
    }

    /// How many letters are under way there, as far as this processor knows.
    #[inline]
    pub(super) fn under_way(&self) -> u64 {
        self.sent - self.taken_there
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.growing.is_none() && self.moved.parcels.is_empty() && self.written.is_empty()
    }

    /// Adds a request, or with a ticket a question; says whether the letter is full. `is_alone`: its answer is awaited.
    #[inline]
    pub(super) fn request<A: Value>(
        &mut self,
        (method, object): (Entrance, u64),
        ticket: Option<u64>,
        argument: A,
        is_alone: bool,
        pool: &RefCell<Pool>,
    ) -> Result<bool> {
        if let Some(growing) = &mut self.growing
            && let Some(series) = growing.arguments_for(method, object, ticket)
        {
            let weight = weight(&argument, self.usual.bytes);
            series.push(argument);
            if ticket.is_some() {
                growing.requests.count += 1;
            }
            return Ok(self.shrink(weight));
        }
        self.request_another((method, object), ticket, argument, is_alone, pool)
    }

    /// Adds a request for each of `items`, as far as there is room; says for how many, and whether the letter is full.
    #[inline]
    pub(super) fn requests<X, A: Value>(
        &mut self,
        (method, object): (Entrance, u64),
        items: &[X],
        argument: impl Fn(&X) -> A,
        pool: &RefCell<Pool>,
    ) -> Result<(usize, bool)> {
        let weight = size_of::<A>().max(1);
        let room = self.room.count.min(self.room.bytes.div_ceil(weight));
        if !std::mem::needs_drop::<A>()
            && let Some(growing) = &mut self.growing
            && let Some(series) = growing.arguments_for(method, object, None)
        {
            let items = &items[..items.len().min(room)];
            series.extend(items.iter().map(argument));
            self.room.count -= items.len();
            self.room.bytes = self.room.bytes.saturating_sub(items.len() * weight);
            return Ok((items.len(), self.room.count == 0 || self.room.bytes == 0));
        }
        let Some(first) = items.first() else { return Ok((0, false)) };
        self.request((method, object), None, argument(first), false, pool).map(|is_full| (1, is_full))
    }

    /// The number of a question that is about to be added.
    #[inline]
    pub(super) fn next_ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket - 1
    }

    fn request_another<A: Value>(
        &mut self,
        (method, object): (Entrance, u64),
        ticket: Option<u64>,
        argument: A,
        is_alone: bool,
        pool: &RefCell<Pool>,
    ) -> Result<bool> {
        if let Some(growing) = &self.growing {
            let is_short = growing.room - self.room.count <= SHORT;
            self.changes = if is_short { (self.changes + 1).min(2 * CHANGES) } else { 0 };
        }
        if self.is_written::<A>(is_alone) {
            let tag = if ticket.is_some() { Tag::Questions } else { Tag::Requests };
            let header = Header { tag, names: [self.name(method)?, object], first: ticket.unwrap_or_default() };
            return self.write(header, |bytes| encode_next(&argument, bytes));
        }
        self.close();
        let weight = weight(&argument, self.usual.bytes) + size_of::<Enclosure>();
        let room = self.room.count;
        let mut arguments = pool.borrow_mut().take::<A>();
        if let Some(series) = arguments.downcast_mut::<Vec<A>>() {
            series.push(argument);
        }
        let requests = Requests { method, object, ticket, count: 1, arguments, is_last: false };
        self.growing = Some(Growing { requests, room });
        Ok(self.shrink(weight))
    }

    /// The name of a method, which the other side understands.
    #[inline]
    fn name(&mut self, method: Entrance) -> Result<u64> {
        let [thunk, function] = method.places();
        let letter = (self.way == Way::Far).then_some(&mut self.written);
        self.names.find(method, mix(thunk as u64, function as u64), || introduce(method, letter))
    }

    /// Adds an answer, to a question that was alone or not; says whether the letter is full.
    pub(super) fn answer<R: Value>(&mut self, ticket: u64, answer: R, is_alone: bool) -> Result<bool> {
        self.is_urgent = true;
        if self.is_written::<R>(is_alone) {
            // Answers of one type follow each other.
            let header = Header { tag: Tag::Answers, names: [type_hash::<R>(), 0], first: ticket };
            return self.write(header, |bytes| encode_next(&answer, bytes));
        }
        let weight = weight(&answer, self.usual.bytes);
        self.close();
        if let Some(Enclosure::Parcel(Parcel::Answers { first, count, answers: Ok(answers) })) =
            self.moved.parcels.last_mut()
            && *first + *count == ticket
            && let Some(series) = answers.downcast_mut::<Vec<Option<R>>>()
        {
            series.push(Some(answer));
            *count += 1;
        } else {
            let answers: Moved = Box::new(vec![Some(answer)]);
            self.enclose(Parcel::Answers { first: ticket, count: 1, answers: Ok(answers) });
        }
        Ok(self.shrink(weight))
    }

    pub(super) fn fail(&mut self, ticket: u64, error: &Error) -> Result {
        let parcel = Parcel::Answers { first: ticket, count: 1, answers: Err(error.clone()) };
        self.report(Header { tag: Tag::Failure, names: [0; 2], first: ticket }, error, parcel)
    }

    /// Adds that this processor's part of the epoch has failed.
    pub(super) fn fault(&mut self, error: &Error) -> Result {
        self.report(Header { tag: Tag::Fault, names: [0; 2], first: 0 }, error, Parcel::Fault(error.clone()))
    }

    /// Adds an error, written or as a parcel that moves.
    fn report(&mut self, header: Header, error: &Error, parcel: Parcel<Moved>) -> Result {
        self.is_urgent = true;
        if self.way != Way::Far {
            self.close();
            self.enclose(parcel);
            return Ok(());
        }
        let written = self.write(header, |bytes| {
            bytes.extend_from_slice(&error.report());
            Ok(())
        });
        written.map(|_| ())
    }

    pub(super) fn note<R: Value>(&mut self, number: u64, about: u64, note: R) -> Result<bool> {
        if self.is_written::<R>(true) {
            let header = Header { tag: Tag::Note, names: [number, about], first: 0 };
            return self.write(header, |bytes| encode_next(&note, bytes));
        }
        self.close();
        self.enclose(Parcel::Note { number, about, note: Box::new(note) });
        Ok(false)
    }

    /// Whether a value of this type is written instead of moved: between processes always, and inside one if it is a
    /// few bytes that somebody waits for, or if series are too short for vectors of their own.
    #[inline]
    fn is_written<A: 'static>(&self, is_alone: bool) -> bool {
        let is_better = || (is_alone && self.is_all_written()) || self.changes >= CHANGES;
        self.way == Way::Far || (is_fixed::<A>() && is_better())
    }

    /// Writes one more of a parcel; says whether the letter is full.
    #[inline]
    fn write(&mut self, header: Header, encode: impl FnOnce(&mut Vec<u8>) -> Result) -> Result<bool> {
        if self.growing.is_some() {
            self.close_series();
        }
        let (bytes, goes_on) = self.written.parcel(header);
        // Where series become longer again they move.
        self.changes = if goes_on { self.changes.saturating_sub(1) } else { (self.changes + 1).min(2 * CHANGES) };
        let start = bytes.len();
        let unfinished = Unfinished { letter: &mut self.written, start };
        encode(&mut unfinished.letter.bytes)?;
        std::mem::forget(unfinished);
        self.room.count = self.room.count.saturating_sub(1);
        Ok(self.room.count == 0 || self.written.bytes.len() >= self.usual.bytes)
    }

    /// Takes away the room of a request; says whether none is left.
    #[inline]
    fn shrink(&mut self, bytes: usize) -> bool {
        let is_last = self.room.count <= 1 || self.room.bytes <= bytes;
        if is_last {
            self.room = Bundle { bytes: 0, count: 0 };
        } else {
            self.room = Bundle { bytes: self.room.bytes - bytes, count: self.room.count - 1 };
        }
        is_last
    }

    /// Ends what is growing: what comes next stands behind it.
    fn close(&mut self) {
        self.close_series();
        if !self.written.is_empty() {
            self.moved.parcels.push(Enclosure::Written(self.written.finish(0)));
        }
    }

    fn close_series(&mut self) {
        if let Some(growing) = self.growing.take() {
            self.enclose(Parcel::Requests(growing.requests));
        }
    }

    fn enclose(&mut self, parcel: Parcel<Moved>) {
        self.moved.parcels.push(Enclosure::Parcel(parcel));
    }

    /// Whether all that waits here is written.
    pub(super) fn is_all_written(&self) -> bool {
        self.growing.is_none() && self.moved.parcels.is_empty()
    }

    /// Takes back the room of bytes that have been sent.
    pub(super) fn keep(&mut self, bytes: Vec<u8>) {
        if self.written.bytes.capacity() == 0 {
            self.written.bytes = bytes;
        }
    }

    /// Takes what waits here as a letter that moves, and puts an empty one in its place.
    #[expect(clippy::unnecessary_box_returns, reason = "the box itself travels")]
    pub(super) fn take_moved(&mut self, empty: Box<MovedLetter>) -> Box<MovedLetter> {
        self.close();
        self.finish();
        std::mem::replace(&mut self.moved, empty)
    }

    /// Takes what waits here as the bytes of a letter.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        self.finish();
        self.written.finish(self.taken_here)
    }

    fn finish(&mut self) {
        self.room = self.usual;
        self.is_urgent = false;
        self.told = self.taken_here;
        self.moved.taken = self.taken_here;
    }
}

/// Something that is being written. It is taken back if it cannot be written, or if the program's part in that panics.
struct Unfinished<'a> {
    letter: &'a mut WrittenLetter,
    start: usize,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.letter.undo(self.start);
    }
}

/// Names a method, and describes it in a letter to a processor of another process.
#[cold]
fn introduce(method: Entrance, letter: Option<&mut WrittenLetter>) -> Result<u64> {
    let Some(description) = method.describe() else {
        let what = "the method's code is in no file that is loaded, so no other processor can find it";
        return Err(Error::new(ErrorKind::BuildMismatch, what));
    };
    if let Some(letter) = letter {
        letter.describe(description);
    }
    Ok(description[0])
}

/// About how many bytes a value takes up with its heap; counting stops beyond `most`.
#[inline]
fn weight<A: Value>(value: &A, most: usize) -> usize {
    let elsewhere = if std::mem::needs_drop::<A>() { ELSEWHERE + owned_bytes(value, most) } else { 0 };
    (size_of::<A>() + elsewhere).max(1)
}

#[cfg(test)]
mod tests {
    use super::{super::methods::Absent, *};

    #[test]
    fn a_value_weighs_what_it_takes_up_with_its_heap() {
        assert_eq!([weight(&(), 100), weight(&7u64, 100)], [1, 8]);
        assert_eq!(weight(&"words".to_owned(), 100), size_of::<String>() + ELSEWHERE + 5);
    }

    #[test]
    fn bytes_that_were_sent_are_written_into_again() {
        let mut lane = Lane::new(Way::Far);
        lane.keep(Vec::with_capacity(1000));
        lane.keep(Vec::new());
        assert!(lane.written.bytes.capacity() >= 1000);
    }

    /// Who shares memory needs no description, and another process needs one in each epoch.
    #[test]
    fn a_method_is_described_to_other_processes_once_in_an_epoch() {
        let (method, pool) = (Entrance::new::<Absent>(()), RefCell::<Pool>::default());
        let lens = |lane: &mut Lane| {
            lane.begin(Bundle { bytes: 1 << 20, count: 1 << 20 });
            [0; 2].map(|_| {
                lane.request((method, 1), None, 2u64, true, &pool).unwrap();
                lane.take_bytes().len()
            })
        };
        let [mut near, mut far] = [Way::Near, Way::Far].map(Lane::new);
        let [first, second] = lens(&mut far);
        assert!(first > second);
        assert_eq!(lens(&mut far), [first, second]);
        assert_eq!(lens(&mut near), [second; 2]);
    }
}
