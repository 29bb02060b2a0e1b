//! Members that do not reach the same step, or do not say the same there (S5).

use crate::{SEVERAL, check, failing, here, is_everybodys, on_sizes};
use superstep::{Any, Block, BlockCyclic, Cyclic, ErrorKind, Fold, Group, Irregular, Max, Sum, Tiles};

/// S5: two places, whoever it is that is at the other one.
#[test]
fn members_at_different_steps_are_all_told_both_places() {
    on_sizes(&SEVERAL, |g| {
        for odd in [0, g.size() / 2, g.size() - 1] {
            let steps = g.steps();
            let (error, other) = if g.rank() == odd {
                (g.try_step(|_| ()).unwrap_err(), here())
            } else {
                (g.try_step(|_| ()).unwrap_err(), here())
            };
            check(&error, ErrorKind::StepMismatch, &[&format!("step {steps} of group 0: rank 0 is at"), &other]);
            assert!(error.is_divergence());
            let text = error.to_string();
            let places = text.split("; all members").next().map_or(0, |places| places.matches(file!()).count());
            assert_eq!(places, 2, "{error}");
            is_everybodys(g, &error);
        }
    });
}

#[rustfmt::skip]
fn either(g: &mut Group, odd: bool) -> superstep::Result { if odd { g.try_step(|_| ()) } else { g.try_step(|_| ()) } }

/// S5: also two on one line.
#[test]
fn members_at_two_steps_of_one_line_are_told_the_columns() {
    on_sizes(&SEVERAL, |g| {
        let last = g.size() - 1;
        let error = either(g, g.rank() == last).unwrap_err();
        check(&error, ErrorKind::StepMismatch, &["rank 0 is at the step at", &format!(", rank {last} at the step at")]);
        let text = error.to_string();
        let columns = text.split(file!()).skip(1).map(|at| at.split([',', ';']).next().unwrap().to_owned());
        let columns: Vec<String> = columns.take(2).collect();
        assert!(columns.iter().all(|at| at.matches(':').count() == 2) && columns[0] != columns[1], "{error}");
        is_everybodys(g, &error);
    });
}

/// S5: where nobody can say who it is, nobody is named.
#[test]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "operators are handed references")]
fn members_that_differ_in_no_word_are_not_named() {
    fn add(a: &mut u64, b: &u64) {
        *a += b;
    }
    fn multiply(a: &mut u64, b: &u64) {
        *a *= b + 1;
    }
    on_sizes(&SEVERAL, |g| {
        let fold = Fold(if g.rank() == 1 { add as fn(&mut u64, &u64) } else { multiply });
        let (place, error) = (here(), g.try_step(|s| s.reduce(2, fold)).unwrap_err());
        check(&error, ErrorKind::StepMismatch, &["differ in an argument of a collective call", &place]);
        assert!(!error.to_string().contains("rank "), "{error}");
        is_everybodys(g, &error);
    });
}

/// S5: one member has skipped a step, and the one that it is at has the same number as everybody's.
#[test]
fn a_member_that_skips_a_step_is_found_at_the_next() {
    on_sizes(&SEVERAL, |g| {
        let skips = g.rank() == g.size() - 1;
        let skipped = (!skips).then(|| (g.try_step(|_| ()).unwrap_err(), here()));
        let (next, place) = (g.try_step(|_| ()).unwrap_err(), here());
        // Still one behind the others.
        let last = skips.then(|| g.try_step(|_| ()).unwrap_err());
        let error = skipped.as_ref().map_or(&next, |(error, _)| error);
        check(error, ErrorKind::StepMismatch, &["step 0 of group 0: rank 0 is at the step at", &place]);
        if let Some((error, place)) = &skipped {
            check(error, ErrorKind::StepMismatch, &[place]);
        }
        check(last.as_ref().unwrap_or(&next), ErrorKind::StepMismatch, &["step 1 of group 0", &place]);
        is_everybodys(g, error);
    });
}

/// S5: loops that go round a different number of times.
#[test]
fn loops_of_different_lengths_are_found_where_they_part() {
    on_sizes(&SEVERAL, |g| {
        let rounds = if g.rank() == 0 { 3 } else { 2 };
        let (mut first, mut place) = (None, String::new());
        for _ in 0..rounds {
            (first, place) = (g.try_step(|_| ()).err(), here());
        }
        if g.rank() != 0 {
            first = g.try_step(|_| ()).err();
        }
        let error = first.expect("the third rounds differ");
        check(&error, ErrorKind::StepMismatch, &["step 2 of group 0", file!(), &place]);
        is_everybodys(g, &error);
    });
}

