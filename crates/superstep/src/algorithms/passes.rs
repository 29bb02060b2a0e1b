//! Sorting values that fit a cache, in two passes by their highest digits, from the lower half of these up.
//!
//! So many digits are looked at that few values are left that share them; these are compared.

use super::{
    key::{Digits, OTHER_KEY},
    order::{Order, Ties, compare},
};
use fabric::Ahead;

/// At most so many bits are looked at in one pass.
const BITS_MAX: u32 = 10;
/// The highest number of such bits: whoever masks with it stays within the table, and need not look.
const PLACES: usize = (1 << BITS_MAX) - 1;
/// So many bits more than values can be told apart with are looked at.
const SPARE_BITS: u32 = 4;

/// So many values that share digits are dealt again, and not compared.
const MANY: usize = 256;

/// Which digits are looked at, and where the next value goes that has them.
pub(super) struct Passes {
    low: u64,
    shift: u32,
    /// How many bits the first pass looks at.
    half: u32,
    ends: [[u32; 1 << BITS_MAX]; 2],
    /// Where those end that have the same digits, once all are dealt.
    filled: [[u32; 1 << BITS_MAX]; 2],
}

impl Passes {
    /// How to sort the values of these pieces, whose digits are within these bounds if they are known; none if they
    /// have the same digits.
    pub(super) fn new<T, O: Order<T>>(pieces: &[&[T]], bounds: Option<(u64, u64)>, order: &O) -> Option<Self> {
        let len = pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let (low, high) = bounds.unwrap_or_else(|| {
            let digits = pieces.iter().copied().flatten().map(|value| order.digits(value));
            digits.fold((u64::MAX, 0), |(low, high), digits| (low.min(digits), high.max(digits)))
        });
        if low >= high {
            return None;
        }
        let width = u64::BITS - (high - low).leading_zeros();
        let bits = (len.ilog2() + SPARE_BITS).min(width).min(2 * BITS_MAX);
        let mut passes = Self {
            low,
            shift: width - bits,
            half: bits / 2,
            ends: [[0; 1 << BITS_MAX]; 2],
            filled: [[0; 1 << BITS_MAX]; 2],
        };
        pieces.iter().flat_map(|piece| fabric::chunks(piece)).flatten().for_each(|value| {
            let looked_at = passes.looked_at(order.digits(value));
            passes.ends[0][passes.first(looked_at)] += 1;
            passes.ends[1][passes.second(looked_at)] += 1;
        });
        let tables = passes.ends.iter_mut().zip(&mut passes.filled);
        for ((ends, filled), bits) in tables.zip([bits / 2, bits - bits / 2]) {
            let mut sum = 0;
            for (end, filled) in ends.iter_mut().zip(filled).take(1 << bits) {
                sum += std::mem::replace(end, sum);
                *filled = sum;
            }
        }
        Some(passes)
    }

    /// Whether a pass has filled every place. A key that has changed meanwhile leaves one free.
    fn has_filled(&self, pass: usize) -> bool {
        self.ends[pass] == self.filled[pass]
    }

    #[inline]
    fn looked_at(&self, digits: u64) -> u64 {
        digits.wrapping_sub(self.low) >> self.shift
    }

    #[inline]
    fn first(&self, looked_at: u64) -> usize {
        looked_at as usize & ((1 << self.half) - 1) & PLACES
    }

    #[inline]
    fn second(&self, looked_at: u64) -> usize {
        (looked_at >> self.half) as usize & PLACES
    }

    /// Deals the values to `room`, by the lower half. Meanwhile it asks for `out`, where they go then.
    pub(super) fn deal_low<T: Clone, O: Order<T>>(
        &mut self,
        pieces: &[&[T]],
        room: &mut [T],
        out: Ahead<T>,
        order: &O,
    ) {
        let mut before = 0;
        for piece in pieces {
            let out = out.skip(before);
            fabric::chunks_before(piece, out).flatten().for_each(|value| {
                let place = self.first(self.looked_at(order.digits(value)));
                let end = &mut self.ends[0][place];
                room[*end as usize] = value.clone();
                *end += 1;
            });
            before += piece.len();
        }
        assert!(self.has_filled(0), "{OTHER_KEY}");
    }

    /// Deals the values from `room` by the upper half, and sees to those that have the same.
    pub(super) fn deal_high<T: Clone, O: Order<T>>(mut self, room: &[T], out: &mut [T], order: &O, ties: Ties) {
        for value in room {
            let place = self.second(self.looked_at(order.digits(value)));
            let end = &mut self.ends[1][place];
            out[*end as usize] = value.clone();
            *end += 1;
        }
        assert!(self.has_filled(1), "{OTHER_KEY}");
        if self.shift > 0 || O::DIGITS != Digits::All {
            self.settle(out, order, ties);
        }
    }

    /// Compares those that have the same digits of those that were looked at.
    fn settle<T: Clone, O: Order<T>>(&self, out: &mut [T], order: &O, ties: Ties) {
        let mut at = 1;
        while at < out.len() {
            if order.order(&out[at - 1], &out[at]).is_le() {
                at += 1;
                continue;
            }
            let same = self.looked_at(order.digits(&out[at]));
            let is_same = |value: &&T| self.looked_at(order.digits(value)) == same;
            let start = at - out[..at].iter().rev().take_while(is_same).count();
            let end = at + out[at..].iter().take_while(is_same).count();
            sort_same(&mut out[start..end], order, ties);
            at = end + 1;
        }
    }
}

/// Sorts values that have some digits in common: by those that they have not, where they are many.
fn sort_same<T: Clone, O: Order<T>>(values: &mut [T], order: &O, ties: Ties) {
    let passes = if values.len() > MANY { Passes::new(&[values], None, order) } else { None };
    let Some(mut passes) = passes else { return compare(values, order, ties) };
    let mut room = values.to_vec();
    passes.deal_low(&[values], &mut room, Ahead::of(values), order);
    passes.deal_high(&room, values, order, ties);
}
