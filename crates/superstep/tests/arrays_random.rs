//! Random programs on arrays against a sequential model, on every fabric (A1 to A5, S1 to S3).
//!
//! A program makes four arrays with elements of different types, in any form and with up to five dimensions. Its steps
//! write to them, read from them and work on what they own, in every way at overlapping places. Every bit that a
//! processor sees must be the model's.

#![forbid(unsafe_code)]

#[path = "arrays_random/model.rs"]
mod model;
#[path = "random/programs.rs"]
mod programs;

use model::{Deed, Form, Frame, Kind, Layout, Op, Pair, Range, Raw, Told, Writes, count, deed, live};
use programs::programs;
use proptest::{collection::vec, prelude::*};
use std::ops::RangeInclusive;
use superstep::{
    Any, Array, Block, BlockCyclic, Combine, Config, Cyclic, Distribution, Element, Fabric, Fold, Group, Irregular,
    Leader, Local, Pending, Section, Step, Strided, Sum, Tiles, strided,
};

/// The most processors that a program has.
const PROCS_MAX: usize = 9;

/// The frames of the first array. One more is one more of everything for the compiler, so that not all are here.
const FRAMES: [Frame; 16] = [
    (Form::Block, 1, 1),
    (Form::Cyclic, 1, 1),
    (Form::BlockCyclic, 1, 1),
    (Form::Irregular, 1, 1),
    (Form::Tiles, 1, 1),
    (Form::Block, 2, 1),
    (Form::Cyclic, 2, 2),
    (Form::BlockCyclic, 2, 1),
    (Form::Irregular, 2, 1),
    (Form::Tiles, 2, 2),
    (Form::Block, 3, 2),
    (Form::Cyclic, 3, 1),
    (Form::BlockCyclic, 3, 3),
    (Form::Tiles, 3, 3),
    (Form::Block, 4, 3),
    (Form::Tiles, 5, 2),
];

/// An element, and how the library is told what the model knows.
trait Typed: Kind + Element {
    type Adding: Combine<Self>;
    const ADDING: Self::Adding;

    /// Declares the array's operator.
    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N>;
}

impl Typed for u64 {
    type Adding = Sum;
    const ADDING: Sum = Sum;
    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a.combining(Sum)
    }
}

impl Typed for f64 {
    type Adding = Sum;
    const ADDING: Sum = Sum;
    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a.combining(Sum)
    }
}

impl Typed for i32 {
    type Adding = Sum;
    const ADDING: Sum = Sum;
    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a.combining(|x: &mut i32, y: &i32| x.note(y))
    }
}

impl Typed for Pair {
    type Adding = Fold<Self>;
    const ADDING: Fold<Self> = Fold(Kind::add);
    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a
    }
}

/// Ranges as the library takes them.
trait Cut<const N: usize> {
    fn cut(self) -> impl Section<N>;
}

impl Cut<1> for [Strided; 1] {
    fn cut(self) -> impl Section<1> {
        self[0]
    }
}

impl Cut<2> for [Strided; 2] {
    fn cut(self) -> impl Section<2> {
        (self[0], self[1])
    }
}

impl Cut<3> for [Strided; 3] {
    fn cut(self) -> impl Section<3> {
        (self[0], self[1], self[2])
    }
}

impl Cut<4> for [Strided; 4] {
    fn cut(self) -> impl Section<4> {
        (self[0], self[1], self[2], self[3])
    }
}

impl Cut<5> for [Strided; 5] {
    fn cut(self) -> impl Section<5> {
        (self[0], self[1], self[2], self[3], self[4])
    }
}

fn ranges<const N: usize>(section: &[Range]) -> [Strided; N] {
    std::array::from_fn(|at| match section[at] {
        Some((from, to, by)) => strided(RangeInclusive::new(from, to), by),
        None => strided(0..0, 1),
    })
}

/// An array of elements `T`, however it lies.
trait Held<T> {
    /// Does what an instruction says; a read hands back what it will have read.
    fn perform(&self, s: &Step, deed: &Deed) -> Option<Pending<Vec<T>>>;

    /// What this processor owns, by ascending index.
    fn owned(&self) -> Vec<u64>;

    /// Everything, read in the way that `how` says.
    fn everything(&self, s: &Step, how: bool) -> Pending<Vec<T>>;
}