/// S5: in the root group there is no leaving.
#[test]
fn a_member_that_ends_while_the_others_go_on_is_named() {
    for place in 0..3 {
        on_sizes(&SEVERAL, |g| {
            let leaver = [0, g.size() / 2, g.size() - 1][place];
            g.step(|_| ());
            if g.rank() == leaver {
                return;
            }
            let (error, place) = (g.try_step(|s| s.reduce(1, Sum)).unwrap_err(), here());
            let words = [format!("rank {leaver} has ended"), "step 1 of group 0".to_owned(), place];
            check(&error, ErrorKind::Departed, &words.each_ref().map(String::as_str));
            is_everybodys(g, &error);
        });
    }
}

/// S5 and X4: the same, and nobody handles it.
#[test]
fn a_run_that_a_member_ended_too_early_fails() {
    failing(
        &SEVERAL,
        |g| {
            if g.rank() != 1 {
                g.step(|_| ());
            }
        },
        |_, error| check(&error, ErrorKind::Departed, &["rank 1 has ended", file!()]),
    );
}

/// S5.
#[test]
fn a_member_that_splits_where_the_others_step_is_found() {
    on_sizes(&SEVERAL, |g| {
        let error = if g.rank() == g.size() - 1 {
            g.try_split(1, |_| panic!("no subgroup is made")).unwrap_err()
        } else {
            g.try_step(|_| ()).unwrap_err()
        };
        check(&error, ErrorKind::StepMismatch, &["at the step at", "at the split at"]);
        is_everybodys(g, &error);
    });
}

/// S5.
#[test]
fn a_member_that_makes_an_area_where_the_others_step_is_found() {
    on_sizes(&SEVERAL, |g| {
        let error = if g.rank() == 0 { g.try_area::<u8>(1).map(|_| ()) } else { g.try_step(|_| ()) };
        let words = ["at the making of an area at", "at the step at", file!()];
        check(&error.unwrap_err(), ErrorKind::StepMismatch, &words);
    });
}

/// S5.
#[test]
fn verbs_that_differ_are_named_on_every_member() {
    let cases: [(&str, &str, fn(&mut Group, bool) -> superstep::Result); 8] = [
        ("Sum", "Max", |g, odd| g.try_step(|s| if odd { drop(s.reduce(1, Max)) } else { drop(s.reduce(1, Sum)) })),
        ("u8", "u16", |g, odd| g.try_step(|s| if odd { drop(s.reduce(1u16, Sum)) } else { drop(s.reduce(1u8, Sum)) })),
        ("prefix", "prefix_inclusive", |g, odd| {
            g.try_step(|s| if odd { drop(s.prefix_inclusive(1, Sum)) } else { drop(s.prefix(1, Sum)) })
        }),
        ("collect", "nothing", |g, odd| {
            g.try_step(|s| {
                if odd {
                    drop(s.collect(1));
                }
            })
        }),
        ("broadcast from 0", "broadcast from 1", |g, odd| g.try_step(|s| drop(s.broadcast(usize::from(odd), Some(1))))),
        ("reduce", "exchange", |g, odd| {
            let parts = vec![1; g.size()];
            g.try_step(|s| if odd { drop(s.reduce(1, Sum)) } else { drop(s.exchange(parts)) })
        }),
        ("reduce", "combine_prefix of a i32", |g, odd| {
            let x = g.shared(0_i32, Sum);
            g.step(|_| ());
            g.try_step(|s| if odd { drop(s.reduce(1, Sum)) } else { drop(s.combine_prefix(&x, Sum)) })
        }),
        ("agree on u8", "collect", |g, odd| {
            g.try_step(|s| if odd { drop(s.agree(Ok::<u8, String>(1))) } else { drop(s.collect(1)) })
        }),
    ];
    for (one, other, step) in cases {
        on_sizes(&[2, 3, 8, 9, 17], |g| {
            for odd in [0, g.size() - 1] {
                let error = step(g, g.rank() == odd).unwrap_err();
                check(&error, ErrorKind::CombineMismatch, &["step", "of group 0: rank 0", one, other, file!()]);
                is_everybodys(g, &error);
            }
        });
    }
}

