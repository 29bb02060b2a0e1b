//! Every schedule of two and three members.
//!
//! One meeting of two members and an alarm between two are explored whole, and so are two meetings of two and an alarm
//! among three in a tree, which take minutes and are ignored unless asked for. All else has too many schedules and is
//! bounded, by how often a thread may be interrupted where it could have gone on: each call names its bound, and
//! `LOOM_MAX_PREEMPTIONS` overrides it. Three meetings are the fewest in which a member writes again what others read.
//!
//! Run them by `RUSTFLAGS="--cfg loom" cargo test -p superstep-fabric --release --lib loom`; each prints how many
//! schedules it saw.

use super::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Explores every schedule of `model`, or, under a bound, those in which at most that many threads are interrupted
/// where they could have gone on.
pub(super) fn explore(bound: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = ::loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(bound);
    let schedules = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&schedules);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    eprintln!("{} schedules", schedules.load(Ordering::Relaxed));
}

#[test]
fn two_members_meet() {
    meetings(2, FLAT, 1, None);
    meetings(2, TREE, 1, None);
}

#[test]
#[ignore = "takes minutes: about two million schedules each"]
fn two_members_meet_twice() {
    meetings(2, FLAT, 2, None);
    meetings(2, TREE, 2, None);
}

/// Three meetings use the first copy of everything again.
#[test]
fn two_members_meet_again_and_again() {
    meetings(2, FLAT, 3, Some(4));
    meetings(2, TREE, 3, Some(4));
}

#[test]
fn three_members_meet() {
    meetings(3, FLAT, 1, Some(3));
    meetings(3, TREE, 1, Some(3));
}

#[test]
fn three_members_meet_again_and_again() {
    meetings(3, FLAT, 2, Some(2));
    meetings(3, FLAT, 3, Some(1));
    meetings(3, TREE, 3, Some(2));
}

#[test]
fn an_alarm_ends_the_wait_of_the_other_member() {
    alarm(2, FLAT, None);
    alarm(2, TREE, None);
}

#[test]
fn an_alarm_ends_the_waits_of_two_members() {
    alarm(3, FLAT, Some(3));
    alarm(3, TREE, Some(3));
}

#[test]
#[ignore = "takes a minute: half a million schedules"]
fn an_alarm_ends_the_waits_of_two_members_in_every_schedule_of_a_tree() {
    alarm(3, TREE, None);
}

/// An alarm while meetings succeed: each member goes on until it fails, and neither touches what the other still reads.
#[test]
fn a_member_that_failed_leaves_the_table_as_it_is() {
    for flat in [FLAT, TREE] {
        explore(Some(3), move || {
            sit_down(2, flat, |mut seat| {
                seat.alarm.enlist();
                let mut tray = Tray::from(vec![1]);
                let peer = 1 - seat.rank();
                let posted = seat.post(peer, &mut tray);
                let mut met = seat.meet(&[1], &mut Chain, &mut Melded::default());
                assert!(posted.is_ok() || met.is_err());
                if seat.rank() == 0 {
                    seat.alarm.raise(Failure::Deadlock);
                } else {
                    met = seat.meet(&[2], &mut Chain, &mut Melded::default());
                    assert_eq!(met, Err(Failure::Deadlock));
                    assert_eq!(seat.post(peer, &mut tray), Err(Failure::Deadlock));
                    assert_eq!(seat.meet(&[3], &mut Chain, &mut Melded::default()), Err(Failure::Deadlock));
                }
                seat.take(peer, &mut Tray::default());
            });
        });
    }
}

#[test]
fn one_of_two_leaves_and_the_other_goes_on() {
    leaving(2, FLAT, Some(4));
    leaving(2, TREE, Some(4));
}

#[test]
fn one_of_three_leaves_and_the_others_go_on() {
    leaving(3, FLAT, Some(2));
    leaving(3, TREE, Some(2));
}

#[test]
fn trays_of_two_change_hands_again_and_again() {
    trays(2, FLAT, 3, Some(3));
    trays(2, TREE, 3, Some(3));
}

#[test]
fn trays_of_three_change_hands_again_and_again() {
    trays(3, FLAT, 3, Some(1));
    trays(3, TREE, 3, Some(2));
}

#[test]
fn letters_wake_who_rests() {
    letters(2, Some(3));
}

#[test]
fn counts_wake_who_rests_and_do_not_mix() {
    counts(2, Some(3));
}
