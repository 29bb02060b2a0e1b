//! One member's place at a table: what it does to meet the others.
//!
//! The numbers in the safety notes are those of the invariants of [`table`](super::table).

use super::{
    alarm::ThreadAlarm,
    fences,
    letters::MailState,
    sync::{Arc, Ordering, Shelf, thread},
    table::{ANYBODY, BARE, INLINE, Piece, Posted, Table},
    wait::{Habit, wait},
};
use crate::{
    circle::{Meetings, Meld, Melded, Silence},
    failure::Failure,
    sight::Pen,
    spares::Spares,
    tray::Tray,
    tree,
};

/// A node on the way from a leaf to the root, with what comes together there.
struct Rung {
    node: usize,
    left: Piece,
    right: Piece,
}

/// The way up from `rank`, lowest first.
fn ladder(rank: usize, size: usize) -> Vec<Rung> {
    let rung = |[low, middle, end]: [usize; 3]| {
        let (left, right) = (Piece::of(low, middle - low), Piece::of(middle, end - middle));
        Rung { node: middle, left, right }
    };
    let mut rungs: Vec<Rung> = tree::path(rank, size).map(rung).collect();
    rungs.reverse();
    rungs
}

/// Up to this size a tray travels in the slot, so that its target need not fetch it from elsewhere.
const RIDER: usize = 64;

/// One member's place at a table.
pub(crate) struct Seat {
    pub(super) table: Arc<Table>,
    pub(super) rank: usize,
    /// A small tray that will travel in my slot, and whom it is for.
    rider: Option<(usize, u8, [u8; RIDER])>,
    /// The last meeting of which I took each member's rider, 0 before the first.
    riders_taken: Vec<u64>,
    entered: u64,
    /// The last meeting that was held for me; behind `entered` only once I may not go on (T5).
    held: u64,
    posted: u64,
    pub(super) mail: MailState,
    ladder: Vec<Rung>,
    habit: Habit,
    spares: Spares<u8>,
    /// My number among the threads of the run, and with what I write down that I wait.
    pub(super) number: usize,
    pub(super) pen: Pen,
    pub(super) alarm: Arc<ThreadAlarm>,
    /// For meetings of which nobody wants the outcome.
    nothing: Melded,
}

impl Seat {
    /// Sits down, as the thread of the run with this number. Each rank's seat is taken once, by the thread that will
    /// use it.
    pub(crate) fn new(table: Arc<Table>, rank: usize, number: usize, alarm: Arc<ThreadAlarm>) -> Self {
        let taken = table.members[rank].thread.set((thread::current(), number));
        assert!(taken.is_ok(), "rank {rank} of a circle was taken twice");
        let size = table.members.len();
        let ladder = if table.nodes.is_empty() { Vec::new() } else { ladder(rank, size) };
        Self {
            table,
            rank,
            entered: 0,
            held: 0,
            posted: 0,
            mail: MailState::new(size),
            rider: None,
            riders_taken: vec![0; size],
            ladder,
            habit: Habit::of_rank(rank),
            spares: Spares::default(),
            number,
            pen: alarm.pen(number),
            alarm,
            nothing: Melded::default(),
        }
    }

    /// A member's number among the threads of the run, once it has sat down.
    pub(crate) fn number_of(&self, rank: usize) -> usize {
        self.table.members[rank].thread.get().map_or(rank, |(_, number)| *number)
    }

    pub(super) fn size(&self) -> usize {
        self.table.members.len()
    }

    /// Fails once the alarm was raised, and so for good where one of my waits did (T5).
    #[inline]
    fn check(&self) -> Result<(), Failure> {
        self.heed()?;
        assert_eq!(
            self.held, self.entered,
            "a member came back to a circle that it had left, or in which it had panicked"
        );
        Ok(())
    }

    /// Fails once the alarm was raised.
    #[inline]
    pub(super) fn heed(&self) -> Result<(), Failure> {
        self.alarm.check().inspect_err(|_| self.pen.hear())
    }

