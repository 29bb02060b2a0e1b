//! The meeting place of a circle of threads: two padded slots for each member, used by turns.
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
    fences,
    letters::LetterBox,
    sync::{AtomicU32, AtomicU64, Ordering, Shelf, Thread},
};
use crate::{circle::Common, nest::Nest, tray::Tray, tree};
use std::sync::{Arc, OnceLock};

/// Up to this many members read each other's slots directly; more climb a tree.
pub(crate) const FLAT: usize = 8;
/// What fits into a slot itself: small contributions, and with them one small tray.
pub(super) const INLINE: usize = 104;

/// The length of an empty step's contribution.
pub(super) const BARE: usize = 16;

/// What a member says at one meeting. In this order, what an empty step needs lies in the first cache line, and so does
/// a contribution of 40 bytes: a reduction and a prefix of 8 bytes each.
#[repr(C)]
pub(super) struct Said {
    /// Bit `t % 64` is set where the member posted a tray to member `t`.
    pub(super) posted: u64,
    /// Whom the small tray behind the contribution is for, and how long it is.
    pub(super) rider_to: u32,
    pub(super) rider_len: u8,
    /// How long the contribution is, unless it did not fit and lies in the member's `long`.
    pub(super) len: u8,
    pub(super) is_long: bool,
    pub(super) inline: [u8; INLINE],
}

/// One copy of a slot: a pair of cache lines, of which an empty step needs the first.
#[repr(C, align(128))]
pub(super) struct Slot {
    pub(super) published: AtomicU64,
    pub(super) said: Shelf<Said>,
}

impl Slot {
    fn new() -> Self {
        let said = Said { posted: 0, len: 0, rider_to: 0, rider_len: 0, is_long: false, inline: [0; INLINE] };
        Self { published: AtomicU64::new(0), said: Shelf::new(said) }
    }
}

/// The trays of one source for one target.
pub(super) type TrayPair = [Shelf<Posted>; 2];

/// A tray, and the meeting it was posted for; one that nobody took stays behind and must not be mistaken for a later
/// one.
#[derive(Default)]
pub(super) struct Posted {
    pub(super) meeting: u64,
    pub(super) tray: Tray,
}

#[repr(align(128))]
pub(super) struct Member {
    pub(super) copies: [Slot; 2],
    pub(super) long: [Shelf<Vec<u8>>; 2],
    /// One pair of trays per target; made when the member first posts.
    pub(super) trays: OnceLock<Box<[TrayPair]>>,
    /// What comes for it without a meeting.
    pub(super) letters: LetterBox,
    /// Whom to wake, and its number among the threads of the run; known once the member has sat down.
    pub(super) thread: OnceLock<(Thread, usize)>,
    /// 0 while awake, else one more than the member that is waited for ([`ANYBODY`] in a tree).
    pub(super) asleep: AtomicU32,
}

pub(super) const ANYBODY: u32 = u32::MAX;

/// An inner node of the tree: where two neighbouring segments of ranks come together.
#[repr(align(128))]
pub(super) struct Node {
    /// Two per meeting.
    pub(super) arrivals: AtomicU64,
    pub(super) melded: [Shelf<Vec<u8>>; 2],
}

/// What a circle's members share.
pub(crate) struct Table {
    pub(super) members: Box<[Member]>,
    /// The node whose right half begins with rank `i` is number `i`; empty in a flat circle.
    pub(super) nodes: Box<[Node]>,
    /// The last meeting whose root was reached; for trees.
    pub(super) released: AtomicU64,
    pub(super) sleepers: AtomicU32,
    pub(super) expedited: bool,
    /// Tables of circles that are made from this one, until all their members have sat down.
    pub(super) further: Nest<Arc<Table>>,
    /// What the members have in common, until all have found it.
    pub(super) commons: Nest<Common>,
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
            copies: [Slot::new(), Slot::new()],
            long: [Shelf::new(Vec::new()), Shelf::new(Vec::new())],
            trays: OnceLock::new(),
            letters: LetterBox::new(size),
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
            further: Nest::default(),
            commons: Nest::default(),
        }
    }
}

/// Where the contribution of a segment of ranks is found.
#[derive(Clone, Copy)]
pub(super) enum Piece {
    Rank(usize),
    Node(usize),
}

impl Piece {
    pub(super) fn of(low: usize, size: usize) -> Self {
        if size == 1 { Self::Rank(low) } else { Self::Node(low + tree::cut(size)) }
    }
}

impl Table {
    /// What a segment of ranks said at the meeting whose copy this is.
    #[inline]
    pub(super) fn contribution(&self, piece: Piece, copy: usize) -> &[u8] {
        match piece {
            Piece::Rank(rank) => {
                let member = &self.members[rank];
                // SAFETY: T2; the reference lives no longer than the caller's stay in this meeting.
                let said = member.copies[copy].said.with(|said| unsafe { &*said });
                if said.is_long {
                    // SAFETY: as above.
                    member.long[copy].with(|long| unsafe { &*long })
                } else {
                    &said.inline[..usize::from(said.len)]
                }
            }
            // SAFETY: T3 and T2.
            Piece::Node(node) => self.nodes[node].melded[copy].with(|melded| unsafe { &*melded }),
        }
    }

    #[inline]
    pub(super) fn wake_those_who_wait_for(&self, rank: usize) {
        fences::light(self.expedited);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake(|whom| whom == rank as u32 + 1);
        }
    }

    #[inline]
    pub(super) fn wake_one(&self, rank: usize) {
        fences::light(self.expedited);
        let member = &self.members[rank];
        if self.sleepers.load(Ordering::Relaxed) > 0
            && member.asleep.load(Ordering::Relaxed) != 0
            && let Some((thread, _)) = member.thread.get()
        {
            thread.unpark();
        }
    }

    pub(super) fn wake_all(&self) {
        fences::light(self.expedited);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake(|whom| whom != 0);
        }
    }

    #[cold]
    fn wake(&self, which: impl Fn(u32) -> bool) {
        for member in &self.members {
            if which(member.asleep.load(Ordering::Relaxed))
                && let Some((thread, _)) = member.thread.get()
            {
                thread.unpark();
            }
        }
    }
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn only_more_members_than_read_each_other_climb_a_tree() {
        for (size, nodes) in [(1, 0), (FLAT, 0), (FLAT + 1, FLAT + 1), (2 * FLAT, 2 * FLAT)] {
            assert_eq!(Table::new(size).nodes.len(), nodes, "{size} members");
        }
    }
}
