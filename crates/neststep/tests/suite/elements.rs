//! Elements of distributed arrays, read and written where they stand.

use neststep::neststep;
use superstep::{
    Block, Check, Cyclic, ErrorKind,
    testing::{everywhere, failing, for_each, on_sizes},
};

/// It has no copy, and needs none.
struct Grid(usize);

impl Grid {
    fn place(&self, row: usize, column: usize) -> usize {
        row * self.0 + column
    }
}

neststep! {
    fn gathered(sh a: [i64]</>, sh out: [i64]<%>, keys: &[usize]) {
        step for (i, &k) in keys.iter().enumerate() {
            if owned(out[i]) { out[i] = a[k]; }
        }
    }

    fn histogram(sh<+> counts: [u64]<%>, keys: &[usize]) {
        step for &k in keys { counts[k] += 1; }
    }

    /// The same value at first, and others from then on.
    fn many(sh<+> sums: [f64]</>, keys: &[usize], same: usize) {
        step for (i, &k) in keys.iter().enumerate() {
            sums[k] += if i < same { 0.1 } else { i as f64 / 7.0 };
        }
    }

    fn read_all(sh a: [i64]</>, keys: &[usize]) -> Vec<i64> {
        let mut seen = Vec::new();
        step for &k in keys { seen.push(a[k]); }
        seen
    }

    /// The first part of a condition guards the element in the second one, and what follows.
    fn guarded(sh a: [i64]</>, sh b: [i64]</>) {
        step forall (i, a) { b[i] = 0; if i > 0 && a[i - 1] > 1 { b[i] += a[i - 1]; } }
    }

    /// What may never be reached may be wrong.
    fn never_reached(sh a: [i64]</>, at: &[usize]) -> i64 {
        let mut sum = 0;
        step for k in 0..4 {
            if a[k] > 5 { sum += a[at[k]]; }
            match a[k] { 9 => sum += a[at[k] - 1], _ => {} }
            if a[k] > 5 && a[at[k + 1]] > 0 { sum += 1; }
        }
        sum
    }

    /// Methods that the macro knows nothing of lead to an index, and generators do.
    fn methods_lead(sh a: [i64]</>, grid: &Grid, mut places: std::vec::IntoIter<usize>) -> Vec<i64> {
        let mut seen = Vec::new();
        step for row in 0..2 {
            seen.push(a[grid.place(row, 1)]);
            seen.push(a[places.next().unwrap()]);
        }
        seen.push(places.len() as i64);
        seen
    }

    /// Elements that combine are assigned by several.
    fn assigned_by_all(sh<+> a: [usize]</>) {
        step a[3] = $ + 1;
    }

    /// What has an effect in an index happens once, and what is assigned comes before the index.
    fn indices_with_effects(sh a: [i64]</>) -> Vec<usize> {
        let mut left = vec![0usize, 1, 2];
        step if $ == 0 { a[left.pop().unwrap()] += 10; }
        step if $ == 0 { a[left.len()] = left.pop().unwrap() as i64; }
        left
    }

    /// Everybody turns to its right neighbour, `rounds` times.
    fn rotate(sh a: [usize]</>, rounds: usize) {
        for _ in 0..rounds {
            step { let next = a[($ + 1) % #]; a[$] = next; }
        }
    }

    fn own_writes_are_seen(sh a: [i64]</>) -> Vec<i64> {
        let mut seen = Vec::new();
        let n = len(a);
        step {
            for i in 0..n {
                seen.push(a[i]);
                a[i] = 100 + $ as i64;
                seen.push(a[i]);
            }
        }
        seen
    }

    fn sums_are_seen(sh<+> a: [i64]</>) -> Vec<i64> {
        let mut seen = Vec::new();
        step for i in 0..2 {
            a[i] += 1;
            seen.push(a[i]);
            a[i] += 10;
            seen.push(a[i]);
        }
        seen
    }

    /// Everybody has elements of its own, and changes them in both ways.
    fn both_by_one(sh<+> a: [i64]</>) -> Vec<i64> {
        let mut seen = Vec::new();
        let at = 4 * $;
        step {
            a[at] = 5; a[at] += 2;
            a[at + 1] += 3; a[at + 1] = 4;
            a[at + 2] += 6;
            a[at + 3:at + 3] = vec![1]; a[at + 3] += 1;
            for i in at..at + 4 { seen.push(a[i]); }
        }
        seen
    }

    fn both_by_two(sh<+> a: [i64]</>) {
        step {
            if $ == 0 { a[3] += 1; a[1] = 2; }
            if $ == # - 1 { a[3] = 2; a[0] += 1; }
        }
    }

    fn only_assigned(sh<+> a: [i64]</>) {
        step { a[0] = 5; a[0] = 7; }
    }

    fn doubled(sh a: [i64]<%>) {
        let n = len(a);
        step { if $ == 0 { for i in 0..n { a[i] *= 2; } } }
    }

    fn chased(sh next: [usize]</>, sh value: [i64]<%>) -> i64 {
        let mut sum = 0;
        step forall (i, next) { sum += value[next[i]]; }
        sum
    }

    /// The indices of the second step are what the first one writes, so it has to wait for them.
    fn chased_after_writing(sh next: [usize]</>, sh value: [i64]<%>) -> i64 {
        let mut sum = 0;
        let n = len(next);
        step { if $ == # - 1 { for i in 0..n { next[i] = n - 1 - i; } } }
        step forall (i, next) { sum += (i as i64 + 1) * value[next[i]]; }
        sum
    }

    fn conditions(sh a: [i64]</>, sh b: [i64]<%>) -> i64 {
        let mut sum = 0;
        let n = len(a);
        step {
            let mut j = 0;
            for i in 0..n {
                if i % 3 == 1 { continue; }
                if a[i] > 4 && b[j] >= 0 { sum += b[i] } else { sum -= a[n - 1 - i] }
                j += 1;
            }
        }
        sum
    }

    fn dynamic_access(sh a: [i64]</>, at: usize) -> i64 {
        let mut found = 0;
        #[dynamic] step { found = a[at]; }
        found
    }

    fn mirrored(sh a: [usize]</>) -> usize {
        let mut at = 0;
        mirror(a[..]);
        step for _ in 0..5 { at = a[at]; }
        at
    }
}

#[test]
fn an_index_that_is_known_is_fetched_ahead() {
    everywhere(|g| {
        let (a, out) = (g.array::<i64, Block>(20), g.array::<i64, Cyclic>(9));
        a.forall_mut(|i, x| *x = 10 * i as i64);
        let keys = [19, 0, 3, 3, 18, 7, 11, 2, 19];
        let steps = g.steps();
        gathered(g, &a, &out, &keys);
        assert_eq!(g.steps() - steps, 2, "one boundary to fetch, one to end");
        let all = g.step(|s| s.mirror(&out, ..));
        assert_eq!(all, keys.map(|k| 10 * k as i64));
    });
}

#[test]
fn contributions_count() {
    everywhere(|g| {
        let counts = g.array::<u64, Cyclic>(5).combining(superstep::Sum);
        let keys = [0, 2, 2, 4, 2];
        let steps = g.steps();
        histogram(g, &counts, &keys);
        histogram(g, &counts, &keys[..1]);
        assert_eq!(g.steps() - steps, 2);
        let p = g.size() as u64;
        assert_eq!(g.step(|s| s.mirror(&counts, ..)), [2 * p, 0, 3 * p, 0, p]);
    });
}

#[test]
fn many_contributions_and_many_reads_are_as_by_hand() {
    on_sizes(&[1, 2, 3], |g| {
        let keys: Vec<usize> = (0..5000).map(|i| (i * i + g.rank()) % 37).collect();
        for same in [0, 1, 1024, 1025, 3000, 5000] {
            let sums = g.array::<f64, Block>(37).combining(superstep::Sum);
            let by_hand = g.array::<f64, Block>(37).combining(superstep::Sum);
            many(g, &sums, &keys, same);
            let values: Vec<f64> = (0..5000).map(|i| if i < same { 0.1 } else { i as f64 / 7.0 }).collect();
            g.step(|s| s.scatter(&by_hand, &keys, &values, superstep::Sum));
            assert_eq!(*sums.local(), *by_hand.local(), "{same} the same");
        }
        let a = g.array::<i64, Block>(37);
        a.forall_mut(|i, x| *x = 3 * i as i64);
        for count in [127, 128, 129, 5000] {
            assert_eq!(
                read_all(g, &a, &keys[..count]),
                keys[..count].iter().map(|&k| 3 * k as i64).collect::<Vec<_>>()
            );
        }
    });
}

#[test]
fn k_steps_in_a_row_have_k_boundaries_and_one_more() {
    everywhere(|g| {
        let p = g.size();
        let a = g.array::<usize, Block>(p);
        a.forall_mut(|i, x| *x = i);
        let steps = g.steps();
        rotate(g, &a, 5);
        assert_eq!(g.steps() - steps, 6);
        let rank = g.rank();
        assert_eq!(a.get(rank), (rank + 5) % p);
        let steps = g.steps();
        rotate(g, &a, 0);
        assert_eq!(g.steps(), steps);
    });
}

#[test]
fn a_step_sees_what_it_has_written_and_others_do_not() {
    everywhere(|g| {
        let a = g.array::<i64, Block>(3);
        a.forall_mut(|i, x| *x = i as i64);
        let mine = 100 + g.rank() as i64;
        assert_eq!(own_writes_are_seen(g, &a), [0, mine, 1, mine, 2, mine]);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [100; 3], "the lowest rank's stands");
        let b = g.array::<i64, Block>(3).combining(superstep::Sum);
        b.local_mut().fill(7);
        assert_eq!(sums_are_seen(g, &b), [8, 18, 8, 18]);
        let p = g.size() as i64;
        assert_eq!(g.step(|s| s.mirror(&b, ..)), [7 + 11 * p, 7 + 11 * p, 7]);
        only_assigned(g, &b);
        assert_eq!(g.step(|s| s.mirror(&b, ..)), [7 * p, 7 + 11 * p, 7], "the last of each replaces what was there");
    });
}

#[test]
fn a_processor_may_assign_and_combine_an_element() {
    everywhere(|g| {
        let p = g.size();
        let a = g.array::<i64, Block>(4 * p).combining(superstep::Sum);
        a.local_mut().fill(10);
        let steps = g.steps();
        assert_eq!(both_by_one(g, &a), [7, 4, 16, 2]);
        assert_eq!(g.steps() - steps, 2);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [7, 4, 16, 2].repeat(p));
    });
}

#[test]
fn an_element_that_one_assigns_and_another_combines_is_an_error_with_both_lines() {
    on_sizes(&[1], |g| {
        let a = g.array::<i64, Block>(4).combining(superstep::Sum);
        both_by_two(g, &a);
        assert_eq!(*a.local(), [1, 2, 0, 2]);
    });
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<i64, Block>(4).combining(superstep::Sum);
        both_by_two(g, &a);
    };
    failing(&[2, 4], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::Conflict, "{context}: {error}");
        let text = error.to_string();
        assert!(text.contains("element 3 of `a` is assigned by rank") && text.contains("combined by rank 0"), "{text}");
        assert_eq!(text.matches("elements.rs:").count(), 2, "{text}");
    });
}

