//! Who started this process, and where its MPI is.

use super::calls::{GiveUp, Mpi};
use crate::settings;
use std::env;

/// A launcher of MPI programs, and how many processes it says it has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launcher {
    pub(super) name: &'static str,
    pub(super) size: usize,
    libraries: &'static [&'static str],
}

#[cfg(target_os = "macos")]
mod libraries {
    pub(super) const OPEN_MPI: &[&str] = &["libmpi.40.dylib", "libmpi.dylib", "/opt/homebrew/lib/libmpi.dylib"];
    pub(super) const MPICH: &[&str] = &["libmpi.12.dylib", "libmpi.dylib", "/opt/homebrew/lib/libmpi.dylib"];
    pub(super) const ANY: &[&str] = &["libmpi.dylib", "/opt/homebrew/lib/libmpi.dylib"];
}

#[cfg(not(target_os = "macos"))]
mod libraries {
    pub(super) const OPEN_MPI: &[&str] =
        &["libmpi.so.40", "libmpi.so.80", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so"];
    pub(super) const MPICH: &[&str] =
        &["libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpich.so", "libmpi.so"];
    pub(super) const ANY: &[&str] = &[
        "libmpi.so.40",
        "libmpi.so.80",
        "libmpich.so.12",
        "libmpi.so.12",
        "libmpi_abi.so.1",
        "libmpi_abi.so.0",
        "libmpi.so",
    ];
}

use libraries::{ANY, MPICH, OPEN_MPI};

/// The variable with the folders in which libraries are searched.
const LIBRARY_PATH: &str = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };

fn number(name: &str) -> Option<usize> {
    env::var(name).ok()?.parse().ok()
}

impl Launcher {
    /// Finds out by the variables that launchers set. It must be asked before MPI starts, which sets some itself.
    pub(super) fn find() -> Option<Self> {
        let is_set = |name: &str| env::var_os(name).is_some();
        if let Some(size) = number("OMPI_COMM_WORLD_SIZE") {
            return Some(Self { name: "Open MPI's mpirun", size, libraries: OPEN_MPI });
        }
        if let Some(size) = number("SLURM_NTASKS").filter(|_| is_set("SLURM_PROCID"))
            && ["PMI_RANK", "PMI_FD", "PMI2_FD", "PMIX_RANK", "PMIX_NAMESPACE"].into_iter().any(is_set)
        {
            return Some(Self { name: "Slurm's srun", size, libraries: ANY });
        }
        if let Some(size) = number("PMI_SIZE").filter(|_| is_set("PMI_FD") || is_set("PMI_PORT") || is_set("PMI_RANK"))
        {
            return Some(Self { name: "MPICH's mpiexec", size, libraries: MPICH });
        }
        number("PMIX_SIZE").filter(|_| is_set("PMIX_RANK")).map(|size| Self {
            name: "a launcher that speaks PMIx",
            size,
            libraries: ANY,
        })
    }

    /// Loads the MPI that belongs to it; or says what was tried and why each failed.
    pub(super) fn load(&self, give_up: GiveUp) -> Result<Mpi, String> {
        let given = settings::read("SUPERSTEP_MPI_LIB", "a text", |name| Some(name.to_owned())).ok().flatten();
        let names: Vec<&str> = match &given {
            Some(name) => vec![name],
            None => self.libraries.to_vec(),
        };
        let mut tried = Vec::new();
        for name in names {
            match Mpi::load(name, give_up) {
                Ok(mpi) => return Ok(mpi),
                Err(why) => tried.push(format!("{name} ({why})")),
            }
        }
        Err(format!(
            "{} has started this program, but no MPI could be loaded: tried {}; set SUPERSTEP_MPI_LIB to the path of \
             its library, or {LIBRARY_PATH} to the folder",
            self.name,
            tried.join("; ")
        ))
    }
}

/// How many processes of this run are on this machine, as far as the launcher says.
pub(super) fn neighbours() -> Option<usize> {
    ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"].into_iter().find_map(number)
}

/// A door for fuzzing: reads what launchers and users say of processes.
#[cfg(fuzzing)]
pub(crate) fn fuzz() {
    let _ = (Launcher::find(), neighbours());
    super::pulse::fuzz_settings();
}
