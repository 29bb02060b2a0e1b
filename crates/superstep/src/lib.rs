//! Bulk-synchronous parallel programs with a shared-memory view.
//!
//! A program is a closure that every processor runs. Its processors form a [`Group`] and work in supersteps: inside
//! a [step](Group::step) each computes on what it has, and at the boundary everything that was asked for happens at
//! once, in a fixed order. So there are no data races and no deadlocks, and for a given input and number of processors
//! the result is the same, bit for bit, in every run. Only an [epoch](Group::epoch) leaves open which of two senders
//! comes first.
//!
//! ```
//! use superstep::{Block, Sum};
//!
//! fn main() -> superstep::Result {
//!     superstep::run(|world| {                                              // threads, or processes under `mpirun`
//!         let (me, p) = (world.rank(), world.size());
//!
//!         // Steps: what is asked for in one happens at its end, and comes back as plain values.
//!         let (total, below) = world.step(|s| (s.reduce(me + 1, Sum), s.prefix(me + 1, Sum)));
//!         assert_eq!((total, below), (p * (p + 1) / 2, me * (me + 1) / 2));
//!
//!         // Arrays: spread over all processors, read and written in bulk by global index.
//!         let counts = world.array::<u64, Block>(10);
//!         world.step(|s| s.scatter(&counts, &[me % 10, 3], &[1, 1], Sum));  // counts[index] += 1, whoever owns it
//!         let all = world.step(|s| s.mirror(&counts, ..));
//!         assert_eq!(all.iter().sum::<u64>(), 2 * p as u64);
//!
//!         // Epochs: work goes to where the data is, and ends when no request is under way anywhere.
//!         let inbox = world.object(Vec::new());
//!         world.epoch(|e| e.send((me + 1) % p, &inbox, me, |inbox, _, from| inbox.push(from)));
//!         assert_eq!(inbox.with(|inbox| inbox.clone()), [(me + p - 1) % p]);
//!     })
//! }
//! ```
//!
//! `cargo run` starts one processor for each core. The same executable runs on a cluster: [`guide::cluster`].
//!
//! # What there is
//!
//! - [`run`] and [`Config`] start processors: threads, processes, or the simulated ones of [`testing`].
//! - A [`Group`] steps and [splits](Group::split), as deeply as you like.
//! - A [`Step`] has the verbs: [`reduce`](Step::reduce), [`prefix`](Step::prefix), [`broadcast`](Step::broadcast),
//!   [`collect`](Step::collect), [`deal`](Step::deal), [`exchange`](Step::exchange), [`put`](Step::put),
//!   [`get`](Step::get), [`hp_put`](Step::hp_put), [`hp_get`](Step::hp_get), [`send`](Step::send).
//! - [`Array`]s lie spread over the processors and are read and written by global index: [`update`](Step::update),
//!   [`mirror`](Step::mirror), [`scatter`](Step::scatter), [`gather`](Step::gather), [`assign`](Step::assign),
//!   [`permute`](Step::permute); [`guide::arrays`] leads there from a loop over a `Vec`. A [`plan`](Group::plan) reads
//!   and writes the same elements again and again; [`sparse`] matrices and graphs are built on it.
//! - [`Paged`] arrays are read and written by global index at any time, and [`cohere`](Group::cohere) makes a section
//!   the same on some processors, and nobody else waits; [`guide::coherence`] says when that pays.
//! - [`Shared`] variables have a copy on every processor, [`Area`]s are memory that others may put to and get from,
//!   [`Queue`]s carry messages.
//! - [`Object`]s have a representative on every processor, and in an [epoch](Group::epoch) processors run methods on
//!   each other's: [`send`](Epoch::send), [`call`](Epoch::call), [`ask`](Epoch::ask). [`Volatile`] variables are read
//!   and written by all at any time of it. [`containers`] are built of these: vectors, hash maps and graphs.
//! - [`algorithms`] work on whole arrays, and on a vector of each processor: sort, scan, filter, group and join by key.
//! - [`files`] are read and written by all at once, and a [checkpoint](guide::checkpoints) lets a program go on where
//!   another run of it was.
//! - [`Error`] says in one line what went wrong, where, and what to do; a body may return its own, and
//!   [`guide::errors`] shows what becomes of it.
//! - Guides lead here [from rayon](guide::rayon), [from MPI](guide::mpi) and [from BSPlib](guide::bsplib), and say how
//!   to [test a program](guide::testing) and what [`main` does outside `run`](guide::outside).
//!
//! A handle that is dropped sends nothing and waits for nobody: that is told with the group's next boundary, and what
//! all members have dropped is gone then. The one value whose drop waits is [`paged::Cohering`], which says so.
//!
//! Costs are given as in the BSP model: `g` is the time per word of communication, `l` that of an empty boundary, `p`
//! the number of processors. `superstep probe` measures them.