/// S5: the root of a collective is an argument that must agree, and the message says which roots there were.
#[test]
fn roots_that_differ_are_named() {
    let steps: [fn(&mut Group, usize) -> superstep::Result; 4] = [
        |g, root| g.try_step(|s| drop(s.reduce_to(root, 1, Sum))),
        |g, root| g.try_step(|s| drop(s.collect_to(root, 1))),
        |g, root| {
            let parts = vec![1; g.size()];
            g.try_step(|s| drop(s.deal(root, Some(parts))))
        },
        |g, root| g.try_step(|s| drop(s.broadcast(root, Some(1)))),
    ];
    for step in steps {
        on_sizes(&[2, 3, 9], |g| {
            let error = step(g, usize::from(g.rank() != 0)).unwrap_err();
            check(&error, ErrorKind::CombineMismatch, &["step 0 of group 0: rank 0", "0", "1", file!()]);
            is_everybodys(g, &error);
        });
    }
}

/// S5: declarations are compared at the next boundary.
#[test]
fn a_declaration_that_only_some_make_is_everybodys_error() {
    let declare: [(&str, fn(&mut Group)); 4] = [
        ("shared i32", |g| drop(g.shared(1, Sum))),
        ("queue of (u8, u8)", |g| drop(g.queue::<u8, u8>())),
        ("shared i32", |g| std::mem::forget(g.shared(1, Any))),
        ("queue of (u8, u8)", |g| std::mem::forget(g.queue::<u8, u8>())),
    ];
    for (words, declare) in declare {
        on_sizes(&SEVERAL, |g| {
            let text = g.rank().to_string();
            if g.rank() == g.size() - 1 {
                declare(g);
            }
            let error = g.try_step(|s| s.collect(text)).unwrap_err();
            check(&error, ErrorKind::DeclMismatch, &["step 0 of group 0: rank 0 declared nothing", words, file!()]);
        });
    }
}

/// S5: operators and types are part of a declaration.
#[test]
fn declarations_that_differ_are_everybodys_error() {
    on_sizes(&SEVERAL, |g| {
        let _sum = if g.rank() == 0 { g.shared(1, Sum) } else { g.shared(1, Max) };
        let error = g.try_step(|_| ()).unwrap_err();
        check(&error, ErrorKind::DeclMismatch, &["step 0 of group 0: rank 0 declared shared i32", file!()]);
    });
    failing(
        &SEVERAL,
        |g| {
            if g.rank() == 1 {
                g.area::<u8>(1);
            } else {
                g.area::<u16>(1);
            }
        },
        |_, error| assert!(error.is_divergence(), "{error}"),
    );
}

/// S5: whatever an array is made of must agree, and members that differ are told so when it is made.
#[test]
fn arrays_that_differ_are_everybodys_error() {
    fn made<T>(array: superstep::Result<T>) -> superstep::Result {
        array.map(drop)
    }
    let makers: [fn(&mut Group, usize) -> superstep::Result; 11] = [
        |g, odd| made(g.try_array::<u8, Block>(5 + odd)),
        |g, odd| made(g.try_array_with::<u8, _, 1>([8], BlockCyclic::new(2 + odd))),
        |g, odd| made(g.try_array_with::<u8, _, 2>([6, 6], Tiles([2, 2 + odd]))),
        |g, odd| {
            let mut sizes = vec![1; g.size()];
            (sizes[0], sizes[1]) = (1 + odd, 2 - odd);
            made(g.try_array_with::<u8, _, 1>([g.size() + 1], Irregular(sizes)))
        },
        |g, odd| made(g.try_array_with::<u8, _, 2>([[2, 3], [3, 2]][odd], Block::<2>)),
        |g, odd| if odd == 0 { made(g.try_array::<u8, Block>(4)) } else { made(g.try_array::<i8, Block>(4)) },
        |g, odd| if odd == 0 { made(g.try_array::<u8, Block>(4)) } else { made(g.try_array::<u8, Cyclic>(4)) },
        |g, odd| made(g.try_paged::<u8, 1>([5 + odd], [2])),
        |g, odd| made(g.try_paged::<u8, 1>([5], [2 + odd])),
        |g, odd| made(g.try_paged::<u8, 2>([[2, 3], [3, 2]][odd], [1, 1])),
        |g, odd| if odd == 0 { made(g.try_area::<u8>(1)) } else { made(g.try_area::<u16>(1)) },
    ];
    for (number, make) in makers.into_iter().enumerate() {
        on_sizes(&[2, 3, 9], |g| {
            for odd in [0, g.size() - 1] {
                let error = make(g, usize::from(g.rank() == odd)).expect_err("they differ");
                assert!(error.is_divergence(), "maker {number}: {error}");
                is_everybodys(g, &error);
            }
            // Where they agree, it is made.
            make(g, 1).expect("they agree");
        });
    }
}
