//! Remote methods: objects, epochs and the fence.
//!
//! An epoch is the asynchronous sibling of a step. While it lasts processors send each other requests, each a method to
//! run on the receiver's representative of an [`Object`]. Requests to one processor wait in its *lane* until there are
//! enough for a *letter*; those that follow each other with the same method and object are a *series*, which has one
//! header and is worked off in one loop. Letters are taken in and requests run only while a processor is inside a call
//! of the epoch. The epoch ends when counting letters shows that none is under way; `README.md` beside this file says
//! why that is right.

mod ask;
mod book;
mod cells;
mod collective;
mod deed;
mod enter;
#[cfg(test)]
mod explorer;
mod fence;
mod incoming;
mod lane;
mod letter;
mod methods;
mod object;
mod outgoing;
mod pool;
mod running;
mod serve;
mod state;
mod trouble;
mod tuning;
mod verbs;
mod verdict;
mod volatile;
mod wait;
mod work;
mod written;

pub use ask::Answer;
pub use cells::Number;
pub(crate) use deed::Deed;
pub use deed::Method;
pub use object::{Handle, Object, Target};
pub use state::Epoch;
pub use tuning::Tuning;
pub use volatile::{Volatile, VolatileArray};
