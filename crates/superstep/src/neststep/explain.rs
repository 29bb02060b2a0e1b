//! Says what a step fetched and stored, where `SUPERSTEP_NESTSTEP=explain` asks for it.

use crate::engine::Step;
use std::{env, fmt::Display, sync::OnceLock};

fn is_asked() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| env::var_os("SUPERSTEP_NESTSTEP").is_some_and(|value| value == "explain"))
}

/// One line on the standard error stream, if anything happened.
pub(super) fn explain(s: &Step, count: usize, (verb, what): (&str, &str), name: impl Display) {
    if count > 0 && is_asked() {
        eprintln!("neststep: {s:?}: rank {} {verb} {count} {what} of `{name}`", s.rank());
    }
}
