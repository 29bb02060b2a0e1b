//! Batches of writes as bytes, for owners with whom the writer shares no memory.
//!
//! ```text
//! per batch: form u32 | note u32 | base u64 | number of places u64 | the operator 5 u64 | then, by form,
//!     ONE:     the value, the places, u32 each
//!     EACH:    the places, the values
//!     STRETCH: the values
//!     ROWS:    the number of rows u64, where each begins, u32 each, the values
//!     PLANNED: the plan's number and whether places are repeated, u64 each, the values
//! ```
//!
//! What is long may travel apart from this; then only the value of ONE follows, the number of ROWS, or what says which
//! plan is meant.

use super::{
    operator::Operator,
    served::Plans,
    writes::{Batch, Delivery, Planned, Pool, Writes},
};
use crate::{
    engine::{Element, damaged, decode_into, read_words},
    error::Result,
};
use fabric::wire::Writer as _;

const ONE: u64 = 0;
const EACH: u64 = 1;
const STRETCH: u64 = 2;
const PLANNED: u64 = 3;
const ROWS: u64 = 4;
/// Added to a form: places and values do not follow, they are carried.
const APART: u64 = 1 << 8;

/// How many bytes a batch makes, all of it.
pub(super) fn length<T: Element>(batch: &Batch<T>) -> usize {
    let one = match batch.writes {
        Writes::One(..) => size_of::<T>(),
        Writes::Planned(..) => 16,
        Writes::Rows(..) => 8,
        _ => 0,
    };
    HEAD + one + batch.writes.vectors().iter().map(|bytes| bytes.len()).sum::<usize>()
}

/// How many bytes stand before each batch.
const HEAD: usize = 64;

/// Appends batches to a record, those that are carried without their places and values.
pub(super) fn write_batches<T: Element>(
    batches: &[Batch<T>],
    out: &mut Vec<u8>,
    is_carried: impl Fn(&Batch<T>) -> bool,
) {
    for batch in batches {
        let (form, one) = match &batch.writes {
            Writes::One(_, value) => (ONE, bytemuck::bytes_of(value)),
            Writes::Each(..) => (EACH, &[][..]),
            Writes::Planned(..) => (PLANNED, &[][..]),
            Writes::Rows(..) => (ROWS, &[][..]),
            Writes::Stretch(_) | Writes::Whole(_) => (STRETCH, &[][..]),
        };
        let is_carried = is_carried(batch);
        let form = if is_carried { form | APART } else { form };
        let (way, operator) = batch.operator.write();
        let head = form | way | u64::from(batch.note) << 32;
        out.put([head, batch.base as u64, batch.writes.count() as u64]);
        out.put(operator);
        out.extend_from_slice(one);
        if let Writes::Planned(planned, _) = &batch.writes {
            out.put([u64::from(planned.plan), u64::from(planned.is_repeated)]);
        }
        if let Writes::Rows(starts, _) = &batch.writes {
            out.put([starts.len() as u64]);
        }
        if !is_carried {
            batch.writes.vectors().iter().for_each(|bytes| out.extend_from_slice(bytes));
        }
    }
}

/// Takes `count` elements off the front, into the room of a vector.
fn take<T: Element>(bytes: &mut &[u8], count: usize, mut into: Vec<T>) -> Result<Vec<T>> {
    let length = count.checked_mul(size_of::<T>()).ok_or_else(damaged)?;
    let (head, rest) = bytes.split_at_checked(length).ok_or_else(damaged)?;
    *bytes = rest;
    decode_into(head, &mut into)?;
    Ok(into)
}

