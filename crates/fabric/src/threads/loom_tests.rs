//! The schedules of the meeting of threads, at two and three members.
//!
//! The models run the table itself on loom's primitives. A total that lacks a contribution, or has one of another
//! meeting, means that somebody returned early or wrote too soon; two accesses to a shelf that nothing orders are
//! reported by loom; and so is a schedule in which everybody sleeps.
//!
//! One meeting of two members and an alarm between two are explored whole, and so are two meetings of two and an alarm
//! among three in a tree, which take minutes and are ignored unless asked for. All else has too many schedules and is
//! bounded, by how often a thread may be interrupted where it could have gone on: each call names its bound, and
//! `LOOM_MAX_PREEMPTIONS` overrides it. Three meetings are the fewest in which a member writes again what others read.
//!
//! Run them by `RUSTFLAGS="--cfg loom" cargo test -p superstep-fabric --release --lib loom`; each prints how many
//! schedules it saw.

use super::{
    alarm::ThreadAlarm,
    seat::Seat,
    sync::{Arc, thread},
    table::{FLAT, Table},
};
use crate::{
    alarm::Alarm,
    circle::{Circle as _, Mail as _, Meetings as _, Meld, Melded},
    failure::Failure,
    tray::Tray,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// With this limit a table of any size is a tree.
const TREE: usize = 1;

/// Explores every schedule of `model`, or, under a bound, those in which at most that many threads are interrupted
/// where they could have gone on.
fn explore(bound: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(bound);
    let schedules = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&schedules);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    eprintln!("{} schedules", schedules.load(Ordering::Relaxed));
}

/// Runs `body` for each member of a new table of `size`, on a thread of its own. The calling thread is no member,
/// because loom's `unpark` also releases a thread that is blocked in a join.
fn sit_down(size: usize, flat: usize, body: impl Fn(Seat) + Send + Sync + 'static) {
    let table = Arc::new(Table::with_flat_limit(size, flat));
    let alarm = Arc::new(ThreadAlarm::new(0, 0));
    let body = std::sync::Arc::new(body);
    let member = |rank: usize| {
        let (table, alarm, body) = (Arc::clone(&table), Arc::clone(&alarm), std::sync::Arc::clone(&body));
        move || {
            body(Seat::new(table, rank, rank, alarm));
        }
    };
    let threads: Vec<_> = (0..size).map(|rank| thread::spawn(member(rank))).collect();
    for thread in threads {
        thread.join().expect("loom reports a panic before this");
    }
}

/// Puts one contribution after the other.
struct Chain;

impl Meld for Chain {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
    }

    fn wants_before(&self) -> bool {
        true
    }
}

fn says(rank: usize, meeting: u8) -> u8 {
    16 * meeting + rank as u8
}

/// Meets and checks that everybody's contribution to this very meeting is in the outcome.
fn meet(seat: &mut Seat, meeting: u8) {
    let (rank, size) = (seat.rank(), seat.size());
    let mut outcome = Melded::default();
    seat.meet(&[says(rank, meeting)], &mut Chain, &mut outcome).expect("nobody raised the alarm");
    let all: Vec<u8> = (0..size).map(|rank| says(rank, meeting)).collect();
    assert_eq!(outcome.total, all);
    assert_eq!(outcome.before, all[..rank]);
}

fn meetings(size: usize, flat: usize, count: u8, bound: Option<usize>) {
    explore(bound, move || {
        sit_down(size, flat, move |mut seat| {
            for meeting in 1..=count {
                meet(&mut seat, meeting);
            }
        });
    });
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

/// One member raises the alarm instead of meeting. The others must hear of it, whether they sleep by then or not, and
/// go on hearing of it.
fn alarm(size: usize, flat: usize, bound: Option<usize>) {
    explore(bound, move || {
        let failure = Failure::GaveUp { rank: 0, report: b"over"[..].into() };
        sit_down(size, flat, move |mut seat| {
            seat.alarm.enlist();
            if seat.rank() == 0 {
                seat.alarm.raise(failure.clone());
            }
            for _ in 0..2 {
                let met = seat.meet(&[], &mut Chain, &mut Melded::default());
                assert_eq!(met, Err(failure.clone()));
            }
        });
    });
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

/// The last member leaves in the second meeting; the rest go on at a table of their own.
fn leaving(size: usize, flat: usize, bound: Option<usize>) {
    explore(bound, move || {
        let rest = Arc::new(Table::with_flat_limit(size - 1, flat));
        sit_down(size, flat, move |mut seat| {
            let rank = seat.rank();
            meet(&mut seat, 1);
            if rank == size - 1 {
                seat.leave(&[says(rank, 2)], &mut Chain).expect("nobody raised the alarm");
                return;
            }
            meet(&mut seat, 2);
            let mut seat = Seat::new(Arc::clone(&rest), rank, rank, Arc::clone(&seat.alarm));
            meet(&mut seat, 3);
        });
    });
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

/// Everybody posts to everybody for every meeting, and takes what came.
fn trays(size: usize, flat: usize, count: u8, bound: Option<usize>) {
    explore(bound, move || {
        sit_down(size, flat, move |mut seat| {
            let rank = seat.rank();
            let mut tray = Tray::default();
            for meeting in 1..=count {
                for to in 0..size {
                    tray.bytes.extend([says(rank, meeting), to as u8]);
                    seat.post(to, &mut tray).expect("nobody raised the alarm");
                    assert!(tray.is_empty());
                }
                meet(&mut seat, meeting);
                for from in 0..size {
                    assert!(seat.take(from, &mut tray));
                    assert_eq!(tray.bytes, [says(from, meeting), rank as u8]);
                    tray.clear();
                }
            }
        });
    });
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

fn next_letter(seat: &mut Seat) -> (usize, Tray) {
    let mut letter = Tray::default();
    loop {
        if let Some(from) = seat.next_letter(&mut letter).expect("nobody raised the alarm") {
            return (from, letter);
        }
        seat.rest().expect("nobody raised the alarm");
    }
}

/// Who rests is woken by a letter, whenever it comes, and letters keep their order.
#[test]
fn letters_wake_who_rests() {
    explore(Some(3), || {
        sit_down(2, FLAT, |mut seat| {
            let other = 1 - seat.rank();
            for number in 0..2 {
                let mut letter = Tray::from(vec![number]);
                seat.send_letter(other, &mut letter).expect("nobody raised the alarm");
            }
            for number in 0..2 {
                let (from, letter) = next_letter(&mut seat);
                assert_eq!((from, letter.bytes), (other, vec![number]));
            }
        });
    });
}

/// Three counts use the first place again; each is the sum of what was entered in it.
#[test]
fn counts_wake_who_rests_and_do_not_mix() {
    explore(Some(3), || {
        sit_down(2, FLAT, |mut seat| {
            for round in 1..=3 {
                seat.enter_count([round, seat.rank() as u64, 0, 0, 0]).expect("nobody raised the alarm");
                let sum = loop {
                    if let Some(sum) = seat.counted().expect("nobody raised the alarm") {
                        break sum;
                    }
                    seat.rest().expect("nobody raised the alarm");
                };
                assert_eq!(sum, [2 * round, 1, 0, 0, 0]);
            }
        });
    });
}
