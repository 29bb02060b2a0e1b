//! Tenants: what a group has made that takes part in its boundaries, and the phases in which it may.
//!
//! The engine knows no kind of tenant. It knows the phases of a boundary (rule S2), and one small trait for each; a
//! tenant implements those that it needs and names them in its [`Hooks`].

use super::{exchange::Outbox, fingerprint::Occasion, membership::Membership, record::Payload, watch::Clash};
use crate::error::{Error, ErrorKind, Result};
use fabric::{Circle, settings};
use std::{any::Any, num::NonZero, rc::Rc, sync::LazyLock};

/// Values of the program that are over. What they do when they are dropped may name the group and what it has made, or
/// unwind; so that happens when the boundary is over and nobody holds anything.
pub(crate) type Buried = Vec<Box<dyn Any>>;

/// One member's part of something that the group has made.
pub(crate) trait Tenant: Any {
    /// How errors name it.
    fn describe(&self) -> String;

    /// The same with everything that must agree on all members.
    fn declaration(&self) -> String {
        self.describe()
    }

    /// The phases that it takes part in.
    fn hooks(self: Rc<Self>) -> Hooks;
}

/// The phases that a tenant takes part in, in the order of a boundary.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) lends: Option<Rc<dyn Lends>>,
    pub(crate) sends: Option<Rc<dyn Sends>>,
    pub(crate) contributes: Option<Rc<dyn Contributes>>,
    /// Answers reads before anything is committed.
    pub(crate) read_before: Option<Rc<dyn Answers>>,
    pub(crate) transfers: Option<Rc<dyn Transfers>>,
    pub(crate) receives: Option<Rc<dyn Receives>>,
    pub(crate) carries: Option<Rc<dyn Carries>>,
    pub(crate) watches: Option<Rc<dyn Watches>>,
    pub(crate) touched: Option<Rc<dyn Touched>>,
    pub(crate) attempts: Option<Rc<dyn Attempts>>,
    pub(crate) commits: Option<Rc<dyn Commits>>,
    /// Answers reads after everything is committed.
    pub(crate) read_after: Option<Rc<dyn Answers>>,
    pub(crate) turns: Option<Rc<dyn Turns>>,
    pub(crate) abandons: Option<Rc<dyn Abandons>>,
    pub(crate) renumbers: Option<Rc<dyn Renumbers>>,
}

/// Says in an `impl Tenant` which phases the tenant takes part in.
macro_rules! hooks {
    ($($phase:ident),*) => {
        fn hooks(self: std::rc::Rc<Self>) -> $crate::engine::Hooks {
            $crate::engine::Hooks { $($phase: Some(self.clone()),)* ..$crate::engine::Hooks::default() }
        }
    };
}
pub(crate) use hooks;

/// Before the meeting: a tenant that lends its memory to the program.
pub(crate) trait Lends {
    /// Takes the memory back and opens it to peers. False if a borrow of it is alive.
    fn take_back(&self) -> bool;
}

/// Before the meeting: a tenant that collects for others while the step computes.
pub(crate) trait Sends {
    /// Hands over what was collected.
    fn send(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result;
}

/// In the meeting: a tenant of which each member has a value, and all together make one of them.
pub(crate) trait Contributes {
    /// Whether this processor's value takes part, at the given rank.
    fn takes_part(&self, rank: usize) -> bool;

    fn contribute(&self, out: &mut Vec<u8>) -> Result;

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result;

    /// Takes the value that all together have made.
    fn conclude(&self, bytes: &[u8]) -> Result;

    /// Ends the step: what was written and not concluded is as it was before. True if a borrow of it is still alive.
    fn settle(&self, buried: &mut Buried) -> bool;

    /// Takes back what the body of a subgroup's step has written.
    fn revert(&self, buried: &mut Buried);
}

/// Before or after the commit: a tenant that others read from.
pub(crate) trait Answers {
    /// Answers a question of member `from`.
    fn answer(&self, from: usize, question: &[u8], outbox: &mut Outbox) -> Result;
}

/// Before the commit: a tenant whose memory moves straight into that of others.
pub(crate) trait Transfers {
    /// Takes notice of a transfer that this member has a part in. `find` finds the tenant with a number.
    fn notice(&self, from: usize, notice: &[u8], find: &dyn Fn(u32) -> Option<Rc<dyn Tenant>>) -> Result;

    /// Copies away what transfers will both read and write here.
    fn stage(&self, number: u32, outbox: &mut Outbox);

