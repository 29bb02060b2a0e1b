//! Runs of writes as bytes, for owners with whom the writer shares no memory.
//!
//! ```text
//! per run: form u64 | base u64 | number of places u64 | the operator 5 u64 | then, by form,
//!     ONE:     the value, the places, u32 each
//!     EACH:    the places, the values
//!     STRETCH: the values
//! ```
//!
//! What is long may travel apart from this; then only the value of ONE follows.

use super::{
    operator::Operator,
    writes::{Home, Letter, Run, Writes},
};
use crate::{
    engine::{Element, damaged, decode_into, push_words, read_words},
    error::Result,
};

const ONE: u64 = 0;
const EACH: u64 = 1;
const STRETCH: u64 = 2;
/// Added to a form: places and values do not follow, they are carried.
const APART: u64 = 1 << 8;

/// How many bytes a run makes, all of it.
pub(super) fn length<T: Element>(run: &Run<T>) -> usize {
    let one = if matches!(run.writes, Writes::One(..)) { size_of::<T>() } else { 0 };
    HEAD + one + run.writes.vectors().iter().map(|bytes| bytes.len()).sum::<usize>()
}

/// How many bytes stand before each run.
const HEAD: usize = 64;

/// Appends runs to a record, those that are carried without their places and values.
pub(super) fn write_runs<T: Element>(runs: &[Run<T>], out: &mut Vec<u8>, is_carried: impl Fn(&Run<T>) -> bool) {
    for run in runs {
        let (form, one) = match &run.writes {
            Writes::One(_, value) => (ONE, bytemuck::bytes_of(value)),
            Writes::Each(..) => (EACH, &[][..]),
            Writes::Stretch(_) | Writes::Whole(_) => (STRETCH, &[][..]),
        };
        let is_carried = is_carried(run);
        let form = if is_carried { form | APART } else { form };
        let (kind, operator) = run.operator.write();
        push_words(out, &[form | kind, run.base as u64, run.writes.count() as u64]);
        push_words(out, &operator);
        out.extend_from_slice(one);
        if !is_carried {
            run.writes.vectors().iter().for_each(|bytes| out.extend_from_slice(bytes));
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
        let [mut form, base, count] = read_words(&mut bytes)?;
        let (base, count) = (base as usize, count as usize);
        let operator = Operator::read(&mut form, read_words(&mut bytes)?)?;
        let (form, is_apart) = (form & !APART, form & APART > 0);
        if is_apart {
            letter.carried.push(letter.runs.len());
        }
        let writes = match form {
            ONE => {
                let value = take(&mut bytes, 1, Vec::new())?[0];
                Writes::One(vector(&mut bytes, count, spares.places(count), is_apart)?, value)
            }
            EACH => {
                let places = vector(&mut bytes, count, spares.places(count), is_apart)?;
                Writes::Each(places, vector(&mut bytes, count, spares.values(count), is_apart)?)
            }
            STRETCH if count <= len => Writes::Stretch(vector(&mut bytes, count, spares.values(count), is_apart)?),
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

/// A vector of so many elements: those at the front, or zeros in the place of those that are still to come.
fn vector<T: Element>(bytes: &mut &[u8], count: usize, mut into: Vec<T>, is_apart: bool) -> Result<Vec<T>> {
    if !is_apart {
        return take(bytes, count, into);
    }
    if !fabric::try_make_room(&mut into, count) {
        return Err(damaged());
    }
    into.resize(count, T::zeroed());
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
        assert_eq!(bytes.len(), runs.iter().map(length).sum());
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
