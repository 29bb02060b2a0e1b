//! This processor's part of an array.

use super::{
    answers,
    carried::{Leaving, Moving},
    conflicts::{NoRoom, Stamps},
    divisor::Divisor,
    lanes::{Outgoing, WINDOW},
    layout::{Locator, Map, locate},
    operator::Operator,
    served::Plans,
    wire,
    writes::{self, Batch, Delivery, Pool, Refusal, Replaced},
};
use crate::{
    engine::{
        Abandons, Address, Answers, Attempts, Buried, Carries, Carrying, Clash, Commits, Element, How, Lends, Outbox,
        Party, Payload, Receives, Renumbers, Round, Sends, Tag, Tenant, Watches, hooks, long_bytes,
    },
    error::{Error, ErrorKind, Result, place},
    memory::owned::Owned,
};
use fabric::Circle;
use std::{
    any::Any,
    cell::{Cell, OnceCell, RefCell},
    panic::Location,
    rc::Rc,
};

/// This processor's part of an array, and what it needs to know of the others.
pub(super) struct Part<T: Element, M> {
    pub(super) owned: Owned<T>,
    /// This processor's rank when the array was made, which the map keeps to: elements do not move when members leave.
    pub(super) rank: usize,
    /// Where all parts were made in one piece.
    pub(super) flat: Option<Flatness>,
    pub(super) map: M,
    /// How many elements a unit has.
    pub(super) inner: usize,
    by_inner: Divisor,
    /// How many elements there are in all.
    pub(super) len: usize,
    /// How many elements everybody's part has, by rank.
    pub(super) lens: Vec<usize>,
    /// A number for the terms of the distribution: with the same shape and type of it, arrays lie alike.
    pub(super) terms: u64,
    /// How many stretches of 2^32 elements the longest part has.
    pub(super) windows: usize,
    /// How updates combine that name no operator.
    pub(super) operator: Cell<Operator<T>>,
    pub(super) outgoing: RefCell<Outgoing<T>>,
    /// What was written here in the step whose boundary this is, by ascending rank.
    #[expect(clippy::vec_box, reason = "a delivery travels in its box, and goes back in it")]
    pub(super) incoming: RefCell<Vec<Box<Delivery<T>>>>,
    /// What was here before an attempt to commit that.
    replaced: RefCell<Option<Replaced<T>>>,
    /// Who has written what, where conflicts are looked for.
    stamps: RefCell<Stamps>,
    /// What is carried to owners in other processes in this boundary.
    pub(super) leaving: RefCell<Vec<Leaving<T>>>,
    pub(super) pool: Pool<T>,
    /// The plans of the group.
    plans: Rc<Plans>,
    /// The first owner that has left the group; nobody can serve its elements any more.
    pub(super) lost: Cell<Option<usize>>,
    /// Whether the boundary has been told to flush it.
    pub(super) is_announced: Cell<bool>,
    /// What a layer above keeps with the array.
    pub(super) annex: OnceCell<Rc<dyn Any>>,
    /// How errors name it.
    words: String,
    site: &'static Location<'static>,
}

/// How the parts lie in one piece of memory.
#[derive(Clone, Copy)]
pub(super) struct Flatness {
    /// How far apart the parts begin.
    pub(super) stride: usize,
    pub(super) by_stride: Divisor,
    /// Whether an element's place there is its number.
    pub(super) is_straight: bool,
}

pub(super) struct Design<M> {
    pub(super) map: M,
    pub(super) inner: usize,
    pub(super) len: usize,
    pub(super) lens: Vec<usize>,
    pub(super) terms: u64,
    pub(super) words: String,
    pub(super) site: &'static Location<'static>,
}

impl<T: Element, M: Map> Part<T, M> {
    pub(super) fn new(
        owned: Owned<T>,
        rank: usize,
        design: Design<M>,
        operator: Operator<T>,
        stride: Option<usize>,
        plans: Rc<Plans>,
    ) -> Self {
        let Design { map, inner, len, lens, terms, words, site } = design;
        let windows = lens.iter().copied().max().unwrap_or(0).div_ceil(WINDOW).max(1);
        let is_straight = stride.is_some_and(|stride| {
            (0..lens.len()).filter(|&rank| lens[rank] > 0).all(|rank| {
                let first = map.unit(rank, 0);
                first * inner == rank * stride && map.stretch(first) * inner >= lens[rank]
            })
        });
        // A place in all parts together must fit into 32 bits to be worth it.
        let flat = stride.filter(|stride| stride * lens.len() <= WINDOW).map(|stride| Flatness {
            stride,
            by_stride: Divisor::new(stride),
            is_straight,
        });
        let pool = Pool::default();
        Self {
            outgoing: RefCell::new(Outgoing::new(lens.len(), windows, pool.clone())),
            flat,
            owned,
            rank,
            map,
            inner,
            by_inner: Divisor::new(inner),
            len,
            lens,
            terms,
            windows,
            operator: Cell::new(operator),
            incoming: RefCell::default(),
            replaced: RefCell::new(None),
            stamps: RefCell::default(),
            leaving: RefCell::default(),
            pool,
            plans,
            lost: Cell::new(None),
            is_announced: Cell::new(false),
            annex: OnceCell::new(),
            words,
            site,
        }
    }

