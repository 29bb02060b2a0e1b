//! Shared variables, and how values combine (R1 to R4).

use crate::{SEVERAL, SIZES, bracketed, bracketed_below, check, everywhere, here, is_everybodys, on_sizes};
use superstep::{And, Any, Combine, Each, ErrorKind, Group, Leader, Max, Min, Or, Product, Same, Sum, Value, Xor};

/// Lets those whom `writes` names write their value to a variable that starts as `start`, and returns what it is then.
fn combined<T: Value, C: Combine<T>>(
    g: &mut Group,
    start: T,
    op: C,
    value: impl Fn(usize) -> T,
    writes: impl Fn(usize) -> bool,
) -> T {
    let x = g.shared(start, op);
    g.step(|s| {
        if writes(s.rank()) {
            x.set(value(s.rank()));
        }
    });
    x.get()
}

/// R1: every operator, against the same done one after another.
#[test]
fn every_operator_combines_what_was_written() {
    on_sizes(&SIZES, |g| {
        let p = g.size() as u64;
        let value = |rank: usize| (rank as u64 * 37 + 11) % 64 + 1;
        let values = || (0..p as usize).map(value);
        let all = |_| true;
        assert_eq!(combined(g, 0, Sum, value, all), values().sum());
        assert_eq!(combined(g, 0, Product, |rank| rank as u64 % 3 + 1, all), (0..p).map(|rank| rank % 3 + 1).product());
        assert_eq!(combined(g, 0, Min, value, all), values().min().unwrap());
        assert_eq!(combined(g, 0, Max, value, all), values().max().unwrap());
        assert_eq!(combined(g, 0, And, value, all), values().fold(u64::MAX, |acc, x| acc & x));
        assert_eq!(combined(g, 0, Or, value, all), values().fold(0, |acc, x| acc | x));
        assert_eq!(combined(g, 0, Xor, value, all), values().fold(0, |acc, x| acc ^ x));
        assert_eq!(combined(g, 0, Any, value, all), value(0));
        assert_eq!(combined(g, 0, Leader, value, all), value(0));
        assert_eq!(combined(g, 0, Same, |_| 9u64, all), 9);
        assert!(combined(g, false, Or, |rank| rank == 0, all));
        assert_eq!(combined(g, true, And, |rank| rank == 0, all), p == 1);
        assert_eq!(combined(g, [0, 0], Each(Max), |rank| [rank, 9 - rank.min(9)], all), [p as usize - 1, 9]);
        let text = combined(g, String::new(), |all: &mut String, x: &String| *all += x, |rank| rank.to_string(), all);
        assert_eq!(text, (0..p).map(|rank| rank.to_string()).collect::<String>());
    });
}

/// R2.
#[test]
fn only_copies_that_were_written_take_part() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let cases: [fn(usize, usize) -> bool; 5] = [
            |_, _| false,
            |rank, _| rank == 0,
            |rank, p| rank == p - 1,
            |rank, _| rank % 2 == 1,
            |rank, p| rank >= p / 2,
        ];
        for writes in cases {
            let wrote: Vec<usize> = (0..p).filter(|&rank| writes(rank, p)).collect();
            let sum = combined(g, 1000, Sum, |rank| rank, |rank| writes(rank, p));
            assert_eq!(sum, if wrote.is_empty() { 1000 } else { wrote.iter().sum() });
            let any = combined(g, 1000, Any, |rank| rank, |rank| writes(rank, p));
            assert_eq!(any, *wrote.first().unwrap_or(&1000));
            let same = combined(g, 1000, Same, |_| 3, |rank| writes(rank, p));
            assert_eq!(same, if wrote.is_empty() { 1000 } else { 3 });
        }
    });
}

/// R1: `Any` takes the last write of the lowest rank that wrote.
#[test]
fn the_last_of_several_writes_counts() {
    everywhere(|g| {
        let any = g.shared(0, Any);
        g.step(|s| {
            any.set(1);
            *any.write() += s.rank();
            any.set(any.get() + 10);
            assert_eq!(*any.read(), s.rank() + 11);
        });
        assert_eq!(any.get(), 11);
    });
}

/// R1.
#[test]
fn what_others_wrote_goes_back_where_the_leader_decides() {
    on_sizes(&SIZES, |g| {
        let x = g.shared(7, Leader);
        let me = g.rank();
        g.step(|_| {
            if me != 0 {
                x.set(100 + me);
                assert_eq!(x.get(), 100 + me);
            }
        });
        assert_eq!(x.get(), 7);
        g.step(|_| x.set(100 + me));
        assert_eq!(x.get(), 100);
    });
}

