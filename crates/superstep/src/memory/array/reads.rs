//! Reading from arrays: gathers and mirrors on their way.
//!
//! Both read after everything is committed (S2). What the reader can reach it loads itself; for the rest it
//! [asks](super::answers) the owners.

use super::{
    Array,
    answers::{Asked, SPANS},
    layout::{Distribution, Map},
    part::Part,
    pieces::{self, Piece},
};
use crate::{
    engine::{Address, Element, Item, Outbox, Payload, Pending, Step, Tag, damaged, flags},
    error::{Error, Result},
    memory::{
        owned::{left_unserved, lends_nothing},
        section::Span,
    },
};
use fabric::{Flat, Loan, Reach, wire::Writer as _};
use std::{any, panic::Location, rc::Rc};

/// Elements by their numbers: in 32 bits each, where that is enough for the array.
pub(super) enum Indices {
    Short(Vec<u32>),
    /// A list that somebody else keeps.
    Lent(Rc<Vec<u32>>),
    Long(Vec<usize>),
}

impl Indices {
    /// The list, if it is one of 32 bits each.
    pub(super) fn short(&self) -> Option<&[u32]> {
        match self {
            Self::Short(all) => Some(all),
            Self::Lent(all) => Some(all),
            Self::Long(_) => None,
        }
    }

    fn long(&self) -> &[usize] {
        if let Self::Long(all) = self { all } else { &[] }
    }

    pub(super) fn len(&self) -> usize {
        self.short().map_or_else(|| self.long().len(), <[u32]>::len)
    }

    /// Visits each in turn; see [`chunks`](fabric::chunks).
    #[inline]
    pub(super) fn each(&self, mut visit: impl FnMut(usize)) {
        match self.short() {
            Some(all) => fabric::chunks(all).flatten().for_each(|&index| visit(index as usize)),
            None => fabric::chunks(self.long()).flatten().for_each(|&index| visit(index)),
        }
    }

    /// Adds the element that each stands for to a list.
    #[inline]
    pub(super) fn look_up<T>(&self, into: &mut Vec<T>, mut look: impl FnMut(usize) -> T) {
        match self.short() {
            Some(all) => {
                for chunk in fabric::chunks(all) {
                    into.extend(chunk.iter().map(|&index| look(index as usize)));
                }
            }
            None => into.extend(self.long().iter().map(|&index| look(index))),
        }
    }
}

/// A read of an array on its way: what it wants, and what has come of it.
pub(super) struct Read<T: Element, M, W> {
    pub(super) wanted: W,
    /// Until it has been read: the array may be dropped then, and this item be kept for its room.
    pub(super) part: Option<Rc<Part<T, M>>>,
    /// Empty where everybody can be reached.
    pub(super) asked: Vec<Asked<T>>,
    /// Where the values go; kept for its room.
    pub(super) into: Vec<T>,
    values: Option<Vec<T>>,
    pub(super) site: &'static Location<'static>,
}

/// What can be read of an array.
pub(super) trait Wanted<T: Element, M>: Sized + 'static {
    /// What messages call such a read.
    const NAME: &str;

    /// Asks the owners that cannot be reached.
    fn ask(read: &mut Read<T, M, Self>, part: &Part<T, M>, item: u32, number: u32, outbox: &mut Outbox);

    /// Loads what can be reached, and puts the answers of the others between.
    fn load(read: &mut Read<T, M, Self>, part: &Part<T, M>) -> Result<Vec<T>>;
}

impl<T: Element, M: Map, W: Wanted<T, M>> Read<T, M, W> {
    /// Begins to read.
    pub(super) fn begin<D: Distribution<Map = M>, const N: usize>(
        step: &Step,
        a: &Array<T, D, N>,
        wanted: W,
        into: Vec<T>,
        site: &'static Location<'static>,
    ) -> Pending<Vec<T>> {
        let part = Some(Rc::clone(&a.part));
        let mut read = Self { wanted, part, asked: Vec::new(), into, values: None, site };
        step.core.raise_flag(flags::MIRRORS);
        W::ask(&mut read, &a.part, step.core.next_alone(), a.core.number, &mut step.outbox());
        step.core.wire.post_full();
        step.core.place_alone(read)
    }

    /// An empty list with room for so many values.
    pub(super) fn take_into(&mut self, count: usize) -> Vec<T> {
        let mut into = std::mem::take(&mut self.into);
        into.clear();
        fabric::make_room(&mut into, count);
        into
    }
}

