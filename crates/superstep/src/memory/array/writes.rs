//! What a step writes to the parts of others, and how the owner commits it.
//!
//! Writes are collected per target in typed batches, without a header per element. A batch has one operator. It is a
//! stretch of values, rows of one length each, or a list of offsets with a value each or one for all. The owner commits
//! the batches of all sources together, in the order that S3 asks for:
//!
//! 1. assignments (`Any`, `Leader`, `Same`), from the highest source rank down and each source's in the order of issue,
//!    so that the last write of the lowest rank stands;
//! 2. everything else, from the lowest source rank up and each source's in the order of issue, onto what is there.

use super::operator::{Job, Operator};
use crate::{
    engine::{Element, Rule, Verdict, guard},
    error::Error,
};
use fabric::{Buffer, Region};
use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Writes to one part with one operator.
pub(super) struct Batch<T: Element> {
    pub(super) operator: Operator<T>,
    /// Where in the part its places are counted from.
    pub(super) base: usize,
    pub(super) writes: Writes<T>,
    /// The writer's note of the call, for the check of conflicts; else 0.
    pub(super) note: u32,
}

pub(super) enum Writes<T> {
    /// One value for all places.
    One(Vec<u32>, T),
    /// A value for each place.
    Each(Vec<u32>, Vec<T>),
    /// A value for each place, where a plan has the places.
    Planned(Planned, Vec<T>),
    /// Values for the places from the base on.
    Stretch(Vec<T>),
    /// The same number of values for the places from each of these on.
    Rows(Vec<u32>, Vec<T>),
    /// The whole part, in memory that can take its place.
    Whole(Buffer<T>),
}

/// The places that a plan has for one member's writes to one part.
pub(super) struct Planned {
    /// Rising.
    pub(super) places: Arc<Vec<u32>>,
    /// The number of the plan.
    pub(super) plan: u32,
    /// Whether a place stands there as often as it is named.
    pub(super) is_repeated: bool,
}

impl<T: Element> Writes<T> {
    /// How many places it writes to, one after another.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::One(places, _) | Self::Each(places, _) => places.len(),
            Self::Planned(planned, _) => planned.places.len(),
            Self::Stretch(values) | Self::Rows(_, values) => values.len(),
            Self::Whole(buffer) => buffer.as_slice().len(),
        }
    }

    /// Its places and its values, as bytes; either may be none.
    pub(super) fn vectors(&self) -> [&[u8]; 2] {
        match self {
            Self::One(places, _) => [bytemuck::cast_slice(places), &[]],
            Self::Each(places, values) | Self::Rows(places, values) => {
                [bytemuck::cast_slice(places), bytemuck::cast_slice(values)]
            }
            Self::Planned(_, values) | Self::Stretch(values) => [&[], bytemuck::cast_slice(values)],
            Self::Whole(buffer) => [&[], bytemuck::cast_slice(buffer.as_slice())],
        }
    }

    /// The same, to be written to.
    pub(super) fn vectors_mut(&mut self) -> [&mut [u8]; 2] {
        match self {
            Self::One(places, _) => [bytemuck::cast_slice_mut(places), &mut []],
            Self::Each(places, values) | Self::Rows(places, values) => {
                [bytemuck::cast_slice_mut(places), bytemuck::cast_slice_mut(values)]
            }
            Self::Planned(_, values) | Self::Stretch(values) => [&mut [], bytemuck::cast_slice_mut(values)],
            Self::Whole(buffer) => [&mut [], bytemuck::cast_slice_mut(buffer.as_mut_slice())],
        }
    }
}

impl<T: Element> Batch<T> {
    /// Whether all its places lie in a part of `len` elements, and it has as many values as places.
    pub(super) fn fits(&self, len: usize) -> bool {
        let Some(room) = len.checked_sub(self.base) else { return false };
        let highest = |at: &[u32]| at.iter().copied().max().map_or(0, |at| at as usize + 1);
        match &self.writes {
            Writes::One(at, _) => highest(at) <= room,
            Writes::Each(at, values) => highest(at) <= room && at.len() == values.len(),
            Writes::Planned(planned, values) => {
                // Its places rise.
                planned.places.last().is_none_or(|&at| (at as usize) < room) && planned.places.len() == values.len()
            }
            Writes::Stretch(values) => values.len() <= room,
            Writes::Rows(starts, values) => {
                let len = row_len(starts, values);
                starts.len() * len == values.len() && starts.iter().all(|&at| at as usize + len <= room)
            }
            Writes::Whole(buffer) => self.base == 0 && buffer.as_slice().len() == len,
        }
    }

