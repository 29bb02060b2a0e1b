//! Bulk-synchronous parallel programs with a shared-memory view.
//!
//! A program is a closure that every processor runs. Its processors form a [`Group`] and work in supersteps: inside
//! a [step](Group::step) each computes on what it has, and at the boundary everything that was asked for happens at
//! once, in a fixed order. So there are no data races and no deadlocks, and for a given input and number of processors
//! the result is the same, bit for bit, in every run.
//!
//! ```
//! use superstep::Sum;
//!
//! fn main() -> superstep::Result {
//!     superstep::run(|world| {
//!         let total = world.step(|s| s.reduce(s.rank() as u64, Sum));
//!         if world.is_leader() { println!("{total}") }
//!     })
//! }
//! ```
//!
//! # What there is
//!
//! - [`run`] and [`Config`] start processors: threads, or the simulated ones of [`testing`].
//! - A [`Group`] steps and [splits](Group::split), as deeply as you like.
//! - A [`Step`] has the verbs: [`reduce`](Step::reduce), [`prefix`](Step::prefix), [`broadcast`](Step::broadcast),
//!   [`collect`](Step::collect), [`deal`](Step::deal), [`exchange`](Step::exchange), [`put`](Step::put),
//!   [`get`](Step::get), [`hp_put`](Step::hp_put), [`hp_get`](Step::hp_get), [`send`](Step::send).
//! - [`Array`]s lie spread over the processors and are read and written by global index: [`update`](Step::update),
//!   [`mirror`](Step::mirror), [`scatter`](Step::scatter), [`gather`](Step::gather), [`assign`](Step::assign),
//!   [`permute`](Step::permute); [`guide::arrays`] leads there from a loop over a `Vec`.
//! - [`Paged`] arrays are read and written by global index at any time, and [`cohere`](Group::cohere) makes a section
//!   the same on some processors, and nobody else waits; [`guide::coherence`] says when that pays.
//! - [`Shared`] variables have a copy on every processor, [`Area`]s are memory that others may put to and get from,
//!   [`Queue`]s carry messages.
//! - [`Object`]s have a representative on every processor, and in an [epoch](Group::epoch) processors run methods on
//!   each other's: [`send`](Epoch::send), [`call`](Epoch::call), [`ask`](Epoch::ask). [`Volatile`] variables are read
//!   and written by all at any time of it. [`containers`] are built of these: vectors, hash maps and graphs.
//! - [`Error`] says in one line what went wrong, where, and what to do; a body may return its own, and
//!   [`guide::errors`] shows what becomes of it.
//!
//! Costs are given as in the BSP model: `g` is the time per word of communication, `l` that of an empty boundary, `p`
//! the number of processors. `superstep probe` measures them.

#![forbid(unsafe_code)]

mod algo;
mod engine;
mod epoch;
mod error;
pub mod guide;
mod launch;
mod memory;
mod panics;
pub mod sim;
pub mod testing;

pub use algo::containers;
pub use engine::{
    Ancestor, And, Any, By, Checked, Combine, Each, Element, Every, Fold, Group, Leader, Local, Max, Min, Or, Outcome,
    Pending, Plain, Product, Same, Settle, Split, Splitting, Step, Sum, Value, Weighted, Xor,
};
pub use epoch::{Answer, Epoch, Handle, Method, Number, Object, Target, Tuning, Volatile, VolatileArray};
pub use error::{BoxError, Error, ErrorKind, Result};
#[cfg(fuzzing)]
#[doc(hidden)]
pub use launch::fuzz_environment;
pub use launch::{Config, Fabric, cores, run, run_all};
pub use memory::{
    Area, Array, Block, BlockCyclic, Cohering, Cyclic, Distribution, Ends, Gatherer, Irregular, OneScatterer, Paged,
    Place, Queue, Run, RunMut, Scatterer, Section, Shared, Source, Strided, Tiles, strided,
};
