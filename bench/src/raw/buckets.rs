//! Buckets that threads fill for each other: one for each pair of a source and an owner.
//!
//! Places are counted within an owner's part and have 32 bits. With two owners, each place is written to both buckets
//! and only one of them grows: that needs no branch, which would be mispredicted every other time.

use super::team::lock;
use std::sync::Mutex;
use superstep::{Area, Element, Group};

/// Memory that may be longer than what is in it.
struct Bucket<'a, T> {
    memory: &'a mut [T],
    len: usize,
}

impl<T> Bucket<'_, T> {
    fn content(&self) -> &[T] {
        &self.memory[..self.len]
    }
}

/// All buckets of one kind, by source and then by owner.
struct Buckets<'a, T> {
    procs: usize,
    all: Vec<Mutex<Bucket<'a, T>>>,
}

impl<'a, T> Buckets<'a, T> {
    fn new(procs: usize, memory: Vec<&'a mut [T]>) -> Self {
        assert_eq!(memory.len(), procs * procs, "there is a bucket for each pair");
        let all = memory.into_iter().map(|memory| Mutex::new(Bucket { memory, len: 0 })).collect();
        Self { procs, all }
    }

    /// The buckets that `source` fills, by owner.
    fn of_source(&self, source: usize) -> &[Mutex<Bucket<'a, T>>] {
        &self.all[source * self.procs..][..self.procs]
    }

    /// The bucket that `source` fills for `owner`.
    fn between(&self, source: usize, owner: usize) -> &Mutex<Bucket<'a, T>> {
        &self.all[source * self.procs + owner]
    }
}

/// Buckets of places.
pub(crate) struct PlaceBuckets<'a> {
    /// How many elements each owner has.
    part: usize,
    places: Buckets<'a, u32>,
}

impl<'a> PlaceBuckets<'a> {
    /// Buckets on this memory, `procs` times `procs` pieces, for owners of `part` elements each.
    pub(crate) fn new(procs: usize, part: usize, memory: Vec<&'a mut [u32]>) -> Self {
        Self { part, places: Buckets::new(procs, memory) }
    }

    /// Sorts what `source` has by owner.
    pub(crate) fn fill(&self, source: usize, indices: &[usize]) {
        let part = self.part;
        if let [low, high] = self.places.of_source(source) {
            let (mut low, mut high) = (lock(low), lock(high));
            let (mut lows, mut highs) = (0, 0);
            for &index in indices {
                let is_high = index >= part;
                low.memory[lows] = index as u32;
                high.memory[highs] = index.wrapping_sub(part) as u32;
                lows += usize::from(!is_high);
                highs += usize::from(is_high);
            }
            (low.len, high.len) = (lows, highs);
            return;
        }
        let mut buckets: Vec<_> = self.places.of_source(source).iter().map(lock).collect();
        for bucket in &mut buckets {
            bucket.len = 0;
        }
        for &index in indices {
            let bucket = &mut *buckets[index / part];
            bucket.memory[bucket.len] = (index % part) as u32;
            bucket.len += 1;
        }
    }

    /// Hands `take` what all have for `owner`.
    pub(crate) fn empty(&self, owner: usize, mut take: impl FnMut(&[u32])) {
        for source in 0..self.places.procs {
            take(lock(self.places.between(source, owner)).content());
        }
    }
}

/// Buckets of places with a value each.
pub(crate) struct ValueBuckets<'a> {
    part: usize,
    places: Buckets<'a, u32>,
    values: Buckets<'a, u64>,
}

impl<'a> ValueBuckets<'a> {
    /// Memory for such buckets, `count` elements in each.
    pub(crate) fn memory(g: &mut Group, procs: usize, count: usize) -> (Vec<Area<u32>>, Vec<Area<u64>>) {
        fn areas<T: Element>(g: &mut Group, procs: usize, count: usize) -> Vec<Area<T>> {
            super::memory::areas(g, procs * procs, count)
        }
        (areas(g, procs, count), areas(g, procs, count))
    }

    /// Buckets on this memory, for owners of `part` elements each.
    pub(crate) fn new(procs: usize, part: usize, places: Vec<&'a mut [u32]>, values: Vec<&'a mut [u64]>) -> Self {
        Self { part, places: Buckets::new(procs, places), values: Buckets::new(procs, values) }
    }

    /// Sorts what `source` has by owner.
    pub(crate) fn fill(&self, source: usize, indices: &[usize], values: &[u64]) {
        let part = self.part;
        let mut places: Vec<_> = self.places.of_source(source).iter().map(lock).collect();
        let mut kept: Vec<_> = self.values.of_source(source).iter().map(lock).collect();
        if let ([low, high], [low_kept, high_kept]) = (&mut places[..], &mut kept[..]) {
            let (mut lows, mut highs) = (0, 0);
            for (&index, &value) in indices.iter().zip(values) {
                let is_high = index >= part;
                low.memory[lows] = index as u32;
                low_kept.memory[lows] = value;
                high.memory[highs] = index.wrapping_sub(part) as u32;
                high_kept.memory[highs] = value;
                lows += usize::from(!is_high);
                highs += usize::from(is_high);
            }
            (low.len, low_kept.len, high.len, high_kept.len) = (lows, lows, highs, highs);
            return;
        }
        for bucket in &mut places {
            bucket.len = 0;
        }
        for (&index, &value) in indices.iter().zip(values) {
            let (owner, at) = (index / part, places[index / part].len);
            places[owner].memory[at] = (index % part) as u32;
            kept[owner].memory[at] = value;
            places[owner].len = at + 1;
        }
        for (places, kept) in places.iter().zip(&mut kept) {
            kept.len = places.len;
        }
    }

    /// Hands `take` what all have for `owner`.
    pub(crate) fn empty(&self, owner: usize, mut take: impl FnMut(&[u32], &[u64])) {
        for source in 0..self.places.procs {
            let places = lock(self.places.between(source, owner));
            let values = lock(self.values.between(source, owner));
            take(places.content(), values.content());
        }
    }
}
