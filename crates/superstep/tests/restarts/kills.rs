//! Issue 20: a program that is killed at any moment goes on from its checkpoint, and computes the same bits.

use crate::{
    Folder,
    launched::{Job, Outcome, is_alive, signal},
    programs::TURNS,
    random::Random,
};
use std::{env, fmt::Write as _};

/// How many kills there are, unless `SUPERSTEP_KILLS` says otherwise.
const KILLS: u64 = 50;

fn job(fabric: &str, folder: &Folder, procs: usize) -> Job {
    job_of("relax", fabric, folder, procs)
}

fn job_of(program: &'static str, fabric: &str, folder: &Folder, procs: usize) -> Job {
    Job::alone(program, procs).env("SUPERSTEP_FABRIC", fabric).env("SUPERSTEP_TEST_FOLDER", &folder.name())
}

/// What the program computes on so many processors if nobody disturbs it.
fn undisturbed(procs: usize) -> String {
    let outcome = job("threads", &Folder::new(), procs).run();
    assert!(outcome.is_well(), "{outcome:?}");
    outcome.line("digest")
}

/// Runs the program again until it comes to its end.
fn go_on(fabric: &str, folder: &Folder, procs: usize) -> Outcome {
    let outcome = job(fabric, folder, procs).run();
    assert!(outcome.is_well(), "{outcome:?}");
    outcome
}

/// Killed at each call of the system that the first two saves make, by each of the processors.
#[test]
fn a_program_killed_at_any_call_of_a_save_goes_on() {
    let (procs, expected) = (2, undisturbed(2));
    let mut killed = 0;
    for victim in 0..procs {
        for call in 0.. {
            let folder = Folder::new();
            let hit = job("threads", &folder, procs)
                .env("SUPERSTEP_TEST_VICTIM", &victim.to_string())
                .env("SUPERSTEP_TEST_CALL", &call.to_string())
                .run();
            assert!(!hit.is_well() && hit.lines("digest").is_empty(), "{hit:?}");
            // A save whose end was said is not lost.
            let said = hit.lines("turn").len();
            let outcome = go_on("threads", &folder, procs);
            let began = outcome.line("began");
            let at: usize = began.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number");
            assert!(at == said || at == said + 1, "{began} after {said} turns, killed at call {call} of {victim}");
            assert_eq!(outcome.line("digest"), expected, "killed at call {call} of rank {victim}");
            killed += 1;
            if said == 2 {
                break;
            }
        }
    }
    assert!(killed > 20, "{killed}");
    println!("{killed} faults");
}

/// Killed at a moment that nobody has chosen: by itself at some call, or from outside after some line.
#[test]
fn a_program_killed_at_random_goes_on() {
    let kills = env::var("SUPERSTEP_KILLS").map_or(KILLS, |text| text.parse().expect("SUPERSTEP_KILLS is a number"));
    let seed = env::var("SUPERSTEP_RANDOM_SEED").map_or(1, |text| text.parse().expect("it is a number"));
    let mut random = Random(seed);
    let expected = [2, 3].map(undisturbed);
    let (mut left, mut round) = (kills, 0);
    while left > 0 {
        round += 1;
        let procs = 2 + random.below(2) as usize;
        let fabric = ["threads", "procs"][random.below(2) as usize];
        let folder = Folder::new();
        let mut context = format!("seed {seed}, round {round}, {procs} on {fabric}:");
        loop {
            let is_last = left == 0 || random.below(4) == 0;
            let mut job = job(fabric, &folder, procs);
            let (victim, call) = (random.below(procs as u64), random.below(60));
            let is_inside = random.below(2) == 0;
            if !is_last && is_inside {
                let _ = write!(context, " call {call} of {victim}");
                job =
                    job.env("SUPERSTEP_TEST_VICTIM", &victim.to_string()).env("SUPERSTEP_TEST_CALL", &call.to_string());
            }
            let running = job.start();
            if !is_last && !is_inside {
                let lines = random.below(TURNS as u64) as usize;
                let _ = write!(context, " after {lines} lines");
                let mut running = running;
                while running.lines("turn").len() < lines && !running.has_ended() {
                    std::thread::yield_now();
                }
                let pid = running.launcher();
                if is_alive(pid) {
                    signal("KILL", pid);
                }
                left -= 1;
                if running.finish().is_well() {
                    break;
                }
                continue;
            }
            let outcome = running.finish();
            if outcome.is_well() {
                assert_eq!(outcome.line("digest"), expected[procs - 2], "{context}");
                break;
            }
            assert!(!is_last, "{context}: {outcome:?}");
            left = left.saturating_sub(1);
        }
    }
    println!("{kills} faults");
}

