//! Failures (X1 to X4): who sees what, and that nobody is left waiting.

use crate::{SIZES, check, failing, on_sizes};
use std::time::Duration;
use superstep::{Config, Error, ErrorKind, Fabric, Sum};

/// The fabrics on which a failure must end all processors.
const FABRICS: [Fabric; 3] =
    [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: false }, Fabric::Sim { seed: 2, shares_memory: true }];

/// Runs `body` for every rank of several sizes as the one at fault, and hands over the error.
fn at_each_rank(body: impl Fn(&mut superstep::Group, bool) + Sync, check: impl Fn(usize, Error)) {
    for size in SIZES {
        for rank in 0..size {
            for fabric in FABRICS {
                let run = Config::new().procs(size).fabric(fabric).run(|g| body(g, g.rank() == rank));
                let error = run.expect_err("the run should have failed");
                check(rank, error);
            }
        }
    }
}

/// Panics without a word on the terminal, where the words would come hundreds of times.
fn give_up(words: &'static str) -> ! {
    std::panic::resume_unwind(Box::new(words))
}

/// X3: in a step, with everybody else at its boundary.
#[test]
fn a_panic_in_a_step_ends_everybody_and_names_the_rank() {
    at_each_rank(
        |g, at_fault| {
            g.step(|_| ());
            g.step(|s| {
                if at_fault {
                    give_up("out of luck");
                }
                s.reduce(1, Sum)
            });
        },
        |rank, error| {
            check(&error, ErrorKind::Panicked, &[&format!("processor {rank} panicked"), "out of luck"]);
            assert!(error.is_loss());
        },
    );
}

/// X3: between steps, before the first and after the last.
#[test]
fn a_panic_outside_of_steps_ends_everybody() {
    for when in 0..3 {
        at_each_rank(
            |g, at_fault| {
                for round in 0..3 {
                    if at_fault && round == when {
                        give_up("between");
                    }
                    if round < 2 {
                        g.step(|_| ());
                    }
                }
            },
            |rank, error| check(&error, ErrorKind::Panicked, &[&format!("processor {rank} panicked: between")]),
        );
    }
}

/// X3: in a subgroup, while its own members, those of others and those in none wait in different places.
#[test]
fn a_panic_in_a_subgroup_ends_everybody() {
    at_each_rank(
        |g, at_fault| {
            g.split(2, |sub| {
                if sub.id() == 0 {
                    sub.step(|_| ());
                }
                sub.split(2, |inner| {
                    if at_fault {
                        give_up("deep inside");
                    }
                    inner.step(|_| ());
                });
            });
        },
        |rank, error| check(&error, ErrorKind::Panicked, &[&format!("processor {rank} panicked: deep inside")]),
    );
}

/// X3: the others are in steps of a group that the one at fault is not in.
#[test]
fn a_panic_reaches_those_who_step_without_the_one_who_panicked() {
    failing(
        &[2, 3, 8, 9, 17],
        |g| {
            let me = g.rank();
            g.split(2, |sub| {
                if me == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                    give_up("far away");
                }
                loop {
                    sub.step(|_| ());
                }
            });
        },
        |_, error| check(&error, ErrorKind::Panicked, &["processor 0 panicked: far away"]),
    );
}

/// X3: the message and its line, on every fabric.
#[test]
fn a_panic_is_reported_with_its_message_and_line() {
    let line = line!() + 7;
    failing(
        &[1, 3, 9],
        |g| {
            let last = g.size() - 1;
            g.step(|_| ());
            g.step(|s| {
                assert!(s.rank() != last, "two\nlines and {last}");
            });
        },
        |_, error| {
            let place = format!("{}:{line}", file!());
            check(&error, ErrorKind::Panicked, &["panicked: two; lines and", &place]);
            assert_eq!(error.to_string().lines().count(), 1);
        },
    );
}

/// X3: whatever the payload is.
#[test]
fn a_panic_that_is_no_text_is_reported_too() {
    failing(
        &[1, 2, 9],
        |_| std::panic::resume_unwind(Box::new(42)),
        |_, error| check(&error, ErrorKind::Panicked, &["processor", "panicked"]),
    );
}

