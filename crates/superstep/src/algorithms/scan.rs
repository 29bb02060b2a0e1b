//! Scans: what all elements up to each one combine to.

use super::{
    reduce::{Perhaps, apply, fold},
    runs::{Run, array_starts, check, put_runs, run_of},
};
use crate::{
    engine::{Combine, Element, Group, Value},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// Whether an element's own value is among what it gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    In,
    Out,
}

/// What the elements before a run, and those of it, combine to.
struct Sweep<'a, T, C> {
    before: Option<T>,
    op: &'a C,
    own: Own,
    /// What the very first gets where its own value is out.
    none: &'a dyn Fn() -> T,
}

impl<T: Value, C: Combine<T>> Sweep<'_, T, C> {
    /// Gives the next values what they get.
    fn go_on(&mut self, values: &mut [T]) {
        let (mut sum, rest) = match (self.before.take(), values) {
            (Some(sum), rest) => (sum, rest),
            (None, []) => return,
            (None, [first, rest @ ..]) => {
                let sum = first.clone();
                if self.own == Own::Out {
                    *first = (self.none)();
                }
                (sum, rest)
            }
        };
        match self.own {
            Own::In => rest.iter_mut().for_each(|value| {
                apply(self.op, &mut sum, value);
                value.clone_from(&sum);
            }),
            Own::Out => rest.iter_mut().for_each(|value| {
                let mut next = sum.clone();
                apply(self.op, &mut next, value);
                *value = std::mem::replace(&mut sum, next);
            }),
        }
        self.before = Some(sum);
    }

    /// Gives the values of a run that was brought here what they get, and puts them into an array that lies as theirs.
    #[track_caller]
    fn put<D: Distribution>(
        &mut self,
        g: &mut Group,
        out: &Array<T, D>,
        mut values: Vec<T>,
        site: &'static Location<'static>,
    ) where
        T: Element,
    {
        g.operate(site, || self.go_on(&mut values));
        put_runs(g, out, 0, &array_starts(g, out), &values);
    }
}

/// So many elements are copied at once, and then swept while they are in a cache.
const CHUNK: usize = 1024;

/// Combines what the processors below have, and hands each value of the run what it gets.
#[track_caller]
fn before_run<T: Value, C: Combine<T>>(g: &mut Group, run: &impl Run<T>, op: C) -> Option<T> {
    let total = g.operate(Location::caller(), || run.with(|values| fold(values, &op)));
    g.step(|s| s.prefix(total, Perhaps(op)))
}

#[track_caller]
fn scan_array<T: Element + Value, D: Distribution, C: Combine<T>>(
    g: &mut Group,
    a: &Array<T, D>,
    op: C,
    own: Own,
    none: &dyn Fn() -> T,
) -> Array<T, D> {
    let run = run_of(g, a);
    let (before, site) = (before_run(g, &run, op), Location::caller());
    check(g, a, site);
    let out = g.array_with([a.len()], a.distribution().clone());
    let mut sweep = Sweep { before, op: &op, own, none };
    if a.is_in_order() {
        let sweep_here = |values: &[T]| {
            for (places, values) in out.local_mut().chunks_mut(CHUNK).zip(values.chunks(CHUNK)) {
                places.copy_from_slice(values);
                sweep.go_on(places);
            }
        };
        g.operate(site, || run.with(sweep_here));
        return out;
    }
    sweep.put(g, &out, run.into_vec(), site);
    out
}

/// The same in place.
#[track_caller]
fn scan_in_place<T: Element + Value, D: Distribution, C: Combine<T>>(
    g: &mut Group,
    a: &Array<T, D>,
    op: C,
    own: Own,
    none: &dyn Fn() -> T,
) {
    let run = run_of(g, a);
    let (before, site) = (before_run(g, &run, op), Location::caller());
    check(g, a, site);
    let mut sweep = Sweep { before, op: &op, own, none };
    if a.is_in_order() {
        return g.operate(site, || sweep.go_on(&mut a.local_mut()));
    }
    sweep.put(g, a, run.into_vec(), site);
}

#[track_caller]
fn scan_run<T: Value, C: Combine<T>>(
    g: &mut Group,
    mut values: Vec<T>,
    op: C,
    own: Own,
    none: &dyn Fn() -> T,
) -> Vec<T> {
    let before = before_run(g, &values.as_slice(), op);
    let mut sweep = Sweep { before, op: &op, own, none };
    g.operate(Location::caller(), || sweep.go_on(&mut values));
    values
}

/// What the first of a list gets where its own value is out: what changes nothing, or the type's default.
fn nothing<T: Default, C: Combine<T>>(op: C) -> impl Fn() -> T {
    move || op.identity().unwrap_or_default()
}

/// What own values are never asked for.
fn never<T>() -> T {
    unreachable!("an element's own value is there")
}

