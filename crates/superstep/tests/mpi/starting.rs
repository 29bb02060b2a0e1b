//! What happens before a run under MPI begins.

use crate::{
    LAUNCHERS,
    launched::{Job, Launcher},
};
use std::{env, fs, os::unix::fs::PermissionsExt};

#[test]
fn an_mpi_that_cannot_be_loaded_is_named_with_every_place_that_was_tried() {
    for launcher in LAUNCHERS {
        let outcome = Job::new(launcher, "start", 2).env("SUPERSTEP_MPI_LIB", "/nowhere/libmpi.so").run();
        assert!(!outcome.is_well(), "{outcome:?}");
        let error = &outcome.lines("error")[0];
        assert!(error.starts_with("error NoMpi ") && error.contains("/nowhere/libmpi.so"), "{error}");
        assert!(error.contains("SUPERSTEP_MPI_LIB"), "{error}");
    }
}

#[test]
fn a_launcher_of_one_mpi_with_the_library_of_another_is_refused_by_name() {
    let outcome = Job::new(Launcher::Mpich, "start", 2).env("SUPERSTEP_MPI_LIB", "libmpi.so.40").run();
    assert!(!outcome.is_well(), "{outcome:?}");
    let error = &outcome.lines("error")[0];
    assert!(error.starts_with("error WrongLauncher ") && error.contains("MPICH's mpiexec"), "{error}");
    assert!(error.contains("Open MPI"), "{error}");
}

#[test]
fn builds_that_differ_are_refused_before_the_program_runs() {
    let this = env::current_exe().expect("a test has an executable");
    let mut bytes = fs::read(&this).expect("it can be read");
    // The linker's mark: its owner's name, then the mark itself.
    let mark = bytes.windows(16).position(|window| window.starts_with(b"\x14\0\0\0\x03\0\0\0GNU\0"));
    bytes[mark.expect("the linker has left a mark") + 12] ^= 0xFF;
    let other = env::temp_dir().join(format!("superstep-other-{}", std::process::id()));
    fs::write(&other, bytes).expect("a copy can be written");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).expect("and made to run");
    for launcher in LAUNCHERS {
        let outcome = Job::of(launcher, "start", &[&this.to_string_lossy(), &other.to_string_lossy()]).run();
        assert!(!outcome.is_well(), "{outcome:?}");
        assert!(outcome.lines("error")[0].starts_with("error BuildMismatch processes 0 and 1"), "{outcome:?}");
    }
    fs::remove_file(other).expect("it was written");
}

#[test]
fn processors_that_the_launcher_has_not_started_are_refused() {
    let outcome = Job::new(Launcher::OpenMpi, "start", 2).env("SUPERSTEP_PROCS", "5").run();
    let error = &outcome.lines("error")[0];
    assert!(error.starts_with("error BadConfig ") && error.contains("procs is 5"), "{error}");
    assert!(error.contains("2 processes of 1 threads"), "{error}");
}

#[test]
fn mpi_without_a_launcher_says_what_to_do() {
    let outcome = Job::alone("start", 2).env("SUPERSTEP_FABRIC", "mpi").run();
    let error = outcome.line("error");
    assert!(error.starts_with("error NoMpi ") && error.contains("mpirun"), "{error}");
}

/// More than any system has, and more than can be counted.
#[test]
fn more_threads_than_a_process_may_have_are_refused() {
    for launcher in LAUNCHERS {
        for threads in [65_537, usize::MAX / 2 + 1, usize::MAX] {
            let outcome = Job::new(launcher, "start", 2).threads(threads).run();
            let error = &outcome.lines("error")[0];
            assert!(error.starts_with(&format!("error BadProcs threads is {threads}; ")), "{outcome:?}");
        }
    }
}

/// The others take no part in it, and without a word it would wait for them for ever.
#[test]
fn a_run_that_a_thread_of_a_body_starts_is_refused() {
    for launcher in LAUNCHERS {
        for (processes, threads) in [(3, 1), (2, 2)] {
            let outcome = Job::new(launcher, "nested", processes).threads(threads).run();
            assert!(outcome.is_well(), "{outcome:?}");
            let told = outcome.lines("nested");
            assert_eq!(told.len(), processes * threads, "{outcome:?}");
            assert!(
                told.iter().all(|told| told.starts_with("nested 1 NestedRun a run was started inside")),
                "{told:?}"
            );
        }
    }
}