/// R1 and X2.
#[test]
fn copies_that_should_be_the_same_and_differ_are_everybodys_error() {
    on_sizes(&SEVERAL, |g| {
        let (x, place) = (g.shared("agreed".to_owned(), Same), here());
        for odd in [0, g.size() / 2, g.size() - 1] {
            let steps = g.steps();
            let is_odd = g.rank() == odd;
            let error = g.try_step(|_| x.set(if is_odd { "odd" } else { "even" }.to_owned())).unwrap_err();
            let step = format!("step {steps} of group 0");
            check(&error, ErrorKind::ReplicaDiverged, &["String", "differ", &place, &step]);
            assert!(error.is_divergence());
            is_everybodys(g, &error);
            assert_eq!(x.get(), "agreed");
        }
        let error = g.try_step(|s| s.reduce(s.rank(), Same)).unwrap_err();
        check(&error, ErrorKind::ReplicaDiverged, &["reduce", "usize", "step", "of group 0"]);
        is_everybodys(g, &error);
    });
}

/// R3.
#[test]
fn an_operator_can_be_replaced_for_one_step() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let (x, order) = (g.shared(0, Sum), g.shared(String::new(), Any));
        for _ in 0..2 {
            g.step(|s| {
                x.set(s.rank());
                s.combine(&x, Max);
                order.set(s.rank().to_string());
                s.combine(&order, |all: &mut String, one: &String| *all += one);
            });
            assert_eq!((x.get(), order.get()), (p - 1, (0..p).map(|rank| rank.to_string()).collect()));
            g.step(|s| {
                x.set(s.rank());
                order.set(s.rank().to_string());
            });
            assert_eq!((x.get(), order.get()), (p * (p - 1) / 2, "0".to_owned()));
        }
        g.step(|s| {
            x.set(s.rank() + 5);
            s.combine(&x, Leader);
        });
        assert_eq!(x.get(), 5);
    });
}

/// R3: variables may be named in any order, by members that write and by members that do not.
#[test]
fn replaced_operators_may_be_named_in_any_order() {
    everywhere(|g| {
        let (a, b, p) = (g.shared(0, Sum), g.shared(0, Sum), g.size());
        g.step(|s| {
            if s.rank() % 2 == 0 {
                s.combine(&a, Max);
                s.combine(&b, Min);
                b.set(s.rank() + 1);
                a.set(s.rank() + 1);
            } else {
                s.combine(&b, Min);
                s.combine(&a, Max);
            }
        });
        assert_eq!((a.get(), b.get()), ((p - 1) / 2 * 2 + 1, 1));
    });
}

/// R3 and S5.
#[test]
fn operators_that_differ_between_members_are_everybodys_error() {
    on_sizes(&SEVERAL, |g| {
        let x = g.shared(3, Sum);
        for names_it in [true, false] {
            let odd = g.rank() == g.size() - 1;
            let error = g.try_step(|s| {
                x.set(8);
                match (odd, names_it) {
                    (true, true) => s.combine(&x, Max),
                    (true, false) => {}
                    (false, _) => s.combine(&x, Min),
                }
            });
            let error = error.unwrap_err();
            let other = if names_it { "Max" } else { "nothing" };
            check(&error, ErrorKind::CombineMismatch, &["of group 0", "operator", "Min", other, "shared i32", file!()]);
            is_everybodys(g, &error);
            assert_eq!(x.get(), 3);
        }
    });
}

/// R3 and R2.
#[test]
fn the_prefix_of_a_variable_skips_those_who_did_not_write() {
    on_sizes(&SIZES, |g| {
        let (p, me) = (g.size(), g.rank());
        for writes in [(|_| true) as fn(usize) -> bool, |_| false, |rank| rank % 3 == 1, |rank| rank != 0] {
            let (x, text) = (g.shared(50, Sum), g.shared("-".to_owned(), Any));
            let (below, texts) = g.step(|s| {
                if writes(me) {
                    x.set(me + 1);
                    text.set(format!("<{me}>"));
                }
                let append = |all: &mut String, one: &String| *all += one;
                (s.combine_prefix(&x, Sum), s.combine_prefix(&text, append))
            });
            let wrote = |end: usize| (0..end).filter(|&rank| writes(rank));
            assert_eq!(below, wrote(me).map(|rank| rank + 1).sum());
            assert_eq!(texts, wrote(me).map(|rank| format!("<{rank}>")).collect::<String>());
            let (sum, all): (usize, String) =
                (wrote(p).map(|rank| rank + 1).sum(), wrote(p).map(|rank| format!("<{rank}>")).collect());
            let nobody = wrote(p).count() == 0;
            assert_eq!((x.get(), text.get()), if nobody { (50, "-".to_owned()) } else { (sum, all) });
        }
    });
}

