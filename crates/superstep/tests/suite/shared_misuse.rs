//! Shared variables that cannot be combined, encoded or lent (R1, X1, X2).

use crate::{SEVERAL, SIZES, check, failing, is_everybodys, on_sizes};
use serde::{Deserialize, Serialize, Serializer};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};
use superstep::{Any, Checked, Combine, Each, Error, ErrorKind, Local, Product, Sum};

/// R1 and X2.
#[test]
fn vectors_of_different_lengths_do_not_combine() {
    on_sizes(&SEVERAL, |g| {
        let (x, me) = (g.shared(vec![1], Each(Sum)), g.rank());
        let error = g.try_step(|_| x.set(vec![0; 2 + me % 2])).unwrap_err();
        check(&error, ErrorKind::CombineMismatch, &["2", "3", "step 0 of group 0"]);
        is_everybodys(g, &error);
        assert_eq!(x.get(), [1]);
        let error = g.try_step(|s| s.reduce(vec![0; 2 + me % 2], Each(Sum))).unwrap_err();
        check(&error, ErrorKind::CombineMismatch, &["2", "3", "step", "of group 0"]);
        is_everybodys(g, &error);
    });
}

/// R1 and X2.
#[test]
fn a_combine_function_that_panics_is_everybodys_error() {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "the shape of an operator")]
    fn fails(_: &mut usize, with: &usize) {
        assert!(*with == 0, "cannot take {with}");
    }
    on_sizes(&SEVERAL, |g| {
        let x = g.shared(3, fails);
        let error = g.try_step(|_| x.set(7)).unwrap_err();
        check(
            &error,
            ErrorKind::Panicked,
            &["combine function panicked", "cannot take 7", file!(), "step 0 of group 0"],
        );
        is_everybodys(g, &error);
        assert_eq!(x.get(), 3);
        let error = g.try_step(|s| s.reduce(7, fails)).unwrap_err();
        check(&error, ErrorKind::Panicked, &["combine function panicked", "cannot take 7", file!(), "of group 0"]);
        is_everybodys(g, &error);
    });
}

/// R1 and X2.
#[test]
fn an_overflow_is_everybodys_error_where_it_is_checked() {
    on_sizes(&SEVERAL, |g| {
        let x = g.shared(1u8, Checked(Sum));
        let error = g.try_step(|_| x.set(200)).unwrap_err();
        check(&error, ErrorKind::Overflow, &["step 0 of group 0"]);
        is_everybodys(g, &error);
        assert_eq!(x.get(), 1);
        let error = g.try_step(|s| s.reduce(i64::MAX, Checked(Product))).unwrap_err();
        check(&error, ErrorKind::Overflow, &["of group 0"]);
        is_everybodys(g, &error);
        let error = g.try_step(|s| s.reduce(vec![0, i32::MIN], Each(Checked(Sum)))).unwrap_err();
        check(&error, ErrorKind::Overflow, &["of group 0"]);
        is_everybodys(g, &error);
        // Unless it is checked, it goes round.
        let p = g.size() as u8;
        assert_eq!(g.step(|s| s.reduce(200u8, Sum)), p.wrapping_mul(200));
    });
}

/// R3 and X2: what only a prefix meets, because the total is bracketed in another way, counts as well.
#[test]
fn an_overflow_in_a_prefix_alone_is_an_overflow() {
    let values = [100i8, 0, 100, -100];
    for own in [false, true] {
        failing(
            &[4],
            |g| {
                let value = values[g.rank()];
                g.step(|s| if own { s.prefix_inclusive(value, Checked(Sum)) } else { s.prefix(value, Checked(Sum)) });
            },
            |context, error| assert!(error.kind() == ErrorKind::Overflow, "{context}, own {own}: {error}"),
        );
    }
}

/// A value that cannot be encoded where it says so.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
struct Touchy {
    refuses: bool,
}

impl Serialize for Touchy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.refuses {
            return Err(serde::ser::Error::custom("refused on purpose"));
        }
        serializer.serialize_bool(self.refuses)
    }
}

/// R1 and X2.
#[test]
fn a_value_that_cannot_be_encoded_is_everybodys_error() {
    on_sizes(&SIZES, |g| {
        let (x, sum) = (g.shared(Touchy::default(), Any), g.shared(3, Sum));
        let touchy = Touchy { refuses: g.rank() == g.size() - 1 };
        let error = g.try_step(|_| {
            sum.set(9);
            x.set(touchy.clone());
        });
        let error = error.unwrap_err();
        check(&error, ErrorKind::Encode, &["step 0 of group 0", "Touchy", file!()]);
        is_everybodys(g, &error);
        assert_eq!((x.get(), sum.get()), (Touchy::default(), 3));
        let error = g.try_step(|s| s.reduce(touchy, Any)).unwrap_err();
        check(&error, ErrorKind::Encode, &["of group 0", "Touchy", file!()]);
        is_everybodys(g, &error);
    });
}

/// X1: a shared variable is written in steps alone.
#[test]
fn a_write_outside_of_any_step_is_refused() {
    let write: [fn(&superstep::Shared<i32>); 2] = [|x| x.set(1), |x| *x.write() = 1];
    for write in write {
        failing(
            &SIZES,
            |g| {
                let x = g.shared(0, Sum);
                g.step(|_| x.set(1));
                write(&x);
            },
            |_, error| check(&error, ErrorKind::OutsideStep, &["step 1 of group 0", "shared i32", file!()]),
        );
        // A variable of a subgroup that is over has no step any more.
        failing(
            &SIZES,
            |g| {
                let x = g.split(1, |sub| Local(sub.shared(0, Sum))).unwrap();
                g.step(|_| write(&x));
            },
            |_, error| check(&error, ErrorKind::OutsideStep, &["of group 0/0", "shared i32", file!()]),
        );
    }
}

