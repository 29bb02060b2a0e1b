//! Runs of writes as bytes, for owners with whom the writer shares no memory.
//!
//! ```text
//! per run: the operator's name u64 | form u64 | base u64 | number of places u64 | then, by form,
//!     ONE:     the value, the places, u32 each
//!     EACH:    the places, the values
//!     STRETCH: the values
//! ```
//!
//! What is long may travel apart from this; then only the value of ONE follows.

use super::writes::{Home, Letter, Operator, Run, Writes};
use crate::{
    engine::{Element, damaged, decode_into, push_words, read_words},
    error::Result,
};

const ONE: u64 = 0;
const EACH: u64 = 1;
const STRETCH: u64 = 2;
/// Added to a form: places and values do not follow, they are carried.
const APART: u64 = 1 << 8;

/// How many bytes runs make.
pub(super) fn length<T: Element>(runs: &[Run<T>]) -> usize {
    let of = |run: &Run<T>| match &run.writes {
        Writes::One(places, value) => size_of_val(value) + size_of_val(&places[..]),
        Writes::Each(places, values) => size_of_val(&places[..]) + size_of_val(&values[..]),
        Writes::Stretch(values) => size_of_val(&values[..]),
        Writes::Whole(buffer) => size_of_val(buffer.as_slice()),
    };
    runs.iter().map(|run| 32 + of(run)).sum()
}

/// Appends runs to a record, those that are carried without their places and values.
pub(super) fn write_runs<T: Element>(runs: &[Run<T>], out: &mut Vec<u8>, is_carried: impl Fn(&Run<T>) -> bool) {
    for run in runs {
        let apart = if is_carried(run) { APART } else { 0 };
        let mut head = |form: u64, count: usize| {
            push_words(out, &[run.operator.name(), form | apart, run.base as u64, count as u64]);
        };
        if apart > 0 {
            match &run.writes {
                Writes::One(places, value) => {
                    head(ONE, places.len());
                    out.extend_from_slice(bytemuck::bytes_of(value));
                }
                Writes::Each(places, _) => head(EACH, places.len()),
                Writes::Stretch(values) => head(STRETCH, values.len()),
                Writes::Whole(buffer) => head(STRETCH, buffer.as_slice().len()),
            }
            continue;
        }
        match &run.writes {
            Writes::One(places, value) => {
                head(ONE, places.len());
                out.extend_from_slice(bytemuck::bytes_of(value));
                out.extend_from_slice(bytemuck::cast_slice(places));
            }
            Writes::Each(places, values) => {
                head(EACH, places.len());
                out.extend_from_slice(bytemuck::cast_slice(places));
                out.extend_from_slice(bytemuck::cast_slice(values));
            }
            Writes::Stretch(values) => {
                head(STRETCH, values.len());
                out.extend_from_slice(bytemuck::cast_slice(values));
            }
            Writes::Whole(buffer) => {
                head(STRETCH, buffer.as_slice().len());
                out.extend_from_slice(bytemuck::cast_slice(buffer.as_slice()));
            }
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

/// Reads the runs of a record for a partition of `len` elements into a letter, into vectors that `home` has to spare.
pub(super) fn read_runs<T: Element>(mut bytes: &[u8], len: usize, home: &Home<T>, letter: &mut Letter<T>) -> Result {
    let mut spares = home.spares();
    while !bytes.is_empty() {
        let [name, form, base, count] = read_words(&mut bytes)?;
        let (base, count) = (base as usize, count as usize);
        let operator = Operator::find(name).ok_or_else(damaged)?;
        let is_apart = form & APART > 0;
        if is_apart {
            letter.carried.push(letter.runs.len());
        }
        let writes = match form {
            ONE => {
                let value = take(&mut bytes, 1, Vec::new())?[0];
                Writes::One(take(&mut bytes, count, spares.places())?, value)
            }
            EACH => {
                let places = take(&mut bytes, count, spares.places())?;
                Writes::Each(places, take(&mut bytes, count, spares.values())?)
            }
            STRETCH => Writes::Stretch(take(&mut bytes, count, spares.values())?),
            form if form == ONE | APART => {
                let value = take(&mut bytes, 1, Vec::new())?[0];
                Writes::One(room(count, spares.places(), 0)?, value)
            }
            form if form == EACH | APART => {
                let places = room(count, spares.places(), 0)?;
                Writes::Each(places, room(count, spares.values(), T::zeroed())?)
            }
            form if form == STRETCH | APART && count <= len => {
                Writes::Stretch(room(count, spares.values(), T::zeroed())?)
            }
            _ => return Err(damaged()),
        };
        let run = Run { operator, base, writes };
        if !is_apart && !run.fits(len) {
            return Err(damaged());
        }
        letter.runs.push(run);
    }
    Ok(())
}

/// Room for so many elements that are still to come; not for more than the system has.
fn room<T: Element>(count: usize, mut into: Vec<T>, zero: T) -> Result<Vec<T>> {
    into.try_reserve(count).map_err(|_| damaged())?;
    fabric::make_room(&mut into, count);
    into.resize(count, zero);
    Ok(into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::Sum, error::ErrorKind};

    fn bytes() -> Vec<u8> {
        let sum = Operator::<u16>::new(Sum);
        let runs = [
            Run { operator: sum, base: 0, writes: Writes::One(vec![1, 3], 7) },
            Run { operator: sum, base: 1, writes: Writes::Each(vec![0, 2], vec![5, 6]) },
            Run { operator: sum, base: 2, writes: Writes::Stretch(vec![8, 9]) },
        ];
        let mut bytes = Vec::new();
        write_runs(&runs, &mut bytes, |_| false);
        assert_eq!(bytes.len(), length(&runs));
        bytes
    }

    fn read(bytes: &[u8], len: usize) -> Result<Vec<Run<u16>>> {
        let home = Home::default();
        let mut letter = home.letter();
        read_runs(bytes, len, &home, &mut letter)?;
        letter.carried.clear();
        Ok(letter.runs)
    }

    #[test]
    fn runs_come_back_as_they_went() {
        let runs = read(&bytes(), 4).unwrap();
        assert!(matches!(&runs[0].writes, Writes::One(places, 7) if places == &[1, 3]));
        assert!(matches!(&runs[1].writes, Writes::Each(places, values) if places == &[0, 2] && values == &[5, 6]));
        assert!(matches!(&runs[2].writes, Writes::Stretch(values) if values == &[8, 9]));
        assert_eq!(runs.iter().map(|run| run.base).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn no_byte_can_be_cut_or_flipped_into_a_write_out_of_bounds() {
        let whole = bytes();
        for cut in 0..whole.len() {
            if let Err(error) = read(&whole[..cut], 4) {
                assert_eq!(error.kind(), ErrorKind::Damaged);
            }
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0xFF;
            for run in read(&flipped, 4).unwrap_or_default() {
                assert!(run.fits(4), "byte {at}");
            }
        }
        assert!(read(&whole, 3).is_err());
    }
}
