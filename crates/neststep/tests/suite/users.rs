//! What users of the papers have written from the guide alone.

use neststep::neststep;
use superstep::{Any, Array, Block, Cyclic, Group, Sum, testing::everywhere};

/// Values with no copy of their own: what holds them is given to the step, and is gone behind it.
struct Places(Vec<usize>);

neststep! {
    /// Loops take what they run over.
    fn taken(sh a: [i64]</>, keys: Vec<usize>, more: Vec<usize>, places: Places) -> i64 {
        let mut sum = 0;
        step for k in keys { sum += a[k]; }
        let iter = more.into_iter();
        step for k in iter { sum += a[k]; }
        step { sum += a[places.0[0]]; let Places(rest) = places; sum += rest.len() as i64; }
        sum
    }

    /// What is assigned is evaluated before the place.
    fn value_first(sh a: [i64]</>, sh b: [i64]</>) -> (Vec<i64>, usize) {
        let (mut seen, mut i) = (Vec::new(), 0);
        step {
            a[{ i += 1; i }] = b[i];
            seen.extend([a[0], a[1]]);
            a[{ i += 1; i }:4] = seen[0:{ i += 1; 1 }];
            seen.extend(a[2:4]);
        }
        (seen, i)
    }

    /// One value for all elements of a section, as in Fortran.
    fn one_for_all(sh a: [i64]</>, sh b: [[u8; 2]]<%>) -> Vec<i64> {
        let mut seen = vec![9; 4];
        sh copies: [i64; 3] = [1, 2, 3];
        step {
            seq { a[1:5:2] = 7; b[:] = [1, 2]; }
            seen[1:2] = 5;
            copies[0:1] = $ as i64;
        }
        step { seen.extend(a[0:5]); seq a[0:2] = copies; update(a[4:5], -1); }
        step { seen.extend(a[0:5]); seen.push(b[1][1].into()); }
        seen
    }

    /// The bounds of a loop are known, whatever the step assigns to the array.
    fn within_bounds(sh u: [i64]</>, sh v: [i64]</>) {
        step forall (i, u, 1, len(u) - 2) u[i] = v[i + 1];
    }

    fn weighted(n: usize) -> (usize, usize) {
        sh weight: [f32; 3] = [1.0, 0.0, 3.0];
        sh wide: [u32; 2] = [n as u32, 0];
        let mut ids = (9, 9);
        step<3, weight> { ids.0 = @; }
        step<2, wide> { ids.1 = @; }
        ids
    }

    /// Everybody reads its neighbour's, in loops within loops.
    fn nested_loops(sh a: [i64]</>, rounds: usize) -> Vec<i64> {
        let mut seen = Vec::new();
        for r in 0..rounds {
            step { let x = a[($ + 1) % len(a)]; seen.push(x); a[$ % len(a)] = x + 1; }
            for q in 0..r {
                step { let x = a[($ + q) % len(a)]; seen.push(x); if $ == 0 { a[q % len(a)] = x * 2; } }
            }
            step { seen.push(a[r % len(a)]); }
        }
        seen
    }

    /// Private names see what steps have written, whatever they look through.
    fn other_names(sh a: [i64]</>) -> Vec<i64> {
        let mut seen = Vec::new();
        let count = a.len();
        let (b, first) = (a, || a.local().first().copied().unwrap_or(-1));
        let c = Some(&b);
        step a[$] = a[$] + 10;
        let here = b.local().first().copied().unwrap_or(-1);
        step seen.push(a[$]);
        step a[$] = a[$] + 100;
        let there = c.map_or(-1, |c| c.local().first().copied().unwrap_or(-1));
        step seen.push(a[$]);
        step a[$] = a[$] + 1000;
        let third = first();
        step seen.push(a[$]);
        step a[$] = a[$] + 1;
        step { let at = b.local().first().map_or(0, |x| *x as usize % count); seen.push(a[at]); }
        seen.extend([here, there, third]);
        seen
    }

    /// More is done behind the step that somebody has left.
    fn leaves_two_groups() -> i64 {
        let mut sum = 0;
        step<1> {
            if $ == 0 && # > 1 { return -1; }
            sh<+> n: i64;
            step n = 1;
            sum += n;
            'inner: {
                step<1> {
                    sh<+> m: i64;
                    step m = 1;
                    if $ == 0 && # > 1 { break 'inner; }
                    step m = 1;
                    sum += 10 * m;
                }
            }
            step n = 1;
            sum += 100 * n;
        }
        sum
    }
}