/// X1.
#[test]
fn a_variable_of_another_group_is_given_no_operator() {
    failing(
        &SIZES,
        |g| {
            let x = g.shared(0, Sum);
            g.split(1, |sub| sub.step(|s| s.combine(&x, Product)));
        },
        |_, error| check(&error, ErrorKind::NotMember, &["this variable belongs to group 0;", file!()]),
    );
}

/// X1.
#[test]
fn a_write_to_a_copy_that_is_lent_is_refused() {
    failing(
        &SIZES,
        |g| {
            let x = g.shared(0, Sum);
            g.step(|_| {
                let lent = x.read();
                x.set(*lent + 1);
            });
        },
        |_, error| check(&error, ErrorKind::StillBorrowed, &["step 0 of group 0", "shared i32", file!()]),
    );
}

/// X1: reading a copy that is lent for writing says so, at the caller's line.
#[test]
fn a_copy_that_is_lent_for_writing_cannot_be_read() {
    let read: [fn(&superstep::Shared<i32>) -> i32; 2] = [|x| x.get(), |x| *x.read()];
    for read in read {
        failing(
            &[1, 2],
            |g| {
                let x = g.shared(0, Sum);
                g.step(|_| {
                    let lent = x.write();
                    read(&x);
                    drop(lent);
                });
            },
            |_, error: Error| check(&error, ErrorKind::StillBorrowed, &["step 0 of group 0", "shared i32", file!()]),
        );
    }
}

/// X6: a borrow that makes a step fail keeps nothing of it, whatever is written through it afterwards.
#[test]
fn a_borrow_that_has_outlived_its_step_leaves_nothing_behind() {
    on_sizes(&SIZES, |g| {
        let (x, holds) = (g.shared(7, Sum), g.rank() == g.size() - 1);
        for late in [false, true] {
            let mut held = None;
            let failed = g.try_step(|_| {
                if holds {
                    let mut lent = x.write();
                    *lent = 5;
                    held = Some(lent);
                }
            });
            check(&failed.unwrap_err(), ErrorKind::StillBorrowed, &["still holds a borrow of the shared i32"]);
            // It is still alive at the next one.
            let error = g.try_step(|_| ()).unwrap_err();
            check(&error, ErrorKind::StillBorrowed, &["still holds a borrow of the shared i32"]);
            if let Some(mut lent) = held {
                *lent = 6;
            }
            if late {
                is_everybodys(g, &error);
            }
            assert_eq!((x.get(), format!("{x:?}").contains('7')), (7, true));
            g.step(|_| ());
            assert_eq!(x.get(), 7);
        }
        // So does one for reading what the step has written.
        let mut held = None;
        let failed = g.try_step(|_| {
            if holds {
                x.set(5);
                held = Some(x.read());
            }
        });
        check(&failed.unwrap_err(), ErrorKind::StillBorrowed, &["shared i32"]);
        let read = catch_unwind(AssertUnwindSafe(|| x.get()));
        match read.map_err(|payload| payload.downcast::<Error>().unwrap()) {
            Ok(value) => assert_eq!((value, holds), (7, false)),
            Err(error) => check(&error, ErrorKind::StillBorrowed, &["a borrow from a step that failed", file!()]),
        }
        drop(held);
        g.step(|_| x.set(1));
        assert_eq!(x.get(), g.size() as i32);
    });
}

/// X1: a write that cannot be taken back is not made.
#[test]
fn a_write_whose_clone_panics_is_none() {
    #[derive(Serialize, Deserialize)]
    struct Single {
        value: usize,
        refuses: bool,
    }
    impl Clone for Single {
        fn clone(&self) -> Self {
            if self.refuses {
                resume_unwind(Box::new("there is one of me"));
            }
            Self { ..*self }
        }
    }
    on_sizes(&SIZES, |g| {
        let refuses = g.rank() == 0;
        let x = g.shared(Single { value: 5, refuses }, |a: &mut Single, b: &Single| a.value += b.value);
        g.step(|_| {
            if refuses {
                assert!(catch_unwind(AssertUnwindSafe(|| drop(x.write()))).is_err());
            } else {
                x.set(Single { value: 1, refuses });
            }
        });
        assert_eq!(x.read().value, if g.size() == 1 { 5 } else { g.size() - 1 });
    });
}

thread_local! {
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

/// Adds. Its identity panics once, where that was asked for.
#[derive(Clone, Copy)]
struct Reluctant;

impl Combine<usize> for Reluctant {
    fn combine(&self, acc: &mut usize, with: &usize) {
        *acc += with;
    }

    fn identity(&self) -> Option<usize> {
        if REFUSES.take() {
            resume_unwind(Box::new("not yet"));
        }
        Some(0)
    }
}

/// X1.
#[test]
fn a_prefix_of_a_variable_that_was_refused_may_be_asked_for_again() {
    on_sizes(&SIZES, |g| {
        let (x, me) = (g.shared(0, Sum), g.rank());
        REFUSES.set(me == g.size() - 1);
        let below = g.step(|s| {
            x.set(1);
            let first = catch_unwind(AssertUnwindSafe(|| s.combine_prefix(&x, Reluctant)));
            assert_eq!(first.is_err(), me == s.size() - 1);
            first.unwrap_or_else(|_| s.combine_prefix(&x, Reluctant))
        });
        assert_eq!((below, x.get()), (me, g.size()));
    });
}
