//! What a fabric offers a group: the [`Circle`], and the contract that every fabric keeps.
//!
//! A circle is one processor's end of one group. The engine above builds supersteps from it and asks for nothing
//! else: it never learns whether the others are threads, processes or ranks of MPI.
//!
//! # Contract
//!
//! 1. **Nobody early.** A meeting returns on no member before every member has entered it or left in it.
//! 2. **One outcome.** Every member of a meeting gets the same `total`: all contributions melded in rank order, grouped
//!    as [`tree`](crate::tree) says, which depends on the circle's size alone.
//! 3. **Those below.** `before` is what the ranks below me contributed, melded in rank order and grouped as
//!    [`tree`](crate::tree) says; it is empty for rank 0 and where [`Meld::wants_before`] is false.
//! 4. **Trays.** What was posted to me before a meeting can be taken after it and until I enter the next one, whole and
//!    in the order of posting; nothing else can.
//! 5. **Leaving.** A member that leaves counts as present in that one meeting and in no later one. Its contribution
//!    counts. It may have to wait for the others, but never for anything they do after that meeting.
//! 6. **Circles apart.** What happens in one circle is not seen in another, whichever members they share.
//! 7. **Failing.** Once an alarm was raised, every wait of every processor of the run ends with that same failure,
//!    and so does every later call; nobody is left waiting.
//! 8. **Moving.** Where [`Circle::shares`] says so, `Tray::moved` reaches the other side by moving a pointer; elsewhere
//!    a tray carries bytes alone.
//! 9. **Letters.** A letter reaches its member whole and once, after every letter that I sent it before, whether or not
//!    anybody meets. Only its member's [`Mail::next_letter`] takes it. Letters say nothing about meetings, nor
//!    meetings about letters.
//! 10. **Counts.** A count is a sum in which nobody waits: it is there once every member has entered it, and then it is
//!     the same for all of them. Members enter one after the other, and each has seen the sum of one before it enters
//!     the next.

use crate::{alarm::Alarm, failure::Failure, nest::Name, sight::Pen, tray::Tray};
use std::{any::Any, sync::Arc};

/// How two contributions become one.
pub trait Meld {
    /// Writes into `out`, which is empty, what `left` and `right` amount to together. All of `left`'s ranks come before
    /// all of `right`'s.
    ///
    /// It must be a function of the two alone, the same one on every member.
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>);

    /// Whether contributions that all equal mine, byte for byte, meld into that same one. Then a meeting at which
    /// nobody has anything to say skips the melding.
    fn alike(&self) -> bool {
        false
    }

    /// Whether this meeting must also find [`Melded::before`]; the same on every member.
    fn wants_before(&self) -> bool {
        false
    }
}

/// What a meeting found out. Keep one and hand it in again: its buffers are reused.
#[derive(Debug, Default)]
pub struct Melded {
    /// All contributions, melded.
    pub total: Vec<u8>,
    /// Those of the ranks below mine, melded.
    pub before: Vec<u8>,
}

/// What a count sums, number by number.
pub type Counts = [u64; 5];

/// What members that share an address space have in common.
pub type Common = Arc<dyn Any + Send + Sync>;

/// What all members do together: they meet, and hand each other trays and memory.
pub trait Meetings {
    /// Enters the next meeting with `mine`, waits for all others and writes the outcome.
    fn meet(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure>;

    /// Enters the next meeting with `mine` as the last thing I do in this circle.
    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure>;

    /// Waits until every member has called it: a meeting with nothing to say.
    fn wait(&mut self) -> Result<(), Failure>;

    /// Hands `tray` to member `to`, who can take it after the next meeting. At most one call per member and meeting.
    /// What comes back in `tray` is empty and may have room left from earlier use.
    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure>;

    /// Takes what member `from` posted before the last meeting by swapping it with `into`, which must be empty. Says
    /// whether there was anything.
    fn take(&mut self, from: usize, into: &mut Tray) -> bool;

    /// Whether [`carry`](Self::carry) moves memory between members that share none, and there are such.
    fn carries(&self) -> bool {
        false
    }

    /// Whether a member may share memory with some of the others and not with all: the same for every member.
    fn is_mixed(&self) -> bool {
        false
    }

    /// Moves memory straight to other members and from them, with no copy in between where that can be had: each piece
    /// of `out` to the member it names, and into each place of `into` what that member sends. Between two members
    /// pieces and places come in the same order and have the same lengths. Returns when all of it has gone and come.
    ///
    /// # Errors
    ///
    /// If the alarm was raised, or if members that share memory ask for it.
    fn carry(&mut self, _out: &[(usize, &[u8])], _into: &mut [(usize, &mut [u8])]) -> Result<(), Failure> {
        Err(Failure::Damaged { rank: 0 })
    }
}

/// What passes between members without a meeting: letters and counts.
pub trait Mail {
    /// Sends member `to` a letter, at once. What comes back in `letter` is empty.
    fn send_letter(&mut self, to: usize, letter: &mut Tray) -> Result<(), Failure>;

    /// Takes the next letter that has come, into `letter`, which must be empty; says from whom, if there was one.
    /// Nobody waits.
    fn next_letter(&mut self, letter: &mut Tray) -> Result<Option<usize>, Failure>;

    /// Enters the next count with `mine`.
    fn enter_count(&mut self, mine: Counts) -> Result<(), Failure>;

    /// The sum of the count that I have entered, once it is there; once for each count. Nobody waits.
    fn counted(&mut self) -> Result<Option<Counts>, Failure>;

    /// Waits for a letter, or for the sum of the count that I have entered. It may return before there is either.
    fn rest(&mut self) -> Result<(), Failure>;
}

/// One processor's end of one group: its meetings and its mail, who the members are, and the way to further circles.
/// See the [module](self) for the contract.
pub trait Circle: Meetings + Mail {
    /// My number among the members.
    fn rank(&self) -> usize;

    /// How many members there are.
    fn size(&self) -> usize;

    /// The number of a member in the whole run.
    fn number(&self, rank: usize) -> usize;

    /// Whether `other` and I share an address space, so that objects can move between us.
    fn shares(&self, other: usize) -> bool;

    /// Something that all members have in common, if they share an address space: the first to ask makes it, and all
    /// get the same. All of them ask, with a `name` that they use for nothing else in this circle.
    fn common(&self, _name: Name, _make: &mut dyn FnMut() -> Common) -> Option<Common> {
        None
    }

    /// Makes my end of a further circle of `members`, named by their ranks here, in which I am member `rank`. All of
    /// them call this with the same `name`, which no other circle made from this one ever has.
    fn join(&self, name: Name, members: &[usize], rank: usize) -> Box<dyn Circle>;

    /// Charges this processor with so many operations, where time is simulated.
    fn work(&self, _operations: u64) {}

    /// The pen with which this processor writes down where it is and for whom it waits.
    fn pen(&self) -> Pen {
        Pen::default()
    }

    /// What to raise when this processor cannot go on.
    fn alarm(&self) -> Arc<dyn Alarm>;
}

/// Melds nothing: for meetings that only wait.
pub(crate) struct Silence;

impl Meld for Silence {
    fn meld(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>) {}

    fn alike(&self) -> bool {
        true
    }
}
