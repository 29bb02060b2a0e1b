//! What a run's settings come to: the program's own, the environment's, and what is found out.

use super::{
    config::{Check, Config, Fabric},
    environment::Environment,
};
use crate::error::{Error, ErrorKind, Result};
use fabric::{Limits, mpi, sim, threads};

impl Config {
    pub(super) fn resolve(&self) -> Result<(usize, Fabric, sim::Plan, threads::Options)> {
        let environment = Environment::get()?;
        if self.procs == Some(0) {
            return Err(Error::new(ErrorKind::BadProcs, "procs is 0; a run needs at least 1 processor"));
        }
        let usual = threads::Options::default();
        let options = threads::Options {
            pin: self.pin.or(environment.config.pin).unwrap_or(usual.pin),
            stack_bytes: self.stack_bytes.or(environment.config.stack_bytes).unwrap_or(usual.stack_bytes),
            first: usual.first,
            limits: Limits {
                notice: self.wait_notice.unwrap_or(environment.limits.notice),
                most: self.wait_limit.unwrap_or(environment.limits.most),
            },
        };
        let usual = || {
            if mpi::is_launched() { Fabric::Mpi { threads: environment.threads } } else { Fabric::Threads }
        };
        let fabric = self.fabric.or(environment.config.fabric).unwrap_or_else(usual);
        let procs = self.procs.or(environment.config.procs);
        let procs = if let Fabric::Mpi { threads } = fabric {
            launched(threads, procs)?
        } else {
            procs.unwrap_or_else(threads::cores)
        };
        let plan = if let Fabric::Sim { seed, shares_memory } = fabric {
            self.simulated.plan(&environment.config.simulated, seed, shares_memory)?
        } else {
            self.simulated.refuse()?;
            sim::Plan::default()
        };
        Ok((procs, fabric, plan, options))
    }

    /// Whether conflicts are looked for.
    pub(super) fn watches(&self) -> Result<bool> {
        let check = self.check.or(Environment::get()?.config.check).unwrap_or_default();
        Ok(check == Check::Conflicts)
    }
}

/// The most threads that a process may have under MPI: more than a system has, and few enough to be counted.
const MOST_THREADS: usize = 1 << 16;

/// The number of processors under an MPI launcher; refuses if another number was asked for.
fn launched(threads: usize, asked: Option<usize>) -> Result<usize> {
    if threads == 0 {
        return Err(Error::new(ErrorKind::BadProcs, "threads is 0; a process needs at least 1 processor"));
    }
    if threads > MOST_THREADS {
        let message = format!("threads is {threads}; a process may have up to {MOST_THREADS} processors");
        return Err(Error::new(ErrorKind::BadProcs, message));
    }
    let (_, processes) = mpi::place().map_err(unable)?;
    let procs = processes.saturating_mul(threads);
    match asked {
        Some(asked) if asked != procs => {
            let message = format!(
                "procs is {asked}, but the launcher has started {processes} processes of {threads} threads; leave \
                 procs to the launcher, or change its number of processes"
            );
            Err(Error::new(ErrorKind::BadConfig, message))
        }
        _ => Ok(procs),
    }
}

/// Why there is no run under MPI.
pub(super) fn unable(why: mpi::Unable) -> Error {
    let kind = match why {
        mpi::Unable::NotLaunched | mpi::Unable::NoMpi(_) => ErrorKind::NoMpi,
        mpi::Unable::WrongLauncher(_) => ErrorKind::WrongLauncher,
        mpi::Unable::Differs(_) => ErrorKind::BuildMismatch,
        mpi::Unable::Underway => ErrorKind::NestedRun,
    };
    Error::new(kind, why.to_string())
}