    /// Who owns an element, and where in its part. The element must exist.
    #[inline]
    pub(super) fn locate(&self, index: usize) -> (usize, usize) {
        locate(&self.map, self.inner, self.by_inner, index)
    }

    /// What a loop needs to find many elements.
    pub(super) fn locator(&self) -> Locator<M> {
        Locator {
            map: self.map.clone(),
            inner: self.inner,
            by_inner: self.by_inner,
            len: self.len,
            windows: self.windows,
        }
    }

    /// Which element lies at a place of `rank`'s part, if any does.
    pub(super) fn index(&self, rank: usize, at: usize) -> Option<usize> {
        if at >= self.lens[rank] {
            return None;
        }
        let (local, within) = self.by_inner.divide(at);
        let unit = self.map.unit(rank, local);
        (unit != usize::MAX).then(|| unit * self.inner + within)
    }

    /// How many elements follow this one at the same owner, at places that follow each other, this one included.
    pub(super) fn stretch(&self, index: usize) -> usize {
        let (unit, within) = self.by_inner.divide(index);
        self.map.stretch(unit) * self.inner - within
    }

    /// The error of writes that cannot be committed here.
    #[cold]
    fn refused(&self, refusal: Refusal) -> Error {
        let what = self.describe();
        match refusal {
            Refusal::Differ(at) => {
                let index = self.index(self.rank, at).unwrap_or(at);
                let message = format!("{what}: writes to element {index} that should be the same differ");
                Error::new(ErrorKind::ReplicaDiverged, message)
            }
            Refusal::By(error) => Error::new(error.kind(), format!("{what}: {error}")),
        }
    }

    /// How many come before this one in the same way.
    pub(super) fn before(&self, index: usize) -> usize {
        let (unit, within) = self.by_inner.divide(index);
        self.map.before(unit) * self.inner + within
    }
}

impl<T: Element, M: Map> Tenant for Part<T, M> {
    fn describe(&self) -> String {
        format!("{} of {}", self.words, place(self.site))
    }

    hooks!(lends, sends, receives, carries, watches, attempts, commits, read_after, abandons, renumbers);
}

impl<T: Element, M: Map> Lends for Part<T, M> {
    fn take_back(&self) -> bool {
        self.owned.take_back()
    }
}