/// Reads the batches of a record for a part of `len` elements into a delivery, into vectors that `pool` has to spare.
pub(super) fn read_batches<T: Element>(
    mut bytes: &[u8],
    len: usize,
    (pool, plans): (&Pool<T>, &Plans),
    delivery: &mut Delivery<T>,
) -> Result {
    let mut spares = pool.spares();
    while !bytes.is_empty() {
        let [head, base, count] = read_words(&mut bytes)?;
        let (mut form, note) = (head & 0xFFFF_FFFF, (head >> 32) as u32);
        let (base, count) = (base as usize, count as usize);
        let operator = Operator::read(&mut form, read_words(&mut bytes)?)?;
        let (form, is_apart) = (form & !APART, form & APART > 0);
        if is_apart {
            delivery.carried.push(delivery.batches.len());
        }
        let writes = match form {
            ONE => {
                let value = take(&mut bytes, 1, Vec::new())?[0];
                Writes::One(vector(&mut bytes, count, spares.places.take(count), is_apart)?, value)
            }
            EACH => {
                let places = vector(&mut bytes, count, spares.places.take(count), is_apart)?;
                Writes::Each(places, vector(&mut bytes, count, spares.values.take(count), is_apart)?)
            }
            PLANNED => {
                let planned = planned(&mut bytes, plans, (delivery.from, base))?;
                if planned.places.len() != count {
                    return Err(damaged());
                }
                Writes::Planned(planned, vector(&mut bytes, count, spares.values.take(count), is_apart)?)
            }
            // Rows of several calls may be more than the part they go to.
            ROWS => {
                let [rows] = read_words(&mut bytes)?;
                let rows = usize::try_from(rows).ok().filter(|&rows| rows <= count).ok_or_else(damaged)?;
                let starts = vector(&mut bytes, rows, spares.places.take(rows), is_apart)?;
                Writes::Rows(starts, vector(&mut bytes, count, spares.values.take(count), is_apart)?)
            }
            STRETCH if count <= len => Writes::Stretch(vector(&mut bytes, count, spares.values.take(count), is_apart)?),
            _ => return Err(damaged()),
        };
        let batch = Batch { operator, base, writes, note };
        if !is_apart && !batch.fits(len) {
            return Err(damaged());
        }
        delivery.batches.push(batch);
    }
    Ok(())
}

/// The places of a plan that member `from` writes to, from `base` on.
fn planned(bytes: &mut &[u8], plans: &Plans, (from, base): (usize, usize)) -> Result<Planned> {
    let [number, is_repeated] = read_words(bytes)?;
    let is_repeated = is_repeated != 0;
    let places = plans.find(number)?.places(from, base, is_repeated).ok_or_else(damaged)?;
    Ok(Planned { places, plan: number as u32, is_repeated })
}