    fn copy(&self) -> usize {
        (self.entered % 2) as usize
    }

    fn enter(&mut self, mine: &[u8], how: &mut dyn Meld) {
        self.publish(mine);
        if self.ladder.is_empty() {
            self.table.wake_those_who_wait_for(self.rank);
        } else {
            self.climb(mine, how);
        }
    }

    #[inline]
    fn publish(&mut self, mine: &[u8]) {
        let rider = self.rider.take_if(|(_, len, _)| mine.len() + usize::from(*len) <= INLINE);
        if let Some((to, len, bytes)) = self.rider.take() {
            // It has no room beside the contribution.
            self.put_tray(to, &mut Tray::from(bytes[..usize::from(len)].to_vec()));
        }
        self.entered += 1;
        let me = &self.table.members[self.rank];
        let copy = self.copy();
        let is_long = mine.len() > INLINE;
        if is_long {
            me.long[copy].with_mut(|long| {
                // SAFETY: T1, this copy is mine until I publish.
                let long = unsafe { &mut *long };
                long.clear();
                long.extend_from_slice(mine);
            });
        }
        me.copies[copy].said.with_mut(|said| {
            // SAFETY: T1, this copy is mine until I publish.
            let said = unsafe { &mut *said };
            said.len = if is_long { 0 } else { mine.len() as u8 };
            said.is_long = is_long;
            said.posted = std::mem::take(&mut self.posted);
            // A constant length spares the common case, an empty step, a call.
            match mine.first_chunk::<BARE>() {
                Some(bare) if mine.len() == BARE => said.inline[..BARE].copy_from_slice(bare),
                _ if !is_long => said.inline[..mine.len()].copy_from_slice(mine),
                _ => {}
            }
            said.rider_len = 0;
            if let Some((to, len, bytes)) = &rider {
                (said.rider_to, said.rider_len) = (*to as u32, *len);
                let len = usize::from(*len);
                said.inline[mine.len()..mine.len() + len].copy_from_slice(&bytes[..len]);
            }
        });
        me.copies[copy].published.store(self.entered, Ordering::Release);
    }

    /// Takes what came together at each node where I am the second to arrive one node further up.
    fn climb(&mut self, mine: &[u8], how: &mut dyn Meld) {
        let copy = self.copy();
        for rung in &self.ladder {
            let node = &self.table.nodes[rung.node];
            // The release half publishes my side; the acquire half lets me see the other's.
            if node.arrivals.fetch_add(1, Ordering::AcqRel).is_multiple_of(2) {
                return;
            }
            let left = self.table.contribution(rung.left, copy);
            let right = self.table.contribution(rung.right, copy);
            node.melded[copy].with_mut(|melded| {
                // SAFETY: T3, I am the second to arrive.
                let melded = unsafe { &mut *melded };
                melded.clear();
                if how.alike() && left == mine && right == mine {
                    melded.extend_from_slice(mine);
                } else {
                    how.meld(left, right, melded);
                }
            });
        }
        self.table.released.store(self.entered, Ordering::Release);
        self.table.wake_all();
    }

    fn await_all(&self) -> Result<(), Failure> {
        let (table, meeting, copy) = (&self.table, self.entered, self.copy());
        if !self.ladder.is_empty() {
            return self.await_one(ANYBODY, || table.released.load(Ordering::Acquire) == meeting);
        }
        for (rank, member) in table.members.iter().enumerate() {
            if rank != self.rank {
                let published = &member.copies[copy].published;
                self.await_one(rank as u32, || published.load(Ordering::Acquire) == meeting)?;
            }
        }
        Ok(())
    }

