//! Irregular writes on their way into runs: one lane per target.

use super::{
    layout::Map,
    operator::Operator,
    part::Part,
    writes::{Home, Run, Writes},
};
use crate::engine::Element;

/// Places in one partition, and their values.
pub(super) struct Lane<T> {
    pub(super) places: Vec<u32>,
    pub(super) values: Vec<T>,
}

/// Places and values with one operator, by target.
///
/// A place has 32 bits. A partition with more elements has several lanes, one for each stretch of 2^32 of them; two
/// writes to one element always meet in one lane, so their order is kept.
pub(super) struct Lanes<T: Element> {
    pub(super) operator: Operator<T>,
    /// The value for all places, where there is only one.
    pub(super) one: Option<T>,
    pub(super) by_target: Vec<Lane<T>>,
}

/// What a step has written so far to the partitions of others.
pub(super) struct Outgoing<T: Element> {
    /// The lanes that the next irregular write may continue; everything in `runs` was issued before.
    open: Option<Lanes<T>>,
    /// By target, in the order of issue.
    runs: Vec<Vec<Run<T>>>,
    /// Empty lanes, kept for their room.
    spare: Vec<Lane<T>>,
}

impl<T: Element> Default for Outgoing<T> {
    fn default() -> Self {
        Self { open: None, runs: Vec::new(), spare: Vec::new() }
    }
}

/// Of which elements one lane at most has room for.
pub(super) const WINDOW: usize = 1 << 32;

impl<T: Element> Outgoing<T> {
    /// Takes lanes for writes with `operator`, those that are open if they fit.
    pub(super) fn take<M: Map>(&mut self, part: &Part<T, M>, operator: Operator<T>, one: Option<T>) -> Lanes<T> {
        if let Some(open) = self.open.take() {
            let is_same_value = match (&open.one, &one) {
                (Some(a), Some(b)) => bytemuck::bytes_of(a) == bytemuck::bytes_of(b),
                (None, None) => true,
                _ => false,
            };
            if is_same_value && open.operator.is(operator) {
                return open;
            }
            self.close(open, part);
        }
        let mut lanes = std::mem::take(&mut self.spare);
        let count = part.lens.len() * part.windows;
        lanes.resize_with(count, || Lane { places: Vec::new(), values: Vec::new() });
        // What was sent may have come home since. How much there will be is not known yet.
        let mut spares = part.home.spares();
        for lane in &mut lanes {
            if lane.places.capacity() == 0 {
                lane.places = spares.places(usize::MAX);
            }
            if one.is_none() && lane.values.capacity() == 0 {
                lane.values = spares.values(usize::MAX);
            }
        }
        drop(spares);
        Lanes { operator, one, by_target: lanes }
    }

    /// Takes lanes back: what is in them has been issued now.
    pub(super) fn put_back<M: Map>(&mut self, lanes: Lanes<T>, part: &Part<T, M>) {
        // If others were opened meanwhile, those were issued before.
        self.issue(part);
        self.open = Some(lanes);
    }

    /// Makes sure that what was written so far comes before whatever is given back or added later.
    pub(super) fn issue<M: Map>(&mut self, part: &Part<T, M>) {
        if let Some(open) = self.open.take() {
            self.close(open, part);
        }
    }

    /// Makes runs of what is in the lanes.
    fn close<M: Map>(&mut self, mut open: Lanes<T>, part: &Part<T, M>) {
        for (number, lane) in open.by_target.iter_mut().enumerate().filter(|(_, lane)| !lane.places.is_empty()) {
            let places = std::mem::take(&mut lane.places);
            let writes = match open.one {
                Some(value) => Writes::One(places, value),
                None => Writes::Each(places, std::mem::take(&mut lane.values)),
            };
            let (to, window) = (number / part.windows, number % part.windows);
            let run = Run { operator: open.operator, base: window.wrapping_mul(WINDOW), writes };
            self.push(to, run);
        }
        self.spare = open.by_target;
    }

    fn push(&mut self, to: usize, run: Run<T>) {
        if self.runs.len() <= to {
            self.runs.resize_with(to + 1, Vec::new);
        }
        self.runs[to].push(run);
    }

    /// Adds memory that takes the place of a whole partition.
    pub(super) fn push_run<M: Map>(&mut self, to: usize, run: Run<T>, part: &Part<T, M>) {
        self.issue(part);
        self.push(to, run);
    }

    /// Adds values for the places from `at` on; they continue the last run where they follow it.
    pub(super) fn push_stretch<M: Map>(
        &mut self,
        to: usize,
        at: usize,
        values: &[T],
        operator: Operator<T>,
        part: &Part<T, M>,
    ) {
        self.issue(part);
        if let Some(Run { operator: last, base, writes: Writes::Stretch(there) }) =
            self.runs.get_mut(to).and_then(|runs| runs.last_mut())
            && *base + there.len() == at
            && last.is(operator)
        {
            match *values {
                [value] => there.push(value),
                _ => there.extend_from_slice(values),
            }
            return;
        }
        let mut there = part.home.spares().values(values.len());
        fabric::make_room(&mut there, values.len());
        there.extend_from_slice(values);
        self.push(to, Run { operator, base: at, writes: Writes::Stretch(there) });
    }

    /// Hands over what there is for each target, and is empty then.
    pub(super) fn drain<M: Map>(&mut self, part: &Part<T, M>, mut take: impl FnMut(usize, &mut Vec<Run<T>>)) {
        self.issue(part);
        for (to, runs) in self.runs.iter_mut().enumerate().filter(|(_, runs)| !runs.is_empty()) {
            take(to, runs);
            runs.clear();
        }
    }

    /// Forgets what a step that failed has written.
    pub(super) fn abandon(&mut self, home: &Home<T>) {
        let mut spares = home.spares();
        for run in self.runs.iter_mut().flat_map(|runs| runs.drain(..)) {
            spares.keep_run(run);
        }
        for lane in self.open.take().into_iter().flat_map(|open| open.by_target) {
            spares.keep_places(lane.places);
            spares.keep_values(lane.values);
        }
    }
}
