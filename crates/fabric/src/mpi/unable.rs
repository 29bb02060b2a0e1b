//! Why there is no run under MPI.

use std::fmt;

/// Why a run under MPI cannot begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unable {
    /// No launcher has started this process.
    NotLaunched,
    /// No MPI could be loaded or started.
    NoMpi(String),
    /// The launcher is one of another MPI than the library that was loaded.
    WrongLauncher(String),
    /// The processes differ in what must be the same.
    Differs(String),
    /// Another run is under way in this process.
    Underway,
}

impl fmt::Display for Unable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLaunched => {
                write!(f, "the MPI fabric was asked for, but no MPI launcher has started this program; use mpirun")
            }
            Self::Underway => write!(
                f,
                "a run was started inside a run or beside one, and under MPI a process has one at a time; wait until \
                 the run has ended"
            ),
            Self::NoMpi(why) | Self::WrongLauncher(why) | Self::Differs(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Unable {}
