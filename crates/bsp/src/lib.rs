//! `libbsp`: the BSP programming library of 1997, for C and Fortran.
//!
//! Each processor is a process: one that `bsp_begin` forks on this machine, or one that an MPI launcher has started.
//! What they do in a superstep goes into streams, one of each kind for every other process, and at `bsp_sync` the
//! streams change hands; see `ground`. The order of the boundary is that of the standard: gets are read, then
//! written, then puts are written, by rank of the sender and order of issue.
//!
//! - `interface` has the functions that programs call: C with `int`, C with `size_t`, and Fortran.
//! - `life` begins and ends, as `wishes` says; `phase` knows where the program is, `failing` ends early, `exits` is
//!   called where the program ends, and `parting` is what a process does last.
//! - `machine` is what a process knows between the two; `registry`, `transfers` and `queue` are parts of it. `ending`
//!   is what ends a superstep, of which `collectives` are some.
//! - `program` is the only place that touches the memory of the program.

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
compile_error!(
    "libbsp needs Linux with the GNU C library: its processes are forked, and are told the code they end with"
);

mod collectives;
mod ending;
mod exits;
mod failing;
mod ground;
mod interface;
mod life;
mod machine;
mod parting;
mod phase;
mod program;
mod queue;
mod registry;
mod transfers;
mod watch;
mod wishes;
