//! How the command ends when it does not end well: one line, and an exit code that tells why.

use std::{fmt, io, path::Path, process::ExitCode};

#[derive(Debug)]
pub(crate) enum Failure {
    /// What was asked for makes no sense: exit code 2.
    Usage(String),
    /// It could not be done: exit code 1.
    Failed(String),
    /// Not a failure at all: help or the version was asked for.
    Help(clap::Error),
    /// Whoever reads the output has stopped to.
    NobodyReads,
}

impl Failure {
    /// Whatever a library says, in one line.
    pub(crate) fn failed(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }

    /// A file that could not be written.
    pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("{} could not be written: {error}", path.display()))
    }

    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                eprintln!("superstep: {message}; see superstep --help");
                ExitCode::from(2)
            }
            Self::Failed(message) => {
                eprintln!("superstep: {message}");
                ExitCode::FAILURE
            }
            Self::Help(error) => {
                // A pipe that was closed is no reason to complain.
                let _ = error.print();
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
            }
            Self::NobodyReads => ExitCode::SUCCESS,
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        use clap::error::ErrorKind;
        let is_help = !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        if is_help {
            return Self::Help(error);
        }
        // The first paragraph says what is wrong; usage and tips come after it.
        let text = error.to_string();
        let first = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
        Self::Usage(first.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Output that could not be written.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Failed(format!("the output could not be written: {error}")),
        }
    }
}
