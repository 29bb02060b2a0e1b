//! Starting and ending runs (G0, X4).

use crate::{check, outcomes::Unwell};
use std::{
    error::Error as _,
    ffi::OsStr,
    num::ParseIntError,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use superstep::{Config, ErrorKind, Fabric, Local, Outcome, Sum};

/// The fabrics that a run may name.
const FABRICS: [Fabric; 3] =
    [Fabric::Threads, Fabric::Sim { seed: 3, shares_memory: false }, Fabric::Sim { seed: 3, shares_memory: true }];

/// G0.
#[test]
fn a_run_returns_what_rank_0_returned_and_run_all_what_each_did() {
    for fabric in FABRICS {
        for procs in [1, 2, 3, 8, 9, 17] {
            let config = Config::new().procs(procs).fabric(fabric);
            let started = AtomicUsize::new(0);
            let body = |g: &mut superstep::Group| {
                started.fetch_add(1, SeqCst);
                format!("{} of {}", g.rank(), g.size())
            };
            assert_eq!(config.run(body).unwrap(), format!("0 of {procs}"));
            assert_eq!(started.swap(0, SeqCst), procs);
            let expected: Vec<_> = (0..procs).map(|rank| format!("{rank} of {procs}")).collect();
            assert_eq!(config.run_all(body).unwrap(), expected);
        }
    }
}

/// G0: what a body borrows is only borrowed.
#[test]
fn a_body_may_borrow_from_whoever_started_the_run() {
    let words = ["some".to_owned(), "words".to_owned(), "outside".to_owned()];
    let got = Config::new().procs(3).run_all(|g| words[g.rank()].as_str()).unwrap();
    assert_eq!(got, words);
}

/// The list of misuse, start and end.
#[test]
fn a_run_with_no_processors_is_refused() {
    for fabric in FABRICS {
        let error = Config::new().procs(0).fabric(fabric).run(|_| ()).unwrap_err();
        check(&error, ErrorKind::BadProcs, &["procs is 0", "at least 1"]);
        assert!(error.is_misuse());
    }
}

/// The list of misuse: a run inside a run is refused at the call, and the outer one goes on.
#[test]
fn a_run_inside_a_run_is_refused() {
    for fabric in FABRICS {
        let kinds = Config::new().procs(3).fabric(fabric).run_all(|g| {
            let inner = [
                superstep::run(|_| ()).unwrap_err(),
                Config::new().procs(1).fabric(Fabric::Threads).run(|_| ()).unwrap_err(),
                Config::new().procs(2).fabric(Fabric::Sim { seed: 0, shares_memory: true }).run(|_| ()).unwrap_err(),
            ];
            let sum = g.step(|s| s.reduce(1, Sum));
            assert!(inner.iter().all(|error| error.to_string().contains("inside a run")));
            (inner.map(|error| error.kind()), sum)
        });
        assert_eq!(kinds.unwrap(), vec![([ErrorKind::NestedRun; 3], 3); 3]);
    }
}

/// G0: runs of several threads at once are runs apart.
#[test]
fn runs_side_by_side_do_not_hear_each_other() {
    std::thread::scope(|threads| {
        for start in 0..4usize {
            threads.spawn(move || {
                for round in 0..20 {
                    let run = Config::new().procs(start + 1).run(|g| {
                        let sums: Vec<usize> = (0..10).map(|_| g.step(|s| s.reduce(start * round, Sum))).collect();
                        sums
                    });
                    assert_eq!(run.unwrap(), vec![start * round * (start + 1); 10]);
                }
            });
        }
    });
}

/// G0: more processors than cores are not an error.
#[test]
fn there_may_be_more_processors_than_cores() {
    let procs = 4 * superstep::cores() + 1;
    assert_eq!(Config::new().procs(procs).run(|g| g.step(|s| s.reduce(1, Sum))).unwrap(), procs);
    let pinned = Config::new().procs(procs).pin(true).run(|g| g.step(|s| s.reduce(1, Sum)));
    assert_eq!(pinned.unwrap(), procs);
}

/// Runs the ignored test `name` of this binary as a program of its own, in an environment of its own.
fn child(name: &str, environment: &[(&str, &OsStr)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("SUPERSTEP_") {
            command.env_remove(variable);
        }
    }
    command.envs(environment.iter().copied()).output().unwrap()
}

/// Started by the tests below.
#[test]
#[ignore = "a child of other tests"]
fn child_that_says_how_many_it_is() -> superstep::Result {
    superstep::run(|g| g.leader(|| println!("there are {}", g.size())).unwrap_or_default())
}

/// Started by the tests below.
#[test]
#[ignore = "a child of other tests"]
fn child_that_fails() -> superstep::Result {
    superstep::run(|g| {
        let _area = g.area::<u8>(1);
        g.step(|s| drop(s.broadcast(s.size(), Some(1))));
    })
}

/// Started by the test below.
#[test]
#[ignore = "a child of another test"]
fn child_that_runs_while_it_unwinds() {
    struct Runs;
    impl Drop for Runs {
        fn drop(&mut self) {
            let run = Config::new().procs(2).run(|g| g.step(|s| s.reduce(1, Sum)));
            println!("the sum is {run:?}");
        }
    }
    let _runs = Runs;
    std::panic::resume_unwind(Box::new(()));
}

/// G0: the panic hook cannot be changed then, and the first run would change it.
#[test]
fn a_run_may_be_the_first_while_its_thread_unwinds() {
    let output = child("launch::child_that_runs_while_it_unwinds", &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("the sum is Ok(2)"), "{said}");
    // The child's test has failed, and it was not ended.
    assert_eq!(output.status.code(), Some(101), "{said}");
}

/// X4 and the list of misuse: a bad variable ends the program at its start, with its name and value.
#[test]
fn a_bad_environment_variable_ends_the_program() {
    use std::os::unix::ffi::OsStrExt;
    let no_text = OsStr::from_bytes(b"\xFF\xFE");
    for (name, value) in [
        ("SUPERSTEP_PROCS", OsStr::new("0")),
        ("SUPERSTEP_PROCS", OsStr::new("-1")),
        ("SUPERSTEP_PROCS", OsStr::new("")),
        ("SUPERSTEP_PROCS", OsStr::new("two")),
        ("SUPERSTEP_PROCS", OsStr::new("99999999999999999999999")),
        ("SUPERSTEP_PROCS", no_text),
        ("SUPERSTEP_FABRIC", OsStr::new("pigeons")),
        ("SUPERSTEP_FABRIC", OsStr::new("")),
        ("SUPERSTEP_SEED", OsStr::new("x")),
        ("SUPERSTEP_PIN", OsStr::new("yes")),
        ("SUPERSTEP_PIN", OsStr::new("2")),
        ("SUPERSTEP_STACK_BYTES", OsStr::new("0")),
        ("SUPERSTEP_STACK_BYTES", OsStr::new("1 MiB")),
    ] {
        let output = child("launch::child_that_says_how_many_it_is", &[(name, value)]);
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said = format!("{text}{errors}");
        assert!(!output.status.success(), "{name}={value:?}: {said}");
        assert!(said.contains(&format!("{name} is {value:?}; it must be")), "{said}");
        assert!(!said.contains("there are"), "{said}");
    }
}

/// G0.
#[test]
fn good_environment_variables_are_heeded() {
    for fabric in ["threads", "sim", "sim-shared"] {
        let environment = [("SUPERSTEP_PROCS", "5"), ("SUPERSTEP_FABRIC", fabric), ("SUPERSTEP_SEED", "7")];
        let environment = environment.map(|(name, value)| (name, OsStr::new(value)));
        let output = child("launch::child_that_says_how_many_it_is", &environment);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("there are 5"), "{text}");
    }
    let small = [("SUPERSTEP_PROCS", "3"), ("SUPERSTEP_PIN", "1"), ("SUPERSTEP_STACK_BYTES", "1048576")];
    let output = child("launch::child_that_says_how_many_it_is", &small.map(|(name, value)| (name, OsStr::new(value))));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// X4.
#[test]
fn a_program_that_fails_ends_with_another_code_than_0() {
    let output = child("launch::child_that_fails", &[("SUPERSTEP_PROCS", OsStr::new("3"))]);
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(!output.status.success());
    assert!(said.contains("step 1 of group 0: rank 3 named in a group of 3; ranks run from 0 to 2"), "{said}");
}

/// X7.
#[test]
fn the_value_of_an_error_is_at_hand_where_memory_is_shared() {
    for (fabric, is_shared) in [
        (Fabric::Threads, true),
        (Fabric::Sim { seed: 1, shares_memory: true }, true),
        (Fabric::Sim { seed: 1, shares_memory: false }, true),
        (Fabric::Procs, false),
    ] {
        let run = |fails: usize| {
            Config::new()
                .procs(3)
                .fabric(fabric)
                .run(move |g| if g.rank() == fails { Err(Unwell(fails)) } else { Ok(g.step(|s| s.reduce(1, Sum))) })
        };
        // The process that began the run is processor 0's.
        assert_eq!(run(0).unwrap_err().source().unwrap().downcast_ref(), Some(&Unwell(0)), "{fabric:?}");
        let error = run(2).unwrap_err();
        check(&error, ErrorKind::Failed, &["rank 2 returned an error: unwell: 2"]);
        assert_eq!(error.source().is_some(), is_shared, "{fabric:?}");
        assert_eq!(error.source().and_then(|source| source.downcast_ref()), is_shared.then_some(&Unwell(2)));
    }
}

/// X7.
#[test]
fn every_kind_of_error_can_be_returned() {
    let run = Config::new().procs(2);
    let words = |error: superstep::Error| error.to_string();
    assert!(words(run.run(|_| Err::<(), _>("a word")).unwrap_err()).contains("rank 0 returned an error: a word"));
    assert!(words(run.run(|_| Err::<(), _>("a text".to_owned())).unwrap_err()).contains("a text"));
    assert!(words(run.run(|_| "x".parse::<u8>()).unwrap_err()).contains("invalid digit"));
    let boxed = run.run(|_| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err("x".parse::<u8>().unwrap_err().into())
    });
    assert!(boxed.unwrap_err().source().unwrap().is::<ParseIntError>());
    let behind = run.run(|_| Err::<(), _>(std::io::Error::other(Unwell(3)))).unwrap_err();
    assert!(words(behind.clone()).contains("unwell: 3"), "{behind}");
    let several = run.run(|_| Err::<(), _>("one\ntwo")).unwrap_err().to_string();
    assert!(several.contains("one; two") && !several.contains('\n'));
}

