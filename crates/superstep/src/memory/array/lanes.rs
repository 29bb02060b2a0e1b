//! Irregular writes on their way into batches: one lane per target.

use super::{
    layout::{Locator, Map},
    operator::Operator,
    writes::{Batch, Pool, Writes, row_len},
};
use crate::engine::Element;

pub(super) struct Lane<T> {
    pub(super) places: Vec<u32>,
    pub(super) values: Vec<T>,
}

/// Places and values with one operator, by target.
///
/// A place has 32 bits. A part with more elements has several lanes, one for each stretch of 2^32 of them; two
/// writes to one element always meet in one lane, so their order is kept.
pub(super) struct Lanes<T: Element> {
    pub(super) operator: Operator<T>,
    /// The value for all places, where there is only one.
    pub(super) one: Option<T>,
    /// The note of who writes, for the check of conflicts; else 0.
    note: u32,
    by_target: Vec<Lane<T>>,
}

impl<T: Element> Lanes<T> {
    /// Makes room for about so many writes that spread evenly.
    pub(super) fn make_room(&mut self, count: usize) {
        let share = count / self.by_target.len();
        // Few are not worth a look at every lane.
        if share >= 64 {
            let share = share + share / 16;
            for lane in &mut self.by_target {
                fabric::make_room(&mut lane.places, share);
                if self.one.is_none() {
                    fabric::make_room(&mut lane.values, share);
                }
            }
        }
    }

    /// Writes to an element; false if it does not exist.
    #[inline]
    pub(super) fn push<M: Map>(&mut self, locator: &Locator<M>, index: usize, value: T) -> bool {
        let Some((lane, place)) = locator.lane(index) else { return false };
        let lane = &mut self.by_target[lane];
        lane.places.push(place);
        lane.values.push(value);
        true
    }

    /// The same with the one value for all.
    #[inline]
    pub(super) fn push_one<M: Map>(&mut self, locator: &Locator<M>, index: usize) -> bool {
        let Some((lane, place)) = locator.lane(index) else { return false };
        self.by_target[lane].places.push(place);
        true
    }

    /// Writes to a place whose owner is known.
    pub(super) fn push_at(&mut self, windows: usize, owner: usize, at: usize, value: T) {
        let lane = &mut self.by_target[owner * windows + (at >> 32)];
        lane.places.push(at as u32);
        lane.values.push(value);
    }

    /// Writes all, or nothing and returns the index that does not exist.
    pub(super) fn scatter<M: Map>(&mut self, locator: &Locator<M>, at: &[usize], values: &[T]) -> Result<(), usize> {
        let (locator, issued) = (locator.clone(), at);
        for (at, values) in fabric::chunks(at).zip(fabric::chunks(values)) {
            for (&index, &value) in at.iter().zip(values) {
                if !self.push(&locator, index, value) {
                    self.undo(&locator, issued);
                    return Err(index);
                }
            }
        }
        Ok(())
    }

    /// The same with one value for all.
    pub(super) fn scatter_one<M: Map>(&mut self, locator: &Locator<M>, at: &[usize]) -> Result<(), usize> {
        let (locator, issued) = (locator.clone(), at);
        for at in fabric::chunks(at) {
            for &index in at {
                if !self.push_one(&locator, index) {
                    self.undo(&locator, issued);
                    return Err(index);
                }
            }
        }
        Ok(())
    }

    /// Takes back what was written last, to all of these elements or to those before the first that does not exist.
    #[cold]
    pub(super) fn undo<M: Map>(&mut self, locator: &Locator<M>, at: &[usize]) {
        for (lane, _) in at.iter().map_while(|&index| locator.lane(index)) {
            self.by_target[lane].places.pop();
            self.by_target[lane].values.pop();
        }
    }

    pub(super) fn clear(&mut self) {
        for lane in &mut self.by_target {
            lane.places.clear();
            lane.values.clear();
        }
    }
}