    /// Waits until what I wait for is `here`; if I sleep meanwhile, `whom` wakes me.
    #[inline]
    pub(super) fn await_one(&self, whom: u32, here: impl Fn() -> bool) -> Result<(), Failure> {
        let look = |(): &mut ()| if here() { Ok(Some(())) } else { self.heed().map(|()| None) };
        let rank = || if whom == ANYBODY { self.missing() } else { Some(whom as usize) };
        let number = |(): &()| rank().map(|rank| self.alarm.number(self.number_of(rank)));
        wait(&self.habit, &self.pen, &mut (), look, number, |()| {
            self.sleep(whom, &here);
            Ok(())
        })
    }

    /// The first member that has not entered the meeting that I am in. All have entered one that is over.
    fn missing(&self) -> Option<usize> {
        let copy = self.copy();
        let has_come = |rank: usize| self.table.members[rank].copies[copy].published.load(Ordering::Relaxed);
        (0..self.size()).find(|&rank| has_come(rank) < self.entered)
    }

    /// Sleeps until somebody wakes me, unless what I wait for is there already.
    #[cold]
    fn sleep(&self, whom: u32, here: &impl Fn() -> bool) {
        let asleep = &self.table.members[self.rank].asleep;
        asleep.store(whom.saturating_add(1), Ordering::Relaxed);
        self.table.sleepers.fetch_add(1, Ordering::Relaxed);
        // Pairs with the light fence of whoever publishes: it sees me asleep, or I see what it published.
        fences::heavy(self.table.expedited);
        if !here() && self.alarm.check().is_ok() {
            thread::park();
        }
        asleep.store(0, Ordering::Relaxed);
        self.table.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether everybody said just what I said.
    #[inline]
    fn all_alike(&self, mine: &[u8]) -> bool {
        let copy = self.copy();
        if let Some(bare) = mine.first_chunk::<BARE>().filter(|_| mine.len() == BARE) {
            let says_so = |rank: usize| {
                let theirs = self.table.contribution(Piece::Rank(rank), copy);
                theirs.len() == BARE && theirs.first_chunk::<BARE>() == Some(bare)
            };
            return (0..self.size()).all(|rank| rank == self.rank || says_so(rank));
        }
        (0..self.size()).all(|rank| rank == self.rank || self.table.contribution(Piece::Rank(rank), copy) == mine)
    }

    fn put_tray(&self, to: usize, tray: &mut Tray) {
        let meeting = self.entered + 1;
        let (me, size) = (&self.table.members[self.rank], self.size());
        let trays = me.trays.get_or_init(|| {
            (0..size).map(|_| [Shelf::new(Posted::default()), Shelf::new(Posted::default())]).collect()
        });
        trays[to][(meeting % 2) as usize].with_mut(|slot| {
            // SAFETY: T4, the meeting for which I post is the one I enter next.
            let slot = unsafe { &mut *slot };
            slot.meeting = meeting;
            std::mem::swap(&mut slot.tray, tray);
        });
    }
}

impl Meetings for Seat {
    #[inline]
    fn meet(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure> {
        self.check()?;
        self.enter(mine, how);
        self.await_all()?;
        self.held = self.entered;
        outcome.before.clear();
        let wants_before = how.wants_before();
        if self.ladder.is_empty() {
            if how.alike() && self.all_alike(mine) {
                outcome.total.clear();
                outcome.total.extend_from_slice(mine);
                if wants_before && self.rank > 0 {
                    outcome.before.extend_from_slice(mine);
                }
                return Ok(());
            }
            let (table, copy, me) = (&self.table, self.copy(), self.rank);
            // My own slot may still be on its way out to the others: reading it back would wait for that.
            let leaf = |rank| if rank == me { mine } else { table.contribution(Piece::Rank(rank), copy) };
            tree::fold(0, table.members.len(), &leaf, how, &mut self.spares, &mut outcome.total);
            if wants_before {
                let size = table.members.len();
                tree::fold_before(self.rank, size, &leaf, how, &mut self.spares, &mut outcome.before);
            }
        } else {
            outcome.total.clear();
            outcome.total.extend_from_slice(self.table.contribution(Piece::of(0, self.size()), self.copy()));
            if wants_before {
                let (table, copy, size) = (&self.table, self.copy(), self.size());
                let spares = &mut self.spares;
                for (low, size) in tree::left_of(self.rank, size) {
                    tree::append(table.contribution(Piece::of(low, size), copy), how, spares, &mut outcome.before);
                }
            }
        }
        Ok(())
    }

    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure> {
        self.check()?;
        self.enter(mine, how);
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let mut nothing = std::mem::take(&mut self.nothing);
        let met = self.meet(&[], &mut Silence, &mut nothing);
        self.nothing = nothing;
        met
    }

    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure> {
        self.check()?;
        self.posted |= 1 << (to % 64);
        if self.rider.is_none() && tray.moved.is_empty() && tray.bytes.len() <= RIDER {
            let mut bytes = [0; RIDER];
            bytes[..tray.bytes.len()].copy_from_slice(&tray.bytes);
            self.rider = Some((to, tray.bytes.len() as u8, bytes));
        } else {
            self.put_tray(to, tray);
        }
        tray.clear();
        Ok(())
    }

    fn take(&mut self, from: usize, into: &mut Tray) -> bool {
        if self.held != self.entered {
            return false;
        }
        let (source, copy) = (&self.table.members[from], self.copy());
        // SAFETY: T2, I have entered this meeting, it has been held, and I have not entered the next.
        let said = source.copies[copy].said.with(|said| unsafe { &*said });
        if said.posted & (1 << (self.rank % 64)) == 0 {
            return false;
        }
        if said.rider_len > 0 && said.rider_to as usize == self.rank {
            // It stays in the other's slot, so I note here that I have taken it.
            if std::mem::replace(&mut self.riders_taken[from], self.held) == self.held {
                return false;
            }
            let start = usize::from(said.len);
            into.bytes.extend_from_slice(&said.inline[start..start + usize::from(said.rider_len)]);
            return true;
        }
        let Some(trays) = source.trays.get() else { return false };
        trays[self.rank][copy].with_mut(|slot| {
            // SAFETY: T4, as above.
            let slot = unsafe { &mut *slot };
            if slot.meeting == self.held {
                std::mem::swap(&mut slot.tray, into);
            }
        });
        !into.is_empty()
    }
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    /// The seats of a table, all of them taken by this thread.
    fn seats(size: usize) -> Vec<Seat> {
        let (table, alarm) = (Arc::new(Table::new(size)), Arc::new(ThreadAlarm::new(size, 0)));
        (0..size).map(|rank| Seat::new(Arc::clone(&table), rank, rank, Arc::clone(&alarm))).collect()
    }

    #[test]
    fn who_has_not_come_is_missing_for_all_who_have() {
        let mut seats = seats(9);
        for late in [0, 4, 8] {
            for seat in seats.iter_mut().filter(|seat| seat.rank != late) {
                seat.enter(&[], &mut Silence);
            }
            for seat in seats.iter().filter(|seat| seat.rank != late) {
                assert_eq!(seat.missing(), Some(late), "rank {}", seat.rank);
            }
            seats[late].enter(&[], &mut Silence);
            assert!(seats.iter().all(|seat| seat.missing().is_none()), "{late} has come");
        }
    }

    #[test]
    fn all_are_alike_only_where_everybody_says_the_same() {
        let mut seats = seats(3);
        let nobody = seats.len();
        for len in [0, BARE - 1, BARE, BARE + 1, INLINE + 1] {
            let (usual, longer) = (vec![7u8; len], vec![7u8; len + 1]);
            for odd_one in 0..=nobody {
                let says = |rank: usize| if rank == odd_one { &longer } else { &usual };
                for seat in &mut seats {
                    seat.enter(says(seat.rank), &mut Silence);
                }
                for seat in &seats {
                    let alike = seat.all_alike(says(seat.rank));
                    assert_eq!(alike, odd_one == nobody, "{len} bytes, and {odd_one} says one more");
                }
            }
        }
    }
}
