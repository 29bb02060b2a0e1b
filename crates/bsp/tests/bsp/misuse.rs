//! Everything a program can do wrong: the job ends, with one line that says what it was, and nobody is left.

use crate::workshop::{C, Outcome, Start, here, nobody_is_left, run};

/// Builds `source`, which lists at least so many misuses, and lets each be refused.
fn refuse(start: Start, name: &str, source: &str, least: usize) {
    let program = C.build(name, &[here().join("tests/c").join(source)], false);
    let listed = run(start_alone(&program).args(["--list"]), "").good("misuses are listed");
    let mut count = 0;
    for line in listed.out.lines() {
        let (case, expected) = line.split_once('|').expect("a name and a line");
        let said = |outcome: &Outcome| outcome.err.lines().any(|line| line.contains(expected));
        let mut outcome = run(start.command(&program, 2).arg(case), "");
        // MPICH's launcher drops output now and then when a job is aborted, and mostly not twice.
        for _ in 0..3 {
            if start == Start::Mpich && !expected.is_empty() && !said(&outcome) && outcome.code != Some(0) {
                outcome = run(start.command(&program, 2).arg(case), "");
            }
        }
        // MPICH's launcher ends everybody at once then, and takes the code of the one that ended first.
        let is_launchers = start == Start::Mpich && case == "one_exits_at_once";
        assert!(outcome.code != Some(0) || is_launchers, "{case}, {start:?}: it must not end well: {outcome:#?}");
        assert!(outcome.out.is_empty() || start != Start::Forked, "{case}, {start:?}: {outcome:#?}");
        assert!(!outcome.out.contains("nothing was noticed"), "{case}, {start:?}: {outcome:#?}");
        // Who dies says nothing, and launchers have their own words for it.
        let is_said = expected.is_empty() || said(&outcome);
        assert!(is_said, "{case}, {start:?}: nobody said {expected:?}: {outcome:#?}");
        if start == Start::Forked {
            assert_eq!(outcome.err.lines().count(), 1, "{case}: {outcome:#?}");
            nobody_is_left(&program);
        }
        count += 1;
    }
    assert!(count >= least, "only {count} misuses");
    nobody_is_left(&program);
}

fn start_alone(program: &std::path::Path) -> std::process::Command {
    Start::Forked.command(program, 1)
}

#[test]
fn misuse_is_named_in_forked_processes() {
    refuse(Start::Forked, "misuse-forked", "misuse.c", 84);
    refuse(Start::Forked, "misuse-size-forked", "misuse_size.c", 15);
}

#[test]
fn misuse_is_named_under_open_mpi() {
    refuse(Start::OpenMpi, "misuse-openmpi", "misuse.c", 84);
    refuse(Start::OpenMpi, "misuse-size-openmpi", "misuse_size.c", 15);
}

#[test]
fn misuse_is_named_under_mpich() {
    refuse(Start::Mpich, "misuse-mpich", "misuse.c", 84);
    refuse(Start::Mpich, "misuse-size-mpich", "misuse_size.c", 15);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let program = C.build("misuse-settings", &[here().join("tests/c/misuse.c")], false);
    for (name, value) in
        [("BSP_PROCS", "0"), ("BSP_PROCS", "two"), ("BSP_PROCS", "1025"), ("SUPERSTEP_FABRIC", "pigeons")]
    {
        let outcome = run(start_alone(&program).arg("begin_twice").env(name, value), "");
        assert_eq!(outcome.code, Some(1));
        assert!(outcome.err.starts_with(&format!("bsp_begin: {name} is {value}; it must be")), "{outcome:#?}");
    }
}