#[test]
fn an_element_is_changed_by_one_processor() {
    everywhere(|g| {
        let a = g.array::<i64, Cyclic>(7);
        a.forall_mut(|i, x| *x = i as i64);
        doubled(g, &a);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0, 2, 4, 6, 8, 10, 12]);
    });
}

#[test]
fn an_index_may_be_an_element_that_is_owned() {
    everywhere(|g| {
        let (next, value) = (g.array::<usize, Block>(11), g.array::<i64, Cyclic>(11));
        next.forall_mut(|i, x| *x = (i * 7) % 11);
        value.forall_mut(|i, x| *x = 1 << i);
        let mine = chased(g, &next, &value);
        assert_eq!(g.step(|s| s.reduce(mine, superstep::Sum)), (1 << 11) - 1);
        let mine = chased_after_writing(g, &next, &value);
        let expected = (0..11).map(|i| (i + 1) << (10 - i)).sum();
        assert_eq!(g.step(|s| s.reduce(mine, superstep::Sum)), expected);
    });
}

#[test]
fn conditions_and_variables_of_the_step_are_followed() {
    everywhere(|g| {
        let (a, b) = (g.array::<i64, Block>(10), g.array::<i64, Cyclic>(10));
        a.forall_mut(|i, x| *x = i as i64);
        b.forall_mut(|i, x| *x = 100 * i as i64 - 50);
        let (mut sum, mut j) = (0, 0);
        for i in 0..10i64 {
            if i % 3 == 1 {
                continue;
            }
            if i > 4 && 100 * j - 50 >= 0 {
                sum += 100 * i - 50;
            } else {
                sum -= 9 - i;
            }
            j += 1;
        }
        assert_eq!(conditions(g, &a, &b), sum);
    });
}

