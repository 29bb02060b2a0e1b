//! When a program saves without having asked for it itself.

use crate::{
    Folder,
    launched::{Job, is_alive, signal},
    programs::TURNS,
};

fn job(program: &'static str, folder: &Folder, fabric: &str) -> Job {
    Job::alone(program, 2).env("SUPERSTEP_FABRIC", fabric).env("SUPERSTEP_TEST_FOLDER", &folder.name())
}

/// Issue 20: a step count saves at the next turn.
#[test]
fn a_number_of_steps_saves_by_the_environment() {
    let count = |value: Option<&str>| {
        let (folder, mut job) = (Folder::new(), Job::alone("turns", 2));
        job = job.env("SUPERSTEP_TEST_FOLDER", &folder.name());
        if let Some(value) = value {
            job = job.env("SUPERSTEP_CHECKPOINT", value);
        }
        let outcome = job.run();
        assert!(outcome.is_well(), "{outcome:?}");
        outcome.lines("turn").iter().filter(|line| line.ends_with("true")).count()
    };
    assert_eq!(count(None), 0);
    assert_eq!(count(Some("every 100 h")), 0);
    let few = count(Some("every 20 steps"));
    assert!((1..TURNS).contains(&few), "{few}");
}

/// Issue 20: so does a time, again and again.
#[test]
fn a_time_saves_by_the_environment() {
    let folder = Folder::new();
    let running = job("waiting", &folder, "threads").env("SUPERSTEP_CHECKPOINT", "every 1 s").start();
    running.await_lines("saved", 2);
    signal("KILL", running.launcher());
    assert!(!running.finish().is_well());
    assert_eq!(job("waiting", &folder, "threads").run().line("restored"), "restored true true");
}

/// Issue 20: a save costs one copy of the data, however that lies, and little more.
#[test]
fn a_save_takes_one_copy_of_what_is_saved() {
    for kind in ["block", "cyclic", "paged"] {
        let outcome = job("memory", &Folder::new(), "procs").env("SUPERSTEP_TEST_KIND", kind).run();
        let lines = outcome.lines("memory");
        assert!(outcome.is_well() && lines.len() == 2, "{outcome:?}");
        for line in lines {
            let numbers: Vec<usize> = line.split(' ').skip(1).map(|word| word.parse().expect("a number")).collect();
            let [taken, data] = numbers[..] else { panic!("{line}") };
            // Two copies would be seen, and so would none.
            assert!((data / 2..data + data / 2).contains(&taken), "{kind}: {line}");
        }
    }
}

/// A value that makes no sense is refused by name, whoever reads it.
#[test]
fn an_occasion_that_makes_no_sense_is_refused() {
    let outcome = job("turns", &Folder::new(), "threads").env("SUPERSTEP_CHECKPOINT", "now and then").run();
    assert!(!outcome.is_well(), "{outcome:?}");
    assert!(
        outcome.says("SUPERSTEP_CHECKPOINT is \"now and then\"; it must be such as \"every 10 min\""),
        "{outcome:?}"
    );
}

/// Issue 20: SIGUSR1 asks for a save, as often as it comes, and SIGTERM for a last one.
#[test]
fn signals_ask_for_a_save_and_for_the_last_one() {
    for fabric in ["threads", "procs"] {
        let folder = Folder::new();
        let running = job("waiting", &folder, fabric).start();
        let said = running.await_lines("pid", 1);
        let pid = said[0].rsplit(' ').next().and_then(|pid| pid.parse().ok()).expect("a number");
        for saved in 1..3 {
            signal("USR1", pid);
            running.await_lines("saved", saved);
        }
        signal("TERM", pid);
        let outcome = running.finish();
        assert!(!outcome.is_well() && !is_alive(pid), "{outcome:?}");
        assert!(outcome.says("a signal has asked the program to end; generation "), "{outcome:?}");
        let outcome = job("waiting", &folder, fabric).run();
        assert_eq!(outcome.line("restored"), "restored true true", "{outcome:?}");
    }
}
