//! This processor's part of an array.

use super::{
    answers,
    carried::Leaving,
    divisor::Divisor,
    lanes::{Outgoing, WINDOW},
    layout::Map,
    operator::Operator,
    wire,
    writes::{self, Home, Letter, Refusal, Replaced, Run},
};
use crate::{
    engine::{Address, CARRIED, Carrying, Element, Object, Outbox, Payload, Record},
    error::{Error, ErrorKind, Result, place},
    memory::owned::Owned,
};
use fabric::{Circle, Region};
use std::{
    cell::{Cell, RefCell},
    panic::Location,
};

/// This processor's part of an array, and what it needs to know of the others.
pub(super) struct Part<T: Element, M> {
    pub(super) owned: Owned<T>,
    /// This processor's rank when the array was made, which is what the map calls it. Leavings renumber the group, and
    /// nobody's elements move.
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
    /// How many stretches of 2^32 elements the longest part has.
    pub(super) windows: usize,
    /// How updates combine that name no operator.
    pub(super) operator: Cell<Operator<T>>,
    pub(super) outgoing: RefCell<Outgoing<T>>,
    /// What was written here in the step whose boundary this is, by ascending rank.
    #[expect(clippy::vec_box, reason = "a letter travels in its box, and goes back in it")]
    pub(super) incoming: RefCell<Vec<Box<Letter<T>>>>,
    /// What was here before an attempt to commit that.
    replaced: RefCell<Option<Replaced<T>>>,
    /// What is carried to owners in other processes in this boundary.
    pub(super) leaving: RefCell<Vec<Leaving<T>>>,
    pub(super) home: Home<T>,
    /// The first owner that has left the group; nobody can serve its elements any more.
    pub(super) lost: Cell<Option<usize>>,
    /// Whether the boundary has been told to flush it.
    pub(super) is_announced: Cell<bool>,
    /// How messages name it.
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

/// What an array is made of.
pub(super) struct Plan<M> {
    pub(super) map: M,
    pub(super) inner: usize,
    pub(super) len: usize,
    pub(super) lens: Vec<usize>,
    pub(super) words: String,
    pub(super) site: &'static Location<'static>,
}

impl<T: Element, M: Map> Part<T, M> {
    pub(super) fn new(
        owned: Owned<T>,
        rank: usize,
        plan: Plan<M>,
        operator: Operator<T>,
        stride: Option<usize>,
    ) -> Self {
        let Plan { map, inner, len, lens, words, site } = plan;
        let windows = lens.iter().copied().max().unwrap_or(0).div_ceil(WINDOW).max(1);
        let is_straight = stride.is_some_and(|stride| {
            (0..lens.len()).filter(|&rank| lens[rank] > 0).all(|rank| {
                let first = map.unit(rank, 0);
                first * inner == rank * stride && map.run(first) * inner >= lens[rank]
            })
        });
        // A place in all parts together must fit into 32 bits to be worth it.
        let flat = stride.filter(|stride| stride * lens.len() <= WINDOW).map(|stride| Flatness {
            stride,
            by_stride: Divisor::new(stride),
            is_straight,
        });
        Self {
            flat,
            owned,
            rank,
            map,
            inner,
            by_inner: Divisor::new(inner),
            len,
            lens,
            windows,
            operator: Cell::new(operator),
            outgoing: RefCell::default(),
            incoming: RefCell::default(),
            replaced: RefCell::new(None),
            leaving: RefCell::default(),
            home: Home::default(),
            lost: Cell::new(None),
            is_announced: Cell::new(false),
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
    pub(super) fn run(&self, index: usize) -> usize {
        let (unit, within) = self.by_inner.divide(index);
        self.map.run(unit) * self.inner - within
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

/// Finds elements. A loop has one of its own, so that it stays in registers whatever the loop writes to.
#[derive(Clone)]
pub(super) struct Locator<M> {
    map: M,
    inner: usize,
    by_inner: Divisor,
    len: usize,
    windows: usize,
}

impl<M: Map> Locator<M> {
    /// Who owns an element, and where in its part. The element must exist.
    #[inline]
    pub(super) fn locate(&self, index: usize) -> (usize, usize) {
        locate(&self.map, self.inner, self.by_inner, index)
    }

    /// The number of an element's lane, and its place there; `None` if there is no such element.
    #[inline]
    pub(super) fn lane(&self, index: usize) -> Option<(usize, u32)> {
        if index >= self.len {
            return None;
        }
        let (owner, at) = self.locate(index);
        Some((if self.windows == 1 { owner } else { owner * self.windows + (at >> 32) }, at as u32))
    }
}

#[inline]
fn locate(map: &impl Map, inner: usize, by_inner: Divisor, index: usize) -> (usize, usize) {
    if inner == 1 {
        return map.locate(index);
    }
    let (unit, within) = by_inner.divide(index);
    let (owner, local) = map.locate(unit);
    (owner, local * inner + within)
}

impl<T: Element, M: Map> Object for Part<T, M> {
    fn describe(&self) -> String {
        format!("{} of {}", self.words, place(self.site))
    }

    fn is_borrowed(&self) -> bool {
        self.owned.is_borrowed()
    }

    fn open(&self) {
        self.owned.region.borrow_mut().open();
    }

    fn flush(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result {
        self.is_announced.set(false);
        let (address, carries) = (Address::Object(number), circle.carries());
        self.outgoing.borrow_mut().drain(self, |to, runs| {
            outbox.doubts |= runs.iter().any(|run| run.operator.may_fail);
            if circle.shares(to) || to == circle.rank() {
                let mut letter = self.home.letter();
                letter.runs.append(runs);
                outbox.push_moved(to, address, letter);
            } else {
                let is_carried = |run: &Run<T>| carries && wire::length(run) >= CARRIED;
                let length = runs.iter().filter(|run| !is_carried(run)).map(wire::length).sum();
                outbox.push_sized(to, address, Record::Data, length, |out| wire::write_runs(runs, out, is_carried));
                for (number, run) in runs.drain(..).enumerate() {
                    if is_carried(&run) {
                        outbox.carries = true;
                        self.leaving.borrow_mut().push(Leaving { to, number, run });
                    } else {
                        self.home.spares().keep_run(run);
                    }
                }
            }
        });
        Ok(())
    }

    fn deliver(&self, from: usize, payload: Payload<'_>) -> Result {
        let letter = match payload {
            Payload::Bytes(bytes) => {
                let mut letter = self.home.letter();
                letter.from = from;
                wire::read_runs(bytes, self.owned.region.borrow().len(), &self.home, &mut letter)?;
                letter
            }
            Payload::Moved(object) => match object.downcast::<Letter<T>>() {
                Ok(letter) => letter,
                Err(object) => return self.owned.accept(from, object),
            },
        };
        self.incoming.borrow_mut().push(letter);
        Ok(())
    }

    fn carry(&self, number: u32) -> Option<Box<dyn Carrying + '_>> {
        self.carried(number, self.owned.region.borrow().len())
    }

    fn keeps(&self) -> bool {
        true
    }

    fn attempt(&self) -> Result {
        if self.replaced.borrow().is_some() {
            return Ok(());
        }
        let mut replaced = Replaced::default();
        let outcome =
            writes::attempt(&mut self.incoming.borrow_mut(), &mut self.owned.region.borrow_mut(), &mut replaced);
        *self.replaced.borrow_mut() = Some(replaced);
        outcome.map_err(|refusal| self.refused(refusal))
    }

    fn commit(&self) -> Result {
        let mut incoming = self.incoming.borrow_mut();
        if incoming.is_empty() {
            return Ok(());
        }
        let mut outcome = Ok(());
        // What was attempted is there already.
        if self.replaced.take().is_none() {
            let mut region: std::cell::RefMut<'_, Region<T>> = self.owned.region.borrow_mut();
            outcome = writes::commit(&mut incoming, &mut region);
        }
        incoming.drain(..).for_each(Letter::bring_home);
        outcome.map_err(|refusal| self.refused(refusal))
    }

    fn mirror(&self, from: usize, request: &[u8], outbox: &mut Outbox) -> Result {
        answers::answer(self.owned.region.borrow().as_slice(), from, request, outbox)
    }

    fn abandon(&self) {
        self.is_announced.set(false);
        self.outgoing.borrow_mut().abandon(&self.home);
        self.leaving.borrow_mut().clear();
        let mut incoming = self.incoming.borrow_mut();
        if let Some(replaced) = self.replaced.take() {
            replaced.undo(&mut incoming, &mut self.owned.region.borrow_mut());
            self.open();
        }
        incoming.drain(..).for_each(Letter::bring_home);
    }

    fn renumber(&self, stayed: &[usize]) {
        let left = (0..self.lens.len()).find(|rank| !stayed.contains(rank));
        self.lost.set(self.lost.get().or(left));
        self.owned.renumber(stayed);
    }
}
