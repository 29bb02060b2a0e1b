//! Reading from arrays: gathers and mirrors on their way.
//!
//! Both read after everything is committed (S2). What the reader can reach it loads itself; for the rest it
//! [asks](super::answers) the owners.

use super::{
    answers::{Asked, SPANS},
    layout::Map,
    part::Part,
    pieces::{self, Piece},
};
use crate::{
    engine::{Address, Element, Item, Outbox, Payload, Record, damaged, push_words},
    error::{Error, ErrorKind, Result, place},
    memory::section::Span,
};
use fabric::{Flat, Loan, Reach};
use std::{
    any::{self, type_name},
    panic::Location,
    rc::Rc,
};

/// Elements by their numbers: in 32 bits each, where that is enough for the array.
pub(super) enum Indices {
    Short(Vec<u32>),
    Long(Vec<usize>),
}

impl Indices {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Short(all) => all.len(),
            Self::Long(all) => all.len(),
        }
    }
}

/// Elements at a list of indices, on their way.
pub(super) struct Gather<T: Element, M> {
    /// Until it has been read: the array may be dropped then, and this item be kept for its room.
    pub(super) part: Option<Rc<Part<T, M>>>,
    pub(super) at: Indices,
    /// Whether these are places in all parts together, which then all can be reached.
    pub(super) is_flat: bool,
    /// Where they are, by owner; empty where everybody can be reached, or a part has more than 2^32 elements.
    pub(super) places: Vec<Vec<u32>>,
    /// Empty where everybody can be reached.
    pub(super) asked: Vec<Asked<T>>,
    /// Where the values go; kept for its room.
    pub(super) into: Vec<T>,
    pub(super) values: Option<Vec<T>>,
    pub(super) site: &'static Location<'static>,
}

impl<T: Element, M: Map> Gather<T, M> {
    fn load(&mut self, part: &Part<T, M>) -> Result {
        if self.is_flat {
            return self.load_flat(part);
        }
        if !self.places.is_empty() {
            return self.load_remote(part);
        }
        let reaches = part.owned.reaches.borrow();
        let lenders = Lenders::new(&reaches, self.site);
        let mut slices: Vec<&[T]> = vec![&[]; part.lens.len()];
        let is_dense = self.at.len() >= part.lens.len();
        let mut into = std::mem::take(&mut self.into);
        into.clear();
        fabric::make_room(&mut into, self.at.len());
        let mut loans = Vec::new();
        loans.resize_with(slices.len(), || None);
        let mut needed = vec![is_dense; slices.len()];
        if !is_dense {
            match &self.at {
                Indices::Short(all) => all.iter().for_each(|&index| needed[part.locate(index as usize).0] = true),
                Indices::Long(all) => all.iter().for_each(|&index| needed[part.locate(index).0] = true),
            }
        }
        for owner in (0..slices.len()).filter(|&owner| needed[owner]) {
            loans[owner] = lenders.lend(owner)?;
        }
        for (owner, slice) in slices.iter_mut().enumerate() {
            if let Some(loan) = &loans[owner] {
                *slice = loan;
            }
        }
        let locator = part.locator();
        let is_in_order = |asked: &Asked<T>| matches!(asked, Asked::InOrder(..));
        if self.asked.iter().any(is_in_order) {
            let mut answers: Vec<_> = self
                .asked
                .iter()
                .map(|asked| if let Asked::InOrder(_, values) = asked { values.iter() } else { [].iter() })
                .collect();
            let asked = &self.asked;
            let mut look = |index: usize| {
                let (owner, at) = locator.locate(index);
                if asked.get(owner).is_some_and(is_in_order) {
                    answers[owner].next().copied().unwrap_or_else(T::zeroed)
                } else {
                    slices[owner][at]
                }
            };
            match &self.at {
                Indices::Short(all) => into.extend(all.iter().map(|&index| look(index as usize))),
                Indices::Long(all) => into.extend(all.iter().map(|&index| look(index))),
            }
        } else {
            let slices = &slices[..];
            let look = move |index: usize| {
                let (owner, at) = locator.locate(index);
                slices[owner][at]
            };
            match &self.at {
                Indices::Short(all) => into.extend(all.iter().map(|&index| look(index as usize))),
                Indices::Long(all) => into.extend(all.iter().map(|&index| look(index))),
            }
        }
        self.values = Some(into);
        Ok(())
    }
}

