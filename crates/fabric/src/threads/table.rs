//! The meeting place of a circle of threads: a padded slot per member, in two copies that are used by turns.
//!
//! See `README.md` beside this file for the protocol, its states and its races.
//!
//! # Invariants
//!
//! - **T1** Meeting `k` uses copy `k % 2` of everything. A member writes its own copy before it publishes `k` and never
//!   again until it has seen everybody publish `k + 1`.
//! - **T2** A member reads another's copy of meeting `k` only after it has seen that `k` is published, and before it
//!   publishes `k + 1` itself.
//! - **T3** The value of a tree node for meeting `k` is written by the second member to arrive there, after both
//!   sides were published, and before that member arrives at the next node up or releases the meeting.
//! - **T4** A tray of copy `k % 2` belongs to its source until the source publishes `k`, then to its target until the
//!   target publishes `k + 1`, then to the source again once that has seen everybody publish `k + 1`.
//! - **T5** A member for whom a meeting was not held, because the wait failed, because it left or because its meld
//!   panicked, touches the table no more: others may still be reading what it would write over next.
//!
//! T1 and T2 together: between a member's last read of a copy and the owner's next write to it lies a meeting that both
//! took part in, so they never overlap.

use super::{
    alarm::Cord,
    fences,
    sync::{Arc, AtomicU32, AtomicU64, Ordering, Shelf, Thread, thread},
    wait::{Patience, Turn},
};
use crate::{
    circle::{Meld, Melded},
    failure::Failure,
    tray::Tray,
    tree::{self, Scratch},
};
use std::sync::OnceLock;

/// Up to this many members read each other's slots directly; more climb a tree.
pub(crate) const FLAT: usize = 8;
/// What fits into a slot's own cache line: an empty step, and one with a reduction and a prefix of 8 bytes.
const INLINE: usize = 40;

/// The length of an empty step's contribution.
const BARE: usize = 16;

/// What a member says at one meeting.
struct Note {
    len: u32,
    /// Whether the contribution did not fit and lies in the member's `long`.
    is_long: bool,
    /// Bit `t % 64` is set where the member posted a tray to member `t`, so that most targets need look no further.
    posted: u64,
    inline: [u8; INLINE],
}

/// One copy of a slot: one cache line.
#[repr(align(64))]
struct Copy {
    published: AtomicU64,
    note: Shelf<Note>,
}

impl Copy {
    fn new() -> Self {
        let note = Note { len: 0, is_long: false, posted: 0, inline: [0; INLINE] };
        Self { published: AtomicU64::new(0), note: Shelf::new(note) }
    }
}

/// The trays of one source for one target.
type TrayPair = [Shelf<Posted>; 2];

/// A tray, and the meeting it was posted for; one that nobody took stays behind and must not be mistaken for a later one.
#[derive(Default)]
struct Posted {
    meeting: u64,
    tray: Tray,
}

#[repr(align(128))]
struct Member {
    copies: [Copy; 2],
    long: [Shelf<Vec<u8>>; 2],
    /// One pair of trays per target; made when the member first posts.
    trays: OnceLock<Box<[TrayPair]>>,
    /// Whom to wake; known once the member has sat down.
    thread: OnceLock<Thread>,
    /// 0 while awake, else one more than the member that is waited for ([`ANYBODY`] in a tree).
    asleep: AtomicU32,
}

const ANYBODY: u32 = u32::MAX;

/// An inner node of the tree: where two neighbouring segments of ranks come together.
#[repr(align(128))]
struct Node {
    /// Two per meeting.
    arrivals: AtomicU64,
    melded: [Shelf<Vec<u8>>; 2],
}

/// What a circle's members share.
pub(crate) struct Table {
    members: Box<[Member]>,
    /// The node whose right half begins with rank `i` is number `i`; empty in a flat circle.
    nodes: Box<[Node]>,
    /// The last meeting whose root was reached; for trees.
    released: AtomicU64,
    sleepers: AtomicU32,
    expedited: bool,
}