fn counted<D: superstep::Distribution + Default>(g: &mut Group, n: usize) -> Array<i64, D> {
    let a = g.array::<i64, D>(n);
    a.forall_mut(|i, x| *x = i as i64);
    a
}

#[test]
fn an_array_by_another_name_has_what_was_written() {
    everywhere(|g| {
        let a = g.array::<i64, Block>(g.size());
        let at = other_names(g, &a);
        assert_eq!(at[..3], [10, 110, 1110]);
        assert_eq!(at[3..], [1111, 10, 110, 1110]);
    });
}

#[test]
fn a_loop_may_take_what_it_runs_over() {
    everywhere(|g| {
        let a = counted(g, 8);
        assert_eq!(taken(g, &a, vec![7, 0, 3], vec![1, 1], Places(vec![5, 6])), 10 + 2 + 7);
    });
}

#[test]
fn a_value_is_evaluated_before_its_place() {
    everywhere(|g| {
        let (a, b) = (counted::<Block>(g, 5), counted::<Block>(g, 5));
        b.forall_mut(|_, x| *x += 10);
        assert_eq!(value_first(g, &a, &b), (vec![0, 10, 2, 0, 10], 3));
    });
}

#[test]
fn a_section_takes_one_value_for_all() {
    everywhere(|g| {
        let (a, b) = (counted::<Block>(g, 6), g.array::<[u8; 2], Cyclic>(3));
        let seen = one_for_all(g, &a, &b);
        assert_eq!(seen[..4], [9, 5, 5, 9]);
        assert_eq!(seen[4..10], [0, 7, 2, 7, 4, 7]);
        assert_eq!(seen[10..], [0, 0, 3, 7, -1, -1, 2]);
    });
}

#[test]
fn the_bounds_of_a_loop_over_what_is_written_are_known() {
    everywhere(|g| {
        let (u, v) = (counted::<Block>(g, 7), counted::<Block>(g, 7));
        v.forall_mut(|_, x| *x *= 10);
        within_bounds(g, &u, &v);
        assert_eq!(g.step(|s| s.mirror(&u, ..)), [0, 20, 30, 40, 50, 60, 6]);
    });
}

#[test]
fn weights_are_numbers_of_any_type() {
    everywhere(|g| {
        let (one, both) = weighted(g, 3);
        let heavy = g.step(|s| s.reduce(usize::from(one == 2), Sum));
        assert!(2 * heavy >= g.size() && one != 1 && both == 0, "{heavy} of {}", g.size());
    });
}

#[test]
fn nested_loops_fetch_what_they_would_by_hand() {
    everywhere(|g| {
        let (a, b) = (counted::<Block>(g, 5), counted::<Block>(g, 5));
        let (me, mut expected) = (g.rank(), Vec::new());
        for r in 0..3 {
            let x = g.step(|s| s.mirror(&b, ..))[(me + 1) % 5];
            expected.push(x);
            g.step(|s| s.scatter(&b, &[me % 5], &[x + 1], Any));
            for q in 0..r {
                let x = g.step(|s| s.mirror(&b, ..))[(me + q) % 5];
                expected.push(x);
                g.step(|s| {
                    if me == 0 {
                        s.scatter(&b, &[q % 5], &[x * 2], Any);
                    }
                });
            }
            expected.push(g.step(|s| s.mirror(&b, ..))[r % 5]);
        }
        assert_eq!(nested_loops(g, &a, 3), expected);
        assert_eq!(*a.local(), *b.local());
    });
}

#[test]
fn who_leaves_two_groups_is_missed_in_both() {
    everywhere(|g| {
        let p = g.size() as i64;
        // The first leaves both groups at once, and the next one the inner group.
        let expected = match (p, g.rank()) {
            (1, _) => 111,
            (_, 0) => -1,
            (2, _) => 111,
            (_, 1) => 101 * (p - 1),
            _ => 101 * (p - 1) + 10 * (p - 2),
        };
        assert_eq!(leaves_two_groups(g), expected);
    });
}