impl<T: Element, M: Map> Gather<T, M> {
    /// Loads from parts that were made in one piece: no owner has to be found.
    fn load_flat(&mut self, part: &Part<T, M>) -> Result {
        let (Indices::Short(at), Some(flat)) = (&self.at, part.flat) else { return Err(damaged()) };
        let reaches = part.owned.reaches.borrow();
        let mut into = std::mem::take(&mut self.into);
        into.clear();
        fabric::make_room(&mut into, at.len());
        let all = Flat::of(&reaches).map_err(|refused| {
            Error::new(ErrorKind::Damaged, format!("the array lends nothing: {refused} ({})", place(self.site)))
        })?;
        if let Some(all) = all {
            fabric::load(&all, at, &mut into);
        } else {
            // A part has been replaced as a whole and lies elsewhere now.
            let lenders = Lenders::new(&reaches, self.site);
            let loans = (0..reaches.len()).map(|owner| lenders.lend(owner)).collect::<Result<Vec<_>>>()?;
            let slices: Vec<&[T]> = loans.iter().map(|loan| loan.as_deref().unwrap_or_default()).collect();
            into.extend(at.iter().map(|&at| {
                let (owner, at) = flat.by_stride.divide(at as usize);
                slices[owner][at]
            }));
        }
        self.values = Some(into);
        Ok(())
    }
}

impl<T: Element, M: Map> Item for Gather<T, M> {
    fn describe(&self) -> String {
        format!("gather of {}", type_name::<T>())
    }

    fn mirror(&mut self, left: &[usize]) -> Result {
        check_left(left, "gather", self.site)?;
        let part = self.part.take().ok_or_else(damaged)?;
        self.load(&part)?;
        if let Indices::Short(places) = std::mem::replace(&mut self.at, Indices::Long(Vec::new())) {
            part.home.spares().keep_places(places);
        }
        keep_answers(&mut self.asked, &part);
        Ok(())
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let part = self.part.as_ref().ok_or_else(damaged)?;
        let len = *part.lens.get(from).ok_or_else(damaged)?;
        self.asked.get_mut(from).ok_or_else(damaged)?.take(payload, len, &mut part.home.spares())
    }

    fn outcome(&mut self) -> &mut dyn any::Any {
        &mut self.values
    }
}

/// A section on its way.
pub(super) struct Mirror<T: Element, M, const N: usize> {
    /// Until it has been read: the array may be dropped then, and this item be kept for its room.
    pub(super) part: Option<Rc<Part<T, M>>>,
    pub(super) shape: [usize; N],
    pub(super) spans: [Span; N],
    /// Empty where everybody can be reached.
    pub(super) asked: Vec<Asked<T>>,
    /// Where the values go; kept for its room.
    pub(super) into: Vec<T>,
    pub(super) values: Option<Vec<T>>,
    pub(super) site: &'static Location<'static>,
}