#[test]
fn what_is_mirrored_is_here_in_the_next_step() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(8);
        a.forall_mut(|i, x| *x = (i + 3) % 8);
        let steps = g.steps();
        assert_eq!(mirrored(g, &a), 15 % 8);
        assert_eq!(g.steps() - steps, 2);
    });
}

#[test]
fn an_element_that_is_not_here_is_an_error_that_says_so() {
    on_sizes(&[1], |g| {
        let a = g.array::<i64, Block>(4);
        assert_eq!(dynamic_access(g, &a, 3), 0);
    });
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<i64, Block>(4);
        dynamic_access(g, &a, if g.rank() == 0 { 3 } else { 0 });
    };
    failing(&[2, 4], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::NotMirrored, "{context}: {error}");
        let text = error.to_string();
        assert!(text.contains("of `a` belongs to rank") && text.contains("elements.rs"), "{text}");
    });
}

#[test]
fn an_index_is_evaluated_once() {
    everywhere(|g| {
        let a = g.array::<i64, Block>(5);
        a.forall_mut(|i, x| *x = i as i64 + 1);
        let left = indices_with_effects(g, &a);
        assert_eq!(left, if g.rank() == 0 { vec![0] } else { vec![0, 1, 2] });
        assert_eq!(g.step(|s| s.mirror(&a, ..))[..], [1, 1, 13, 4, 5]);
    });
}

