//! The kernels of superstep's benchmarks, and the raw limits they are held against.
//!
//! A figure on its own says little: it depends on the machine and on the day. So every kernel measures, in one run and
//! by turns, what superstep needs and what hand-written code on bare threads needs for the same job, and reports both
//! with their quotient. Every answer is checked; a fast wrong one counts for nothing.
//!
//! A [`Kernel`] plans contests. In each, contenders do the same job several times in interleaved rounds, so that a
//! slow second of the machine hits all of them, and the best round of each counts.
//!
//! Under MPI every process runs all of this, and they decide alike because they agree on every time that a decision
//! depends on. Code on bare threads would run once in each process, so there is none, and superstep's measures stand
//! for themselves.
//!
//! - `costs`: what the algorithms of the library send, counted in the simulator.
//! - `step`: what a boundary costs, alone and with small traffic, and what starting a run costs.
//! - `exchange`: how fast 8 MiB travel between each two processors, by each verb that moves data.
//! - `array`: the kernels on distributed arrays, each named after what it does.
//! - `epoch`: the kernels on remote methods and containers.
//! - `paged`: the kernels on paged arrays.

#![forbid(unsafe_code)]

mod array;
mod clock;
mod contender;
mod contest;
mod costs;
mod digest;
mod epoch;
mod exchange;
mod kernel;
mod options;
mod paged;
mod random;
pub mod raw;
mod report;
mod sample;
mod step;
mod verdict;

pub use array::quicksort::keys::{Bits, Key};
pub use bytemuck::NoUninit;
pub use contest::Turns;
pub use costs::{Counts, Line, PROCS as COST_PROCS, costs};
pub use digest::digest_of_part;
pub use kernel::{Event, KERNELS, Kernel, Progress, check, digests, run};
pub use options::{Error, Extent, Halo, Load, Options};
pub use random::{Random, mix};
pub use report::{Digest, Measure, Paper, Ratio, Report, Speedup, Target, Unit};
pub use sample::Sample;
