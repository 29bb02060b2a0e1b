//! Hands the contract to processes that are forked, and tries what they promise beyond it.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

use fabric::{Circle, Failure, Meld, Melded, Tray, contract, procs, threads::Options};
use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

type Body<'a> = &'a (dyn Fn(Box<dyn Circle>) + Sync);

/// A folder of its own for a test, which is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("superstep-procs-{}-{name}", process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(size: usize, body: Body<'_>) -> Option<Failure> {
    procs::run(size, Options::default(), ToString::to_string, body).expect("a run can begin").1
}

/// Runs a body that must not panic in any process, and says what was raised.
fn run_calmly(size: usize, notes: &Path, body: Body<'_>) -> Option<Failure> {
    let failure = run(size, &|circle| {
        let rank = circle.rank();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(circle))) {
            fs::write(notes.join(format!("panic-{rank}")), "").expect("a note can be written");
            resume_unwind(payload);
        }
    });
    let panics: Vec<_> = (0..size).filter(|rank| notes.join(format!("panic-{rank}")).exists()).collect();
    assert!(panics.is_empty(), "{panics:?} of {size} panicked; {failure:?}");
    failure
}

/// Runs a body in which nothing may fail.
#[track_caller]
fn run_well(size: usize, notes: &Path, body: Body<'_>) {
    assert_eq!(run_calmly(size, notes, body), None);
}

#[test]
fn processes_uphold_the_contract() {
    for size in contract::SIZES {
        let folder = Folder::new(&format!("contract-{size}"));
        contract::uphold_across(&|size, body| drop(run_calmly(size, &folder.0, body)), size, &folder.0);
    }
}

#[test]
fn no_two_processes_share_memory() {
    let folder = Folder::new("shares");
    run_well(3, &folder.0, &|mut circle| {
        assert!((0..3).filter(|&other| other != circle.rank()).all(|other| !circle.shares(other)));
        assert!(circle.carries());
        circle.wait().expect("all are there");
    });
}

/// Deals numbers from a seed, the same ones in every process.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// The bytes that `from` sends to `to`, as many as asked for.
fn bytes(from: usize, to: usize, round: usize, len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + at / 251 + 7 * from + 13 * to + round) as u8).collect()
}

struct Longest;

impl Meld for Longest {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(if left.len() >= right.len() { left } else { right });
    }
}

/// Trays, contributions and pieces that are many times longer than what lies between two processes, all ways at once.
#[test]
fn long_messages_cross_each_other_both_ways_at_once() {
    for size in [2, 3, 5] {
        let folder = Folder::new(&format!("long-{size}"));
        run_well(size, &folder.0, &|mut circle| {
            let me = circle.rank();
            let mut outcome = Melded::default();
            for round in 0..12 {
                let mut dice = Dice(round as u64);
                let mut deal = |_: usize| [0, 1, 31, 32, 33, 5_000, 70_000, 300_000, 3_000_001][dice.below(9)];
                let lens: Vec<usize> = (0..size * size).map(&mut deal).collect();
                let said: Vec<usize> = (0..size).map(&mut deal).collect();
                let len = |from: usize, to: usize| lens[from * size + to];
                for to in 0..size {
                    let mut tray = Tray { bytes: bytes(me, to, round, len(me, to)), moved: Vec::new() };
                    circle.post(to, &mut tray).expect("nobody raised");
                }
                let mine = bytes(me, me, round, said[me]);
                circle.meet(&mine, &mut Longest, &mut outcome).expect("nobody raised");
                let longest = said.iter().copied().max().unwrap_or(0);
                assert_eq!(outcome.total.len(), longest);
                for from in 0..size {
                    let mut tray = Tray::default();
                    circle.take(from, &mut tray);
                    assert!(tray.bytes == bytes(from, me, round, len(from, me)), "{from} to {me} in round {round}");
                }
                let others = || (0..size).filter(|&other| other != me);
                let out: Vec<_> = others().map(|to| (to, bytes(me, to, round + 1, len(to, me)))).collect();
                let mut into: Vec<_> = others().map(|from| (from, vec![0; len(me, from)])).collect();
                let lent: Vec<_> = out.iter().map(|(to, piece)| (*to, piece.as_slice())).collect();
                let mut places: Vec<_> = into.iter_mut().map(|(from, place)| (*from, place.as_mut_slice())).collect();
                circle.carry(&lent, &mut places).expect("nobody raised");
                for (from, place) in &into {
                    assert!(*place == bytes(*from, me, round + 1, len(me, *from)), "a piece of {from} in {round}");
                }
            }
        });
    }
}