/// R3: exclusive, and inclusive; rank 0 gets the identity, or the default where there is none.
#[test]
fn prefixes_are_exclusive_or_not_and_keep_rank_order() {
    on_sizes(&[1, 2, 3, 4, 7, 8, 9, 16, 17], |g| {
        let me = g.rank();
        let affine = |acc: &mut (u64, u64), with: &(u64, u64)| {
            // x -> ax + b, one after another: associative, and far from commutative.
            *acc = (acc.0.wrapping_mul(with.0), with.0.wrapping_mul(acc.1).wrapping_add(with.1));
        };
        let value = |rank: usize| (2 * rank as u64 + 3, 5 * rank as u64 + 7);
        let values: Vec<_> = (0..g.size()).map(value).collect();
        let fold = |values: &[(u64, u64)]| {
            values.iter().skip(1).fold(values.first().copied(), |acc, with| {
                let mut acc = acc?;
                affine(&mut acc, with);
                Some(acc)
            })
        };
        let (all, below, upto) = g.step(|s| {
            (s.reduce(value(me), affine), s.prefix(value(me), affine), s.prefix_inclusive(value(me), affine))
        });
        assert_eq!(all, fold(&values).unwrap());
        assert_eq!(below, fold(&values[..me]).unwrap_or_default());
        assert_eq!(upto, fold(&values[..=me]).unwrap());
        assert_eq!(all, bracketed(&values, &affine));
        assert_eq!(below, bracketed_below(&values, me, &affine).unwrap_or_default());
        let (least, product, most) = g.step(|s| (s.prefix(me, Min), s.prefix(2u64, Product), s.prefix(0.5, Max)));
        assert_eq!(least, if me == 0 { usize::MAX } else { 0 });
        assert_eq!(product, 1 << me);
        assert!(if me == 0 { most == f64::NEG_INFINITY } else { most.to_bits() == 0.5f64.to_bits() });
    });
}

/// R1: nothing is also a value.
#[test]
fn values_of_no_length_combine() {
    everywhere(|g| {
        let (none, unit) = (g.shared(vec![1u64], Each(Sum)), g.shared((), Same));
        g.step(|_| {
            none.set(Vec::new());
            unit.set(());
        });
        assert!(none.get().is_empty());
        let values =
            g.step(|s| (s.reduce(Vec::<f32>::new(), Each(Max)), s.reduce([0u8; 0], Each(Sum)), s.reduce((), Any)));
        assert_eq!(values, (vec![], [], ()));
        let below = g.step(|s| {
            (s.prefix(String::new(), |_: &mut String, _: &String| ()), s.prefix_inclusive(vec![0u8; 0], Each(Sum)))
        });
        assert_eq!(below, (String::new(), vec![]));
    });
}

/// R1: what a boundary carries may be long.
#[test]
fn a_megabyte_combines_like_a_byte() {
    on_sizes(&[2, 3, 9], |g| {
        let len = 1 << 17;
        let (x, p) = (g.shared(vec![0u64; len], Each(Sum)), g.size() as u64);
        let mine: Vec<u64> = (0..len as u64).map(|at| at * g.rank() as u64).collect();
        let sum = g.step(|s| {
            x.set(mine.clone());
            s.reduce(mine, Each(Sum))
        });
        let expected: Vec<u64> = (0..len as u64).map(|at| at * (p * (p - 1) / 2)).collect();
        assert!(sum == expected && x.get() == expected);
    });
}

/// R2: a thousand variables, of which each step writes some.
#[test]
fn many_variables_combine_in_one_step() {
    on_sizes(&[1, 2, 3, 9], |g| {
        let (me, p) = (g.rank(), g.size());
        let all: Vec<_> = (0..1000).map(|at| g.shared(at, Sum)).collect();
        g.step(|_| {
            for (at, x) in all.iter().enumerate().rev() {
                if at % (me + 2) == 0 {
                    x.set(1);
                }
            }
        });
        for (at, x) in all.iter().enumerate() {
            let wrote = (0..p).filter(|rank| at % (rank + 2) == 0).count();
            assert_eq!(x.get(), if wrote == 0 { at } else { wrote });
        }
    });
}