    fn apply(&mut self, region: &mut Region<T>) {
        if let Writes::Whole(buffer) = &mut self.writes {
            region.swap(buffer);
            return;
        }
        let part = &mut region.as_mut_slice()[self.base..];
        match &self.writes {
            Writes::One(at, value) => self.operator.apply(Job::One(part, at, value)),
            Writes::Each(at, values) => self.operator.apply(Job::Each(part, at, values)),
            Writes::Planned(planned, values) => self.operator.apply(Job::Each(part, &planned.places, values)),
            Writes::Stretch(values) => self.operator.apply(Job::Stretch(&mut part[..values.len()], values)),
            Writes::Rows(starts, values) => {
                let len = row_len(starts, values);
                for (&at, row) in starts.iter().zip(values.chunks_exact(len)) {
                    self.operator.apply(Job::Stretch(&mut part[at as usize..][..len], row));
                }
            }
            Writes::Whole(_) => {}
        }
    }

    /// Calls `look` with every place and its value.
    pub(super) fn for_each<E>(&self, mut look: impl FnMut(usize, &T) -> Result<(), E>) -> Result<(), E> {
        match &self.writes {
            Writes::One(at, value) => at.iter().try_for_each(|&at| look(self.base + at as usize, value)),
            Writes::Each(at, values) => {
                at.iter().zip(values).try_for_each(|(&at, value)| look(self.base + at as usize, value))
            }
            Writes::Planned(planned, values) => {
                let mut places = planned.places.iter().zip(values);
                places.try_for_each(|(&at, value)| look(self.base + at as usize, value))
            }
            Writes::Stretch(values) => {
                values.iter().enumerate().try_for_each(|(at, value)| look(self.base + at, value))
            }
            Writes::Rows(starts, values) => {
                let len = row_len(starts, values);
                let rows = starts.iter().zip(values.chunks_exact(len));
                let mut places = rows.flat_map(|(&at, row)| (self.base + at as usize..).zip(row));
                places.try_for_each(|(at, value)| look(at, value))
            }
            Writes::Whole(buffer) => buffer.as_slice().iter().enumerate().try_for_each(|(at, value)| look(at, value)),
        }
    }
}

/// How many values a row has, at least one.
pub(super) fn row_len<T>(starts: &[u32], values: &[T]) -> usize {
    (values.len() / starts.len().max(1)).max(1)
}

/// What one processor writes to another's part in a step, in the order of issue.
pub(super) struct Delivery<T: Element> {
    pub(super) batches: Vec<Batch<T>>,
    /// Where its memory goes when it has been read.
    pub(super) pool: Option<Pool<T>>,
    /// Whose it is.
    pub(super) from: usize,
    /// The batches whose places and values are still to come.
    pub(super) carried: Vec<usize>,
}

/// Why deliveries cannot be committed.
pub(super) enum Refusal {
    /// Writes to this place that should be the same differ.
    Differ(usize),
    /// The operator has panicked or refused.
    By(Error),
}

/// What was in a part before an attempt to commit to it, in the order in which it was replaced.
pub(super) struct Replaced<T: Element>(pub(super) Vec<Old<T>>);

pub(super) enum Old<T> {
    /// This value at this place.
    Value(usize, T),
    /// The memory that this batch of this delivery now holds.
    Whole(usize, usize),
}

impl<T: Element> Replaced<T> {
    fn note(&mut self, (delivery, number): (usize, usize), batch: &Batch<T>, part: &[T]) {
        if let Writes::Whole(_) = batch.writes {
            self.0.push(Old::Whole(delivery, number));
            return;
        }
        self.0.reserve(batch.writes.count());
        let Ok(()) = batch.for_each(|at, _| {
            self.0.push(Old::Value(at, part[at]));
            Ok::<_, Infallible>(())
        });
    }