/// Gives each element what all up to it combine to, its own value included, in an array that lies as `a` does.
/// Collective.
///
/// ```
/// use superstep::{Block, Config, Sum, algorithms};
///
/// let sums = Config::new().procs(3).run(|g| {
///     let a = g.array::<u64, Block>(5);
///     a.forall_mut(|i, x| *x = i as u64);
///     let sums = algorithms::scan(g, &a, Sum);
///     g.step(|s| s.mirror(&sums, ..))
/// });
/// assert_eq!(sums.unwrap(), [0, 1, 3, 6, 10]);
/// ```
///
/// # Cost
///
/// 2 steps, one of which makes the array; nothing beyond the boundary for small elements, and 2 n / p work. 2 steps and
/// 2 n / p g more if the array does not lie in order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn scan<T: Element + Value, D: Distribution, C: Combine<T>>(g: &mut Group, a: &Array<T, D>, op: C) -> Array<T, D> {
    scan_array(g, a, op, Own::In, &never)
}

/// Scans like [`scan`], without each element's own value: the first gets the value that changes nothing, and the type's
/// default where the operator is a function, which has none.
///
/// ```
/// use superstep::{Config, Cyclic, Sum, algorithms};
///
/// let sums = Config::new().procs(3).run(|g| {
///     let a = g.array::<u64, Cyclic>(5);
///     a.forall_mut(|i, x| *x = i as u64);
///     let sums = algorithms::scan_exclusive(g, &a, Sum);
///     g.step(|s| s.mirror(&sums, ..))
/// });
/// assert_eq!(sums.unwrap(), [0, 0, 1, 3, 6]);
/// ```
#[track_caller]
pub fn scan_exclusive<T: Element + Value + Default, D: Distribution, C: Combine<T>>(
    g: &mut Group,
    a: &Array<T, D>,
    op: C,
) -> Array<T, D> {
    scan_array(g, a, op, Own::Out, &nothing(op))
}

/// Scans like [`scan`], in place: each element becomes what all up to it combine to. Collective.
///
/// ```
/// use superstep::{Block, Config, Sum, algorithms};
///
/// let sums = Config::new().procs(3).run(|g| {
///     let a = g.array::<u64, Block>(5);
///     a.forall_mut(|i, x| *x = i as u64);
///     algorithms::scan_mut(g, &a, Sum);
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(sums.unwrap(), [0, 1, 3, 6, 10]);
/// ```
///
/// # Cost
///
/// 1 step; 2 steps and 2 n / p g more if the array does not lie in order.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed. An operator that panics leaves some elements as they were.
#[track_caller]
pub fn scan_mut<T: Element + Value, D: Distribution, C: Combine<T>>(g: &mut Group, a: &Array<T, D>, op: C) {
    scan_in_place(g, a, op, Own::In, &never);
}

/// Scans like [`scan_exclusive`], in place; see [`scan_mut`]. Collective.
///
/// ```
/// use superstep::{Config, Cyclic, Sum, algorithms};
///
/// let places = Config::new().procs(3).run(|g| {
///     let a = g.array::<u64, Cyclic>(4);
///     a.local_mut().fill(2);
///     algorithms::scan_exclusive_mut(g, &a, Sum);
///     g.step(|s| s.mirror(&a, ..))
/// });
/// assert_eq!(places.unwrap(), [0, 2, 4, 6]);
/// ```
#[track_caller]
pub fn scan_exclusive_mut<T: Element + Value + Default, D: Distribution, C: Combine<T>>(
    g: &mut Group,
    a: &Array<T, D>,
    op: C,
) {
    scan_in_place(g, a, op, Own::Out, &nothing(op));
}

/// Scans the vectors of all processors, one behind the other; each value gets what all up to it combine to. Collective.
///
/// ```
/// let texts = superstep::Config::new().procs(2).run_all(|g| {
///     let mine = vec![g.rank().to_string(), "x".to_owned()];
///     superstep::algorithms::scan_vec(g, mine, |all: &mut String, word: &String| all.push_str(word))
/// });
/// assert_eq!(texts.unwrap(), [["0", "0x"], ["0x1", "0x1x"]]);
/// ```
///
/// # Cost
///
/// 1 step; see [`scan`].
#[track_caller]
pub fn scan_vec<T: Value, C: Combine<T>>(g: &mut Group, values: Vec<T>, op: C) -> Vec<T> {
    scan_run(g, values, op, Own::In, &never)
}

/// Scans like [`scan_vec`], without each value's own; see [`scan_exclusive`].
///
/// ```
/// let places = superstep::Config::new().procs(2).run_all(|g| {
///     superstep::algorithms::scan_exclusive_vec(g, vec![2, 3], superstep::Sum)
/// });
/// assert_eq!(places.unwrap(), [[0, 2], [5, 7]]);
/// ```
#[track_caller]
pub fn scan_exclusive_vec<T: Value + Default, C: Combine<T>>(g: &mut Group, values: Vec<T>, op: C) -> Vec<T> {
    scan_run(g, values, op, Own::Out, &nothing(op))
}