#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod algo;
pub mod algorithms;
#[doc(hidden)]
pub mod derived;
mod engine;
mod epoch;
mod error;
pub mod files;
pub mod guide;
mod launch;
mod memory;
#[doc(hidden)]
pub mod neststep;
mod panics;
pub mod sim;
pub mod testing;

#[cfg(fuzzing)]
#[doc(hidden)]
pub use launch::fuzz_environment;

pub use algo::{containers, sparse};
pub use engine::{Group, Local, Max, Min, Pending, Step, Sum};
pub use epoch::{Epoch, Object, Volatile, VolatileArray};
pub use error::{Error, ErrorKind, Result};
pub use launch::{Check, Config, Fabric, cores, run, run_all};
pub use memory::{Area, Array, Block, Cyclic, Paged, Queue, Shared};

// What stands in a module of its own can be named here as well, by programs that have no line for each module.
#[doc(hidden)]
pub use {
    arrays::{Gatherer, OneScatterer, Place, Plan, Scatterer},
    distributions::{BlockCyclic, Distribution, Irregular, Tiles},
    epochs::{Answer, Handle, Method, Number, Target, Tuning},
    groups::{Ancestor, By, Every, Split, Splitting, Weighted},
    operators::{And, Any, Checked, Combine, Each, Fold, Leader, Or, Product, Same, Xor},
    paged::{Cohering, Run, RunMut},
    sections::{Ends, Section, Source, Strided, strided},
    values::{BoxError, Element, Outcome, Plain, Settle, Value},
};

/// How contributions, copies and writes become one value: in the order of ranks, and the same on every fabric.
///
/// ```
/// use superstep::{Config, operators::Product};
///
/// let product = Config::new().procs(3).run(|g| g.step(|s| s.reduce(s.rank() as u64 + 1, Product)));
/// assert_eq!(product.unwrap(), 6);
/// ```
pub mod operators {
    pub use crate::engine::{And, Any, Checked, Combine, Each, Fold, Leader, Max, Min, Or, Product, Same, Sum, Xor};
}

/// How a group is split into subgroups, and who is above a subgroup.
///
/// ```
/// use superstep::{Config, groups::Weighted};
///
/// let sizes = Config::new().procs(4).run_all(|g| g.split(Weighted(&[1.0, 3.0]), |sub| sub.size()).unwrap());
/// assert_eq!(sizes.unwrap(), [1, 3, 3, 3]);
/// ```
pub mod groups {
    pub use crate::engine::{Ancestor, By, Every, Split, Splitting, Weighted};
}

/// Where the elements of an [`Array`] lie.
///
/// ```
/// use superstep::{Array, Config, distributions::Irregular};
///
/// let owners = Config::new().procs(2).run(|g| {
///     let a: Array<u8, Irregular> = g.array_with([4], Irregular(vec![1, 3]));
///     [0, 1, 2, 3].map(|i| a.owner(i))
/// });
/// assert_eq!(owners.unwrap(), [0, 1, 1, 1]);
/// ```
pub mod distributions {
    pub use crate::memory::{Block, BlockCyclic, Cyclic, Distribution, Irregular, Tiles};
}