/// Nobody waits for a reader that is busy with something else: what has no room is sent when it has.
#[test]
fn a_long_tray_does_not_keep_its_sender() {
    let folder = Folder::new("busy");
    let sent = folder.0.join("sent");
    run_well(2, &folder.0, &|mut circle| {
        if circle.rank() == 0 {
            circle.post(1, &mut Tray { bytes: bytes(0, 1, 0, 5_000_000), moved: Vec::new() }).expect("nobody raised");
            fs::write(&sent, "").expect("a note can be written");
        } else {
            while !sent.exists() {
                std::thread::yield_now();
            }
        }
        circle.wait().expect("both are there");
        let mut tray = Tray::default();
        assert_eq!(circle.take(0, &mut tray), circle.rank() == 1);
        assert!(circle.rank() == 0 || tray.bytes == bytes(0, 1, 0, 5_000_000));
    });
}

/// Something that is left over when its reader has ended keeps nobody.
#[test]
fn a_tray_that_nobody_takes_does_not_keep_its_sender() {
    let folder = Folder::new("left");
    run_well(3, &folder.0, &|mut circle| {
        circle.wait().expect("all are there");
        let to = (circle.rank() + 1) % 3;
        circle.post(to, &mut Tray { bytes: vec![1; 5_000_000], moved: Vec::new() }).expect("nobody raised");
    });
}

#[test]
fn what_a_process_gave_up_with_reaches_all_also_if_it_is_long() {
    let report = vec![7; 20_000];
    let failure = run(3, &|mut circle| {
        if circle.rank() == 2 {
            circle.alarm().raise(Failure::GaveUp { rank: 2, report: report.as_slice().into() });
        }
        assert!(circle.wait().is_err());
    });
    assert_eq!(failure, Some(Failure::GaveUp { rank: 2, report: report.as_slice().into() }));
}

#[test]
fn a_panic_in_another_process_is_a_failure_and_one_in_this_process_a_panic() {
    let body = |guilty: usize| {
        move |mut circle: Box<dyn Circle>| {
            circle.wait().expect("all are there");
            assert!(circle.rank() != guilty, "on purpose");
            assert!(circle.wait().is_err());
        }
    };
    assert_eq!(run(3, &body(1)), Some(Failure::GaveUp { rank: 1, report: b"on purpose".as_slice().into() }));
    let payload = catch_unwind(|| run(3, &body(0))).expect_err("process 0 is this one");
    assert_eq!(payload.downcast_ref(), Some(&"on purpose"));
}

#[test]
fn runs_follow_each_other_and_return_what_this_process_returned() {
    for size in [1, 2, 5] {
        let (results, failure) = procs::run(size, Options::default(), ToString::to_string, |mut circle| {
            circle.wait().expect("all are there");
            (circle.rank(), process::id())
        })
        .expect("a run can begin");
        assert_eq!((results, failure), (vec![(0, process::id())], None));
    }
}

/// A thread that begins or ends takes a lock of the standard library. In a process that is forked then it stays locked.
#[test]
fn runs_begin_while_other_threads_come_and_go() {
    let folder = Folder::new("threads");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    thread::spawn(|| ()).join().expect("it does nothing");
                }
            });
        }
        for _ in 0..200 {
            run_well(4, &folder.0, &|mut circle| circle.wait().map(drop).expect("nobody raised"));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_run_of_no_processes_or_too_many_cannot_begin() {
    for size in [0, procs::MOST + 1] {
        assert!(procs::run(size, Options::default(), ToString::to_string, |_| ()).is_err());
    }
}