/// Killed at each call of the system that the first save makes behind the program, by each of the processors.
#[test]
fn a_program_killed_at_any_call_of_a_save_behind_it_goes_on() {
    let (procs, expected) = (2, undisturbed(2));
    let mut killed = 0;
    for fabric in ["threads", "procs"] {
        for victim in 0..procs {
            for call in 0.. {
                let folder = Folder::new();
                let hit = job_of("beside", fabric, &folder, procs)
                    .env("SUPERSTEP_TEST_VICTIM", &victim.to_string())
                    .env("SUPERSTEP_TEST_CALL", &call.to_string())
                    .run();
                let is_over = hit.is_well();
                let outcome = if is_over { hit } else { job_of("beside", fabric, &folder, procs).run() };
                assert!(outcome.is_well(), "{fabric}, killed at call {call} of {victim}: {outcome:?}");
                assert_eq!(outcome.line("digest"), expected, "{fabric}, killed at call {call} of {victim}");
                if is_over {
                    break;
                }
                killed += 1;
            }
        }
    }
    assert!(killed > 20, "{killed}");
    println!("{killed} faults");
}

/// Killed from outside, or told to end, while it is saved again and again behind it.
#[test]
fn a_program_that_is_ended_while_it_is_saved_behind_it_goes_on() {
    let expected = undisturbed(2);
    for fabric in ["threads", "procs"] {
        for name in ["KILL", "TERM"] {
            for lines in [1, 3, 4, 7] {
                let folder = Folder::new();
                let mut running = job_of("beside", fabric, &folder, 2).start();
                while running.lines("turn").len() < lines && !running.has_ended() {
                    std::thread::yield_now();
                }
                let pid = running.launcher();
                if is_alive(pid) {
                    signal(name, pid);
                }
                let ended = running.finish();
                if !ended.is_well() && name == "TERM" {
                    assert!(ended.says("a signal has asked the program to end; generation "), "{ended:?}");
                }
                let outcome = job_of("beside", fabric, &folder, 2).run();
                assert!(outcome.is_well(), "{fabric}, {name} after {lines} lines: {outcome:?}");
                assert_eq!(outcome.line("digest"), expected, "{fabric}, {name} after {lines} lines");
                if name == "TERM" {
                    assert!(outcome.line("began").starts_with("began true"), "{outcome:?}");
                }
            }
        }
    }
}

/// Restarted with one processor less, and then with one more, on another fabric.
#[test]
fn a_program_goes_on_with_another_number_of_processors() {
    let folder = Folder::new();
    for (fabric, procs, call) in [("procs", 3, 10), ("threads", 2, 8), ("procs", 4, 6)] {
        let hit = job(fabric, &folder, procs)
            .env("SUPERSTEP_TEST_VICTIM", "1")
            .env("SUPERSTEP_TEST_CALL", &call.to_string())
            .run();
        assert!(!hit.is_well(), "{hit:?}");
    }
    let outcome = go_on("threads", &folder, 3);
    assert!(outcome.line("began").starts_with("began true"), "{outcome:?}");
    // It computes element by element, so how many have done that does not show.
    assert_eq!(outcome.line("digest"), undisturbed(3));
}