// SAFETY: everything in a table that is not an atomic or a lock is on a Shelf, and T1 to T4 say who touches those when.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl Table {
    pub(crate) fn new(size: usize) -> Self {
        Self::with_flat_limit(size, FLAT)
    }

    pub(crate) fn with_flat_limit(size: usize, flat: usize) -> Self {
        let member = |_| Member {
            copies: [Copy::new(), Copy::new()],
            long: [Shelf::new(Vec::new()), Shelf::new(Vec::new())],
            trays: OnceLock::new(),
            thread: OnceLock::new(),
            asleep: AtomicU32::new(0),
        };
        let node = |_| Node { arrivals: AtomicU64::new(0), melded: [Shelf::new(Vec::new()), Shelf::new(Vec::new())] };
        Self {
            members: (0..size).map(member).collect(),
            nodes: if size > flat { (0..size).map(node).collect() } else { Box::default() },
            released: AtomicU64::new(0),
            sleepers: AtomicU32::new(0),
            expedited: fences::expedited(),
        }
    }
}

/// Where the contribution of a segment of ranks is found.
#[derive(Clone, Copy)]
enum Piece {
    Rank(usize),
    Node(usize),
}

impl Piece {
    fn of(low: usize, size: usize) -> Self {
        if size == 1 { Self::Rank(low) } else { Self::Node(low + tree::cut(size)) }
    }
}

/// A node on the way from a leaf to the root, with what comes together there.
struct Rung {
    node: usize,
    left: Piece,
    right: Piece,
}

/// The way up from `rank`, lowest first.
fn ladder(rank: usize, size: usize) -> Vec<Rung> {
    let mut rungs = Vec::new();
    let (mut low, mut size) = (0, size);
    while size > 1 {
        let left_size = tree::cut(size);
        let (middle, right_size) = (low + left_size, size - left_size);
        rungs.push(Rung { node: middle, left: Piece::of(low, left_size), right: Piece::of(middle, right_size) });
        if rank < middle {
            size = left_size;
        } else {
            (low, size) = (middle, right_size);
        }
    }
    rungs.reverse();
    rungs
}

/// One member's place at a table.
pub(crate) struct Seat {
    table: Arc<Table>,
    rank: usize,
    /// The last meeting I entered.
    entered: u64,
    /// The last meeting that was held for me; behind `entered` only once I may not go on (T5).
    held: u64,
    posted: u64,
    ladder: Vec<Rung>,
    scratch: Scratch,
}

impl Seat {
    /// Sits down. Each rank's seat is taken once, by the thread that will use it.
    pub(crate) fn take(table: Arc<Table>, rank: usize) -> Self {
        let taken = table.members[rank].thread.set(thread::current());
        assert!(taken.is_ok(), "rank {rank} of a circle was taken twice");
        let ladder = if table.nodes.is_empty() { Vec::new() } else { ladder(rank, table.members.len()) };
        Self { table, rank, entered: 0, held: 0, posted: 0, ladder, scratch: Scratch::default() }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.table.members.len()
    }

