//! One value of all elements.

use super::runs::{Run, check, enter, part_of, run_of};
use crate::{
    engine::{Combine, Element, Group, Rule, Sum, Value, fold_into},
    memory::{Array, Distribution},
};
use std::panic::Location;

/// Combines what is there, and leaves out what is not.
#[derive(Clone, Copy)]
pub(super) struct Perhaps<C>(pub(super) C);

impl<T: Value, C: Combine<T>> Combine<Option<T>> for Perhaps<C> {
    fn combine(&self, acc: &mut Option<T>, with: &Option<T>) {
        match (&mut *acc, with) {
            (Some(acc), Some(with)) => apply(&self.0, acc, with),
            (None, Some(_)) => acc.clone_from(with),
            (_, None) => {}
        }
    }

    fn may_fail(&self) -> bool {
        self.0.may_fail()
    }

    fn mark(&self) -> u64 {
        self.0.mark()
    }
}

/// Combines one value with the next; those that should be the same are looked at.
#[inline]
pub(super) fn apply<T: Value, C: Combine<T>>(op: &C, acc: &mut T, with: &T) {
    if op.rule() == Rule::Same {
        fold_into(op, acc, with, &|| "elements".to_owned()).unwrap_or_else(|error| error.raise());
    } else {
        op.combine(acc, with);
    }
}

/// Combines values in their order.
pub(super) fn fold<T: Value, C: Combine<T>>(values: &[T], op: &C) -> Option<T> {
    let (first, rest) = values.split_first()?;
    let mut acc = first.clone();
    for next in rest {
        apply(op, &mut acc, next);
    }
    Some(acc)
}

/// Combines all elements in the order of their indices; `None` if there are none. Collective; all get the result.
///
/// ```
/// use superstep::{Block, Config, algorithms};
///
/// let number = Config::new().procs(3).run(|g| {
///     let a = g.array::<u64, Block>(5);
///     a.forall_mut(|i, x| *x = [0, 1][usize::from(i % 3 == 0)]);
///     // The first element that is 1, if there is one, else 0.
///     algorithms::reduce_array(g, &a, |bits: &mut u64, next: &u64| if *bits == 0 { *bits = *next })
/// });
/// assert_eq!(number.unwrap(), Some(1));
/// ```
///
/// # Cost
///
/// 1 step, nothing beyond the boundary for small elements; n / p work. One step and n / p g more if the array does not
/// lie in order and the operator is not known to commute, as `Sum`, `Product`, `And`, `Or` and `Xor` of numbers are.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn reduce_array<T: Element + Value, D: Distribution, C: Combine<T>>(
    g: &mut Group,
    a: &Array<T, D>,
    op: C,
) -> Option<T> {
    let (run, site) = (if op.commutes() { part_of(g, a) } else { run_of(g, a) }, Location::caller());
    let mine = g.operate(site, || run.with(|values| fold(values, &op)));
    let all = g.step(|s| s.reduce(mine, Perhaps(op)));
    check(g, a, site);
    all
}

/// Combines the vectors of all processors, one behind the other; `None` if there is nothing. Collective; all get the
/// result.
///
/// ```
/// let joined = superstep::Config::new().procs(3).run(|g| {
///     let words = vec![g.rank().to_string(); g.rank()];
///     superstep::algorithms::reduce_vec(g, &words, |all: &mut String, word: &String| all.push_str(word))
/// });
/// assert_eq!(joined.unwrap().unwrap(), "122");
/// ```
///
/// # Cost
///
/// As [`reduce_array`].
#[track_caller]
pub fn reduce_vec<T: Value, C: Combine<T>>(g: &mut Group, values: &[T], op: C) -> Option<T> {
    let mine = g.operate(Location::caller(), || fold(values, &op));
    g.step(|s| s.reduce(mine, Perhaps(op)))
}

/// How many elements `is_one` says yes to. Collective; all get the number.
///
/// ```
/// use superstep::{Config, Cyclic, algorithms};
///
/// let odd = Config::new().procs(3).run(|g| {
///     let a = g.array::<usize, Cyclic>(9);
///     a.forall_mut(|i, x| *x = i);
///     algorithms::count(g, &a, |x| x % 2 == 1)
/// });
/// assert_eq!(odd.unwrap(), 4);
/// ```
///
/// # Cost
///
/// 1 step, nothing beyond the boundary; n / p work.
///
/// # Panics
///
/// If another group made the array, or if it is borrowed for writing.
#[track_caller]
pub fn count<T: Element, D: Distribution, const N: usize>(
    g: &mut Group,
    a: &Array<T, D, N>,
    mut is_one: impl FnMut(&T) -> bool,
) -> usize {
    enter(g, a, Location::caller());
    let mut mine = 0;
    {
        let local = a.local();
        a.stretches(|at, _, count| mine += local[at..at + count].iter().filter(|value| is_one(value)).count());
    }
    let all = g.step(|s| s.reduce(mine, Sum));
    check(g, a, Location::caller());
    all
}

/// How many values of the vectors of all processors `is_one` says yes to. Collective; all get the number.
///
/// ```
/// let ones = superstep::Config::new().procs(3).run(|g| {
///     let mine = vec!['x'; g.rank()];
///     superstep::algorithms::count_vec(g, &mine, |&letter| letter == 'x')
/// });
/// assert_eq!(ones.unwrap(), 3);
/// ```
#[track_caller]
pub fn count_vec<T>(g: &mut Group, values: &[T], mut is_one: impl FnMut(&T) -> bool) -> usize {
    let mine = values.iter().filter(|value| is_one(value)).count();
    g.step(|s| s.reduce(mine, Sum))
}