impl<T: Typed, D: Distribution, const N: usize> Held<T> for Array<T, D, N>
where
    [Strided; N]: Cut<N>,
{
    fn perform(&self, s: &Step, deed: &Deed) -> Option<Pending<Vec<T>>> {
        match deed {
            Deed::Mirror(section) => return Some(s.mirror(self, ranges(section).cut())),
            Deed::Gather(at) => return Some(s.gather(self, at)),
            Deed::GatherBuilder(at) => {
                let mut reads = s.gatherer(self);
                for &index in at {
                    reads.push(index);
                }
                return Some(reads.finish());
            }
            Deed::Own { index, number } => self.set(self.place(*index), T::of(*number)),
            Deed::Forall { section, number } => {
                let add = |at: [usize; N], x: &mut T| x.note(&T::of(*number + self.index(at) as u64));
                self.forall_nd_in(ranges(section).cut(), add);
            }
            Deed::Update { section, number, op: None } => {
                let values = values(*number, count(section));
                s.update(self, ranges(section).cut(), &values);
            }
            Deed::Update { op: Some(op), .. } => with(*op, s, self, deed),
            Deed::Scatter(Writes { op, .. }) | Deed::One(Writes { op, .. }) | Deed::OneBuilder(Writes { op, .. }) => {
                with(*op, s, self, deed);
            }
            Deed::Builders(..) => builders(s, self, deed),
        }
        None
    }

    fn owned(&self) -> Vec<u64> {
        let (local, mut owned) = (self.local(), Vec::new());
        for (offset, value) in local.iter().enumerate() {
            owned.extend(self.global(offset).map(|index| (index, value.bits())));
        }
        owned.sort_unstable();
        owned.into_iter().map(|(_, bits)| bits).collect()
    }

    fn everything(&self, s: &Step, how: bool) -> Pending<Vec<T>> {
        if how {
            s.gather(self, &(0..self.len()).collect::<Vec<_>>())
        } else {
            s.mirror(self, [strided(.., 1); N].cut())
        }
    }
}

fn values<T: Typed>(number: u64, count: usize) -> Vec<T> {
    (number..).take(count).map(T::of).collect()
}

/// Writes with the operator that `op` stands for.
fn with<T: Typed, D: Distribution, const N: usize>(op: Op, s: &Step, a: &Array<T, D, N>, deed: &Deed)
where
    [Strided; N]: Cut<N>,
{
    match op {
        Op::Any => write(s, a, deed, Any),
        Op::Leader => write(s, a, deed, Leader),
        Op::Add => write(s, a, deed, T::ADDING),
        Op::Note => write(s, a, deed, Fold(T::note)),
    }
}

fn write<T: Typed, D: Distribution, const N: usize>(s: &Step, a: &Array<T, D, N>, deed: &Deed, op: impl Combine<T>)
where
    [Strided; N]: Cut<N>,
{
    match deed {
        Deed::Update { section, number, .. } => {
            let values = values(*number, count(section));
            s.update_with(a, ranges(section).cut(), &values, op);
        }
        Deed::Scatter(Writes { at, number, .. }) => s.scatter(a, at, &values(*number, at.len()), op),
        Deed::One(Writes { at, number, .. }) => s.scatter_one(a, at, T::of(*number), op),
        Deed::OneBuilder(Writes { at, number, .. }) => {
            let mut writes = s.scatterer_one(a, T::of(*number), op);
            for &index in at {
                writes.push(index);
            }
        }
        _ => {}
    }
}

/// Two builders side by side.
fn builders<T: Typed, D: Distribution, const N: usize>(s: &Step, a: &Array<T, D, N>, deed: &Deed) {
    let Deed::Builders(first, second) = deed else { return };
    let open = |op: Op| match op {
        Op::Any => s.scatterer(a, Any),
        Op::Leader => s.scatterer(a, Leader),
        Op::Add => s.scatterer(a, T::ADDING),
        Op::Note => s.scatterer(a, Fold(T::note)),
    };
    let (mut one, mut other) = (open(first.op), open(second.op));
    for at in 0..first.at.len() {
        one.push(first.at[at], T::of(first.number + at as u64));
        other.push(second.at[at], T::of(second.number + at as u64));
    }
    drop(other);
    drop(one);
}

