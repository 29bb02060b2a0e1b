//! Operators that overflow, panic or refuse, on some members or on all (X2): one error, nothing committed, and the
//! group goes on.

use crate::{SEVERAL, SIZES, check, failing, is_everybodys, on_sizes};
use serde::{Deserialize, Serialize};
use std::panic::resume_unwind;
use superstep::{
    Any, Area, Array, Block, Checked, Combine, Each, Error, ErrorKind, Fold, Group, Max, Pending, Queue, Same, Shared,
    Step, Sum,
};

/// In a group of four, only what is below the last rank overflows an i8: the whole is bracketed in another way.
const UNEVEN: [i8; 4] = [100, 0, 100, -100];

/// Adds, and panics where that makes more than 127.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "operators have this shape")]
fn careful(sum: &mut i8, x: &i8) {
    match sum.checked_add(*x) {
        Some(more) => *sum = more,
        // Without the noise of a panic's message.
        None => resume_unwind(Box::new("too much")),
    }
}

/// Everything that a step can change.
struct State {
    x: Shared<i32>,
    area: Area<u8>,
    queue: Queue<u8, u8>,
    a: Array<i8, Block>,
    large: Array<u64, Block>,
}

impl State {
    fn new(g: &mut Group) -> Self {
        let size = g.size();
        let (x, area, queue) = (g.shared(5, Any), g.area(size), g.queue());
        let (a, large) = (g.array(2 * size), g.array(10_000 * size));
        a.local_mut().fill(100);
        large.local_mut().fill(7);
        Self { x, area, queue, a, large }
    }

    /// Changes everything, at the boundary.
    fn change(&self, s: &Step) {
        let next = (s.rank() + 1) % s.size();
        self.x.set(6);
        s.put(next, &[9], &self.area, s.rank());
        s.send(next, &self.queue, 1, 2);
        s.update(&self.a, .., &vec![1; self.a.len()]);
        // A whole part, which changes hands where memory is shared.
        s.update(&self.large, 10_000 * next..10_000 * (next + 1), &vec![8; 10_000]);
    }

    fn is_untouched(&self) {
        assert_eq!(self.x.get(), 5);
        assert!(self.area.local().iter().all(|&x| x == 0));
        assert!(self.queue.is_empty());
        assert!(self.a.local().iter().all(|&x| x == 100));
        assert!(self.large.local().iter().all(|&x| x == 7));
    }

    /// Changes everything for good.
    fn changes(&self, g: &mut Group) {
        g.step(|s| self.change(s));
        assert_eq!(self.x.get(), 6);
        assert_eq!(self.area.local().iter().map(|&x| u32::from(x)).sum::<u32>(), 9);
        assert_eq!(self.queue.drain().collect::<Vec<_>>(), [(1, 2)]);
        assert!(self.a.local().iter().all(|&x| x == 1));
        assert!(self.large.local().iter().all(|&x| x == 8));
    }
}

/// Takes a step that fails while everything is changed, and holds that nothing was.
fn is_refused(g: &mut Group, fails: impl Fn(&Step, &State), kind: ErrorKind, says: &[&str]) {
    let state = State::new(g);
    for _ in 0..2 {
        let outcome: Result<(), Error> = g.try_step(|s| {
            state.change(s);
            fails(s, &state);
        });
        let error = outcome.unwrap_err();
        check(&error, kind, says);
        check(&error, kind, &["of group 0", file!()]);
        is_everybodys(g, &error);
        state.is_untouched();
    }
    state.changes(g);
}

/// R3 and X2: a prefix that is refused on one member alone.
#[test]
fn a_prefix_that_one_member_cannot_have_is_everybodys_error() {
    let ways: [fn(&Step, &State, i8); 5] = [
        |s, _, x| drop(s.prefix(x, Checked(Sum))),
        |s, _, x| drop(s.prefix_inclusive(x, Checked(Sum))),
        |s, _, x| drop((s.prefix(x, Sum), s.prefix_inclusive(x, Checked(Sum)), s.reduce(x, Max))),
        |s, _, x| drop(s.prefix(vec![x], Each(Checked(Sum)))),
        |s, _, x| drop(s.prefix([x; 2], Each(Checked(Sum)))),
    ];
    for way in ways {
        on_sizes(&[4], |g| {
            is_refused(g, |s, state| way(s, state, UNEVEN[s.rank()]), ErrorKind::Overflow, &["100 + 100 overflows i8"]);
        });
    }
    let ways: [fn(&Step, i8); 2] = [|s, x| drop(s.prefix(x, careful)), |s, x| drop(s.prefix_inclusive(x, careful))];
    for way in ways {
        on_sizes(&[4], |g| {
            let says = ["a combine function panicked: too much"];
            is_refused(g, |s, _| way(s, UNEVEN[s.rank()]), ErrorKind::Panicked, &says);
        });
    }
}

