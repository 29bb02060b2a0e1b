//! Faults on real processes: whatever happens to one, in whichever phase of a run, all end, with the right name, and
//! nothing is left.
//!
//! The tests start this same executable again, as forked processes and under both launchers, and do something to it, or
//! have it do something to itself. What, where and when comes from a seed. `SUPERSTEP_RANDOM_SEED` says where seeds
//! begin, and `SUPERSTEP_FAULTS` how many faults of each kind are tried in each phase.

#![deny(unsafe_code)]

mod campaign;
mod case;
#[allow(unsafe_code, reason = "only the system can close what others have open")]
mod closing;
mod driver;
mod harm;
mod judge;
#[path = "../mpi/launched.rs"]
#[allow(dead_code, reason = "not all of it is needed here")]
mod launched;
mod leftovers;
mod programs;

use campaign::campaign;
use case::Ground;
use launched::Launcher;

/// X3, X4, X8.
#[test]
fn forked_processes_end_as_they_should_whatever_happens_to_them() {
    campaign(Ground::Forked);
}

#[test]
fn processes_of_open_mpi_end_as_they_should_whatever_happens_to_them() {
    campaign(Ground::Under(Launcher::OpenMpi));
}

#[test]
fn processes_of_mpich_end_as_they_should_whatever_happens_to_them() {
    campaign(Ground::Under(Launcher::Mpich));
}
