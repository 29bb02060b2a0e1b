//! Where there are no signals to pass on, nothing is started.

use super::{labels::Labels, line::Line};
use crate::failure::Failure;
use std::process::ExitCode;

/// Refuses to start it.
pub(super) fn watch(_: &Line, _: Option<Labels>) -> Result<ExitCode, Failure> {
    let what = "superstep run needs Linux or macOS; start the program itself, with SUPERSTEP_PROCS set to how many";
    Err(Failure::Failed(what.to_owned()))
}
