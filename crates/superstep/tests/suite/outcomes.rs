//! What a body returns, and whose error it is (X7).

use crate::{SEVERAL, check, everywhere, failing, is_everybodys, on_sizes};
use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};
use superstep::{Block, ErrorKind, Every, Group, Sum, Weighted};

/// An error of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unwell(pub(crate) usize);

impl fmt::Display for Unwell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unwell: {}", self.0)
    }
}

impl std::error::Error for Unwell {}

/// Runs a body that fails on one rank, at several moments of the others.
fn fails(claim: impl Fn(&mut Group) -> Result<usize, Unwell> + Sync, rank: impl Fn(usize) -> usize) {
    failing(&SEVERAL, claim, |context, error| {
        let p: usize = context.split(' ').next().and_then(|size| size.parse().ok()).expect("it begins with the size");
        check(&error, ErrorKind::Failed, &[&format!("rank {} returned an error: unwell: 7", rank(p))]);
        assert!(error.is_program() && !error.is_loss() && !error.is_divergence() && !error.is_misuse());
    });
}

#[test]
fn an_error_that_one_body_returns_at_the_end_is_the_runs() {
    fails(|g| if g.rank() == 1 { Err(Unwell(7)) } else { Ok(1) }, |_| 1);
    fails(|g| if g.rank() + 1 == g.size() { Err(Unwell(7)) } else { Ok(1) }, |p| p - 1);
}

#[test]
fn an_early_error_reaches_those_who_step_on_with_its_text() {
    fails(
        |g| {
            g.step(|_| ());
            if g.rank() == 1 {
                return Err(Unwell(7));
            }
            Ok(g.step(|s| s.reduce(1, Sum)))
        },
        |_| 1,
    );
}

/// Of several the lowest rank's counts, in every run.
#[test]
fn of_several_errors_the_lowest_ranks_is_the_runs() {
    fails(|g| if g.rank() > 0 || g.size() == 1 { Err(Unwell(6 + g.rank())) } else { Ok(0) }, |_| 1);
}

#[test]
fn those_who_try_the_step_get_the_error_and_the_run_fails_all_the_same() {
    fails(
        |g| {
            if g.rank() == 0 {
                return Err(Unwell(7));
            }
            let error = g.try_step(|_| ()).unwrap_err();
            check(&error, ErrorKind::Failed, &["rank 0 returned an error: unwell: 7"]);
            Ok(0)
        },
        |_| 0,
    );
    fails(
        |g| {
            if g.rank() + 1 == g.size() {
                return Err(Unwell(7));
            }
            g.try_step(|_| ()).unwrap_err();
            Ok(0)
        },
        |p| p - 1,
    );
}

#[test]
fn an_error_out_of_a_split_is_the_splits_on_all_members_of_the_parent() {
    on_sizes(&SEVERAL, |g| {
        let sum = g.shared(5, Sum);
        for _ in 0..3 {
            let error = g
                .try_split(2, |sub| {
                    sub.step(|_| ());
                    sum.set(100);
                    if sub.id() == 1 && sub.rank() + 1 == sub.size() {
                        return Err(Unwell(7));
                    }
                    // Whoever goes on in that subgroup must not go on with fewer.
                    assert_eq!(sub.step(|s| s.reduce(1, Sum)), sub.size());
                    sub.step(|_| ());
                    Ok(())
                })
                .unwrap_err();
            check(&error, ErrorKind::Failed, &["of group 0/1: rank", "returned an error: unwell: 7"]);
            is_everybodys(g, &error);
            assert_eq!(sum.get(), 5);
        }
    });
}

#[test]
fn an_error_goes_up_through_all_splits_that_do_not_stop_it() {
    failing(
        &SEVERAL,
        |g| {
            g.split(1, |sub| {
                sub.split(2, |inner| {
                    inner.split(1, |innermost| {
                        if innermost.parent().unwrap().id() == 0 && innermost.rank() == 0 {
                            Err(Unwell(7))
                        } else {
                            innermost.step(|_| ());
                            Ok(())
                        }
                    });
                });
                sub.step(|_| ());
            });
            unreachable!("the split has failed");
        },
        |_, error| check(&error, ErrorKind::Failed, &["of group 0/0/0/0: rank 0 returned an error: unwell: 7"]),
    );
}

#[test]
fn a_split_one_after_another_and_one_on_an_array_fail_as_well() {
    everywhere(|g| {
        let p = g.size();
        let error = g.try_split(Every(3 * p), |sub| if sub.id() == p { Err("enough") } else { Ok(()) }).unwrap_err();
        check(&error, ErrorKind::Failed, &["enough"]);
        is_everybodys(g, &error);
        let array = g.array::<u64, Block>(10 * p);
        let error = g
            .try_split_on(
                Weighted(&[1.0]),
                &array,
                |_| 0..10 * p,
                |sub, part| {
                    part.local_mut().fill(7);
                    if sub.rank() == 0 { Err("enough") } else { Ok(()) }
                },
            )
            .unwrap_err();
        check(&error, ErrorKind::Failed, &["enough"]);
        is_everybodys(g, &error);
        assert!(array.local().iter().all(|&x| x == 0), "nothing is written back");
    });
}