/// R3 and X2: so is the prefix of a variable.
#[test]
fn a_prefix_of_a_variable_that_one_member_cannot_have_is_everybodys_error() {
    on_sizes(&[4], |g| {
        let sum = g.shared(0i8, Sum);
        for _ in 0..2 {
            let error = g
                .try_step(|s| {
                    sum.set(UNEVEN[s.rank()]);
                    s.combine_prefix(&sum, Checked(Sum))
                })
                .unwrap_err();
            check(&error, ErrorKind::Overflow, &["100 + 100 overflows i8", file!()]);
            is_everybodys(g, &error);
            assert_eq!(sum.get(), 0);
        }
        g.step(|_| sum.set(1));
        assert_eq!(sum.get(), 4);
    });
}

/// G6, R3 and X2: so is one in a step before which a member has left, and those who stay go on.
#[test]
fn a_prefix_that_is_refused_while_a_member_leaves_is_everybodys_error() {
    on_sizes(&[5], |g| {
        g.split(1, |sub| {
            if sub.rank() == 4 {
                return;
            }
            let (value, x) = (UNEVEN[sub.rank()], sub.shared(5, Any));
            for _ in 0..2 {
                let error = sub
                    .try_step(|s| {
                        x.set(6);
                        s.prefix_inclusive(value, Checked(Sum))
                    })
                    .unwrap_err();
                check(&error, ErrorKind::Overflow, &["100 + 100 overflows i8", "of group 0/0", file!()]);
                is_everybodys(sub, &error);
                assert_eq!((sub.size(), x.get()), (4, 5));
            }
            assert_eq!(sub.step(|s| s.prefix_inclusive(1, Checked(Sum))), sub.rank() + 1);
        });
    });
}

/// R3: what no member asks for cannot be refused.
#[test]
fn a_prefix_is_refused_only_where_somebody_asks_for_it() {
    on_sizes(&[2], |g| {
        // All of them together are 300, which nobody gets.
        let value = [200u8, 100][g.rank()];
        assert_eq!(g.step(|s| s.prefix(value, Checked(Sum))), [0, 200][g.rank()]);
        let error = g.try_step(|s| s.prefix_inclusive(value, Checked(Sum))).unwrap_err();
        check(&error, ErrorKind::Overflow, &["200 + 100 overflows u8"]);
        is_everybodys(g, &error);
    });
    on_sizes(&[4], |g| {
        // The reduction is fine, and only its part below the last rank would not be.
        let value = UNEVEN[g.rank()];
        let (sum, below) = g.step(|s| (s.reduce(value, Checked(Sum)), s.prefix(1, Sum)));
        assert_eq!((sum, below), (100, g.rank()));
    });
}

/// R1 and X2: `Same` means the same in every verb.
#[test]
fn values_that_should_be_the_same_are_compared_in_every_verb() {
    let ways: [fn(&Step, usize) -> Pending<usize>; 3] = [
        |s, x| s.reduce(x, Same),
        |s, x| s.prefix_inclusive(x, Same),
        |s, x| {
            drop(s.reduce_to(0, x, Same));
            s.reduce(0, Sum)
        },
    ];
    for way in ways {
        on_sizes(&SEVERAL, |g| {
            // The last rank is the one that differs, so that a prefix meets it nowhere but there.
            let odd = usize::from(g.rank() == g.size() - 1);
            let error = g.try_step(|s| way(s, odd)).unwrap_err();
            check(&error, ErrorKind::ReplicaDiverged, &["should be the same", file!()]);
            is_everybodys(g, &error);
            g.step(|s| way(s, 3));
        });
    }
}

/// A5 and X2: an operator on array elements that fails at an owner.
#[test]
fn an_operator_that_fails_at_an_owner_is_everybodys_error() {
    let ways: [(fn(&Step, &State), ErrorKind, &str); 5] = [
        (|s, state| s.scatter(&state.a, &[1], &[127], Checked(Sum)), ErrorKind::Overflow, "overflows i8"),
        (|s, state| s.scatter_one(&state.a, &[0, 1, 1], 127, Checked(Sum)), ErrorKind::Overflow, "overflows i8"),
        (
            |s, state| s.update_with(&state.a, .., &vec![127; state.a.len()], Checked(Sum)),
            ErrorKind::Overflow,
            "overflows i8",
        ),
        (
            |s, state| s.scatter(&state.a, &[state.a.len() - 1], &[127], careful),
            ErrorKind::Panicked,
            "a combine function panicked: too much",
        ),
        (
            |s, state| s.scatter(&state.a, &[1, 1], &[1, 2], Same),
            ErrorKind::ReplicaDiverged,
            "element 1 that should be the same",
        ),
    ];
    for (way, kind, says) in ways {
        on_sizes(&SIZES, |g| is_refused(g, way, kind, &[says, "array [", "of i8"]));
    }
}