#[test]
fn the_known_part_of_a_condition_guards_the_rest() {
    everywhere(|g| {
        let (a, b) = (g.array::<i64, Block>(5), g.array::<i64, Block>(5));
        a.forall_mut(|i, x| *x = i as i64);
        guarded(g, &a, &b);
        assert_eq!(g.step(|s| s.mirror(&b, ..))[..], [0, 0, 0, 2, 3]);
    });
}

#[test]
fn what_the_inspector_meets_alone_is_no_error() {
    everywhere(|g| {
        let a = g.array::<i64, Block>(8);
        a.forall_mut(|i, x| *x = i as i64);
        // The last two do not exist, and the conditions never let anybody come there.
        assert_eq!(never_reached(g, &a, &[1, 2]), 0);
    });
    on_sizes(&[1, 2, 3], |g| {
        let a = g.array::<i64, Block>(8);
        a.forall_mut(|i, x| *x = i as i64 + 6);
        assert_eq!(never_reached(g, &a, &[1, 2, 3, 4, 5]), 7 + 8 + 9 + 10 + 9 + 4);
    });
}

/// And where the step does come there, it is the step's own panic.
#[test]
fn what_the_step_meets_is_its_own_error() {
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<i64, Block>(8);
        a.forall_mut(|_, x| *x = 6);
        never_reached(g, &a, &[1, 2])
    };
    failing(&[1, 2], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::Panicked, "{context}: {error}");
        assert!(error.to_string().contains("elements.rs"), "{context}: {error}");
    });
}

#[test]
fn methods_and_generators_lead_to_an_index() {
    everywhere(|g| {
        let a = g.array::<i64, Block>(8);
        a.forall_mut(|i, x| *x = 10 * i as i64);
        assert_eq!(methods_lead(g, &a, &Grid(3), vec![7, 0, 5].into_iter()), [10, 70, 40, 0, 1]);
    });
}

/// It is no conflict either: the operator says what becomes of it.
#[test]
fn several_assign_an_element_that_combines() {
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<usize, Block>(5).combining(superstep::Sum);
        a.forall_mut(|_, x| *x = 7);
        assigned_by_all(g, &a);
        let p = g.size();
        assert_eq!(g.step(|s| s.mirror(&a, ..))[..], [7, 7, 7, p * (p + 1) / 2, 7]);
    };
    everywhere(claim);
    for_each(&[2, 3, 4], |config, context| {
        let outcome = config.clone().check(Check::Conflicts).run(claim);
        assert!(outcome.is_ok(), "{context}: {outcome:?}");
    });
}
