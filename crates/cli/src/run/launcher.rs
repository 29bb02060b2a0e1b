//! The three kinds of launchers, and how to tell them apart.

use std::path::PathBuf;

/// Whose launcher it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Slurm's `srun`.
    Slurm,
    /// Open MPI's `mpirun`, of this major version: with the fifth some options have other names.
    OpenMpi { major: u32 },
    /// MPICH's `mpiexec`, called Hydra, or that of one of its kin.
    Mpich,
}

impl Kind {
    /// Finds out by what a launcher says when it is asked for its version.
    pub(super) fn of(version: &str) -> Option<Self> {
        let first = version.lines().find(|line| !line.trim().is_empty())?.trim();
        if ["Open MPI", "OpenRTE", "open-mpi.org"].iter().any(|name| version.contains(name)) {
            return Some(Self::OpenMpi { major: major(first).unwrap_or(4) });
        }
        if first.starts_with("slurm") {
            return Some(Self::Slurm);
        }
        ["HYDRA", "MPICH"].iter().any(|name| version.contains(name)).then_some(Self::Mpich)
    }

    pub(super) fn is_slurm(self) -> bool {
        self == Self::Slurm
    }
}

/// The number before the first dot of the first word that begins with a digit.
fn major(line: &str) -> Option<u32> {
    let version = line.split_whitespace().find(|word| word.starts_with(|letter: char| letter.is_ascii_digit()))?;
    version.split('.').next()?.parse().ok()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launcher {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_what_they_say() {
        let open_mpi = |major| Some(Kind::OpenMpi { major });
        let cases = [
            ("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n", open_mpi(4)),
            ("mpirun (Open MPI) 5.0.8\n\nReport bugs to https://www.open-mpi.org/community/help/\n", open_mpi(5)),
            ("mpiexec (OpenRTE) 3.1.3\n", open_mpi(3)),
            ("HYDRA build details:\n    Version:                                 4.0.2\n", Some(Kind::Mpich)),
            ("slurm 23.02.7\n", Some(Kind::Slurm)),
            ("slurm-wlm 22.05.8\n", Some(Kind::Slurm)),
            ("teapot 1.0\n", None),
            ("", None),
        ];
        for (said, kind) in cases {
            assert_eq!(Kind::of(said), kind, "{said:?}");
        }
    }
}
