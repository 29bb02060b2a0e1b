//! The schedules of the meeting of threads.
//!
//! The models run the table itself on the primitives of loom or of Shuttle. A total that lacks a contribution, or has
//! one of another meeting, means that somebody returned early or wrote too soon. A schedule in which everybody sleeps
//! is reported, and loom also reports two accesses to a shelf that nothing orders. [`loom`] sees every schedule of two
//! and three members, within bounds; [`shuttle`] tries many of larger tables.

#[cfg(loom)]
mod loom;
#[cfg(shuttle)]
mod shuttle;

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
#[cfg(loom)]
use loom::explore;
#[cfg(shuttle)]
use shuttle::explore;

/// With this limit a table of any size is a tree.
const TREE: usize = 1;

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
        thread.join().expect("a panic is reported before this");
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

fn next_letter(seat: &mut Seat) -> (usize, Tray) {
    let mut letter = Tray::default();
    loop {
        if let Some(from) = seat.next_letter(&mut letter).expect("nobody raised the alarm") {
            return (from, letter);
        }
        seat.rest().expect("nobody raised the alarm");
    }
}

/// Everybody sends two letters to everybody else and takes what comes. Who rests is woken by a letter, whenever it
/// comes, and letters of one sender keep their order.
fn letters(size: usize, bound: Option<usize>) {
    explore(bound, move || {
        sit_down(size, FLAT, move |mut seat| {
            let rank = seat.rank();
            for number in 0..2 {
                for to in (0..size).filter(|&to| to != rank) {
                    let mut letter = Tray::from(vec![number]);
                    seat.send_letter(to, &mut letter).expect("nobody raised the alarm");
                }
            }
            let mut come = vec![0; size];
            for _ in 0..2 * (size - 1) {
                let (from, letter) = next_letter(&mut seat);
                assert_eq!(letter.bytes, [come[from]]);
                come[from] += 1;
            }
        });
    });
}

/// Three counts use the first place again; each is the sum of what was entered in it, and who rests is woken.
fn counts(size: usize, bound: Option<usize>) {
    explore(bound, move || {
        sit_down(size, FLAT, move |mut seat| {
            for round in 1..=3 {
                seat.enter_count([round, seat.rank() as u64, 0, 0, 0]).expect("nobody raised the alarm");
                let sum = loop {
                    if let Some(sum) = seat.counted().expect("nobody raised the alarm") {
                        break sum;
                    }
                    seat.rest().expect("nobody raised the alarm");
                };
                let size = size as u64;
                assert_eq!(sum, [size * round, size * (size - 1) / 2, 0, 0, 0]);
            }
        });
    });
}