/// What a step has written so far to the parts of others.
pub(super) struct Outgoing<T: Element> {
    /// The lanes that the next irregular write may continue; everything in `batches` was issued before.
    open: Option<Lanes<T>>,
    /// By target, in the order of issue.
    batches: Vec<Vec<Batch<T>>>,
    /// Empty lanes, kept for their room.
    spare: Vec<Lane<T>>,
    /// How many targets there are, and how many lanes each has.
    targets: usize,
    windows: usize,
    pool: Pool<T>,
}

/// How many places a lane can name.
pub(super) const WINDOW: usize = 1 << 32;

impl<T: Element> Outgoing<T> {
    pub(super) fn new(targets: usize, windows: usize, pool: Pool<T>) -> Self {
        Self { open: None, batches: Vec::new(), spare: Vec::new(), targets, windows, pool }
    }

    /// Takes lanes for writes with `operator` under a note, those that are open if they fit.
    pub(super) fn take(&mut self, operator: Operator<T>, one: Option<T>, note: u32) -> Lanes<T> {
        if let Some(open) = self.open.take() {
            let is_same_value = match (&open.one, &one) {
                (Some(a), Some(b)) => bytemuck::bytes_of(a) == bytemuck::bytes_of(b),
                (None, None) => true,
                _ => false,
            };
            if is_same_value && open.operator.is(operator) && open.note == note {
                return open;
            }
            self.close(open);
        }
        let mut lanes = std::mem::take(&mut self.spare);
        lanes.resize_with(self.targets * self.windows, || Lane { places: Vec::new(), values: Vec::new() });
        self.give_room(&mut lanes, one.is_none());
        Lanes { operator, one, note, by_target: lanes }
    }

    /// Vectors that were sent may be back. How many writes follow is not known yet.
    fn give_room(&self, lanes: &mut [Lane<T>], has_values: bool) {
        let mut spares = self.pool.spares();
        for lane in lanes {
            if lane.places.capacity() == 0 {
                lane.places = spares.places.take(usize::MAX);
            }
            if has_values && lane.values.capacity() == 0 {
                lane.values = spares.values.take(usize::MAX);
            }
        }
    }

    /// Takes lanes back: what is in them has been issued now.
    pub(super) fn put_back(&mut self, lanes: Lanes<T>) {
        // If others were opened meanwhile, those were issued before.
        self.issue();
        self.open = Some(lanes);
    }

    /// Makes sure that what was written so far comes before whatever is given back or added later.
    pub(super) fn issue(&mut self) {
        if let Some(open) = self.open.take() {
            self.close(open);
        }
    }

    fn close(&mut self, mut open: Lanes<T>) {
        for (number, lane) in open.by_target.iter_mut().enumerate().filter(|(_, lane)| !lane.places.is_empty()) {
            let places = std::mem::take(&mut lane.places);
            let writes = match open.one {
                Some(value) => Writes::One(places, value),
                None => Writes::Each(places, std::mem::take(&mut lane.values)),
            };
            let (to, window) = (number / self.windows, number % self.windows);
            let base = window.wrapping_mul(WINDOW);
            let batch = Batch { operator: open.operator, base, writes, note: open.note };
            self.push(to, batch);
        }
        self.spare = open.by_target;
    }

    fn push(&mut self, to: usize, batch: Batch<T>) {
        if self.batches.len() <= to {
            self.batches.resize_with(to + 1, Vec::new);
        }
        self.batches[to].push(batch);
    }

    /// Adds a batch behind everything that was issued before.
    pub(super) fn push_batch(&mut self, to: usize, batch: Batch<T>) {
        self.issue();
        self.push(to, batch);
    }

