//! Calls of two processes that get in each other's way: one line says so where conflicts are looked for, and nobody
//! minds elsewhere.

use crate::{
    life::program,
    workshop::{C, Start, here, nobody_is_left, run},
};

fn look(start: Start, name: &str) {
    let program = C.build(name, &[here().join("tests/c/conflicts.c")], false);
    let listed = run(Start::Forked.command(&program, 1).arg("--list"), "").good("cases are listed");
    let mut counts = [0; 2];
    for line in listed.out.lines() {
        let (case, expected) = line.split_once('|').expect("a name and a line");
        run(start.command(&program, 3).arg(case), "").good(&format!("{case}, {start:?}, without the check"));
        let checked = || run(start.command(&program, 3).arg(case).env("SUPERSTEP_CHECK", "conflicts"), "");
        let mut outcome = checked();
        counts[usize::from(expected.is_empty())] += 1;
        if expected.is_empty() {
            outcome.good(&format!("{case}, {start:?}"));
            continue;
        }
        // MPICH's launcher drops output now and then when a job is aborted, and mostly not twice.
        for _ in 0..3 {
            if start == Start::Mpich && outcome.code != Some(0) && !outcome.err.contains(expected) {
                outcome = checked();
            }
        }
        assert!(outcome.code != Some(0), "{case}, {start:?}: {outcome:#?}");
        assert!(outcome.err.lines().any(|line| line.starts_with(expected)), "{case}, {start:?}: {outcome:#?}");
        assert!(start != Start::Forked || outcome.err.lines().count() == 1, "{case}: {outcome:#?}");
    }
    assert!(counts[0] >= 9 && counts[1] >= 5, "{counts:?}");
    nobody_is_left(&program);
}

#[test]
fn conflicts_are_named_in_forked_processes() {
    look(Start::Forked, "conflicts-forked");
}

#[test]
fn conflicts_are_named_under_open_mpi() {
    look(Start::OpenMpi, "conflicts-openmpi");
}

#[test]
fn conflicts_are_named_under_mpich() {
    look(Start::Mpich, "conflicts-mpich");
}

#[test]
fn a_check_that_there_is_not_is_refused() {
    let program = program("checks", "int main(void) { bsp_begin(2); bsp_end(); return 0; }");
    for start in Start::ALL {
        let outcome = run(start.command(&program, 2).env("SUPERSTEP_CHECK", "conflict"), "");
        assert_ne!(outcome.code, Some(0), "{outcome:#?}");
        let says = "bsp_begin: SUPERSTEP_CHECK is conflict; it must be none or conflicts";
        assert!(outcome.err.contains(says), "{outcome:#?}");
    }
}

/// Under a launcher each process has its own environment.
#[test]
fn processes_that_look_for_different_things_are_told_so() {
    let text = "int main(void) { const char *rank = getenv(\"OMPI_COMM_WORLD_RANK\");\n\
                if (rank && rank[0] == '1') setenv(\"SUPERSTEP_CHECK\", \"conflicts\", 1);\n\
                bsp_begin(2); bsp_sync(); bsp_end(); return 0; }";
    let program = program("checks-differ", text);
    let outcome = run(&mut Start::OpenMpi.command(&program, 2), "");
    assert_ne!(outcome.code, Some(0), "{outcome:#?}");
    let says = "bsp_sync: processes 0 and 1 have different values of SUPERSTEP_CHECK";
    assert!(outcome.err.contains(says), "{outcome:#?}");
}