/// A vector of so many elements: those at the front, or zeros in the place of those that are still to come.
fn vector<T: Element>(bytes: &mut &[u8], count: usize, mut into: Vec<T>, is_apart: bool) -> Result<Vec<T>> {
    if !is_apart {
        return take(bytes, count, into);
    }
    if into.capacity() < count {
        // That so many come was only said. Memory that nobody has touched costs nothing.
        return bytemuck::allocation::try_zeroed_vec(count).map_err(|()| damaged());
    }
    into.resize(count, T::zeroed());
    Ok(into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::Sum, error::ErrorKind};
    use std::sync::Arc;

    fn bytes() -> Vec<u8> {
        let sum = Operator::<u16>::new(Sum);
        let batches = [
            Batch { operator: sum, base: 0, writes: Writes::One(vec![1, 3], 7), note: 0 },
            Batch { operator: sum, base: 1, writes: Writes::Each(vec![0, 2], vec![5, 6]), note: 9 },
            Batch { operator: sum, base: 2, writes: Writes::Stretch(vec![8, 9]), note: 1 << 31 },
            Batch { operator: sum, base: 0, writes: Writes::Rows(vec![0, 2], vec![1, 2, 3, 4]), note: 0 },
        ];
        let mut bytes = Vec::new();
        write_batches(&batches, &mut bytes, |_| false);
        assert_eq!(bytes.len(), batches.iter().map(length).sum());
        bytes
    }

    fn read(bytes: &[u8], len: usize) -> Result<Vec<Batch<u16>>> {
        let pool = Pool::default();
        let mut delivery = pool.delivery();
        read_batches(bytes, len, (&pool, &Plans::default()), &mut delivery)?;
        delivery.carried.clear();
        Ok(delivery.batches)
    }

    #[test]
    fn batches_come_back_as_they_went() {
        let batches = read(&bytes(), 4).unwrap();
        assert!(matches!(&batches[0].writes, Writes::One(places, 7) if places == &[1, 3]));
        assert!(matches!(&batches[1].writes, Writes::Each(places, values) if places == &[0, 2] && values == &[5, 6]));
        assert!(matches!(&batches[2].writes, Writes::Stretch(values) if values == &[8, 9]));
        let is_rows = |starts: &[u32], values: &[u16]| starts == [0, 2] && values == [1, 2, 3, 4];
        assert!(matches!(&batches[3].writes, Writes::Rows(starts, values) if is_rows(starts, values)));
        assert_eq!(batches.iter().map(|batch| batch.base).collect::<Vec<_>>(), [0, 1, 2, 0]);
        assert_eq!(batches.iter().map(|batch| batch.note).collect::<Vec<_>>(), [0, 9, 1 << 31, 0]);
    }

    #[test]
    fn a_batch_by_a_plan_is_as_long_as_it_says() {
        let planned = Planned { places: Arc::new(vec![1, 3]), plan: 5, is_repeated: true };
        let (operator, writes) = (Operator::new(Sum), Writes::Planned(planned, vec![7u16, 8]));
        let (batch, mut bytes) = (Batch { operator, base: 0, writes, note: 0 }, Vec::new());
        write_batches(std::slice::from_ref(&batch), &mut bytes, |_| false);
        assert_eq!(bytes.len(), length(&batch));
    }

    /// Between processes, what is long comes after the record that tells of it.
    #[test]
    fn what_is_carried_finds_its_room_and_fills_it() {
        let sent = [
            Writes::One(vec![1, 3], 7),
            Writes::Each(vec![0, 2], vec![5, 6]),
            Writes::Stretch(vec![8, 9]),
            Writes::Rows(vec![0, 2], vec![1, 2, 3, 4]),
        ];
        let sent = sent.map(|writes| Batch { operator: Operator::<u16>::new(Sum), base: 0, writes, note: 0 });
        let (pool, plans, mut bytes) = (Pool::<u16>::default(), Plans::default(), Vec::new());
        write_batches(&sent, &mut bytes, |_| true);
        let mut delivery = pool.delivery();
        read_batches(&bytes, 4, (&pool, &plans), &mut delivery).unwrap();
        assert_eq!(delivery.carried, [0, 1, 2, 3]);
        for (batch, sent) in delivery.batches.iter_mut().zip(&sent) {
            for (into, from) in batch.writes.vectors_mut().into_iter().zip(sent.writes.vectors()) {
                into.copy_from_slice(from);
            }
            assert_eq!(batch.writes.vectors(), sent.writes.vectors());
            assert!(batch.fits(4));
        }
        // No room is made for a stretch that is longer than the part.
        assert!(read_batches(&bytes, 1, (&pool, &plans), &mut pool.delivery()).is_err());
    }

    #[test]
    fn room_for_what_is_still_to_come_is_not_touched_before() {
        let said = |count, into| vector::<u64>(&mut &[][..], count, into, true);
        // There is no such memory.
        assert_eq!(said(usize::MAX / 16, Vec::new()).unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(said(3, Vec::new()).unwrap(), [0; 3]);
        for more in [3, 0] {
            let spare = Vec::with_capacity(8);
            let (start, count) = (spare.as_ptr(), spare.capacity() - more);
            let into = said(count, spare).unwrap();
            assert_eq!((into.as_ptr(), into), (start, vec![0; count]));
        }
    }

    #[test]
    fn no_byte_can_be_cut_or_flipped_into_a_write_out_of_bounds() {
        let whole = bytes();
        for cut in 0..whole.len() {
            match read(&whole[..cut], 4) {
                // Where a batch ends, a shorter delivery does too.
                Ok(batches) => assert_eq!(batches.iter().map(length).sum::<usize>(), cut),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Damaged),
            }
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0xFF;
            for batch in read(&flipped, 4).unwrap_or_default() {
                assert!(batch.fits(4), "byte {at}");
            }
        }
        assert!(read(&whole, 3).is_err());
    }
}
