//! The variables that set how a run goes, and those by which launchers are known.
use std::{env, ffi::OsStr, os::unix::ffi::OsStrExt as _};

const VARIABLES: [&str; 20] = [
    "SUPERSTEP_PROCS",
    "SUPERSTEP_THREADS",
    "SUPERSTEP_FABRIC",
    "SUPERSTEP_SEED",
    "SUPERSTEP_PIN",
    "SUPERSTEP_STACK_BYTES",
    "SUPERSTEP_WAIT_NOTICE",
    "SUPERSTEP_WAIT_LIMIT",
    "SUPERSTEP_PEER_TIMEOUT",
    "SUPERSTEP_HEARTBEAT",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "SLURM_NTASKS_PER_NODE",
    "PMI_RANK",
    "PMI_SIZE",
    "PMIX_RANK",
    "PMIX_SIZE",
    "MPI_LOCALNRANKS",
];

/// Reads the environment with these words in it, which zeros part.
pub fn variables(bytes: &[u8]) {
    let mut words = bytes.split(|&byte| byte == 0);
    let set: Vec<&str> = VARIABLES
        .into_iter()
        .zip(&mut words)
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| {
            // SAFETY: no other thread of this program reads the environment.
            unsafe { env::set_var(name, OsStr::from_bytes(value)) };
            name
        })
        .collect();
    let _ = superstep::fuzz_environment();
    fabric::fuzzing::launcher();
    for name in set {
        // SAFETY: as above.
        unsafe { env::remove_var(name) };
    }
}