    /// Adds values for the places from `at` on. They continue the last batch where they follow it, and become one of
    /// its rows where they are as many as each of these has. About `expected` values follow for this target.
    pub(super) fn push_stretch(
        &mut self,
        to: usize,
        (at, values): (usize, &[T]),
        (operator, note): (Operator<T>, u32),
        expected: usize,
    ) {
        self.issue();
        let last = self.batches.get_mut(to).and_then(|batches| batches.last_mut());
        let last = last.filter(|last| last.operator.is(operator) && last.note == note);
        if last.is_some_and(|last| continues(last, at, values, &self.pool)) {
            return;
        }
        let mut there = self.pool.spares().values.take(expected.max(values.len()));
        fabric::make_room(&mut there, values.len());
        there.extend_from_slice(values);
        self.push(to, Batch { operator, base: at, writes: Writes::Stretch(there), note });
    }

    /// Hands over what there is for each target, and is empty then.
    pub(super) fn drain(&mut self, mut take: impl FnMut(usize, &mut Vec<Batch<T>>)) {
        self.issue();
        for (to, batches) in self.batches.iter_mut().enumerate().filter(|(_, batches)| !batches.is_empty()) {
            take(to, batches);
            batches.clear();
        }
    }

    /// Forgets what a step that failed has written.
    pub(super) fn abandon(&mut self) {
        let mut spares = self.pool.spares();
        for batch in self.batches.iter_mut().flat_map(|batches| batches.drain(..)) {
            spares.keep_batch(batch);
        }
        for lane in self.open.take().into_iter().flat_map(|open| open.by_target) {
            spares.places.keep(lane.places);
            spares.values.keep(lane.values);
        }
    }
}

