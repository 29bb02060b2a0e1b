//! Where there are no signals to pass on, nothing is started.

use super::{labels::Labels, launcher::Kind, line::Line, restart::Ended};
use crate::failure::Failure;

/// Refuses to start it.
pub(super) fn watch(_: &Line, _: Option<Labels>, _: Option<Kind>) -> Result<Ended, Failure> {
    let what = "superstep run needs Linux or macOS; start the program itself, with SUPERSTEP_PROCS set to how many";
    Err(Failure::Failed(what.to_owned()))
}
