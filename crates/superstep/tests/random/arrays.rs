//! Arrays of every form, whatever their elements and dimensions are.

use crate::{
    ignore,
    typed::{Pair, Read, Typed, note},
    words::With,
};
use std::{
    any::Any as AnyType,
    ops::{Range, RangeInclusive},
};
use superstep::{
    Any, Array, Block, BlockCyclic, Checked, Combine, Cyclic, Distribution, Element, Error, Group, Irregular, Pending,
    Section, Split, Step, Strided, Sum, Tiles, arrays::Edge, strided,
};
use superstep_model::{Cut, Deed, Design, Form, Halo, Kind, Misuse, Writes, count};

/// Ranges as the library takes them.
pub(crate) trait Ranges<const N: usize> {
    fn section(self) -> impl Section<N>;
}

impl Ranges<1> for [Strided; 1] {
    fn section(self) -> impl Section<1> {
        self[0]
    }
}

impl Ranges<2> for [Strided; 2] {
    fn section(self) -> impl Section<2> {
        (self[0], self[1])
    }
}

impl Ranges<3> for [Strided; 3] {
    fn section(self) -> impl Section<3> {
        (self[0], self[1], self[2])
    }
}

impl Ranges<4> for [Strided; 4] {
    fn section(self) -> impl Section<4> {
        (self[0], self[1], self[2], self[3])
    }
}

impl Ranges<5> for [Strided; 5] {
    fn section(self) -> impl Section<5> {
        (self[0], self[1], self[2], self[3], self[4])
    }
}

/// A range as the library takes it; the empty one is the same wherever it is.
pub(crate) fn cut(cut: Option<Cut>) -> Strided {
    cut.map_or(strided(0..0, 1), |Cut { from, to, by }| strided(RangeInclusive::new(from, to), by))
}

fn cuts<const N: usize>(section: &[Option<Cut>]) -> [Strided; N] {
    std::array::from_fn(|at| cut(section[at]))
}

/// An array, however it lies.
pub(crate) trait Held {
    /// Does what an instruction says; a read hands back what it will have read.
    fn perform(&self, s: &Step, deed: &Deed) -> Option<Read>;

    /// Tries what is refused.
    fn misuse(&self, s: &Step, misuse: Misuse) -> Error;

    /// Does it without trying.
    fn wrong(&self, s: &Step, misuse: Misuse);

    /// What lies around this processor's block, in a step in which rank 0 writes an element.
    fn halo(&self, g: &mut Group, halo: &Halo) -> Vec<u64>;

    /// What this processor owns, by ascending index.
    fn owned(&self) -> Vec<u64>;

    /// It, if it has whole numbers in one dimension.
    fn line(&self) -> Option<&dyn Line>;
}