/// X3: several at once are one error.
#[test]
fn when_all_panic_one_of_them_is_named() {
    failing(
        &SIZES,
        |g| {
            let rank = g.rank();
            g.step(|_| ());
            std::panic::resume_unwind(Box::new(format!("rank {rank}")));
        },
        |_, error| {
            let text = error.to_string();
            let rank = text.strip_prefix("processor ").and_then(|rest| rest.split(' ').next()).unwrap();
            check(&error, ErrorKind::Panicked, &[&format!("processor {rank} panicked: rank {rank} (")]);
        },
    );
}

/// X3: with messages, puts and pending values under way.
#[test]
fn a_panic_with_data_under_way_ends_everybody() {
    at_each_rank(
        |g, at_fault| {
            let (area, queue, x) = (g.area::<u64>(100), g.queue::<u8, String>(), g.shared(vec![0; 10], superstep::Any));
            loop {
                let round = g.steps();
                g.step(|s| {
                    for to in 0..s.size() {
                        s.put(to, &[1; 50], &area, 0);
                        s.hp_put(to, (&area, 0..50), &area, 50);
                        s.send(to, &queue, 1, "text".to_owned());
                    }
                    x.set(vec![1; 10]);
                    if at_fault && round == 3 {
                        give_up("halfway");
                    }
                    (s.get(0, &area, ..), s.collect(vec![0u8; 5000]))
                });
            }
        },
        |rank, error| check(&error, ErrorKind::Panicked, &[&format!("processor {rank} panicked: halfway")]),
    );
}

/// X3: a type that panics where it should become bytes.
#[test]
fn a_panic_while_encoding_ends_everybody() {
    #[derive(Clone, serde::Deserialize)]
    struct Explosive;
    impl serde::Serialize for Explosive {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            give_up("no encoding me")
        }
    }
    at_each_rank(
        |g, at_fault| {
            let x = g.shared(None, superstep::Any);
            g.step(|_| x.set(at_fault.then_some(Explosive)));
        },
        |_, error| {
            assert!(matches!(error.kind(), ErrorKind::Panicked | ErrorKind::Encode), "{error}");
            assert!(error.to_string().contains("no encoding me"), "{error}");
        },
    );
}

/// X2: a divergence that nobody handles is the run's error, whoever caused it.
#[test]
fn a_divergence_that_nobody_handles_is_the_error_of_the_run() {
    at_each_rank(
        |g, at_fault| {
            // A group of one cannot diverge.
            if g.size() == 1 {
                g.split(0, |_| ());
            }
            if at_fault {
                g.step(|_| ());
            } else {
                g.step(|_| ());
            }
        },
        |_, error| assert!(error.is_divergence(), "{error}"),
    );
}

/// X2: and in a subgroup it names that group.
#[test]
fn a_divergence_in_a_subgroup_names_the_subgroup() {
    failing(
        &[4, 7, 8, 9, 17],
        |g| {
            g.split(2, |sub| {
                let odd = sub.id() == 1 && sub.rank() == 1;
                for _ in 0..3 {
                    sub.step(|_| ());
                }
                if odd {
                    sub.step(|_| ());
                } else {
                    sub.step(|_| ());
                }
            });
        },
        |_, error| check(&error, ErrorKind::StepMismatch, &["step 3 of group 0/1: rank 0 is at the step"]),
    );
}

/// X2 and G5: siblings of a group that diverged and went on notice nothing.
#[test]
fn siblings_of_a_group_that_diverged_notice_nothing() {
    on_sizes(&[4, 7, 9, 17], |g| {
        let sum = g.split(2, |sub| {
            let odd = sub.id() == 1 && sub.rank() == 0;
            let outcome = if odd { sub.try_step(|_| ()) } else { sub.try_step(|_| ()) };
            assert_eq!(outcome.is_err(), sub.id() == 1);
            sub.step(|s| s.reduce(1, Sum))
        });
        let sizes = g.step(|s| s.collect(sum));
        assert!(sizes.iter().enumerate().all(|(rank, &size)| size == Some((g.size() + 1 - rank % 2) / 2)));
    });
}

