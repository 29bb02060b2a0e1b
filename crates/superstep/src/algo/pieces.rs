//! Long vectors that are combined in pieces: each member combines one of them and hands it to the others.
//!
//! With the boundary, every member would combine all of a vector, or pass all of it on. Instead, each gives the others
//! their piece of its own vector: where they share memory it lets them read all, and elsewhere it sends the piece. Each
//! combines what it gets for its own piece, by the one grouping that all fabrics use, and gives that to whoever wants
//! the result. Elements are combined one by one, so the bits are those of a vector that is combined as a whole.

use crate::{
    engine::{
        Address, Combine, Numbers, Outbox, Payload, Tag, Value, damaged, decode, encode, move_numbers, numbers_len,
        numbers_room,
    },
    error::Result,
};
use fabric::{Circle, tree};
use std::{marker::PhantomData, ops::Range};

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

/// So many elements are combined at a time: those of two members fit into the first-level cache.
const BLOCK: usize = 1 << 10;

/// Numbers that have come, and where among them those that were meant begin.
type Come = (Numbers, usize);

/// One member's share in combining a long vector of type `T`.
pub(super) struct Pieces<T> {
    rank: usize,
    size: usize,
    /// Which members share memory with this one; whoever has left keeps its number here.
    shares: Vec<bool>,
    /// Who gets the result, if it is one alone.
    root: Option<usize>,
    mine: Numbers,
    len: usize,
    /// By source: its part of my piece, its piece combined, its whole vector.
    come: [Vec<Option<Come>>; 3],
    _vector: PhantomData<T>,
}

impl<T: Value> Pieces<T> {
    /// My share with `mine`, a vector of numbers.
    pub(super) fn new(mine: T, rank: usize, circle: &dyn Circle, root: Option<usize>) -> Self {
        let size = circle.size();
        let shares = (0..size).map(|other| circle.shares(other)).collect();
        let len = numbers_len(&mine).unwrap_or_default();
        let mine = Numbers::of(mine).expect("only a vector of numbers is combined in pieces");
        let come = What::ALL.map(|_| vec![None; size]);
        Self { rank, size, shares, root, mine, len, come, _vector: PhantomData }
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

    /// Gives everybody my part of its piece.
    pub(super) fn send_parts(&self, number: u32, outbox: &mut Outbox) -> Result {
        let mut others = (0..self.size).filter(|&to| to != self.rank);
        others.try_for_each(|to| {
            let part = (&self.mine, self.range(to));
            send::<T>(outbox, (to, number, self.shares[to]), What::Part, part)
        })
    }

    /// Takes what [`send`] sent.
    pub(super) fn take(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let (what, come) = match payload {
            Payload::Bytes(bytes) => {
                let (&what, values) = bytes.split_last().ok_or_else(damaged)?;
                (what, (Numbers::of::<T>(decode(values)?).ok_or_else(damaged)?, 0))
            }
            Payload::Moved(moved) => {
                let (what, numbers) = *moved.downcast::<(What, Numbers)>().map_err(|_| damaged())?;
                let start = if what == What::Part { self.range(self.rank).start } else { 0 };
                (what as u8, (numbers, start))
            }
        };
        let all = self.come.get_mut(usize::from(what)).ok_or_else(damaged)?;
        *all.get_mut(from).ok_or_else(damaged)? = Some(come);
        Ok(())
    }

    /// Combines my piece and gives it to the others. Where somebody has left, all give each other everything instead.
    pub(super) fn pass_on(&mut self, op: &impl Combine<T>, number: u32, outbox: &mut Outbox, left: &[usize]) -> Result {
        let others = (0..self.size).filter(|to| *to != self.rank && !left.contains(to));
        let others = others.filter(|&to| self.root.is_none_or(|root| root == to)).collect::<Vec<_>>();
        let (what, numbers, len) = if left.is_empty() {
            let mine = self.range(self.rank);
            let parts = &mut self.come[What::Part as usize];
            parts[self.rank] = Some((self.mine.clone(), mine.start));
            let combined = combine::<T>(op, parts, mine.len())?;
            parts.clear();
            (What::Combined, Numbers::of(combined).ok_or_else(damaged)?, mine.len())
        } else {
            (What::Whole, self.mine.clone(), self.len)
        };
        others
            .into_iter()
            .try_for_each(|to| send::<T>(outbox, (to, number, self.shares[to]), what, (&numbers, 0..len)))?;
        self.come[what as usize][self.rank] = Some((numbers, 0));
        Ok(())
    }

    /// What all vectors have been combined into.
    pub(super) fn whole(self, op: &impl Combine<T>, left: &[usize]) -> Result<T> {
        if !left.is_empty() {
            return combine(op, &self.come[What::Whole as usize], self.len);
        }
        let mut whole = numbers_room(self.len).ok_or_else(damaged)?;
        for (rank, combined) in self.come[What::Combined as usize].iter().enumerate() {
            let (numbers, _) = combined.as_ref().ok_or_else(damaged)?;
            if !numbers.append_to(0..self.range(rank).len(), &mut whole) {
                return Err(damaged());
            }
        }
        Ok(whole)
    }
}

/// Combines so many elements of all who have some, in the grouping of [`tree`], block by block.
fn combine<T: Value>(op: &impl Combine<T>, come: &[Option<Come>], len: usize) -> Result<T> {
    let mut whole = numbers_room(len).ok_or_else(damaged)?;
    for start in (0..len).step_by(BLOCK) {
        let places = start..len.min(start + BLOCK);
        let mut block = combine_block(op, come, 0..come.len(), &places)?.ok_or_else(damaged)?;
        move_numbers(&mut block, &mut whole);
    }
    Ok(whole)
}

/// Combines what these ranks have in some places. Those who left have nothing.
fn combine_block<T: Value>(
    op: &impl Combine<T>,
    come: &[Option<Come>],
    ranks: Range<usize>,
    places: &Range<usize>,
) -> Result<Option<T>> {
    if ranks.len() == 1 {
        let Some((numbers, start)) = &come[ranks.start] else { return Ok(None) };
        let mut block = numbers_room(places.len()).ok_or_else(damaged)?;
        let is_there = numbers.append_to(start + places.start..start + places.end, &mut block);
        return if is_there { Ok(Some(block)) } else { Err(damaged()) };
    }
    let middle = ranks.start + tree::cut(ranks.len());
    let lower = combine_block(op, come, ranks.start..middle, places)?;
    let higher = combine_block(op, come, middle..ranks.end, places)?;
    match (lower, higher) {
        (Some(mut lower), Some(higher)) => {
            op.combine(&mut lower, &higher);
            Ok(Some(lower))
        }
        (lower, higher) => Ok(lower.or(higher)),
    }
}

/// Gives somebody these places of numbers, for the item with this number: where memory is shared it may read all.
fn send<T: Value>(
    outbox: &mut Outbox,
    (to, number, shares): (usize, u32, bool),
    what: What,
    (numbers, places): (&Numbers, Range<usize>),
) -> Result {
    let address = Address::Item(number);
    if shares {
        outbox.push_moved(to, address, Box::new((what, numbers.clone())));
        return Ok(());
    }
    let mut part = numbers_room::<T>(places.len()).ok_or_else(damaged)?;
    let is_there = numbers.append_to(places, &mut part);
    debug_assert!(is_there, "a piece lies in the vector");
    outbox.push(to, address, Tag::Data, |out| {
        encode(&part, out)?;
        out.push(what as u8);
        Ok(())
    })
}