#[test]
fn what_cannot_fail_comes_out_as_it_is() {
    struct Own(usize);
    impl Outcome<usize> for Own {
        fn outcome(self) -> Result<usize, superstep::BoxError> {
            Ok(self.0)
        }
    }
    let run = Config::new().procs(3);
    assert_eq!(run.run_all(|g| Own(g.rank())).unwrap(), [0, 1, 2]);
    assert_eq!(run.run(|g| Local(g.size())).unwrap(), 3);
    assert_eq!(run.run(|g| vec![Err::<(), _>(g.size())]).unwrap(), [Err(3)]);
    assert_eq!(run.run(|_| panic!("on purpose")).unwrap_err().kind(), ErrorKind::Panicked);
}

/// X4: stacks for which no process has the addresses. Runs that follow are not touched by it.
#[test]
fn a_run_for_which_there_are_no_threads_is_refused_and_later_ones_work() {
    for fabric in FABRICS {
        for _ in 0..3 {
            let vast = Config::new().procs(4).fabric(fabric).stack_bytes(1 << 46);
            let error = vast.run(|g| g.rank()).unwrap_err();
            let says = ["procs is 4", "cannot be started with 70368744177664 bytes of stack each", "or less stack"];
            check(&error, ErrorKind::BadProcs, &says);
            let config = Config::new().procs(4).fabric(fabric);
            assert_eq!(config.run_all(|g| g.step(|s| s.reduce(1, Sum))).unwrap(), [4; 4]);
        }
    }
}

/// X4: more threads than any system has, which would take minutes to start one by one.
#[test]
fn more_processors_than_the_system_has_threads_are_refused_at_once() {
    for procs in [1_000_000_000, usize::MAX] {
        for fabric in FABRICS {
            let error = Config::new().procs(procs).fabric(fabric).run(|g| g.rank()).unwrap_err();
            check(&error, ErrorKind::BadProcs, &[&format!("procs is {procs}"), "leaves room for", "fewer"]);
        }
    }
}
