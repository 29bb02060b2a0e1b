//! What a step writes to the partitions of others, and how the owner commits it.
//!
//! Writes are collected per target in typed runs, without a header per element. A run has one operator and is a stretch
//! of values, or a list of offsets with a value each or one for all. The owner commits the runs of all sources
//! together, in the order that S3 asks for:
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

/// Writes to one partition with one operator.
pub(super) struct Run<T: Element> {
    pub(super) operator: Operator<T>,
    /// Where in the partition its places are counted from.
    pub(super) base: usize,
    pub(super) writes: Writes<T>,
}

pub(super) enum Writes<T> {
    /// One value for all places.
    One(Vec<u32>, T),
    /// A value for each place.
    Each(Vec<u32>, Vec<T>),
    /// Values for the places from the base on.
    Stretch(Vec<T>),
    /// The whole partition, in memory that can take its place.
    Whole(Buffer<T>),
}

impl<T: Element> Writes<T> {
    /// How many places it writes to, one after another.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::One(places, _) | Self::Each(places, _) => places.len(),
            Self::Stretch(values) => values.len(),
            Self::Whole(buffer) => buffer.as_slice().len(),
        }
    }

    /// Its places and its values, as bytes; either may be none.
    pub(super) fn vectors(&self) -> [&[u8]; 2] {
        match self {
            Self::One(places, _) => [bytemuck::cast_slice(places), &[]],
            Self::Each(places, values) => [bytemuck::cast_slice(places), bytemuck::cast_slice(values)],
            Self::Stretch(values) => [&[], bytemuck::cast_slice(values)],
            Self::Whole(buffer) => [&[], bytemuck::cast_slice(buffer.as_slice())],
        }
    }

    /// The same, to be written to.
    pub(super) fn vectors_mut(&mut self) -> [&mut [u8]; 2] {
        match self {
            Self::One(places, _) => [bytemuck::cast_slice_mut(places), &mut []],
            Self::Each(places, values) => [bytemuck::cast_slice_mut(places), bytemuck::cast_slice_mut(values)],
            Self::Stretch(values) => [&mut [], bytemuck::cast_slice_mut(values)],
            Self::Whole(buffer) => [&mut [], bytemuck::cast_slice_mut(buffer.as_mut_slice())],
        }
    }
}

impl<T: Element> Run<T> {
    /// Whether all its places lie in a partition of `len` elements, and it has as many values as places.
    pub(super) fn fits(&self, len: usize) -> bool {
        let Some(room) = len.checked_sub(self.base) else { return false };
        let highest = |at: &[u32]| at.iter().copied().max().map_or(0, |at| at as usize + 1);
        match &self.writes {
            Writes::One(at, _) => highest(at) <= room,
            Writes::Each(at, values) => highest(at) <= room && at.len() == values.len(),
            Writes::Stretch(values) => values.len() <= room,
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
            Writes::Stretch(values) => self.operator.apply(Job::Stretch(&mut part[..values.len()], values)),
            Writes::Whole(_) => {}
        }
    }

    /// Calls `look` with every place and its value.
    fn for_each<E>(&self, mut look: impl FnMut(usize, &T) -> Result<(), E>) -> Result<(), E> {
        match &self.writes {
            Writes::One(at, value) => at.iter().try_for_each(|&at| look(self.base + at as usize, value)),
            Writes::Each(at, values) => {
                at.iter().zip(values).try_for_each(|(&at, value)| look(self.base + at as usize, value))
            }
            Writes::Stretch(values) => {
                values.iter().enumerate().try_for_each(|(at, value)| look(self.base + at, value))
            }
            Writes::Whole(buffer) => buffer.as_slice().iter().enumerate().try_for_each(|(at, value)| look(at, value)),
        }
    }
}

/// What one processor writes to another's partition in a step, in the order of issue.
pub(super) struct Letter<T: Element> {
    pub(super) runs: Vec<Run<T>>,
    /// Where its memory goes when it has been read.
    pub(super) home: Option<Home<T>>,
    /// Whose it is.
    pub(super) from: usize,
    /// The runs whose places and values are still to come.
    pub(super) carried: Vec<usize>,
}

/// Why letters cannot be committed.
pub(super) enum Refusal {
    /// Writes to this place that should be the same differ.
    Differ(usize),
    /// The operator has panicked or refused.
    By(Error),
}

/// What was in a part before an attempt to commit to it, in the order in which it was replaced.
pub(super) struct Replaced<T: Element>(Vec<Old<T>>);

impl<T: Element> Default for Replaced<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

enum Old<T> {
    /// This value at this place.
    Value(usize, T),
    /// The memory that this run of this letter now holds.
    Whole(usize, usize),
}

impl<T: Element> Replaced<T> {
    /// Notes what a run is about to replace.
    fn note(&mut self, (letter, number): (usize, usize), run: &Run<T>, part: &[T]) {
        if let Writes::Whole(_) = run.writes {
            self.0.push(Old::Whole(letter, number));
            return;
        }
        self.0.reserve(run.writes.count());
        let Ok(()) = run.for_each(|at, _| {
            self.0.push(Old::Value(at, part[at]));
            Ok::<_, Infallible>(())
        });
    }

    /// Puts everything back.
    pub(super) fn undo(self, letters: &mut [Box<Letter<T>>], region: &mut Region<T>) {
        for old in self.0.into_iter().rev() {
            match old {
                Old::Value(at, value) => region.as_mut_slice()[at] = value,
                Old::Whole(letter, run) => letters[letter].runs[run].apply(region),
            }
        }
    }
}