/// Misuse in a subgroup is seen by one member alone; its subgroup and all others hear of it from the split.
#[test]
fn an_error_that_a_member_unwinds_with_is_the_splits() {
    on_sizes(&SEVERAL, |g| {
        let error = g
            .try_split(1, |sub| {
                let area = sub.area::<u8>(1);
                sub.step(|s| {
                    if s.rank() == 1 {
                        s.put(0, &[1, 2, 3], &area, 0);
                    }
                });
            })
            .unwrap_err();
        check(&error, ErrorKind::OutOfBounds, &["group 0/0"]);
        is_everybodys(g, &error);
    });
}

#[test]
fn what_one_processor_cannot_do_all_of_them_agree_on() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(1);
        for bad in 0..p {
            let outcome = g.try_step(|s| {
                s.put((me + 1) % p, &[9], &area, 0);
                s.agree(if me == bad { Err(Unwell(bad)) } else { Ok(me) })
            });
            let error = outcome.unwrap_err();
            check(&error, ErrorKind::Failed, &[&format!("rank {bad} brought an error: unwell: {bad}")]);
            is_everybodys(g, &error);
            assert_eq!(*area.local(), [0]);
        }
        let all = g.try_step(|s| s.agree(if me > 0 { Err(Unwell(me)) } else { Ok(()) })).unwrap_err();
        check(&all, ErrorKind::Failed, &["rank 1 brought"]);
        assert_eq!(g.step(|s| s.agree(Ok::<_, Unwell>(me))), me);
    });
}

/// What only some of them bring to it is a mistake of its own.
#[test]
fn agreeing_is_collective() {
    on_sizes(&SEVERAL, |g| {
        let error = g.try_step(|s| if s.rank() == 0 { None } else { Some(s.agree(Ok::<_, Unwell>(1))) }).unwrap_err();
        check(&error, ErrorKind::CombineMismatch, &["agree"]);
    });
}

/// An error of the library stays what it is, on its way through `?`.
#[test]
fn errors_of_the_library_pass_through_a_body_unchanged() {
    failing(
        &SEVERAL,
        |g| {
            let area = g.area::<u8>(1);
            g.try_step(|s| s.agree(if s.rank() == 1 { s.try_put(0, &[1, 2], &area, 0) } else { Ok(()) }))
        },
        |_, error| check(&error, ErrorKind::OutOfBounds, &["outcomes.rs"]),
    );
}

/// An error whose text panics, or which is its own cause and says something else each time.
#[derive(Debug)]
enum Odd {
    Mute,
    Endless(AtomicUsize),
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mute => std::panic::resume_unwind(Box::new("no words")),
            Self::Endless(count) => write!(f, "cause {}.", count.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

impl std::error::Error for Odd {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        matches!(self, Self::Endless(_)).then_some(self)
    }
}

#[test]
fn an_error_whose_text_panics_is_everybodys_all_the_same() {
    on_sizes(&SEVERAL, |g| {
        let silent = |rank: usize| if rank == 1 { Err(Odd::Mute) } else { Ok(()) };
        let error = g.try_split(1, |sub| {
            let mine = silent(sub.rank());
            if mine.is_ok() {
                sub.step(|_| ());
            }
            mine
        });
        let error = error.unwrap_err();
        check(&error, ErrorKind::Failed, &["rank 1 returned an error: its text panicked: no words ("]);
        is_everybodys(g, &error);
        let error = g.try_step(|s| s.agree(silent(s.rank()))).unwrap_err();
        check(&error, ErrorKind::Failed, &["rank 1 brought an error: its text panicked: no words ("]);
        is_everybodys(g, &error);
    });
    failing(
        &SEVERAL,
        |g| if g.rank() == 1 { Err(Odd::Mute) } else { Ok(g.step(|s| s.reduce(1, Sum))) },
        |_, error| check(&error, ErrorKind::Failed, &["rank 1 returned an error: its text panicked: no words ("]),
    );
}

#[test]
fn an_error_that_is_its_own_cause_comes_to_an_end() {
    failing(
        &SEVERAL,
        |g| {
            if g.rank() == 1 {
                return Err(Odd::Endless(AtomicUsize::new(0)));
            }
            Ok(g.step(|s| s.reduce(1, Sum)))
        },
        |_, error| {
            check(&error, ErrorKind::Failed, &["rank 1 returned an error: cause 0.: cause 1.: cause 2.: "]);
            assert!(!error.to_string().contains("cause 100."), "{error}");
        },
    );
}
