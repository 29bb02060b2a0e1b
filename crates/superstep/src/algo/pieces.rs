//! Long vectors that are combined in pieces: each member combines one of them and hands it to the others.
//!
//! With the boundary, every member would combine all of a vector, or pass all of it on. Instead, each sends the others
//! their piece of its own vector. It combines what it gets for its own piece, by the one grouping that all fabrics use,
//! and sends that to whoever wants the result. Elements are combined one by one, so the bits are those of a vector that
//! is combined as a whole.

use crate::{
    engine::{
        Address, Combine, Outbox, Payload, Tag, Value, damaged, decode, encode, join_numbers, numbers_len, section_of,
    },
    error::Result,
};
use fabric::tree;
use std::ops::Range;

/// What a record brings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// The sender's part of my piece.
    Part,
    /// The sender's piece, combined.
    Combined,
    /// The sender's whole vector, because somebody who had a piece has left.
    Whole,
}

impl What {
    const ALL: [Self; 3] = [Self::Part, Self::Combined, Self::Whole];
}

/// One member's share in combining a long vector.
pub(super) struct Pieces<T> {
    rank: usize,
    size: usize,
    /// Who gets the result, if it is one alone.
    root: Option<usize>,
    mine: T,
    len: usize,
    /// By source: its part of my piece, its piece combined, its whole vector.
    come: [Vec<Option<T>>; 3],
}

impl<T: Value> Pieces<T> {
    /// My share with `mine`, a vector of numbers.
    pub(super) fn new(mine: T, [rank, size]: [usize; 2], root: Option<usize>) -> Self {
        let len = numbers_len(&mine).unwrap_or_default();
        let come = What::ALL.map(|_| vec![None; size]);
        Self { rank, size, root, mine, len, come }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The places of the piece that this rank combines.
    fn range(&self, rank: usize) -> Range<usize> {
        let (each, more) = (self.len / self.size, self.len % self.size);
        let start = |rank: usize| rank * each + rank.min(more);
        start(rank)..start(rank + 1)
    }

    /// Sends everybody my part of its piece.
    pub(super) fn send_parts(&self, number: u32, outbox: &mut Outbox) -> Result {
        let mut others = (0..self.size).filter(|&to| to != self.rank);
        others.try_for_each(|to| send(outbox, (to, number), What::Part, &section_of(&self.mine, self.range(to))))
    }

    /// Takes what [`send`] sent.
    pub(super) fn take(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let (&what, values) = payload.bytes()?.split_last().ok_or_else(damaged)?;
        let come = self.come.get_mut(usize::from(what)).ok_or_else(damaged)?;
        *come.get_mut(from).ok_or_else(damaged)? = Some(decode(values)?);
        Ok(())
    }

    /// Combines my piece and sends it on. Where somebody has left, all send each other everything instead.
    pub(super) fn pass_on(&mut self, op: &impl Combine<T>, number: u32, outbox: &mut Outbox, left: &[usize]) -> Result {
        let others = (0..self.size).filter(|to| *to != self.rank && !left.contains(to));
        let others = others.filter(|&to| self.root.is_none_or(|root| root == to)).collect::<Vec<_>>();
        let (what, values) = if left.is_empty() {
            let mut parts = std::mem::take(&mut self.come[What::Part as usize]);
            parts[self.rank] = Some(section_of(&self.mine, self.range(self.rank)));
            (What::Combined, combine(op, &mut parts, 0..self.size)?)
        } else {
            (What::Whole, self.mine.clone())
        };
        others.into_iter().try_for_each(|to| send(outbox, (to, number), what, &values))?;
        self.come[what as usize][self.rank] = Some(values);
        Ok(())
    }

    /// What all vectors have been combined into.
    pub(super) fn whole(mut self, op: &impl Combine<T>, left: &[usize]) -> Result<T> {
        if left.is_empty() {
            let [_, combined, _] = self.come;
            let pieces: Vec<T> = combined.into_iter().collect::<Option<_>>().ok_or_else(damaged)?;
            let whole = join_numbers(pieces);
            return if numbers_len(&whole) == Some(self.len) { Ok(whole) } else { Err(damaged()) };
        }
        combine(op, &mut self.come[What::Whole as usize], 0..self.size)
    }
}

/// Combines the values of these ranks in the grouping of [`tree`]. Those who left have none.
fn combine<T: Value>(op: &impl Combine<T>, values: &mut [Option<T>], ranks: Range<usize>) -> Result<T> {
    fn some<T: Value>(op: &impl Combine<T>, values: &mut [Option<T>], ranks: Range<usize>) -> Result<Option<T>> {
        if ranks.len() == 1 {
            return Ok(values[ranks.start].take());
        }
        let middle = ranks.start + tree::cut(ranks.len());
        let lower = some(op, values, ranks.start..middle)?;
        let higher = some(op, values, middle..ranks.end)?;
        match (lower, higher) {
            (Some(mut lower), Some(higher)) if numbers_len(&lower) == numbers_len(&higher) => {
                op.combine(&mut lower, &higher);
                Ok(Some(lower))
            }
            (Some(_), Some(_)) => Err(damaged()),
            (lower, higher) => Ok(lower.or(higher)),
        }
    }
    some(op, values, ranks)?.ok_or_else(damaged)
}

/// Sends values to the item with this number.
fn send<T: Value>(outbox: &mut Outbox, (to, number): (usize, u32), what: What, values: &T) -> Result {
    outbox.push(to, Address::Item(number), Tag::Data, |out| {
        encode(values, out)?;
        out.push(what as u8);
        Ok(())
    })
}
