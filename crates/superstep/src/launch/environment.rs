//! The settings of the environment.

use super::{
    config::{Check, Config, Fabric},
    simulated::Simulated,
};
use crate::error::{Error, ErrorKind, Result};
use fabric::{Limits, mpi, settings};
use std::sync::OnceLock;

/// The settings of the environment, read once per process because a run starts in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    /// For each process under MPI.
    pub(super) threads: usize,
    pub(super) limits: Limits,
    /// Everything else.
    pub(super) config: Config,
}

impl Environment {
    /// A bad value is an error even where a setting of the program overrides it.
    pub(super) fn get() -> Result<&'static Self> {
        static READ: OnceLock<Result<Environment>> = OnceLock::new();
        READ.get_or_init(Self::read).as_ref().map_err(Clone::clone)
    }

    fn read() -> Result<Self> {
        fn one<T>(name: &'static str, wanted: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>> {
            settings::read(name, wanted, parse).map_err(|wrong| Error::new(ErrorKind::BadConfig, wrong.to_string()))
        }
        let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
        let seed = one("SUPERSTEP_SEED", "a number", |text| text.parse().ok())?.unwrap_or(0);
        let threads = one("SUPERSTEP_THREADS", "a number of threads, at least 1", number)?.unwrap_or(1);
        // A number after the name wins over the variable that has it otherwise.
        let fabric = |text: &str| match (text.parse().ok()?, text.contains(':')) {
            (Fabric::Sim { shares_memory, .. }, false) => Some(Fabric::Sim { seed, shares_memory }),
            (Fabric::Mpi { .. }, false) => Some(Fabric::Mpi { threads }),
            (fabric, _) => Some(fabric),
        };
        let switch = |text: &str| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        };
        let check = |text: &str| match text {
            "none" => Some(Check::None),
            "conflicts" => Some(Check::Conflicts),
            _ => None,
        };
        let limits = Limits::from_environment().map_err(|why| Error::new(ErrorKind::BadConfig, why))?;
        let config = Config {
            procs: one("SUPERSTEP_PROCS", "a number of processors, at least 1", number)?,
            fabric: one("SUPERSTEP_FABRIC", "threads, procs, mpi, sim or sim-shared", fabric)?,
            pin: one("SUPERSTEP_PIN", "0 or 1", switch)?,
            stack_bytes: one("SUPERSTEP_STACK_BYTES", "a number of bytes, at least 1", number)?,
            check: one("SUPERSTEP_CHECK", "none or conflicts", check)?,
            simulated: Simulated::read().map_err(|wrong| Error::new(ErrorKind::BadConfig, wrong.to_string()))?,
            ..Config::default()
        };
        Ok(Self { threads, limits, config })
    }
}

/// A door for fuzzing: reads the environment again.
#[cfg(fuzzing)]
pub fn fuzz_environment() -> Result {
    Environment::read().map(|_| ())
}
/// The number of processors that an MPI launcher has started, if it has started this process.
pub(crate) fn launched_procs() -> Option<usize> {
    let environment = Environment::get().ok()?;
    if environment.config.fabric.is_some_and(|fabric| !matches!(fabric, Fabric::Mpi { .. })) || !mpi::is_launched() {
        return None;
    }
    mpi::place().ok().map(|(_, processes)| processes.saturating_mul(environment.threads))
}

/// The sizes to try, if the environment asks for forked processes; it may also name one size.
pub(crate) fn forked_sizes(sizes: &[usize]) -> Option<Vec<usize>> {
    let environment = Environment::get().ok().filter(|it| it.config.fabric == Some(Fabric::Procs))?;
    let is_tried = |size: &usize| environment.config.procs.is_none_or(|procs| procs == *size);
    Some(sizes.iter().copied().filter(is_tried).collect())
}