impl<T: Element, M: Map, W: Wanted<T, M>> Item for Read<T, M, W> {
    fn read_after(&mut self, left: &[usize]) -> Result {
        if let Some(&rank) = left.first() {
            return Err(left_unserved(rank, W::NAME, self.site));
        }
        let part = self.part.take().ok_or_else(damaged)?;
        if !self.asked.iter().zip(&part.lens).all(|(asked, &len)| asked.is_answered(len)) {
            return Err(damaged());
        }
        self.values = Some(W::load(self, &part)?);
        let mut spares = part.pool.spares();
        self.asked.drain(..).filter_map(Asked::into_values).for_each(|values| spares.values.keep(values));
        Ok(())
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let part = self.part.as_ref().ok_or_else(damaged)?;
        let len = *part.lens.get(from).ok_or_else(damaged)?;
        self.asked.get_mut(from).ok_or_else(damaged)?.take(payload, len, &mut part.pool.spares())
    }

    fn outcome(&mut self) -> &mut dyn any::Any {
        &mut self.values
    }
}

/// Elements at a list of indices.
pub(super) struct Gather {
    pub(super) at: Indices,
    /// Whether these are places in all parts together, which then all can be reached.
    pub(super) is_flat: bool,
    /// Where they are, by owner; empty where everybody can be reached, or a part has more than 2^32 elements.
    pub(super) places: Vec<Vec<u32>>,
}

impl<T: Element, M: Map> Wanted<T, M> for Gather {
    const NAME: &str = "gather";

    fn ask(read: &mut Read<T, M, Self>, part: &Part<T, M>, item: u32, number: u32, outbox: &mut Outbox) {
        read.ask(part, item, number, outbox);
    }

    fn load(read: &mut Read<T, M, Self>, part: &Part<T, M>) -> Result<Vec<T>> {
        let values = read.load(part)?;
        if let Indices::Short(places) = std::mem::replace(&mut read.wanted.at, Indices::Long(Vec::new())) {
            part.pool.spares().places.keep(places);
        }
        Ok(values)
    }
}

impl<T: Element, M: Map> Read<T, M, Gather> {
    fn load(&mut self, part: &Part<T, M>) -> Result<Vec<T>> {
        if self.wanted.is_flat {
            return self.load_flat(part);
        }
        if !self.wanted.places.is_empty() {
            return self.load_remote(part);
        }
        let reaches = part.owned.reaches.borrow();
        let lenders = Lenders { reaches: &reaches, site: self.site };
        let mut slices: Vec<&[T]> = vec![&[]; part.lens.len()];
        let is_dense = self.wanted.at.len() >= part.lens.len();
        let mut into = self.take_into(self.wanted.at.len());
        let mut loans = Vec::new();
        loans.resize_with(slices.len(), || None);
        let mut needed = vec![is_dense; slices.len()];
        if !is_dense {
            self.wanted.at.each(|index| needed[part.locate(index).0] = true);
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
            let look = |index: usize| {
                let (owner, at) = locator.locate(index);
                if asked.get(owner).is_some_and(is_in_order) {
                    answers[owner].next().copied().unwrap_or_else(T::zeroed)
                } else {
                    slices[owner][at]
                }
            };
            self.wanted.at.look_up(&mut into, look);
        } else {
            let slices = &slices[..];
            let look = move |index: usize| {
                let (owner, at) = locator.locate(index);
                slices[owner][at]
            };
            self.wanted.at.look_up(&mut into, look);
        }
        Ok(into)
    }

    /// Loads from parts that were made in one piece: no owner has to be found.
    fn load_flat(&mut self, part: &Part<T, M>) -> Result<Vec<T>> {
        let mut into = self.take_into(self.wanted.at.len());
        let (Some(at), Some(flat)) = (self.wanted.at.short(), part.flat) else { return Err(damaged()) };
        let reaches = part.owned.reaches.borrow();
        let all = Flat::of(&reaches).map_err(|refused| lends_nothing("the array", refused, self.site))?;
        if let Some(all) = all {
            fabric::load(&all, at, &mut into);
        } else {
            // A part has been replaced as a whole and lies elsewhere now.
            let lenders = Lenders { reaches: &reaches, site: self.site };
            let loans = (0..reaches.len()).map(|owner| lenders.lend(owner)).collect::<Result<Vec<_>>>()?;
            let slices: Vec<&[T]> = loans.iter().map(|loan| loan.as_deref().unwrap_or_default()).collect();
            into.extend(at.iter().map(|&at| {
                let (owner, at) = flat.by_stride.divide(at as usize);
                slices[owner][at]
            }));
        }
        Ok(into)
    }
}

/// A section.
pub(super) struct Mirror<const N: usize> {
    pub(super) shape: [usize; N],
    pub(super) spans: [Span; N],
}

impl<T: Element, M: Map, const N: usize> Wanted<T, M> for Mirror<N> {
    const NAME: &str = "mirror";