/// Adds values for the places from `at` on to a batch, if it can have them.
fn continues<T: Element>(batch: &mut Batch<T>, at: usize, values: &[T], pool: &Pool<T>) -> bool {
    let place = at.checked_sub(batch.base).and_then(|place| u32::try_from(place).ok());
    match (&mut batch.writes, place) {
        (Writes::Stretch(there), _) if batch.base + there.len() == at => match *values {
            [value] => there.push(value),
            _ => there.extend_from_slice(values),
        },
        (Writes::Stretch(there), Some(place)) if there.len() == values.len() => {
            let mut starts = pool.spares().places.take(usize::MAX);
            starts.extend([0, place]);
            there.extend_from_slice(values);
            batch.writes = Writes::Rows(starts, std::mem::take(there));
        }
        (Writes::Rows(starts, there), Some(place)) if row_len(starts, there) == values.len() => {
            starts.push(place);
            there.extend_from_slice(values);
        }
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Block, Distribution as _, divisor::Divisor},
        *,
    };
    use crate::engine::{Max, Sum};
    use std::convert::Infallible;

    /// To whom, with which note, and the values by their places.
    type Sent = (usize, u32, Vec<(usize, u16)>);

    /// What is on its way.
    fn drained(out: &mut Outgoing<u16>) -> Vec<Sent> {
        let mut found = Vec::new();
        out.drain(|to, batches| {
            for batch in batches.drain(..) {
                let mut written = Vec::new();
                let Ok(()) = batch.for_each(|at, &value| {
                    written.push((at, value));
                    Ok::<_, Infallible>(())
                });
                found.push((to, batch.note, written));
            }
        });
        found
    }

    /// A7: a part may be longer than 32 bits can count.
    #[test]
    fn a_long_part_has_a_lane_for_each_stretch_of_places() {
        let mut out = Outgoing::<u16>::new(3, 2, Pool::default());
        let mut lanes = out.take(Operator::new(Sum), None, 1);
        for (owner, at, value) in [(0, 5, 1), (2, WINDOW + 3, 2), (1, 4, 3), (0, WINDOW, 4), (2, WINDOW + 1, 5)] {
            lanes.push_at(2, owner, at, value);
        }
        out.put_back(lanes);
        let expected = [
            (0, 1, vec![(5, 1)]),
            (0, 1, vec![(WINDOW, 4)]),
            (1, 1, vec![(4, 3)]),
            (2, 1, vec![(WINDOW + 3, 2), (WINDOW + 1, 5)]),
        ];
        assert_eq!(drained(&mut out), expected);
    }

    #[test]
    fn writes_share_a_batch_if_operator_value_and_note_are_the_same() {
        let (sum, max) = (Operator::<u16>::new(Sum), Operator::new(Max));
        for (first, second, is_one) in [
            ((sum, None, 1), (sum, None, 1), true),
            ((sum, None, 1), (sum, None, 2), false),
            ((sum, None, 1), (max, None, 1), false),
            ((sum, Some(7), 1), (sum, Some(7), 1), true),
            ((sum, Some(7), 1), (sum, Some(8), 1), false),
            ((sum, None, 1), (sum, Some(7), 1), false),
        ] {
            let mut out = Outgoing::<u16>::new(1, 1, Pool::default());
            for (place, (operator, one, note)) in [(3u32, first), (5, second)] {
                let mut lanes = out.take(operator, one, note);
                if one.is_some() {
                    lanes.by_target[0].places.push(place);
                } else {
                    lanes.push_at(1, 0, place as usize, 7);
                }
                out.put_back(lanes);
            }
            let (a, b) = ((3, first.1.unwrap_or(7)), (5, second.1.unwrap_or(7)));
            let two = vec![(0, first.2, vec![a]), (0, second.2, vec![b])];
            assert_eq!(drained(&mut out), if is_one { vec![(0, first.2, vec![a, b])] } else { two });
        }
    }

    #[test]
    fn stretches_that_follow_each_other_or_are_as_long_become_one_batch() {
        let (mut out, sum) = (Outgoing::<u16>::new(1, 1, Pool::default()), Operator::new(Sum));
        let stretches: [(usize, &[u16]); 6] =
            [(3, &[1, 2]), (5, &[3]), (10, &[4, 5, 6]), (20, &[7, 8, 9]), (23, &[10]), (24, &[11, 12])];
        for stretch in stretches {
            out.push_stretch(0, stretch, (sum, 0), 0);
        }
        let rows = [(3, 1), (4, 2), (5, 3), (10, 4), (11, 5), (12, 6), (20, 7), (21, 8), (22, 9)];
        let stretch = [(23, 10), (24, 11), (25, 12)];
        assert_eq!(drained(&mut out), [(0, 0, rows.to_vec()), (0, 0, stretch.to_vec())]);
    }

    /// X1.
    #[test]
    fn a_list_with_an_index_that_does_not_exist_writes_nothing() {
        let map = Block::new().lay(&[8], 2).unwrap();
        let locator = Locator { map, inner: 1, by_inner: Divisor::new(1), len: 8, windows: 1 };
        let (mut out, sum) = (Outgoing::<u16>::new(2, 1, Pool::default()), Operator::new(Sum));
        let mut lanes = out.take(sum, None, 1);
        assert_eq!(lanes.scatter(&locator, &[1, 6], &[10, 60]), Ok(()));
        assert_eq!(lanes.scatter(&locator, &[2, 7, 8, 3], &[20, 70, 80, 30]), Err(8));
        out.put_back(lanes);
        let mut lanes = out.take(sum, Some(5), 1);
        assert_eq!(lanes.scatter_one(&locator, &[5]), Ok(()));
        assert_eq!(lanes.scatter_one(&locator, &[5, 0, 9]), Err(9));
        out.put_back(lanes);
        let expected = [(0, 1, vec![(1, 10)]), (1, 1, vec![(2, 60)]), (1, 1, vec![(1, 5)])];
        assert_eq!(drained(&mut out), expected);
    }

    /// X6.
    #[test]
    fn what_a_step_has_written_that_failed_is_forgotten() {
        let (mut out, sum) = (Outgoing::<u16>::new(1, 1, Pool::default()), Operator::new(Sum));
        out.push_stretch(0, (0, &[1, 2]), (sum, 0), 0);
        let mut lanes = out.take(sum, None, 0);
        lanes.push_at(1, 0, 4, 7);
        out.put_back(lanes);
        out.abandon();
        assert!(drained(&mut out).is_empty());
    }
}
