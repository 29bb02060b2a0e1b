//! Operators of the program on array elements: the owner uses what it was handed itself (A5, X2).

use crate::{check, everywhere, is_everybodys, on_sizes};
use superstep::{Any, Array, Block, Combine, Cyclic, ErrorKind, Fold, Group, Sum};

fn all<D: superstep::Distribution>(g: &mut Group, a: &Array<u64, D>) -> Vec<u64> {
    g.step(|s| s.mirror(a, ..))
}

/// An operator that only [`Horner::new`] makes.
#[derive(Clone, Copy)]
struct Horner(());

impl Horner {
    fn new() -> Self {
        Self(())
    }
}

impl Combine<u64> for Horner {
    fn combine(&self, acc: &mut u64, with: &u64) {
        *acc = 10 * *acc + with;
    }
}

/// X2: an operator of the program that one member alone names is an error of all, on every fabric, because an owner in
/// another process has no value of it. Nothing is committed.
#[test]
fn an_operator_of_the_program_that_not_all_name_is_everybodys_error() {
    let ways: [fn(&superstep::Step, &Array<u64, Block>); 4] = [
        |s, a| s.scatter(a, &[0, 3], &[1, 2], |x: &mut u64, y: &u64| *x += y),
        |s, a| s.scatter_one(a, &[0, 3], 1, Horner::new()),
        |s, a| s.update_with(a, .., &[1; 4], Horner::new()),
        |s, a| s.scatterer(a, Horner::new()).push(3, 1),
    ];
    for way in ways {
        on_sizes(&[2, 3, 8, 9], |g| {
            let (a, last) = (g.array::<u64, Block>(4), g.size() - 1);
            let error = g
                .try_step(|s| {
                    if s.rank() == last {
                        way(s, &a);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::CombineMismatch, &["operator ", "must name the same operator", file!()]);
            is_everybodys(g, &error);
            assert_eq!(all(g, &a), [0; 4]);
            g.step(|s| way(s, &a));
            assert_ne!(all(g, &a), [0; 4]);
        });
    }
}

/// X1: a call that is refused has named nothing.
#[test]
fn an_operator_of_a_call_that_is_refused_is_not_named() {
    everywhere(|g| {
        let a = g.array::<u64, Block>(4);
        g.step(|s| {
            if s.rank() == 0 {
                s.try_scatter(&a, &[0, 4], &[1, 2], Horner::new()).unwrap_err();
                s.try_scatter(&a, &[0], &[1, 2], Horner::new()).unwrap_err();
                s.try_scatter_one(&a, &[0, 4], 1, Horner::new()).unwrap_err();
                s.try_update_with(&a, 1..3, &[1], Horner::new()).unwrap_err();
            }
        });
        assert_eq!(all(g, &a), [0; 4]);
    });
}

/// A5: it is named by all, but may be used as often as each likes.
#[test]
fn an_operator_of_the_program_is_used_as_often_as_each_member_likes() {
    everywhere(|g| {
        let (a, b) = (g.array::<u64, Cyclic>(2), g.array::<u64, Block>(2).combining(Horner::new()));
        let (p, plus) = (g.size() as u64, |x: &mut u64, y: &u64| *x += y);
        g.step(|s| {
            for _ in 0..s.rank() {
                s.scatter_one(&a, &[1], 1, plus);
            }
            s.scatter_one(&a, &[], 1, plus);
            // What was declared was handed to all with the array.
            if s.rank() == 0 {
                s.update(&b, .., &[3, 4]);
                s.update(&b, 1.., &[5]);
            }
        });
        assert_eq!(all(g, &a), [0, p * (p - 1) / 2]);
        assert_eq!(all(g, &b), [3, 45]);
    });
}

/// A5: a function travels by itself, and so do the operators of the library.
#[test]
fn a_fold_and_the_operators_of_the_library_need_nobody_else() {
    everywhere(|g| {
        let (a, last) = (g.array::<u64, Block>(5), g.size() - 1);
        g.step(|s| {
            if s.rank() == last {
                s.scatter(&a, &[0, 4, 4], &[1, 2, 3], Fold(|x, y| *x = 10 * *x + y));
                s.scatter_one(&a, &[1, 1], 7, Fold(|x, y| *x += y));
                s.scatter_one(&a, &[2, 2], 7, Sum);
                s.update_with(&a, 3..4, &[9], Any);
            }
        });
        assert_eq!(all(g, &a), [1, 14, 14, 9, 23]);
        let a = a.combining(Fold(|x, y| *x = 100 * *x + y));
        g.step(|s| {
            if s.rank() == last {
                s.update(&a, 1..2, &[1]);
            }
        });
        assert_eq!(all(g, &a)[1], 1401);
    });
}