/// What goes with arrays: places of elements, and loops that ask for elements or write to them one by one.
///
/// ```
/// use superstep::{Block, Config};
///
/// let far = Config::new().procs(2).run(|g| {
///     let a = g.array::<u32, Block>(4);
///     g.step(|s| s.gather(&a, &[3]))
/// });
/// assert_eq!(far.unwrap(), [0]);
/// ```
pub mod arrays {
    pub use crate::memory::{Array, Edge, Gatherer, Halo, OneScatterer, PendingHalo, Place, Plan, Scatterer, Whole};
}

/// Sections of arrays and areas: ranges, with a stride or without.
///
/// ```
/// use superstep::{Block, Config, sections::strided};
///
/// let every_second = Config::new().procs(2).run(|g| {
///     let a = g.array::<u32, Block>(9);
///     g.step(|s| s.mirror(&a, strided(1..=7, 2))).len()
/// });
/// assert_eq!(every_second.unwrap(), 4);
/// ```
pub mod sections {
    pub use crate::memory::{Ends, Section, Source, Strided, strided};
}

/// Paged arrays, and what their coherence calls and rows are.
///
/// ```
/// let there = superstep::Config::new().procs(2).run(|g| {
///     let a = g.paged::<f64, 2>([4, 4], [2, 4]);
///     g.cohere(&a, (.., ..), &[0, 1]);
///     a.read([3, 3])
/// });
/// assert_eq!(there.unwrap(), 0.0);
/// ```
pub mod paged {
    pub use crate::memory::{Cohering, Paged, Run, RunMut};
}

/// Epochs: objects, handles to them, remote methods and their answers, and variables that all may change.
///
/// ```
/// let sum = superstep::Config::new().procs(3).run(|g| {
///     let total = g.object(0);
///     g.epoch(|e| e.send(0, &total, e.rank(), |total, _, x| *total += x));
///     total.with(|total| *total)
/// });
/// assert_eq!(sum.unwrap(), 3);
/// ```
pub mod epochs {
    pub use crate::epoch::{Answer, Epoch, Handle, Method, Number, Object, Target, Tuning, Volatile, VolatileArray};
}

/// What values, elements and results of bodies are.
///
/// One line makes a struct of a program an element of arrays and a value that can be broadcast, sent and combined:
///
/// ```
/// use superstep::{Block, Config, values::Element};
///
/// #[derive(Debug, PartialEq, Element)]
/// #[repr(C)]
/// struct Particle { place: [f64; 3], mass: f32, kind: u32 }
///
/// let (far, same) = Config::new().procs(2).run(|g| {
///     let all = g.array::<Particle, Block>(4);
///     all.forall_mut(|i, particle| particle.kind = i as u32);
///     let mine = Particle { place: [0.0; 3], mass: 1.5, kind: 7 };
///     g.step(|s| (s.gather(&all, &[3]), s.broadcast(1, Some(mine))))
/// }).unwrap();
/// assert_eq!((far[0].kind, same.mass), (3, 1.5));
/// ```
pub mod values {
    pub use superstep_derive::Element;

    pub use crate::{
        engine::{Element, Local, Outcome, Plain, Settle, Value},
        error::BoxError,
    };
}

/// Everything that most programs name.
///
/// ```
/// use superstep::prelude::*;
///
/// let most = Config::new().procs(3).run(|g| g.step(|s| s.reduce(s.rank(), Max))).unwrap();
/// assert_eq!(most, 2);
/// ```
pub mod prelude {
    pub use crate::{
        Area, Array, Config, Epoch, Fabric, Group, Object, Paged, Pending, Queue, Shared, Step,
        distributions::{Block, BlockCyclic, Cyclic, Irregular, Tiles},
        groups::{By, Every, Weighted},
        operators::{And, Any, Each, Max, Min, Or, Product, Same, Sum, Xor},
        sections::strided,
    };
}
