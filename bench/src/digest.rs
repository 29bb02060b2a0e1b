//! What an answer comes to: one number that another bit, or another order, would change.

use crate::random::mix;
use bytemuck::NoUninit;

/// So many words are taken in side by side, because a multiplication waits for the one before.
const LANES: usize = 4;
const WORD: usize = size_of::<u64>();

/// What these values come to, by their bits.
pub(crate) fn digest<T: NoUninit>(values: &[T]) -> u64 {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let (blocks, rest) = bytes.as_chunks::<{ LANES * WORD }>();
    let mut lanes = [1; LANES];
    for block in blocks {
        for (lane, &word) in lanes.iter_mut().zip(block.as_chunks::<WORD>().0) {
            *lane = taken_in(*lane, u64::from_le_bytes(word));
        }
    }
    let rest = rest.iter().map(|&byte| u64::from(byte));
    lanes.into_iter().chain(rest).fold(bytes.len() as u64, taken_in)
}

/// What the values of one part of an answer come to, the first of which has place `first` in the whole. The digests of
/// all parts add up, wrapping, to that of the whole.
pub fn digest_of_part<T: NoUninit>(first: usize, values: impl IntoIterator<Item = T>) -> u64 {
    let place = |(at, value): (usize, T)| {
        bytemuck::bytes_of(&value).chunks(WORD).fold((first + at) as u64 + 1, |so_far, bytes| {
            let mut word = [0; WORD];
            word[..bytes.len()].copy_from_slice(bytes);
            mix(mix(so_far) ^ u64::from_le_bytes(word))
        })
    };
    values.into_iter().enumerate().map(place).fold(0, u64::wrapping_add)
}

/// Of different words, or different numbers so far, each gives another number.
#[inline]
fn taken_in(so_far: u64, word: u64) -> u64 {
    (so_far.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_value_its_place_and_their_number_count() {
        let values: Vec<u64> = (0..40).collect();
        let mut found: BTreeSet<u64> = (0..=40).map(|len| digest(&values[..len])).collect();
        for at in 1..40 {
            let mut changed = values.clone();
            changed[at] ^= 1 << at;
            found.insert(digest(&changed));
            let mut swapped = values.clone();
            swapped.swap(0, at);
            found.insert(digest(&swapped));
        }
        assert_eq!(found.len(), 41 + 2 * 39);
        assert_ne!(digest(&[0.0_f64]), digest(&[-0.0_f64]));
        assert_ne!(digest(&[1_u32, 2, 3]), digest(&[1_u32, 3, 2]));
    }

    #[test]
    fn digests_of_parts_add_up_and_places_matter() {
        let whole = digest_of_part(0, [5_u64, 6, 7]);
        assert_eq!(whole, digest_of_part(0, [5_u64]).wrapping_add(digest_of_part(1, [6_u64, 7])));
        assert_ne!(whole, digest_of_part(0, [6_u64, 5, 7]));
        assert_ne!(digest_of_part(0, [[1_u64, 2]]), digest_of_part(0, [[2_u64, 1]]));
    }
}