fn make<T: Typed>(g: &mut Group, layout: &Layout) -> Box<dyn Held<T>> {
    fn made<T: Typed, D: Distribution, const N: usize>(g: &mut Group, layout: &Layout, d: D) -> Box<dyn Held<T>>
    where
        [Strided; N]: Cut<N>,
    {
        let shape = layout.shape.clone().try_into().expect("it has as many dimensions as its frame");
        Box::new(T::declare(g.array_with::<T, D, N>(shape, d)))
    }
    let (block, [x, y, z], sizes) = (layout.block, layout.tile, layout.sizes.clone());
    match layout.frame {
        (Form::Block, 1, 1) => made::<T, _, 1>(g, layout, Block::<1>),
        (Form::Cyclic, 1, 1) => made::<T, _, 1>(g, layout, Cyclic::<1>),
        (Form::BlockCyclic, 1, 1) => made::<T, _, 1>(g, layout, BlockCyclic::<1>(block)),
        (Form::Irregular, 1, 1) => made::<T, _, 1>(g, layout, Irregular(sizes)),
        (Form::Tiles, 1, 1) => made::<T, _, 1>(g, layout, Tiles([x])),
        (Form::Block, 2, 1) => made::<T, _, 2>(g, layout, Block::<1>),
        (Form::Cyclic, 2, 2) => made::<T, _, 2>(g, layout, Cyclic::<2>),
        (Form::BlockCyclic, 2, 1) => made::<T, _, 2>(g, layout, BlockCyclic::<1>(block)),
        (Form::Irregular, 2, 1) => made::<T, _, 2>(g, layout, Irregular(sizes)),
        (Form::Tiles, 2, 2) => made::<T, _, 2>(g, layout, Tiles([x, y])),
        (Form::Block, 3, 2) => made::<T, _, 3>(g, layout, Block::<2>),
        (Form::Cyclic, 3, 1) => made::<T, _, 3>(g, layout, Cyclic::<1>),
        (Form::BlockCyclic, 3, 3) => made::<T, _, 3>(g, layout, BlockCyclic::<3>(block)),
        (Form::Tiles, 3, 3) => made::<T, _, 3>(g, layout, Tiles([x, y, z])),
        (Form::Block, 4, 3) => made::<T, _, 4>(g, layout, Block::<3>),
        (Form::Tiles, 5, 2) => made::<T, _, 5>(g, layout, Tiles([x, y])),
        other => panic!("{other:?} is not among the frames"),
    }
}

/// The arrays of a program.
struct Arrays(Box<dyn Held<u64>>, Box<dyn Held<f64>>, Box<dyn Held<i32>>, Box<dyn Held<Pair>>);

impl Arrays {
    fn new(g: &mut Group, layouts: &[Layout; 4]) -> Self {
        Self(make(g, &layouts[0]), make(g, &layouts[1]), make(g, &layouts[2]), make(g, &layouts[3]))
    }

    fn owned(&self) -> [Vec<u64>; 4] {
        [self.0.owned(), self.1.owned(), self.2.owned(), self.3.owned()]
    }
}

/// What each processor does in each step, and to which array.
type Deeds = Vec<Vec<Vec<(usize, Deed)>>>;

/// What a processor is told in each step about each array, and what the arrays hold in the end.
#[derive(Debug, PartialEq)]
struct Trace(Vec<[Told; 4]>, [Vec<u64>; 4]);

fn bits<T: Kind>(values: Vec<T>) -> Vec<u64> {
    values.into_iter().map(T::bits).collect()
}

/// Lives through a program as one of its processors.
fn run(g: &mut Group, layouts: &[Layout; 4], steps: &Deeds) -> Trace {
    let (arrays, me) = (Arrays::new(g, layouts), g.rank());
    let mut trace = Vec::new();
    for deeds in steps {
        let (a, b, c, d, before) = g.step(|s| {
            let (mut a, mut b, mut c, mut d) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for (array, deed) in &deeds[me] {
                match array {
                    0 => a.extend(arrays.0.perform(s, deed)),
                    1 => b.extend(arrays.1.perform(s, deed)),
                    2 => c.extend(arrays.2.perform(s, deed)),
                    _ => d.extend(arrays.3.perform(s, deed)),
                }
            }
            (a, b, c, d, Local(arrays.owned()))
        });
        let reads = [
            a.into_iter().map(bits).collect::<Vec<_>>(),
            b.into_iter().map(bits).collect(),
            c.into_iter().map(bits).collect(),
            d.into_iter().map(bits).collect(),
        ];
        let told = reads.into_iter().zip(before).zip(arrays.owned());
        let told: Vec<Told> = told.map(|((reads, before), after)| Told { reads, before, after }).collect();
        trace.push(told.try_into().expect("one for each of four arrays"));
    }
    let (a, b, c, d) = g.step(|s| {
        let how = me % 2 == 0;
        let (a, b) = (arrays.0.everything(s, how), arrays.1.everything(s, !how));
        (a, b, arrays.2.everything(s, how), arrays.3.everything(s, !how))
    });
    Trace(trace, [bits(a), bits(b), bits(c), bits(d)])
}

