//! Loops over what this processor owns, by index.

use crate::{
    engine::{Ancestor, Element, Group},
    memory::{Array, Distribution},
};
use std::ops::Range;

/// Indices of the elements that are owned here, upwards.
pub fn owned<T: Element, D: Distribution>(a: &Array<T, D>) -> impl Iterator<Item = usize> + use<T, D> {
    stretches(a).into_iter().flatten()
}

/// Runs of owned elements by their numbers.
fn stretches<T: Element, D: Distribution, const N: usize>(a: &Array<T, D, N>) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    a.stretches(|_, first, count| all.push(first..first + count));
    all
}

/// Indices from `first` to `last`, both included, by a stride, of which the elements are owned here.
///
/// A negative stride counts down.
pub fn owned_in<T: Element, D: Distribution>(
    a: &Array<T, D>,
    first: usize,
    last: usize,
    by: isize,
) -> impl Iterator<Item = usize> + use<T, D> {
    let step = by.unsigned_abs().max(1);
    let (low, high) = if by > 0 { (first, last) } else { (last, first) };
    let is_empty = low > high || by == 0 || a.is_empty();
    let high = high.min(a.len().saturating_sub(1));
    let mut all: Vec<usize> = Vec::new();
    for stretch in stretches(a).into_iter().filter(|_| !is_empty) {
        let from = stretch.start.max(low);
        // Counted from `first`, in either direction.
        let from = if by > 0 { low + (from - low).next_multiple_of(step) } else { from + first.abs_diff(from) % step };
        all.extend((from..stretch.end.min(high + 1)).step_by(step));
    }
    if by < 0 {
        all.reverse();
    }
    all.into_iter()
}

/// Places in the leading dimensions of which the elements are owned here, in row-major order.
pub fn owned_places<T: Element, D: Distribution, const N: usize, const K: usize>(
    a: &Array<T, D, N>,
) -> impl Iterator<Item = [usize; K]> + use<T, D, N, K> {
    let shape = a.shape();
    let inner: usize = shape[K..].iter().product::<usize>().max(1);
    let units = stretches(a).into_iter().flat_map(move |stretch| stretch.start / inner..stretch.end / inner);
    units.map(move |mut unit| {
        let mut at = [0; K];
        for dimension in (0..K).rev() {
            at[dimension] = unit % shape[dimension];
            unit /= shape[dimension];
        }
        at
    })
}

/// Those among them that lie between bounds: the first and the last index of each dimension, both included, and a
/// stride, which counts down if it is negative.
pub fn owned_places_in<T: Element, D: Distribution, const N: usize, const K: usize>(
    a: &Array<T, D, N>,
    bounds: [(usize, usize, isize); K],
) -> impl Iterator<Item = [usize; K]> + use<T, D, N, K> {
    let is_in = |at: &[usize; K]| {
        at.iter().zip(bounds).all(|(&at, (first, last, by))| {
            let (low, high) = if by > 0 { (first, last) } else { (last, first) };
            by != 0 && (low..=high).contains(&at) && at.abs_diff(first) % by.unsigned_abs() == 0
        })
    };
    let mut all: Vec<[usize; K]> = owned_places(a).filter(is_in).collect();
    if bounds.iter().any(|(_, _, by)| *by < 0) {
        all.sort_by_key(|at| -> [usize; K] {
            std::array::from_fn(|d| if bounds[d].2 < 0 { usize::MAX - at[d] } else { at[d] })
        });
    }
    all.into_iter()
}

/// What the papers call things of a group.
pub trait Inspect {
    /// The group's number among its siblings.
    fn gid(&self) -> usize;
}

impl Inspect for Group {
    fn gid(&self) -> usize {
        self.id()
    }
}

impl Inspect for Ancestor {
    fn gid(&self) -> usize {
        self.id()
    }
}

/// What a group says of itself, for the time in which it cannot be asked.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    rank: usize,
    size: usize,
    id: usize,
}

impl Here {
    /// This processor's place in `group`.
    pub fn of(group: &Group) -> Self {
        Self { rank: group.rank(), size: group.size(), id: group.id() }
    }

    /// Its rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The size of the group.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of the group.
    pub fn id(&self) -> usize {
        self.id
    }

    /// Whether it leads the group.
    pub fn is_leader(&self) -> bool {
        self.rank == 0
    }
}
