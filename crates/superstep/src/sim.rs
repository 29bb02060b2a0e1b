//! What can be asked of the simulator: faults, the cost of a machine, and a trace.
//!
//! On [`Fabric::Sim`](crate::Fabric::Sim) processors take turns in an order that the seed decides. On request the seed
//! also decides what goes wrong. Everything that happens under a seed happens again under the same one.
//!
//! # Faults
//!
//! | name | what happens | what the run does |
//! |---|---|---|
//! | `delay` | packets arrive late | has the same results |
//! | `stall` | processors stand still for a while | has the same results |
//! | `crash` | a processor is lost in the middle of any call, and noticed late | ends with `PeerLost`, which names it |
//! | `damage` | bits of a packet flip | ends with `Damaged`, which names the sender |
//! | `cut` | the end of a packet is missing | ends with `Damaged`, which names the sender |
//! | `garble` | as both, but nobody sees it before the bytes are read | ends; values may be wrong |
//! | `memory` | memory for areas, arrays and pages is refused | has the error `OutOfMemory` on all members, and may go on |
//! | `threads` | the system refuses to start threads | does not start: `BadProcs` |
//!
//! They are asked for by [`Config::faults`](crate::Config::faults), or by `SUPERSTEP_SIM_FAULTS=delay,crash`. Not every
//! seed has the fault before the run is over, and without it a run has its results: try several.
//!
//! ```
//! use superstep::{Config, ErrorKind, Fabric, Sum, sim::Faults};
//!
//! let run = |seed, faults| {
//!     let fabric = Fabric::Sim { seed, shares_memory: false };
//!     Config::new().procs(4).fabric(fabric).faults(faults).run(|g| {
//!         (0..20).map(|_| g.step(|s| s.reduce(1, Sum))).sum::<u64>()
//!     })
//! };
//! assert_eq!(run(1, Faults::DELAY | Faults::STALL), Ok(80));
//! let error = (0..).find_map(|seed| run(seed, Faults::CRASH).err()).unwrap();
//! assert_eq!(error.kind(), ErrorKind::PeerLost);
//! ```
//!
//! # Time
//!
//! Each processor has a virtual clock, which goes by the [`Cost`] of a machine: r, g and l, as `superstep probe`
//! measures them. Work takes w/r, where w is what the program charges with [`work`](crate::Step::work): the simulator
//! does not look at the clock of this machine, so a prediction is the same wherever it is made. A meeting ends g·h + l
//! after the last member has come to it, where h is the most words of 8 bytes that one member sends or receives, with
//! the few bytes that say whom they are for; values to be combined count if they are longer than 64 bytes. A step whose
//! members meet several times, because it reads what others have, takes l as often. Predict with packets alone: what
//! processors do to memory that they share is not seen.
//!
//! ```
//! use superstep::{Config, Fabric, sim::{Cost, Trace}};
//!
//! let trace = Trace::new();
//! let cost = Cost { r_mflops: 100.0, g_ns: 5.0, l_us: 2.0 };
//! let fabric = Fabric::Sim { seed: 0, shares_memory: false };
//! Config::new().procs(4).fabric(fabric).cost(cost).trace(&trace).run(|g| g.step(|s| s.work(300))).unwrap();
//! let step = &trace.predicted()[0];
//! assert_eq!((step.work, step.words), (300, 0));
//! assert!((step.seconds - 5e-6).abs() < 1e-12);            // 300 operations are 3 us, and l is 2 us
//! ```
//!
//! # The trace
//!
//! A [`Trace`] keeps a line for each event: the time, the processor, and what it did where. `SUPERSTEP_SIM_TRACE=1`
//! prints them, so that `SUPERSTEP_TEST_SEED=17 SUPERSTEP_SIM_TRACE=1 cargo test name_of_the_test` shows what happened
//! under the seed of a test that failed.

pub use fabric::sim::{Cost, Faults, NoCost, NoFaults, Predicted, Trace};