impl<T: Element, M: Map, const N: usize> Mirror<T, M, N> {
    /// Asks the owners that cannot be reached for what is needed of them.
    pub(super) fn ask(&mut self, item: u32, number: u32, outbox: &mut Outbox) {
        let Some(part) = self.part.as_deref() else { return };
        let reaches = part.owned.reaches.borrow();
        if reaches.iter().zip(&part.lens).all(|(reach, &len)| reach.is_some() || len == 0) {
            return;
        }
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); part.lens.len()];
        let Ok(()) = pieces::cut(part, &self.shape, &self.spans, |piece| {
            if reaches[piece.owner].is_none() {
                append(&mut spans[piece.owner], piece);
            }
            Ok::<_, std::convert::Infallible>(())
        });
        for (owner, spans) in spans.iter().enumerate() {
            if spans.is_empty() {
                self.asked.push(Asked::Nothing);
                continue;
            }
            self.asked.push(Asked::InOrder(pieces::total(spans), Vec::new()));
            outbox.push(owner, Address::Object(number), Record::Mirror, |out| {
                push_words(out, &[u64::from(item), SPANS]);
                for span in spans {
                    push_words(out, &[span.first as u64, span.step as u64, span.count as u64]);
                }
            });
        }
    }

    fn load(&mut self, part: &Part<T, M>) -> Result {
        let reaches = part.owned.reaches.borrow();
        let lenders = Lenders::new(&reaches, self.site);
        let mut loans = Vec::new();
        loans.resize_with(part.lens.len(), || None);
        let mut into = std::mem::take(&mut self.into);
        into.clear();
        // What the system has just cleared is in the caches, and goes on from there best.
        let is_fresh = into.capacity() < pieces::count(&self.spans);
        fabric::make_room(&mut into, pieces::count(&self.spans));
        let mut taken = vec![0; self.asked.len()];
        pieces::cut(part, &self.shape, &self.spans, |piece| {
            if let Some(Asked::InOrder(_, values)) = self.asked.get(piece.owner) {
                let first = taken[piece.owner];
                taken[piece.owner] += piece.count;
                into.extend_from_slice(values.get(first..first + piece.count).ok_or_else(damaged)?);
                return Ok(());
            }
            if loans[piece.owner].is_none() {
                loans[piece.owner] = lenders.lend(piece.owner)?;
            }
            let slice: &[T] = loans[piece.owner].as_ref().ok_or_else(damaged)?;
            match piece {
                Piece { at, count: 1, .. } => into.push(slice[at]),
                Piece { at, step: 1, count, .. } if is_fresh => into.extend_from_slice(&slice[at..at + count]),
                Piece { at, step: 1, count, .. } => fabric::append(&mut into, &slice[at..at + count]),
                piece => into.extend(piece.places().map(|at| slice[at])),
            }
            Ok::<_, Error>(())
        })?;
        self.values = Some(into);
        Ok(())
    }
}

/// Adds a piece to the spans of its owner, to the last one if it continues that.
fn append(spans: &mut Vec<Span>, piece: Piece) {
    if let Some(last) = spans.last_mut() {
        let gap = piece.at.wrapping_sub(last.index(last.count - 1)) as isize;
        let step = if last.count == 1 { gap } else { last.step };
        if step == gap && (piece.count == 1 || piece.step == step) {
            last.step = step;
            last.count += piece.count;
            return;
        }
    }
    spans.push(Span { first: piece.at, step: piece.step, count: piece.count });
}

impl<T: Element, M: Map, const N: usize> Item for Mirror<T, M, N> {
    fn describe(&self) -> String {
        format!("mirror of {}", type_name::<T>())
    }

    fn mirror(&mut self, left: &[usize]) -> Result {
        check_left(left, "mirror", self.site)?;
        let part = self.part.take().ok_or_else(damaged)?;
        self.load(&part)?;
        keep_answers(&mut self.asked, &part);
        Ok(())
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let part = self.part.as_ref().ok_or_else(damaged)?;
        let len = *part.lens.get(from).ok_or_else(damaged)?;
        self.asked.get_mut(from).ok_or_else(damaged)?.take(payload, len, &mut part.home.spares())
    }

    fn outcome(&mut self) -> &mut dyn any::Any {
        &mut self.values
    }
}

/// Keeps the room of what was answered.
fn keep_answers<T: Element, M>(asked: &mut Vec<Asked<T>>, part: &Part<T, M>) {
    let mut spares = part.home.spares();
    asked.drain(..).filter_map(Asked::into_values).for_each(|values| spares.keep_values(values));
}

/// The parts that can be read directly.
pub(super) struct Lenders<'a, T> {
    reaches: &'a [Option<Reach<T>>],
    site: &'static Location<'static>,
}

impl<'a, T: Element> Lenders<'a, T> {
    pub(super) fn new(reaches: &'a [Option<Reach<T>>], site: &'static Location<'static>) -> Self {
        Self { reaches, site }
    }

    pub(super) fn lend(&self, owner: usize) -> Result<Option<Loan<'a, T>>> {
        let Some(reach) = &self.reaches[owner] else { return Ok(None) };
        reach.read(0..reach.len()).map(Some).map_err(|refused| {
            let message = format!("rank {owner} lends nothing: {refused} ({})", place(self.site));
            Error::new(ErrorKind::Damaged, message)
        })
    }
}

/// Refuses to read from an array of which an owner leaves in this boundary.
fn check_left(left: &[usize], what: &str, site: &Location<'_>) -> Result {
    let Some(rank) = left.first() else { return Ok(()) };
    let message = format!("rank {rank} left the group before this {what} was served ({})", place(site));
    Err(Error::new(ErrorKind::Departed, message))
}
