//! Long batches on their way from the writer's vectors straight into those of an owner in another process.

use super::writes::{Batch, Delivery, Pool};
use crate::{
    engine::{Awaited, Carrying, Element, Sent, damaged},
    error::Result,
};
use std::cell::RefMut;

/// A batch that is carried to `to`, the one with this number in its record.
pub(super) struct Leaving<T: Element> {
    pub(super) to: usize,
    pub(super) number: usize,
    pub(super) batch: Batch<T>,
}

/// The batches that go out of a part's hands and those that come for it.
pub(super) struct Moving<'a, T: Element> {
    pub(super) array: u32,
    pub(super) leaving: RefMut<'a, Vec<Leaving<T>>>,
    #[expect(clippy::vec_box, reason = "a delivery travels in its box")]
    pub(super) incoming: RefMut<'a, Vec<Box<Delivery<T>>>>,
    pub(super) len: usize,
    pub(super) pool: &'a Pool<T>,
}

/// The order of a piece among all that one member carries to another. Both know its array, batch and vector.
fn order(array: u32, batch: usize, vector: usize) -> u64 {
    u64::from(array) << 32 | (batch as u64) << 1 | vector as u64
}

impl<T: Element> Carrying for Moving<'_, T> {
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result {
        let array = self.array;
        for Leaving { to, number, batch } in self.leaving.iter() {
            for (vector, bytes) in batch.writes.vectors().into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty())
            {
                out.push((order(array, *number, vector), *to, bytes));
            }
        }
        for delivery in self.incoming.iter_mut() {
            let Delivery { batches, from, carried, .. } = &mut **delivery;
            for (number, batch) in batches.iter_mut().enumerate().filter(|(number, _)| carried.contains(number)) {
                let vectors = batch.writes.vectors_mut().into_iter().enumerate();
                for (vector, bytes) in vectors.filter(|(_, bytes)| !bytes.is_empty()) {
                    into.push((order(array, number, vector), *from, bytes));
                }
            }
        }
        Ok(())
    }

    fn done(&mut self) -> Result {
        let mut spares = self.pool.spares();
        self.leaving.drain(..).for_each(|leaving| spares.keep_batch(leaving.batch));
        drop(spares);
        for delivery in self.incoming.iter_mut() {
            let Delivery { batches, carried, .. } = &mut **delivery;
            if carried.drain(..).any(|number| !batches[number].fits(self.len)) {
                return Err(damaged());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_told_apart_by_array_batch_and_vector() {
        let pieces = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1 << 20, 0), (1, 0, 0), (1, 1, 1), (2, 0, 0)];
        let orders = pieces.map(|(array, batch, vector)| order(array, batch, vector));
        assert!(orders.is_sorted_by(|a, b| a < b), "{orders:?}");
    }
}