/// X4: a run that failed leaves nothing behind.
#[test]
fn a_run_works_after_one_that_failed() {
    for fabric in FABRICS {
        for size in SIZES {
            for _ in 0..3 {
                let config = Config::new().procs(size).fabric(fabric);
                let failed = config.run(|g| {
                    let area = g.area::<u8>(10);
                    g.step(|s| {
                        s.put(0, &[1; 10], &area, 0);
                        if s.rank() == s.size() / 2 {
                            give_up("first");
                        }
                    });
                });
                assert_eq!(failed.unwrap_err().kind(), ErrorKind::Panicked);
                let sums = config.run_all(|g| {
                    let area = g.area::<u8>(10);
                    let sum = g.step(|s| s.reduce(1, Sum));
                    (sum, area.local().to_vec())
                });
                assert_eq!(sums.unwrap(), vec![(size, vec![0; 10]); size]);
            }
        }
    }
}

/// X2: errors are values that can be compared, cloned and shown.
#[test]
fn an_error_is_one_line_in_every_form() {
    let run = || Config::new().procs(2).fabric(Fabric::Threads).run(|g| g.split(0, |_| ())).unwrap_err();
    let (error, again) = (run(), run());
    assert_eq!(format!("{error:?}"), error.to_string());
    assert_eq!(error.clone(), error);
    assert_eq!(again.kind(), error.kind());
    assert!(!error.is_misuse() && !error.is_loss() && error.is_divergence());
    assert!(std::error::Error::source(&error).is_none());
}

/// X3: a panic that runs no hook has not the place of another that is over.
#[test]
fn a_panic_has_not_the_place_of_one_that_was_caught() {
    let text = || {
        let _ = std::panic::catch_unwind(|| panic!("harmless"));
        give_up("real");
    };
    let no_text = || {
        let _ = std::panic::catch_unwind(|| std::panic::panic_any(1u8));
        std::panic::resume_unwind(Box::new(1u16));
    };
    let bodies: [&(dyn Fn() + Sync); 2] = [&text, &no_text];
    for (body, says) in bodies.into_iter().zip(["real", "a panic that is not a text"]) {
        failing(
            &[1, 3],
            |g| {
                if g.is_leader() {
                    body();
                }
                g.step(|_| ());
            },
            |_, error| check(&error, ErrorKind::Panicked, &[&format!("panicked: {says} (an unknown place)")]),
        );
    }
    // One that goes on has its own.
    let line = line!() + 6;
    failing(
        &[1, 3],
        |g| {
            if g.is_leader() {
                // With another text it would be another one.
                let caught = std::panic::catch_unwind(|| panic!("again"));
                std::panic::resume_unwind(caught.unwrap_err());
            }
            g.step(|_| ());
        },
        |_, error| check(&error, ErrorKind::Panicked, &[&format!("again ({}:{line})", file!())]),
    );
}

/// X3, X7: whatever its length, an error keeps its kind and the beginning of its text.
#[test]
fn an_error_with_a_long_text_is_the_same_error() {
    for len in [900, 2_000, 70_000] {
        let is_told = |error: &Error| {
            let text = error.to_string();
            assert!(text.len() > len || text.len() > 900 && text.ends_with('…'), "{len}: {text}");
        };
        failing(
            &[3],
            |g| {
                if g.rank() == 2 {
                    return Err("x".repeat(len));
                }
                g.step(|_| ());
                Ok(())
            },
            |_, error| {
                check(&error, ErrorKind::Failed, &["rank 2 returned an error: xxx"]);
                is_told(&error);
            },
        );
        failing(
            &[3],
            |g| {
                if g.rank() == 2 {
                    std::panic::resume_unwind(Box::new("x".repeat(len)));
                }
                g.step(|_| ());
            },
            |_, error| {
                check(&error, ErrorKind::Panicked, &["processor 2 panicked: xxx"]);
                is_told(&error);
            },
        );
    }
}