    /// Enters the next meeting, waits for everybody and melds.
    #[inline]
    pub(crate) fn meet(
        &mut self,
        mine: &[u8],
        how: &mut dyn Meld,
        outcome: &mut Melded,
        cord: &Cord,
    ) -> Result<(), Failure> {
        self.check(cord)?;
        self.enter(mine, how);
        self.await_all(cord)?;
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
            let (table, copy) = (&self.table, self.copy());
            let leaf = |rank| table.contribution(Piece::Rank(rank), copy);
            tree::fold(0, table.members.len(), &leaf, how, &mut self.scratch, &mut outcome.total);
            if wants_before {
                let size = table.members.len();
                tree::fold_before(self.rank, size, &leaf, how, &mut self.scratch, &mut outcome.before);
            }
        } else {
            outcome.total.clear();
            outcome.total.extend_from_slice(self.table.contribution(Piece::of(0, self.size()), self.copy()));
            if wants_before {
                let (table, copy, size) = (&self.table, self.copy(), self.size());
                let scratch = &mut self.scratch;
                tree::descend(self.rank, size, |low, size| {
                    tree::append(table.contribution(Piece::of(low, size), copy), how, scratch, &mut outcome.before);
                });
            }
        }
        Ok(())
    }

    /// Enters the next meeting and does not stay for the outcome.
    pub(crate) fn leave(&mut self, mine: &[u8], how: &mut dyn Meld, cord: &Cord) -> Result<(), Failure> {
        self.check(cord)?;
        self.enter(mine, how);
        Ok(())
    }

    /// Fails once the alarm was raised, and so for good where one of my waits did (T5).
    #[inline]
    fn check(&self, cord: &Cord) -> Result<(), Failure> {
        cord.check()?;
        assert_eq!(
            self.held, self.entered,
            "a member came back to a circle that it had left, or in which it had panicked"
        );
        Ok(())
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
        me.copies[copy].note.with_mut(|note| {
            // SAFETY: T1, this copy is mine until I publish.
            let note = unsafe { &mut *note };
            note.len = mine.len() as u32;
            note.is_long = is_long;
            note.posted = std::mem::take(&mut self.posted);
            // A constant length spares the common case, an empty step, a call.
            match mine.first_chunk::<BARE>() {
                Some(bare) if mine.len() == BARE => note.inline[..BARE].copy_from_slice(bare),
                _ if !is_long => note.inline[..mine.len()].copy_from_slice(mine),
                _ => {}
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

    fn await_all(&mut self, cord: &Cord) -> Result<(), Failure> {
        let (table, meeting, copy) = (&self.table, self.entered, self.copy());
        if !self.ladder.is_empty() {
            return self.await_one(ANYBODY, cord, || table.released.load(Ordering::Acquire) == meeting);
        }
        for (rank, member) in table.members.iter().enumerate() {
            if rank != self.rank {
                let published = &member.copies[copy].published;
                self.await_one(rank as u32, cord, || published.load(Ordering::Acquire) == meeting)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn await_one(&self, whom: u32, cord: &Cord, here: impl Fn() -> bool) -> Result<(), Failure> {
        if here() {
            return Ok(());
        }
        let mut patience = Patience::new();
        loop {
            match patience.next() {
                Turn::Spin => std::hint::spin_loop(),
                Turn::Yield => thread::yield_now(),
                Turn::Sleep => self.sleep(whom, cord, &here),
            }
            if here() {
                return Ok(());
            }
            cord.check()?;
        }
    }

    /// Sleeps until somebody wakes me, unless what I wait for is there already.
    #[cold]
    fn sleep(&self, whom: u32, cord: &Cord, here: &impl Fn() -> bool) {
        let asleep = &self.table.members[self.rank].asleep;
        asleep.store(whom.saturating_add(1), Ordering::Relaxed);
        self.table.sleepers.fetch_add(1, Ordering::Relaxed);
        // Pairs with the light fence of whoever publishes: it sees me asleep, or I see what it published.
        fences::heavy(self.table.expedited);
        if !here() && cord.check().is_ok() {
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

    /// Puts `tray` where `to` finds it after the next meeting.
    pub(crate) fn post(&mut self, to: usize, tray: &mut Tray, cord: &Cord) -> Result<(), Failure> {
        self.check(cord)?;
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
        tray.clear();
        self.posted |= 1 << (to % 64);
        Ok(())
    }

    /// Takes what `from` posted to me before the last meeting.
    pub(crate) fn take_tray(&mut self, from: usize, into: &mut Tray) -> bool {
        if self.held != self.entered {
            return false;
        }
        let (source, copy) = (&self.table.members[from], self.copy());
        // SAFETY: T2, I have entered this meeting, it has been held, and I have not entered the next.
        let posted = source.copies[copy].note.with(|note| unsafe { (*note).posted });
        let Some(trays) = source.trays.get().filter(|_| posted & (1 << (self.rank % 64)) != 0) else {
            return false;
        };
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

impl Table {
    /// What a segment of ranks said at the meeting whose copy this is.
    #[inline]
    fn contribution(&self, piece: Piece, copy: usize) -> &[u8] {
        match piece {
            Piece::Rank(rank) => {
                let member = &self.members[rank];
                // SAFETY: T2; the reference lives no longer than the caller's stay in this meeting.
                let note = member.copies[copy].note.with(|note| unsafe { &*note });
                if note.is_long {
                    // SAFETY: as above.
                    member.long[copy].with(|long| unsafe { &*long })
                } else {
                    &note.inline[..note.len as usize]
                }
            }
            // SAFETY: T3 and T2.
            Piece::Node(node) => self.nodes[node].melded[copy].with(|melded| unsafe { &*melded }),
        }
    }

    #[inline]
    fn wake_those_who_wait_for(&self, rank: usize) {
        fences::light(self.expedited);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake(|whom| whom == rank as u32 + 1);
        }
    }

    fn wake_all(&self) {
        fences::light(self.expedited);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake(|whom| whom != 0);
        }
    }

    #[cold]
    fn wake(&self, which: impl Fn(u32) -> bool) {
        for member in &self.members {
            if which(member.asleep.load(Ordering::Relaxed))
                && let Some(thread) = member.thread.get()
            {
                thread.unpark();
            }
        }
    }
}