    fn ask(read: &mut Read<T, M, Self>, part: &Part<T, M>, item: u32, number: u32, outbox: &mut Outbox) {
        let reaches = part.owned.reaches.borrow();
        if reaches.iter().zip(&part.lens).all(|(reach, &len)| reach.is_some() || len == 0) {
            return;
        }
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); part.lens.len()];
        let Ok(()) = pieces::cut(part, &read.wanted.shape, &read.wanted.spans, |piece| {
            if reaches[piece.owner].is_none() {
                append(&mut spans[piece.owner], piece);
            }
            Ok::<_, std::convert::Infallible>(())
        });
        for (owner, spans) in spans.iter().enumerate() {
            if spans.is_empty() {
                read.asked.push(Asked::Nothing);
                continue;
            }
            read.asked.push(Asked::InOrder(pieces::total(spans), Vec::new()));
            outbox.push(owner, Address::Tenant(number), Tag::ReadAfter, |out| {
                out.put([u64::from(item), SPANS]);
                for span in spans {
                    out.put([span.first as u64, span.step as u64, span.count as u64]);
                }
            });
        }
    }

    fn load(read: &mut Read<T, M, Self>, part: &Part<T, M>) -> Result<Vec<T>> {
        let reaches = part.owned.reaches.borrow();
        let lenders = Lenders { reaches: &reaches, site: read.site };
        let mut loans = Vec::new();
        loans.resize_with(part.lens.len(), || None);
        let count = pieces::count(&read.wanted.spans);
        // What the system has just cleared is in the caches, and goes on from there best.
        let is_fresh = read.into.capacity() < count;
        let mut into = read.take_into(count);
        let mut taken = vec![0; read.asked.len()];
        pieces::cut(part, &read.wanted.shape, &read.wanted.spans, |piece| {
            if let Some(Asked::InOrder(_, values)) = read.asked.get(piece.owner) {
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
        Ok(into)
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

pub(super) struct Lenders<'a, T> {
    pub(super) reaches: &'a [Option<Reach<T>>],
    pub(super) site: &'static Location<'static>,
}

impl<'a, T: Element> Lenders<'a, T> {
    pub(super) fn lend(&self, owner: usize) -> Result<Option<Loan<'a, T>>> {
        let Some(reach) = &self.reaches[owner] else { return Ok(None) };
        let loan = reach.read(0..reach.len());
        loan.map(Some).map_err(|refused| lends_nothing(format_args!("rank {owner}"), refused, self.site))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{distributions::Block, operator::Operator, part::Design, served::Plans},
        *,
    };
    use crate::{
        Config,
        engine::{Any, Group},
        memory::owned::Owned,
    };
    use fabric::Region;

    /// Asks for elements of an array of which this processor has the first half and another one the second, whose
    /// memory it may reach.
    fn ask(g: &Group, len: usize, reaches: bool, at: Vec<usize>) -> Read<u64, <Block as Distribution>::Map, Gather> {
        let (map, site) = (Block::new().lay(&[len], 2).unwrap(), Location::caller());
        let region = Region::<u64>::new(1);
        let other = reaches.then(|| region.reach());
        let owned = Owned::new(region, g.core());
        owned.reaches.borrow_mut().push(other);
        let design = Design { map, inner: 1, len, lens: vec![len / 2; 2], terms: 0, words: String::new(), site };
        let part = Part::new(owned, 0, design, Operator::new(Any), None, Rc::new(Plans::default()));
        let wanted = Gather { at: Indices::Long(at), is_flat: false, places: Vec::new() };
        let mut read = Read { wanted, part: None, asked: Vec::new(), into: Vec::new(), values: None, site };
        read.ask(&part, 0, 0, &mut Outbox::default());
        read
    }

    #[test]
    fn an_owner_is_asked_for_places_or_for_all_it_has() {
        let outcome = Config::new().procs(1).run(|g| {
            let few = ask(g, 18, false, (9..15).chain([0]).collect());
            assert!(matches!(few.asked[..], [Asked::Nothing, Asked::InOrder(6, _)]));
            assert_eq!(few.wanted.places, [vec![0u32], (0..6).collect()]);
            // Seven places with a value each are longer than nine values.
            let many = ask(g, 18, false, (9..16).collect());
            assert!(matches!(many.asked[..], [Asked::Nothing, Asked::Whole(_)]));
            let own = ask(g, 18, false, vec![0]);
            assert!(matches!(own.asked[..], [Asked::Nothing, Asked::Nothing]));
            let reached = ask(g, 18, true, vec![0, 9]);
            assert!(reached.asked.is_empty() && reached.wanted.places.is_empty());
            // A7: such places do not fit into 32 bits.
            let far = ask(g, 1 << 34, false, vec![3, (1 << 33) + (1 << 32) + 5, 1 << 33]);
            assert!(matches!(far.asked[..], [Asked::Nothing, Asked::InOrder(2, _)]));
            assert!(far.wanted.places.is_empty());
        });
        outcome.unwrap();
    }

    #[test]
    fn indices_are_counted_in_every_form() {
        let all = [Indices::Short(vec![1, 2, 3]), Indices::Lent(Rc::new(vec![4, 5])), Indices::Long(vec![6; 4])];
        assert_eq!(all.map(|indices| indices.len()), [3, 2, 4]);
    }
}