/// What the model says that each processor is told.
fn expected(procs: usize, layouts: &[Layout; 4], steps: &Deeds) -> Vec<Trace> {
    let of = |array: usize| -> Vec<Vec<Vec<Deed>>> {
        let mine = |deeds: &Vec<(usize, Deed)>| {
            deeds.iter().filter(|(which, _)| *which == array).map(|(_, deed)| deed.clone()).collect()
        };
        steps.iter().map(|deeds| deeds.iter().map(mine).collect()).collect()
    };
    let lives = [
        live::<u64>(&layouts[0], &of(0)),
        live::<f64>(&layouts[1], &of(1)),
        live::<i32>(&layouts[2], &of(2)),
        live::<Pair>(&layouts[3], &of(3)),
    ];
    let told = |rank: usize, step: usize| [0, 1, 2, 3].map(|array| lives[array].0[step][rank].clone());
    let trace = |rank: usize| {
        let told = (0..steps.len()).map(|step| told(rank, step)).collect();
        Trace(told, [0, 1, 2, 3].map(|array| lives[array].1.clone()))
    };
    (0..procs).map(trace).collect()
}

/// The first thing in which what processors were told differs from what the model says, in words.
fn difference(found: &[Trace], expected: &[Trace], layouts: &[Layout; 4], steps: &Deeds) -> Option<String> {
    for (step, deeds) in steps.iter().enumerate() {
        for (array, layout) in layouts.iter().enumerate() {
            for (rank, (found, expected)) in found.iter().zip(expected).enumerate() {
                let (found, expected) = (&found.0[step][array], &expected.0[step][array]);
                if found != expected {
                    let mine = |deeds: &Vec<(usize, Deed)>| {
                        deeds.iter().filter(|(which, _)| *which == array).map(|(_, deed)| deed.clone()).collect()
                    };
                    let deeds: Vec<Vec<Deed>> = deeds.iter().map(mine).collect();
                    return Some(format!(
                        "step {step}, array {array}, rank {rank}: {found:?}, and the model says {expected:?}\n\
                         where it lies: {layout:?}\nwhat each did to it: {deeds:?}"
                    ));
                }
            }
        }
    }
    (found != expected).then(|| format!("in the end: {found:?}, and the model says {expected:?}"))
}

/// What each processor does in a step.
fn plans() -> impl Strategy<Value = Vec<Vec<Raw>>> {
    let raw = (0u8..11, 0u8..4, any::<[u8; 12]>()).prop_map(|(deed, array, numbers)| Raw(deed, array, numbers));
    vec(vec(raw, 0..7), PROCS_MAX)
}

proptest! {
    #![proptest_config(programs(500))]

    #[test]
    fn every_processor_sees_of_arrays_what_the_model_says(
        procs in 1..=PROCS_MAX,
        raw in any::<[[u8; 24]; 4]>(),
        steps in vec(plans(), 1..7),
        seed in any::<u64>(),
    ) {
        let layouts = raw.map(|raw| Layout::new(&FRAMES, &raw, procs));
        let deeds = |raws: &Vec<Raw>, me: usize| -> Vec<(usize, Deed)> {
            let deed = |raw: &Raw| {
                let array = usize::from(raw.1);
                Some((array, deed(raw, &layouts[array], me)?))
            };
            raws.iter().filter_map(deed).collect()
        };
        let steps: Deeds =
            steps.iter().map(|plans| (0..procs).map(|me| deeds(&plans[me], me)).collect()).collect();
        let expected = expected(procs, &layouts, &steps);
        let fabrics = [
            Fabric::Threads,
            Fabric::Sim { seed, shares_memory: false },
            Fabric::Sim { seed, shares_memory: true },
        ];
        for fabric in fabrics {
            let traces = Config::new().procs(procs).fabric(fabric).run_all(|g| Local(run(g, &layouts, &steps)));
            let difference = difference(&traces.unwrap(), &expected, &layouts, &steps);
            prop_assert_eq!(difference, None, "{:?}", fabric);
        }
    }
}