/// Commits the letters of all sources, which come by ascending rank.
pub(super) fn commit<T: Element>(letters: &mut [Box<Letter<T>>], region: &mut Region<T>) -> Result<(), Refusal> {
    agree(letters)?;
    in_order(letters, |_, run| {
        run.apply(region);
        Ok(())
    })
}

/// The same, and notes what it replaces. An operator may fail in it.
pub(super) fn attempt<T: Element>(
    letters: &mut [Box<Letter<T>>],
    region: &mut Region<T>,
    replaced: &mut Replaced<T>,
) -> Result<(), Refusal> {
    agree(letters)?;
    in_order(letters, |which, run| {
        replaced.note(which, run, region.as_slice());
        let applied = guard(|| {
            run.apply(region);
            Ok(())
        });
        applied.map_err(Refusal::By)
    })
}

/// Calls `apply` with all runs in the order in which they are committed, and with the numbers of letter and run.
fn in_order<T: Element>(
    letters: &mut [Box<Letter<T>>],
    mut apply: impl FnMut((usize, usize), &mut Run<T>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let is_fold = |run: &Run<T>| run.operator.rule == Rule::Fold;
    let mut those = |number: usize, letter: &mut Letter<T>, folds: bool| {
        let runs = letter.runs.iter_mut().enumerate().filter(|(_, run)| is_fold(run) == folds);
        runs.into_iter().try_for_each(|(at, run)| apply((number, at), run))
    };
    for (number, letter) in letters.iter_mut().enumerate().rev() {
        those(number, letter, false)?;
    }
    for (number, letter) in letters.iter_mut().enumerate() {
        those(number, letter, true)?;
    }
    Ok(())
}

/// Checks that writes which promised to be the same are.
fn agree<T: Element>(letters: &[Box<Letter<T>>]) -> Result<(), Refusal> {
    let mut seen: HashMap<usize, T> = HashMap::new();
    let runs = letters.iter().flat_map(|letter| &letter.runs);
    for run in runs.filter(|run| run.operator.rule == Rule::Same) {
        run.for_each(|at, value| {
            let first = seen.entry(at).or_insert(*value);
            match run.operator.rule.verdict(|| bytemuck::bytes_of(first) == bytemuck::bytes_of(value)) {
                Verdict::Differ => Err(Refusal::Differ(at)),
                Verdict::Lower | Verdict::Folded => Ok(()),
            }
        })?;
    }
    Ok(())
}

/// Memory that letters were written on, for the next ones.
///
/// Each processor has its own; who has read a letter brings it back there. So the same few buffers go to and fro, and a
/// steady loop allocates nothing. One lock per letter, and hardly ever contended.
pub(super) struct Home<T: Element>(Arc<Mutex<Spares<T>>>);

pub(super) struct Spares<T: Element> {
    #[expect(clippy::vec_box, reason = "a letter travels in its box, and comes back in it")]
    letters: Vec<Box<Letter<T>>>,
    places: Vec<Vec<u32>>,
    values: Vec<Vec<T>>,
    buffers: Vec<Buffer<T>>,
}

impl<T: Element> Clone for Home<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Element> Default for Home<T> {
    fn default() -> Self {
        let spares = Spares { letters: Vec::new(), places: Vec::new(), values: Vec::new(), buffers: Vec::new() };
        Self(Arc::new(Mutex::new(spares)))
    }
}

impl<T: Element> Home<T> {
    /// Whatever panicked while it was locked, each change to it is one push or pop.
    pub(super) fn spares(&self) -> MutexGuard<'_, Spares<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A letter with nothing in it.
    #[expect(clippy::unnecessary_box_returns, reason = "a letter travels in its box")]
    pub(super) fn letter(&self) -> Box<Letter<T>> {
        let spare = self.spares().letters.pop();
        let mut letter =
            spare.unwrap_or_else(|| Box::new(Letter { runs: Vec::new(), home: None, from: 0, carried: Vec::new() }));
        letter.home = Some(self.clone());
        letter.carried.clear();
        letter
    }
}

impl<T: Element> Spares<T> {
    /// An empty vector, if possible with room for so many.
    pub(super) fn places(&mut self, count: usize) -> Vec<u32> {
        fabric::fitting(&mut self.places, count)
    }

    /// An empty vector, if possible with room for so many.
    pub(super) fn values(&mut self, count: usize) -> Vec<T> {
        fabric::fitting(&mut self.values, count)
    }

    /// Memory for a whole partition of `len` elements.
    pub(super) fn buffer(&mut self, len: usize) -> Option<Buffer<T>> {
        let at = self.buffers.iter().position(|buffer| buffer.as_slice().len() == len);
        at.map_or_else(|| Buffer::new(len), |at| Some(self.buffers.swap_remove(at)))
    }

    pub(super) fn keep_places(&mut self, mut places: Vec<u32>) {
        places.clear();
        if places.capacity() > 0 {
            self.places.push(places);
        }
    }

    pub(super) fn keep_values(&mut self, mut values: Vec<T>) {
        values.clear();
        if values.capacity() > 0 {
            self.values.push(values);
        }
    }

    pub(super) fn keep_run(&mut self, run: Run<T>) {
        match run.writes {
            Writes::One(places, _) => self.keep_places(places),
            Writes::Each(places, values) => {
                self.keep_places(places);
                self.keep_values(values);
            }
            Writes::Stretch(values) => self.keep_values(values),
            Writes::Whole(buffer) => self.buffers.push(buffer),
        }
    }
}

impl<T: Element> Letter<T> {
    /// Brings its memory back to where it came from.
    pub(super) fn bring_home(mut self: Box<Self>) {
        let Some(home) = self.home.take() else { return };
        let mut spares = home.spares();
        for run in self.runs.drain(..) {
            spares.keep_run(run);
        }
        spares.letters.push(self);
    }
}