impl<T: Element, M: Map> Sends for Part<T, M> {
    fn send(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result {
        self.is_announced.set(false);
        let (address, carries) = (Address::Tenant(number), circle.carries());
        self.outgoing.borrow_mut().drain(|to, batches| {
            outbox.doubts |= batches.iter().any(|batch| batch.operator.may_fail);
            if circle.shares(to) || to == circle.rank() {
                let mut delivery = self.pool.delivery();
                delivery.batches.append(batches);
                outbox.push_moved(to, address, delivery);
            } else {
                let is_carried = |batch: &Batch<T>| carries && wire::length(batch) >= long_bytes();
                let length = batches.iter().filter(|batch| !is_carried(batch)).map(wire::length).sum();
                outbox.push_sized(to, address, Tag::Data, length, |out| wire::write_batches(batches, out, is_carried));
                for (number, batch) in batches.drain(..).enumerate() {
                    if is_carried(&batch) {
                        outbox.carries = true;
                        self.leaving.borrow_mut().push(Leaving { to, number, batch });
                    } else {
                        self.pool.spares().keep_batch(batch);
                    }
                }
            }
        });
        Ok(())
    }
}

impl<T: Element, M: Map> Receives for Part<T, M> {
    fn receive(&self, from: usize, payload: Payload<'_>) -> Result {
        let delivery = match payload {
            Payload::Bytes(bytes) => {
                let mut delivery = self.pool.delivery();
                delivery.from = from;
                let len = self.owned.region.borrow().len();
                wire::read_batches(bytes, len, (&self.pool, &self.plans), &mut delivery)?;
                delivery
            }
            Payload::Moved(value) => match value.downcast::<Delivery<T>>() {
                Ok(mut delivery) => {
                    delivery.from = from;
                    delivery
                }
                Err(value) => return self.owned.accept(from, value),
            },
        };
        self.incoming.borrow_mut().push(delivery);
        Ok(())
    }
}

impl<T: Element, M: Map> Carries for Part<T, M> {
    fn carry(&self, array: u32, round: Round) -> Option<Box<dyn Carrying + '_>> {
        if round == Round::Transfer {
            return None;
        }
        let (leaving, incoming) = (self.leaving.borrow_mut(), self.incoming.borrow_mut());
        let is_any = !leaving.is_empty() || incoming.iter().any(|delivery| !delivery.carried.is_empty());
        let (len, pool) = (self.owned.region.borrow().len(), &self.pool);
        is_any.then(|| Box::new(Moving { array, leaving, incoming, len, pool }) as Box<dyn Carrying + '_>)
    }
}

impl<T: Element, M: Map> Watches for Part<T, M> {
    fn look(&self) -> Result<Option<Clash>> {
        let len = self.owned.region.borrow().len();
        let found = self.stamps.borrow_mut().look(&self.incoming.borrow(), len).map_err(|NoRoom| {
            let what =
                format!("the system has no memory to look for conflicts in {len} elements of the {}", self.describe());
            Error::new(ErrorKind::OutOfMemory, what)
        })?;
        let Some((at, parties)) = found else { return Ok(None) };
        let lane = self.rank * self.windows + at / WINDOW;
        let parties = parties.map(|party| Party { at: (lane, party.at.1), ..party });
        let index = self.index(self.rank, at).unwrap_or(at);
        Ok(Some(Clash { what: format!("element {index} of the {}", self.describe()), how: [How::Assign; 2], parties }))
    }
}

impl<T: Element, M: Map> Attempts for Part<T, M> {
    fn attempt(&self) -> Result {
        if self.replaced.borrow().is_some() {
            return Ok(());
        }
        let mut replaced = Replaced(Vec::new());
        let outcome =
            writes::attempt(&mut self.incoming.borrow_mut(), &mut self.owned.region.borrow_mut(), &mut replaced);
        *self.replaced.borrow_mut() = Some(replaced);
        outcome.map_err(|refusal| self.refused(refusal))
    }
}

impl<T: Element, M: Map> Commits for Part<T, M> {
    fn commit(&self) -> Result {
        let mut incoming = self.incoming.borrow_mut();
        let mut region = self.owned.region.borrow_mut();
        // What was attempted is there already.
        let is_there = incoming.is_empty() || self.replaced.take().is_some();
        let outcome = if is_there { Ok(()) } else { writes::commit(&mut incoming, &mut region) };
        incoming.drain(..).for_each(Delivery::give_back);
        outcome.map_err(|refusal| self.refused(refusal))?;
        region.open();
        Ok(())
    }
}

impl<T: Element, M: Map> Answers for Part<T, M> {
    fn answer(&self, from: usize, question: &[u8], outbox: &mut Outbox) -> Result {
        answers::answer(self.owned.region.borrow().as_slice(), &self.plans, from, question, outbox)
    }
}

impl<T: Element, M: Map> Abandons for Part<T, M> {
    fn abandon(&self, _: &mut Buried) {
        self.is_announced.set(false);
        self.outgoing.borrow_mut().abandon();
        self.leaving.borrow_mut().clear();
        let mut incoming = self.incoming.borrow_mut();
        if let Some(replaced) = self.replaced.take() {
            replaced.undo(&mut incoming, &mut self.owned.region.borrow_mut());
            self.owned.open();
        }
        incoming.drain(..).for_each(Delivery::give_back);
    }
}

impl<T: Element, M: Map> Renumbers for Part<T, M> {
    fn renumber(&self, stayed: &[usize]) {
        let left = (0..self.lens.len()).find(|rank| !stayed.contains(rank));
        self.lost.set(self.lost.get().or(left));
        self.owned.renumber(stayed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Config};

    #[test]
    fn a_part_carries_where_batches_leave_it_or_come_for_it() {
        let outcome = Config::new().procs(1).run(|g| {
            let a = g.array::<u16, Block>(4);
            let part = &*a.part;
            let carries = |round| part.carry(0, round).is_some();
            part.incoming.borrow_mut().push(part.pool.delivery());
            assert!(!carries(Round::Commit));
            part.incoming.borrow_mut()[0].carried.push(0);
            assert!(carries(Round::Attempt) && carries(Round::Commit) && !carries(Round::Transfer));
            part.incoming.borrow_mut().clear();
            let writes = writes::Writes::Stretch(vec![1]);
            let batch = Batch { operator: part.operator.get(), base: 0, writes, note: 0 };
            part.leaving.borrow_mut().push(Leaving { to: 0, number: 0, batch });
            assert!(carries(Round::Attempt) && carries(Round::Commit) && !carries(Round::Transfer));
            part.leaving.borrow_mut().clear();
            assert!(!carries(Round::Commit));
        });
        outcome.unwrap();
    }

    #[test]
    fn a_stretch_goes_on_within_a_unit_and_beyond() {
        let outcome = Config::new().procs(1).run(|g| {
            let a = g.array_with::<u16, _, 2>([4, 3], Block::new());
            assert_eq!((a.part.stretch(7), a.part.before(7)), (5, 7));
        });
        outcome.unwrap();
    }
}
