//! Scans that begin anew at every head of a segment.

use super::{
    reduce::apply,
    runs::{Run, agree_lens, array_starts, bring, check, check_lens, enter, put_runs, run_of},
};
use crate::{
    engine::{Combine, Element, Group, Value},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// What a stretch comes to: whether a segment begins in it, and what its last segment, so far, combines to.
type Sofar<T> = (bool, Option<T>);

/// Puts one stretch behind another.
#[derive(Clone, Copy)]
struct Segmented<C>(C);

impl<T: Value, C: Combine<T>> Combine<Sofar<T>> for Segmented<C> {
    fn combine(&self, acc: &mut Sofar<T>, with: &Sofar<T>) {
        match (&mut acc.1, &with.1) {
            (_, None) => {}
            (Some(value), Some(next)) if !with.0 => apply(&self.0, value, next),
            (value, next) => value.clone_from(next),
        }
        acc.0 |= with.0;
    }

    fn may_fail(&self) -> bool {
        self.0.may_fail()
    }

    fn mark(&self) -> u64 {
        self.0.mark()
    }
}

/// Scans a run in place; `is_head` says which of its places begin a segment.
#[track_caller]
fn scan_run<T: Value, C: Combine<T>>(g: &mut Group, values: &mut [T], is_head: impl Fn(usize) -> bool, op: C) {
    let (op, site) = (Segmented(op), Location::caller());
    g.operate(site, || {
        for at in 1..values.len() {
            if !is_head(at) {
                let (before, rest) = values.split_at_mut(at);
                let mut sum = before[at - 1].clone();
                apply(&op.0, &mut sum, &rest[0]);
                rest[0] = sum;
            }
        }
    });
    let sofar = ((0..values.len()).any(&is_head), values.last().cloned());
    let (_, before) = g.step(|s| s.prefix(sofar, op));
    if let Some(before) = before {
        // Only the segment that goes on here is not done.
        let end = (0..values.len()).find(|&at| is_head(at)).unwrap_or(values.len());
        g.operate(site, || {
            for value in &mut values[..end] {
                let mut sum = before.clone();
                apply(&op.0, &mut sum, value);
                *value = sum;
            }
        });
    }
}

/// Scans like [`scan`](super::scan), and begins anew at every element for which `heads` is not 0. Collective.
///
/// ```
/// use superstep::{Block, Config, Sum, algorithms};
///
/// let sums = Config::new().procs(3).run(|g| {
///     let (a, heads) = (g.array::<u64, Block>(6), g.array::<u8, Block>(6));
///     a.local_mut().fill(1);
///     heads.forall_mut(|i, head| *head = u8::from(i == 2));
///     let sums = algorithms::segmented_scan(g, &a, &heads, Sum);
///     g.step(|s| s.mirror(&sums, ..))
/// });
/// assert_eq!(sums.unwrap(), [1, 2, 1, 2, 3, 4]);
/// ```
///
/// # Cost
///
/// 2 steps, one of which makes the array; nothing beyond the boundary for small elements, and 2 n / p work. 3 steps and
/// 3 n / p g more if an array does not lie in order, or if the two lie differently.
///
/// # Panics
///
/// If the arrays differ in length (`BadLength`), if another group made one of them, or if one is borrowed for writing.
#[track_caller]
pub fn segmented_scan<T: Element + Value, D: Distribution, E: Distribution, C: Combine<T>>(
    g: &mut Group,
    a: &Array<T, D>,
    heads: &Array<u8, E>,
    op: C,
) -> Array<T, D> {
    let site = Location::caller();
    enter(g, heads, site);
    check_lens(g, "values and heads of a segmented scan", [a.len(), heads.len()], site);
    let mut values = run_of(g, a).into_vec();
    let starts = array_starts(g, a);
    let here = if starts == array_starts(g, heads) { run_of(g, heads).into_vec() } else { bring(g, heads, &starts) };
    scan_run(g, &mut values, |at| here[at] != 0, op);
    check(g, a, site);
    check(g, heads, site);
    let out = g.array_with([a.len()], a.distribution().clone());
    put_runs(g, &out, 0, &starts, &values);
    out
}

/// Scans the vectors of all processors, one behind the other, and begins anew wherever `heads` says so. Collective.
///
/// ```
/// let sums = superstep::Config::new().procs(2).run_all(|g| {
///     let heads = [false, !g.is_leader()];
///     superstep::algorithms::segmented_scan_vec(g, vec![1, 10], &heads, superstep::Sum)
/// });
/// assert_eq!(sums.unwrap(), [[1, 11], [12, 10]]);
/// ```
///
/// # Cost
///
/// 2 steps, the first to see that the lengths fit; see [`segmented_scan`].
///
/// # Panics
///
/// If somebody gives not as many heads as values (`BadLength`, on all members).
#[track_caller]
pub fn segmented_scan_vec<T: Value, C: Combine<T>>(g: &mut Group, mut values: Vec<T>, heads: &[bool], op: C) -> Vec<T> {
    agree_lens(g, "values and heads of a segmented scan", [values.len(), heads.len()]);
    scan_run(g, &mut values, |at| heads[at], op);
    values
}