/// A5: an operator that may fail and does not makes what it makes, onto what is there.
#[test]
fn an_operator_that_might_fail_and_does_not_commits() {
    on_sizes(&SIZES, |g| {
        let (a, p) = (g.array::<u64, Block>(5), g.size() as u64);
        for round in 0..3u64 {
            g.step(|s| {
                s.scatter(&a, &[4, 0, 4], &[1, 10, 1], Checked(Sum));
                s.update(&a, 1..2, &[s.rank() as u64]);
                s.scatter_one(&a, &[2], 3, |x: &mut u64, y: &u64| *x += y);
            });
            let sum = (round + 1) * p;
            assert_eq!(g.step(|s| s.mirror(&a, ..)), [10 * sum, 0, 3 * sum, 0, 2 * sum]);
        }
    });
}

/// E2 and X2: a reduction of an epoch is refused like one of a step.
#[test]
fn a_reduction_of_an_epoch_that_fails_is_everybodys_error() {
    fn is_refused<C: Combine<i8>>(op: C, kind: ErrorKind, says: &'static str) {
        on_sizes(&SEVERAL, |g| {
            let object = g.object(if g.rank() < 2 { 100i8 } else { 0 });
            let other = g.object(usize::from(g.rank() == 0));
            for _ in 0..2 {
                let error = g.try_epoch(|e| e.reduce(&object, (), |x, _, ()| *x, op)).unwrap_err();
                check(&error, kind, &[says, file!()]);
                is_everybodys(g, &error);
                let error = g.try_epoch(|e| e.reduce(&other, (), |x, _, ()| *x, Same)).unwrap_err();
                check(&error, ErrorKind::ReplicaDiverged, &["should be the same", file!()]);
                is_everybodys(g, &error);
            }
            let sum = g.epoch(|e| e.reduce(&object, (), |_, _, ()| 1usize, Sum));
            assert_eq!(sum, g.size());
            assert_eq!(g.epoch(|e| e.reduce(&object, (), |_, _, ()| 3, Same)), 3);
        });
    }
    is_refused(Checked(Sum), ErrorKind::Overflow, "100 + 100 overflows i8");
    is_refused(careful, ErrorKind::Panicked, "a combine function panicked: too much");
}

/// X3: a value that panics where it should become bytes is everybody's error, and nothing is committed.
#[test]
fn a_value_that_panics_while_it_is_encoded_is_everybodys_error() {
    #[derive(Clone, Deserialize)]
    struct Explosive(bool);
    impl Serialize for Explosive {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if self.0 {
                resume_unwind(Box::new("no encoding me"));
            }
            self.0.serialize(serializer)
        }
    }
    on_sizes(&SEVERAL, |g| {
        let (x, y) = (g.shared(Explosive(false), Any), g.shared(1, Any));
        for fails in [true, false] {
            let outcome = g.try_step(|s| {
                y.set(2);
                x.set(Explosive(fails && s.rank() == 1));
                s.reduce(Explosive(fails && s.rank() == 1), Any)
            });
            match outcome {
                Ok(_) => assert_eq!((fails, y.get()), (false, 2)),
                Err(error) => {
                    check(&error, ErrorKind::Panicked, &["no encoding me", file!()]);
                    is_everybodys(g, &error);
                    assert_eq!((fails, y.get()), (true, 1));
                }
            }
        }
    });
}

/// X3: what panics after others may have committed ends the run, and nobody goes on with another step than the others.
#[test]
fn a_value_that_panics_while_it_is_decoded_ends_the_run_on_all_members() {
    #[derive(Clone, Serialize)]
    struct Inert;
    impl<'a> Deserialize<'a> for Inert {
        fn deserialize<D: serde::Deserializer<'a>>(_: D) -> Result<Self, D::Error> {
            resume_unwind(Box::new("no decoding me"))
        }
    }
    failing(
        &SEVERAL,
        |g| {
            for _ in 0..2 {
                let error = g.try_step(|s| drop(s.reduce(Inert, Any))).unwrap_err();
                check(&error, ErrorKind::Panicked, &["no decoding me"]);
            }
        },
        |_, error| check(&error, ErrorKind::Panicked, &["no decoding me"]),
    );
}

/// S5: two functions of one type are two operators.
#[test]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "operators are handed references")]
fn members_that_fold_with_different_functions_are_told() {
    fn add(a: &mut u64, b: &u64) {
        *a += b;
    }
    fn multiply(a: &mut u64, b: &u64) {
        *a *= 10 * b;
    }
    on_sizes(&SEVERAL, |g| {
        let fold = Fold(if g.rank() == 0 { add as fn(&mut u64, &u64) } else { multiply });
        let errors = [
            g.try_step(|s| s.reduce(2, fold)).unwrap_err(),
            g.try_step(|s| s.reduce_to(0, 2, fold)).unwrap_err(),
            g.try_step(|s| s.prefix(2, fold)).unwrap_err(),
            g.try_step(|s| s.reduce(vec![2], Each(fold))).unwrap_err(),
        ];
        for error in errors {
            assert!(error.is_divergence(), "{error}");
            is_everybodys(g, &error);
        }
        assert_eq!(g.step(|s| s.reduce(2, Fold(add))), 2 * g.size() as u64);
    });
}