    pub(super) fn undo(self, deliveries: &mut [Box<Delivery<T>>], region: &mut Region<T>) {
        for old in self.0.into_iter().rev() {
            match old {
                Old::Value(at, value) => region.as_mut_slice()[at] = value,
                Old::Whole(delivery, batch) => deliveries[delivery].batches[batch].apply(region),
            }
        }
    }
}

/// Commits the deliveries of all sources, which come by ascending rank.
pub(super) fn commit<T: Element>(deliveries: &mut [Box<Delivery<T>>], region: &mut Region<T>) -> Result<(), Refusal> {
    agree(deliveries)?;
    in_order(deliveries, |_, batch| {
        batch.apply(region);
        Ok(())
    })
}

/// The same, and notes what it replaces. An operator may fail in it.
pub(super) fn attempt<T: Element>(
    deliveries: &mut [Box<Delivery<T>>],
    region: &mut Region<T>,
    replaced: &mut Replaced<T>,
) -> Result<(), Refusal> {
    agree(deliveries)?;
    in_order(deliveries, |which, batch| {
        replaced.note(which, batch, region.as_slice());
        let applied = guard(|| {
            batch.apply(region);
            Ok(())
        });
        applied.map_err(Refusal::By)
    })
}

/// Calls `apply` with all batches in the order in which they are committed, and with the numbers of delivery and batch.
fn in_order<T: Element>(
    deliveries: &mut [Box<Delivery<T>>],
    mut apply: impl FnMut((usize, usize), &mut Batch<T>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let is_fold = |batch: &Batch<T>| batch.operator.rule == Rule::Fold;
    let mut those = |number: usize, delivery: &mut Delivery<T>, folds: bool| {
        let batches = delivery.batches.iter_mut().enumerate().filter(|(_, batch)| is_fold(batch) == folds);
        batches.into_iter().try_for_each(|(at, batch)| apply((number, at), batch))
    };
    for (number, delivery) in deliveries.iter_mut().enumerate().rev() {
        those(number, delivery, false)?;
    }
    for (number, delivery) in deliveries.iter_mut().enumerate() {
        those(number, delivery, true)?;
    }
    Ok(())
}

/// Checks that writes which promised to be the same are.
fn agree<T: Element>(deliveries: &[Box<Delivery<T>>]) -> Result<(), Refusal> {
    let mut seen: HashMap<usize, T> = HashMap::new();
    let batches = deliveries.iter().flat_map(|delivery| &delivery.batches);
    for batch in batches.filter(|batch| batch.operator.rule == Rule::Same) {
        batch.for_each(|at, value| {
            let first = seen.entry(at).or_insert(*value);
            match batch.operator.rule.verdict(|| bytemuck::bytes_of(first) == bytemuck::bytes_of(value)) {
                Verdict::Differ => Err(Refusal::Differ(at)),
                Verdict::Lower | Verdict::Folded => Ok(()),
            }
        })?;
    }
    Ok(())
}

/// Memory that deliveries were written on, for the next ones.
///
/// Each processor has its own; who has read a delivery brings it back there. So the same few buffers go to and fro, and
/// a steady loop allocates nothing. One lock per delivery, and hardly ever contended.
pub(super) struct Pool<T: Element>(Arc<Mutex<Spares<T>>>);

pub(super) struct Spares<T: Element> {
    #[expect(clippy::vec_box, reason = "a delivery travels in its box, and comes back in it")]
    deliveries: Vec<Box<Delivery<T>>>,
    pub(super) places: fabric::Spares<u32>,
    pub(super) values: fabric::Spares<T>,
    buffers: Vec<Buffer<T>>,
}

impl<T: Element> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Element> Default for Pool<T> {
    fn default() -> Self {
        let (places, values) = (fabric::Spares::default(), fabric::Spares::default());
        Self(Arc::new(Mutex::new(Spares { deliveries: Vec::new(), places, values, buffers: Vec::new() })))
    }
}

impl<T: Element> Pool<T> {
    /// A poisoned lock does no harm: each change is one push or pop.
    pub(super) fn spares(&self) -> MutexGuard<'_, Spares<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::unnecessary_box_returns, reason = "a delivery travels in its box")]
    pub(super) fn delivery(&self) -> Box<Delivery<T>> {
        let spare = self.spares().deliveries.pop();
        let mut delivery = spare
            .unwrap_or_else(|| Box::new(Delivery { batches: Vec::new(), pool: None, from: 0, carried: Vec::new() }));
        delivery.pool = Some(self.clone());
        delivery.carried.clear();
        delivery
    }
}

impl<T: Element> Spares<T> {
    pub(super) fn buffer(&mut self, len: usize) -> Option<Buffer<T>> {
        let at = self.buffers.iter().position(|buffer| buffer.as_slice().len() == len);
        at.map_or_else(|| Buffer::new(len), |at| Some(self.buffers.swap_remove(at)))
    }

    pub(super) fn keep_batch(&mut self, batch: Batch<T>) {
        match batch.writes {
            Writes::One(places, _) => self.places.keep(places),
            Writes::Each(places, values) | Writes::Rows(places, values) => {
                self.places.keep(places);
                self.values.keep(values);
            }
            Writes::Planned(_, values) | Writes::Stretch(values) => self.values.keep(values),
            Writes::Whole(buffer) => self.buffers.push(buffer),
        }
    }
}

impl<T: Element> Delivery<T> {
    /// Brings its memory back to where it came from.
    pub(super) fn give_back(mut self: Box<Self>) {
        let Some(pool) = self.pool.take() else { return };
        let mut spares = pool.spares();
        for batch in self.batches.drain(..) {
            spares.keep_batch(batch);
        }
        spares.deliveries.push(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Any, Same, Sum};

    fn batch(base: usize, writes: Writes<u16>) -> Batch<u16> {
        Batch { operator: Operator::new(Sum), base, writes, note: 0 }
    }

    fn planned(places: &[u32]) -> Planned {
        Planned { places: Arc::new(places.to_vec()), plan: 0, is_repeated: false }
    }

    /// What comes from another process is looked at before it is written: it fits where its last place does.
    #[test]
    fn a_batch_fits_where_its_last_place_does_and_each_place_has_a_value() {
        type Form = fn() -> Writes<u16>;
        let forms: [(Form, usize); 5] = [
            (|| Writes::One(vec![3, 0], 7), 2),
            (|| Writes::Each(vec![3, 0], vec![7, 8]), 2),
            (|| Writes::Planned(planned(&[0, 3]), vec![7, 8]), 2),
            (|| Writes::Stretch(vec![7; 4]), 4),
            (|| Writes::Rows(vec![1, 0], vec![7; 6]), 6),
        ];
        for (form, count) in forms {
            assert_eq!(form().count(), count);
            for base in [0, 1, 5] {
                let batch = batch(base, form());
                assert!(batch.fits(base + 4) && batch.fits(base + 5));
                assert!(!batch.fits(base + 3) && !batch.fits(base) && (base == 0 || !batch.fits(base - 1)));
            }
        }
        for none in [Writes::One(vec![], 7), Writes::Each(vec![], vec![]), Writes::Planned(planned(&[]), vec![])] {
            let none = batch(2, none);
            assert!(none.fits(2) && !none.fits(1));
        }
        assert!(!batch(0, Writes::Each(vec![0, 1], vec![7])).fits(9));
        assert!(!batch(0, Writes::Planned(planned(&[0]), vec![7, 8])).fits(9));
        assert!(!batch(0, Writes::Rows(vec![0, 1], vec![7; 5])).fits(9));
        let whole = |base| batch(base, Writes::Whole(Buffer::new(3).expect("there is memory")));
        assert!(whole(0).fits(3) && !whole(0).fits(4) && !whole(1).fits(3) && !whole(1).fits(4));
    }

    #[test]
    fn rows_write_to_places_that_follow_each_other() {
        let (rows, mut seen) = (batch(5, Writes::Rows(vec![3, 0], vec![7, 8, 9, 10])), Vec::new());
        let Ok(()) = rows.for_each(|at, &value| {
            seen.push((at, value));
            Ok::<_, Infallible>(())
        });
        assert_eq!(seen, [(8, 7), (9, 8), (5, 9), (6, 10)]);
    }

    /// S3: assignments from the highest rank down, and then all that is folded, from the lowest up.
    #[test]
    fn deliveries_are_committed_in_order_and_undone_to_what_was_there() {
        let pool = Pool::<u16>::default();
        let append = |all: &mut u16, next: &u16| *all = *all * 10 + *next;
        let delivery = |batches: Vec<(Operator<u16>, Writes<u16>)>| {
            let mut delivery = pool.delivery();
            let batches = batches.into_iter();
            delivery.batches.extend(batches.map(|(operator, writes)| Batch { operator, ..batch(1, writes) }));
            delivery
        };
        let (any, append) = (Operator::new(Any), Operator::new(append));
        let deliveries = || {
            [
                delivery(vec![(append, Writes::One(vec![0, 1], 3)), (any, Writes::Each(vec![0, 3], vec![1, 2]))]),
                delivery(vec![(any, Writes::Stretch(vec![4, 5])), (append, Writes::Each(vec![1, 0], vec![6, 7]))]),
                delivery(vec![(append, Writes::Planned(planned(&[0, 2]), vec![8, 9]))]),
            ]
        };
        let region = || {
            let mut region = Region::<u16>::new(5);
            region.as_mut_slice().copy_from_slice(&[90, 91, 92, 93, 94]);
            region
        };
        let done = [90, 1378, 536, 939, 2];
        let mut plain = region();
        assert!(commit(&mut deliveries(), &mut plain).is_ok());
        assert_eq!(plain.as_slice(), done);
        let (mut tried, mut replaced, mut what) = (region(), Replaced(Vec::new()), deliveries());
        assert!(attempt(&mut what, &mut tried, &mut replaced).is_ok());
        assert_eq!(tried.as_slice(), done);
        replaced.undo(&mut what, &mut tried);
        assert_eq!(tried.as_slice(), region().as_slice());
        // Where writes should be the same and differ, the place is named and nothing is written.
        let same = Operator::new(Same);
        let mut differ = [
            delivery(vec![(same, Writes::One(vec![1, 3], 5))]),
            delivery(vec![(same, Writes::Each(vec![1, 2, 3], vec![5, 6, 7]))]),
        ];
        let refused = commit(&mut differ, &mut plain);
        assert!(matches!(refused, Err(Refusal::Differ(4))));
        assert_eq!(plain.as_slice(), done);
    }

    /// Memory that was written on is found again by whoever needs as much.
    #[test]
    fn what_was_delivered_comes_back_to_the_pool() {
        let pool = Pool::<u16>::default();
        let mut delivery = pool.delivery();
        let first = std::ptr::from_ref(&*delivery);
        let writes = [
            Writes::One(Vec::with_capacity(10), 1),
            Writes::Each(Vec::with_capacity(20), Vec::with_capacity(30)),
            Writes::Stretch(Vec::with_capacity(40)),
            Writes::Planned(planned(&[]), Vec::with_capacity(50)),
            Writes::Whole(Buffer::new(3).expect("there is memory")),
        ];
        delivery.batches.extend(writes.map(|writes| batch(0, writes)));
        delivery.carried.push(7);
        delivery.give_back();
        let mut spares = pool.spares();
        assert_eq!([spares.places.bytes(), spares.values.bytes()], [4 * 30, 2 * 120]);
        assert_eq!(spares.buffers.len(), 1);
        assert_eq!(spares.buffer(4).expect("there is memory").as_slice().len(), 4);
        assert_eq!((spares.buffer(3).expect("it is kept").as_slice().len(), spares.buffers.len()), (3, 0));
        drop(spares);
        let again = pool.delivery();
        assert_eq!(std::ptr::from_ref(&*again), first);
        assert!(again.carried.is_empty() && again.batches.is_empty());
    }
}
