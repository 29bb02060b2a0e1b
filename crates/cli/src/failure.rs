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
    /// Another process has told it; what is left is the exit code.
    Told(u8),
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

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Help(error) => u8::try_from(error.exit_code()).unwrap_or(2),
            Self::NobodyReads => 0,
            Self::Told(code) => *code,
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        match &self {
            Self::Usage(message) => eprintln!("superstep: {message}; see superstep --help"),
            Self::Failed(message) => eprintln!("superstep: {message}"),
            // A pipe that was closed is no reason to complain.
            Self::Help(error) => drop(error.print()),
            Self::NobodyReads | Self::Told(_) => {}
        }
        ExitCode::from(self.code())
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