impl<T: Typed, D: Distribution, const N: usize> Held for Array<T, D, N>
where
    [Strided; N]: Ranges<N>,
{
    fn perform(&self, s: &Step, deed: &Deed) -> Option<Read> {
        let numbered = |number: u64| T::of(T::KIND.of(number));
        match deed {
            Deed::Mirror(section) => return Some(T::read(s.mirror(self, cuts(section).section()))),
            Deed::Gather(at) => return Some(T::read(s.gather(self, at))),
            Deed::GatherBuilder(at) => {
                let mut reads = s.gatherer(self);
                for &index in at {
                    reads.push(index);
                }
                return Some(T::read(reads.finish()));
            }
            Deed::Own { index, number } => self.set(self.place(*index), numbered(*number)),
            Deed::Forall { section, number } => {
                self.forall_mut_in(cuts(section).section(), |at, x| {
                    note(x, &numbered(*number + self.index(at) as u64));
                });
            }
            Deed::Update { section, number, op: None } => {
                s.update(self, cuts(section).section(), &values(*number, count(section)));
            }
            Deed::Update { op: Some(op), .. } => T::by(*op, Writing(s, self, deed)),
            Deed::Scatter(Writes { op, .. })
            | Deed::ScatterOne(Writes { op, .. })
            | Deed::OneBuilder(Writes { op, .. }) => {
                T::by(*op, Writing(s, self, deed));
            }
            Deed::Builders(first, second) => {
                let mut one = T::by(first.op, Building(s, self));
                let mut other = T::by(second.op, Building(s, self));
                for at in 0..first.at.len() {
                    one.push(first.at[at], numbered(first.number + at as u64));
                    other.push(second.at[at], numbered(second.number + at as u64));
                }
                drop(other);
                drop(one);
            }
        }
        None
    }

    fn halo(&self, g: &mut Group, halo: &Halo) -> Vec<u64> {
        let edge = if halo.is_periodic { Edge::Periodic } else { Edge::Open };
        let width = halo.width.clone().try_into().expect("it has as many dimensions as the array");
        let around = g.step(|s| {
            if let Some((index, number)) = halo.written.filter(|_| s.rank() == 0) {
                s.scatter_one(self, &[index], T::of(T::KIND.of(number)), Any);
            }
            s.halo(self, width, edge)
        });
        let last = around.shape()[N - 1];
        let mut rows = vec![around.start()];
        for dimension in 0..N - 1 {
            let extent = around.shape()[dimension] as isize;
            rows = rows
                .iter()
                .flat_map(|row| {
                    (0..extent).map(|more| {
                        let mut row = *row;
                        row[dimension] += more;
                        row
                    })
                })
                .collect();
        }
        rows.retain(|_| last > 0);
        rows.into_iter().flat_map(|row| around.row(row)).map(|value| value.bits()).collect()
    }

    fn misuse(&self, s: &Step, misuse: Misuse) -> Error {
        let beyond = self.len();
        match misuse {
            Misuse::GatherBeyond { .. } => s.try_gather(self, &[beyond]).err(),
            Misuse::ScatterBeyond { .. } => s.try_scatter(self, &[beyond], &[T::of(1)], Any).err(),
            Misuse::ScatterTooFew { .. } => s.try_scatter(self, &[0, 0], &[T::of(1)], Any).err(),
            Misuse::MirrorBeyond { .. } => {
                let mut section = [cut(None); N];
                section[0] = strided(0..=self.shape()[0], 1);
                s.try_mirror(self, section.section()).err()
            }
            _ => s.try_mirror(self, [strided(.., 1); N].section()).err(),
        }
        .expect("the call is wrong")
    }

    fn wrong(&self, s: &Step, misuse: Misuse) {
        let (beyond, mut section) = (self.len(), [cut(None); N]);
        section[0] = strided(0..=self.shape()[0], 1);
        match misuse {
            Misuse::GatherBeyond { .. } => ignore(s.gather(self, &[beyond])),
            Misuse::ScatterBeyond { .. } => s.scatter(self, &[beyond], &[T::of(1)], Any),
            Misuse::ScatterTooFew { .. } => s.scatter(self, &[0, 0], &[T::of(1)], Any),
            Misuse::MirrorBeyond { .. } => ignore(s.mirror(self, section.section())),
            _ => ignore(s.mirror(self, [strided(.., 1); N].section())),
        }
    }

    fn owned(&self) -> Vec<u64> {
        let (local, mut owned) = (self.local(), Vec::new());
        for (offset, value) in local.iter().enumerate() {
            owned.extend(self.global(offset).map(|index| (index, value.bits())));
        }
        owned.sort_unstable();
        owned.into_iter().map(|(_, bits)| bits).collect()
    }

    fn line(&self) -> Option<&dyn Line> {
        fn find<D: Distribution>(array: &dyn AnyType) -> Option<&dyn Line> {
            array.downcast_ref::<Array<u64, D>>().map(|array| array as &dyn Line)
        }
        find::<Block>(self)
            .or_else(|| find::<Cyclic>(self))
            .or_else(|| find::<BlockCyclic>(self))
            .or_else(|| find::<Irregular>(self))
            .or_else(|| find::<Tiles<1>>(self))
    }
}

