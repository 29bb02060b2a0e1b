//! What the environment says about processes.

use crate::{
    failing::{Fault, fail},
    phase,
};
use fabric::{mpi, procs, settings};

/// How this process came to be one of several.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Forked,
    Launched,
}

pub(crate) struct Wishes {
    pub(crate) procs: Option<usize>,
    pub(crate) origin: Origin,
    /// Whether conflicts are looked for.
    pub(crate) watches: bool,
}

impl Wishes {
    pub(crate) fn read(function: &'static str) -> Self {
        let bad = |wrong: settings::Wrong| -> ! { fail(function, Fault::BadConfig(wrong.plain())) };
        let named = settings::read("SUPERSTEP_FABRIC", "procs or mpi", |text| match text {
            "mpi" => Some(Origin::Launched),
            "procs" => Some(Origin::Forked),
            _ => None,
        });
        let usual = || if mpi::is_launched() { Origin::Launched } else { Origin::Forked };
        let origin = named.unwrap_or_else(|wrong| bad(wrong)).unwrap_or_else(usual);
        if origin == Origin::Launched && phase::is_stranger() {
            fail(function, Fault::Stranger);
        }
        // A launcher has set its own number of processes.
        let most = if origin == Origin::Forked { procs::MOST } else { usize::MAX };
        let mut procs = None;
        let number = |text: &str| text.trim().parse().ok().filter(|number| (1..=most).contains(number));
        let wanted = format!("a number of processes from 1 to {}", procs::MOST);
        for name in ["BSP_PROCS", "SUPERSTEP_PROCS"] {
            procs = procs.or(settings::read(name, &wanted, number).unwrap_or_else(|wrong| bad(wrong)));
        }
        let watches = settings::read("SUPERSTEP_CHECK", "none or conflicts", |text| match text {
            "none" => Some(false),
            "conflicts" => Some(true),
            _ => None,
        });
        let watches = watches.unwrap_or_else(|wrong| bad(wrong)).unwrap_or(false);
        Self { procs, origin, watches }
    }

    /// How many processes there can be.
    pub(crate) fn available(&self, function: &'static str) -> usize {
        match self.origin {
            Origin::Forked => self.procs.unwrap_or_else(fabric::threads::cores),
            Origin::Launched => match mpi::place() {
                Ok((_, processes)) => processes,
                Err(why) => fail(function, Fault::NoStart(why.to_string())),
            },
        }
    }
}