    /// Takes in what transfers bring here. `left` holds the ranks that left in this boundary.
    fn pull(&self, left: &[usize]) -> Result;
}

/// In the commit: a tenant that records of others come to.
pub(crate) trait Receives {
    /// Commits a record of member `from`, or keeps it until all records are here.
    fn receive(&self, from: usize, payload: Payload<'_>) -> Result;
}

/// Before the commit, or in it: a tenant whose memory long data leaves or enters without a tray.
pub(crate) trait Carries {
    /// Its memory, if something is carried out of it or into it in this round.
    fn carry(&self, number: u32, round: Round) -> Option<Box<dyn Carrying + '_>>;
}

/// Before the commit, where conflicts are looked for: a tenant that keeps records until all are here, and knows who
/// writes what.
pub(crate) trait Watches {
    /// The first conflict among the records that have come, unless there is no memory to look.
    fn look(&self) -> Result<Option<Clash>>;
}

/// Before the commit, where conflicts are looked for: a tenant of which members say what they read and write.
pub(crate) trait Touched {
    /// How many elements this member's part has.
    fn len(&self) -> usize;
}

/// Before the commit: a tenant that keeps records until all are here, and may refuse some.
pub(crate) trait Attempts {
    /// Commits the records for the time being: [`Commits::commit`] makes it final, and [`Abandons::abandon`] takes it
    /// back. A second call before that does nothing.
    fn attempt(&self) -> Result;
}

/// In the commit: a tenant that has something to do when all records are here.
pub(crate) trait Commits {
    /// Commits the records that were kept, of which there may be none, and opens its memory to peers.
    fn commit(&self) -> Result;
}

/// At the end of a step, and of no other boundary: a tenant that turns.
pub(crate) trait Turns {
    /// Puts what has come in the place of what the step before brought.
    fn turn(&self, buried: &mut Buried);
}

/// At the end: a tenant with something to undo in a step that failed.
pub(crate) trait Abandons {
    /// Forgets what was collected for others, and takes back what was attempted.
    fn abandon(&self, buried: &mut Buried);
}

/// At the end: a tenant that knows members by their ranks.
pub(crate) trait Renumbers {
    /// Follows the new numbering: `stayed` lists the old ranks of those who stay.
    fn renumber(&self, stayed: &[usize]);
}

/// A way besides the meetings on which members wait for each other. It lasts as long as the group.
pub(crate) trait SideChannel {
    /// Called before this member comes to a boundary, or to its last meeting where `occasion` is none. Fails if another
    /// member waits for this one elsewhere.
    fn before_meeting(&self, me: &Membership, occasion: Option<&Occasion>) -> Result;

    /// Follows a new numbering: `stayed` lists the old ranks of those who stay, and `rank` is this member's new one.
    fn regroup(&self, me: &Membership, stayed: &[usize], rank: usize);
}

/// The error of a transfer whose source has left.
pub(crate) fn departed(rank: usize) -> Error {
    let message = format!("rank {rank} left the group before data of its area was moved");
    Error::new(ErrorKind::Departed, message)
}

/// From how many bytes on data is long, and goes a way of its own between members that share no memory: it is carried,
/// and vectors are combined in pieces. `SUPERSTEP_TEST_LONG` says otherwise, for tests whose data is short.
pub(crate) fn long_bytes() -> usize {
    const LONG_BYTES: usize = 64 << 10;
    static CHOSEN: LazyLock<usize> = LazyLock::new(|| {
        let chosen = settings::read("SUPERSTEP_TEST_LONG", "a number of bytes", |text| text.parse::<NonZero<_>>().ok());
        chosen.ok().flatten().map_or(LONG_BYTES, NonZero::get)
    });
    *CHOSEN
}

/// When in a boundary data is carried. Who sends and who receives must agree on it, so each has heard of the other's
/// part before the round begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// Before the commit, for tenants that keep records until all are here.
    Attempt,
    /// Before the commit, for transfers.
    Transfer,
    /// In the commit, for all that records have told of.
    Commit,
}

/// What goes to others: its number among all that this member sends, to whom, and what.
pub(crate) type Sent<'a> = (u64, usize, &'a [u8]);

/// What comes: its number among all that the sender sends, from whom, and where to.
pub(crate) type Awaited<'a> = (u64, usize, &'a mut [u8]);

/// The memory of a tenant while pieces of it are carried.
pub(crate) trait Carrying {
    /// Adds what goes out of it and what comes into it.
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result;

    /// All has gone and come.
    fn done(&mut self) -> Result;
}