fn values<T: Typed>(number: u64, count: usize) -> Vec<T> {
    (number..).take(count).map(|number| T::of(T::KIND.of(number))).collect()
}

/// Writes with an operator.
struct Writing<'a, T: Element, D: Distribution, const N: usize>(&'a Step, &'a Array<T, D, N>, &'a Deed);

impl<T: Typed, D: Distribution, const N: usize> With<T> for Writing<'_, T, D, N>
where
    [Strided; N]: Ranges<N>,
{
    type Out = ();

    fn with<C: Combine<T>>(self, op: C) {
        let Self(s, a, deed) = self;
        match deed {
            Deed::Update { section, number, .. } => {
                s.update_with(a, cuts(section).section(), &values(*number, count(section)), op);
            }
            Deed::Scatter(Writes { at, number, .. }) => s.scatter(a, at, &values(*number, at.len()), op),
            Deed::ScatterOne(Writes { at, number, .. }) => s.scatter_one(a, at, T::of(T::KIND.of(*number)), op),
            Deed::OneBuilder(Writes { at, number, .. }) => {
                let mut writes = s.scatterer_one(a, T::of(T::KIND.of(*number)), op);
                for &index in at {
                    writes.push(index);
                }
            }
            _ => unreachable!("{deed:?} writes without an operator"),
        }
    }
}

/// Opens a builder with an operator.
struct Building<'a, T: Element, D: Distribution, const N: usize>(&'a Step, &'a Array<T, D, N>);

impl<'a, T: Typed, D: Distribution, const N: usize> With<T> for Building<'a, T, D, N> {
    type Out = superstep::Scatterer<'a, T, D, N>;

    fn with<C: Combine<T>>(self, op: C) -> Self::Out {
        self.0.scatterer(self.1, op)
    }
}

pub(crate) fn make(g: &mut Group, design: &Design) -> Box<dyn Held> {
    fn made<T: Typed, D: Distribution, const N: usize>(g: &mut Group, design: &Design, d: D) -> Box<dyn Held>
    where
        [Strided; N]: Ranges<N>,
    {
        let shape = design.shape.clone().try_into().expect("it has as many dimensions as its frame");
        Box::new(T::declare(g.array_with::<T, D, N>(shape, d)))
    }
    let (block, [x, y, _], sizes) = (design.block, design.tile, design.sizes.clone());
    match design.frame {
        (Kind::Whole, Form::Block, 1, 1) => made::<u64, _, 1>(g, design, Block::new()),
        (Kind::Whole, Form::Cyclic, 1, 1) => made::<u64, _, 1>(g, design, Cyclic::new()),
        (Kind::Whole, Form::BlockCyclic, 1, 1) => made::<u64, _, 1>(g, design, BlockCyclic::new(block)),
        (Kind::Whole, Form::Irregular, 1, 1) => made::<u64, _, 1>(g, design, Irregular(sizes)),
        (Kind::Whole, Form::Tiles, 1, 1) => made::<u64, _, 1>(g, design, Tiles([x])),
        (Kind::Float, Form::Block, 1, 1) => made::<f64, _, 1>(g, design, Block::new()),
        (Kind::Short, Form::Cyclic, 1, 1) => made::<i32, _, 1>(g, design, Cyclic::new()),
        (Kind::Pair, Form::Irregular, 1, 1) => made::<Pair, _, 1>(g, design, Irregular(sizes)),
        (Kind::Float, Form::Block, 2, 1) => made::<f64, _, 2>(g, design, Block::new()),
        (Kind::Pair, Form::Cyclic, 2, 2) => made::<Pair, _, 2>(g, design, Cyclic::<2>),
        (Kind::Short, Form::BlockCyclic, 2, 1) => made::<i32, _, 2>(g, design, BlockCyclic::new(block)),
        (Kind::Float, Form::Irregular, 2, 1) => made::<f64, _, 2>(g, design, Irregular(sizes)),
        (Kind::Short, Form::Tiles, 2, 2) => made::<i32, _, 2>(g, design, Tiles([x, y])),
        (Kind::Pair, Form::Block, 3, 2) => made::<Pair, _, 3>(g, design, Block::<2>),
        (Kind::Float, Form::BlockCyclic, 3, 3) => made::<f64, _, 3>(g, design, BlockCyclic::<3>(block)),
        (Kind::Short, Form::Block, 4, 3) => made::<i32, _, 4>(g, design, Block::<3>),
        (Kind::Float, Form::Tiles, 5, 2) => made::<f64, _, 5>(g, design, Tiles([x, y])),
        other => panic!("{other:?} is not among the frames"),
    }
}

