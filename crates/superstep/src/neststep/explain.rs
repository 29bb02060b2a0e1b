//! Says what a step fetched and stored, where `SUPERSTEP_NESTSTEP=explain` asks for it.

use crate::{
    engine::Step,
    error::{Error, ErrorKind, place},
};
use fabric::settings;
use std::{fmt::Display, sync::OnceLock};

fn is_asked() -> bool {
    static ASKED: OnceLock<Result<bool, settings::Wrong>> = OnceLock::new();
    let read = || {
        let found = settings::read("SUPERSTEP_NESTSTEP", "explain", |text| (text == "explain").then_some(()));
        found.map(|found| found.is_some())
    };
    let asked = ASKED.get_or_init(read).clone();
    asked.unwrap_or_else(|wrong| Error::new(ErrorKind::BadConfig, wrong.to_string()).raise())
}

/// One line on the standard error stream, if anything happened.
pub(super) fn explain(s: &Step, count: usize, (verb, what): (&str, &str), name: impl Display) {
    if count > 0 && is_asked() {
        let site = place(s.core.site());
        eprintln!("neststep: {s:?}: rank {} {verb} {count} {what} of `{name}` ({site})", s.rank());
    }
}
