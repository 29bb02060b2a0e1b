//! Many schedules of tables that are too large for loom: up to nine members, flat and as trees, and five meetings.
//!
//! Shuttle chooses at every access who goes on. It knows no weak memory, which is loom's business. A schedule that
//! fails is printed, and `shuttle::replay` plays it again.
//!
//! Run them by `RUSTFLAGS="--cfg shuttle" cargo test -p superstep-fabric --release --lib shuttle`.
//! `SUPERSTEP_SCHEDULES` says how many schedules each model has.

use super::*;

/// How many schedules a model has, unless the environment says otherwise.
const SCHEDULES: usize = 500;

/// Tries schedules of `model`; there is no bound to how often a thread is interrupted.
pub(super) fn explore(_: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let asked = std::env::var("SUPERSTEP_SCHEDULES").ok();
    let schedules = asked.map_or(SCHEDULES, |text| text.parse().expect("SUPERSTEP_SCHEDULES is a number"));
    ::shuttle::check_random(model, schedules);
}

#[test]
fn many_members_meet_again_and_again() {
    for (size, flat) in [(4, FLAT), (5, TREE), (7, TREE), (9, FLAT), (9, TREE)] {
        meetings(size, flat, 5, None);
    }
}

#[test]
fn an_alarm_ends_all_waits() {
    for (size, flat) in [(4, FLAT), (6, TREE), (9, TREE)] {
        alarm(size, flat, None);
    }
}

#[test]
fn one_of_many_leaves_and_the_others_go_on() {
    for (size, flat) in [(4, FLAT), (6, TREE), (9, TREE)] {
        leaving(size, flat, None);
    }
}

#[test]
fn trays_of_many_change_hands_again_and_again() {
    for (size, flat) in [(4, FLAT), (6, TREE)] {
        trays(size, flat, 4, None);
    }
}

#[test]
fn letters_wake_all_who_rest() {
    letters(3, None);
    letters(5, None);
}

#[test]
fn counts_of_many_do_not_mix() {
    counts(3, None);
    counts(6, None);
}