/// The body of a split on an array.
pub(crate) type Inner<'a> = dyn FnMut(&mut Group, &dyn Held) -> Result<(), String> + 'a;

/// An array of whole numbers in one dimension: what only those are used for.
pub(crate) trait Line {
    fn count(&self) -> usize;

    /// It, if others can be assigned from it.
    fn source(&self) -> Source<'_>;

    fn assign(&self, s: &Step, src: &dyn Line);
    fn permute(&self, g: &mut Group, src: &dyn Line, to: &[usize]) -> superstep::Result;
    fn gather_to(&self, s: &Step, root: usize) -> Option<Pending<Vec<u64>>>;
    fn scatter_from(&self, s: &Step, root: usize, values: Option<&[u64]>);

    /// Adds so much to the first element that it overflows.
    fn overflow(&self, s: &Step);

    fn split(&self, g: &mut Group, how: Split<'_>, sections: &[Range<usize>], body: &mut Inner<'_>);
}

/// What others can be assigned from.
pub(crate) enum Source<'a> {
    Block(&'a Array<u64, Block>),
    Cyclic(&'a Array<u64, Cyclic>),
}

impl<D: Distribution> Line for Array<u64, D> {
    fn count(&self) -> usize {
        self.len()
    }

    fn source(&self) -> Source<'_> {
        let this: &dyn AnyType = self;
        let cyclic = || this.downcast_ref().map(Source::Cyclic);
        this.downcast_ref().map(Source::Block).or_else(cyclic).expect("sources are blocks, or dealt round")
    }

    fn assign(&self, s: &Step, src: &dyn Line) {
        match src.source() {
            Source::Block(src) => s.assign(self, src),
            Source::Cyclic(src) => s.assign(self, src),
        }
    }

    fn permute(&self, g: &mut Group, src: &dyn Line, to: &[usize]) -> superstep::Result {
        match src.source() {
            Source::Block(src) => {
                let place = g.array::<usize, Block>(to.len());
                place.forall_mut(|at, place| *place = to[at]);
                g.try_step(|s| s.permute(self, src, &place))
            }
            Source::Cyclic(src) => {
                let place = g.array::<usize, Cyclic>(to.len());
                place.forall_mut(|at, place| *place = to[at]);
                g.try_step(|s| s.permute(self, src, &place))
            }
        }
    }

    fn gather_to(&self, s: &Step, root: usize) -> Option<Pending<Vec<u64>>> {
        s.gather_to(root, self)
    }

    fn scatter_from(&self, s: &Step, root: usize, values: Option<&[u64]>) {
        s.scatter_from(root, self, values);
    }

    fn overflow(&self, s: &Step) {
        s.scatter(self, &[0, 0], &[u64::MAX, u64::MAX], Checked(Sum));
    }

    fn split(&self, g: &mut Group, how: Split<'_>, sections: &[Range<usize>], body: &mut Inner<'_>) {
        g.split_on(how, self, |id| sections[id].clone(), |sub: &mut Group, part: &Self| body(sub, part));
    }
}
