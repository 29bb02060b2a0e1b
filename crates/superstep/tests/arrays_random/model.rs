//! A sequential model of arrays: one vector each, and one function that is the boundary.
//!
//! It knows nothing of the library. A program is raw numbers; [`Layout::new`] and [`deed`] say what they mean, and both
//! sides ask them. Arrays have nothing to do with each other, so each is lived through alone.

use bytemuck::{Pod, Zeroable};

/// What an array holds.
pub(crate) trait Kind: Copy + Default {
    /// What an update does that names no operator.
    const DECLARED: Op;

    /// A value for a number.
    fn of(number: u64) -> Self;

    fn add(&mut self, with: &Self);

    /// Combines so that every difference in order shows.
    fn note(&mut self, with: &Self);

    /// All its bits.
    fn bits(self) -> u64;
}

impl Kind for u64 {
    const DECLARED: Op = Op::Add;
    fn of(number: u64) -> Self {
        number << 58 | number
    }
    fn add(&mut self, with: &Self) {
        *self = self.wrapping_add(*with);
    }
    fn note(&mut self, with: &Self) {
        *self = self.wrapping_mul(31).wrapping_add(*with);
    }
    fn bits(self) -> u64 {
        self
    }
}

impl Kind for f64 {
    const DECLARED: Op = Op::Add;
    fn of(number: u64) -> Self {
        (number as f64 - 100.3) * 10f64.powi((number % 17) as i32 - 8)
    }
    fn add(&mut self, with: &Self) {
        *self += *with;
    }
    fn note(&mut self, with: &Self) {
        *self = *self * 0.3 - *with;
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Kind for i32 {
    const DECLARED: Op = Op::Note;
    fn of(number: u64) -> Self {
        number as i32 - 120
    }
    fn add(&mut self, with: &Self) {
        *self = self.wrapping_add(*with);
    }
    fn note(&mut self, with: &Self) {
        *self = self.wrapping_mul(7).wrapping_sub(*with);
    }
    fn bits(self) -> u64 {
        u64::from(self as u32)
    }
}

/// A struct as an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct Pair {
    pub(crate) a: u32,
    pub(crate) b: [u16; 2],
}

impl Kind for Pair {
    const DECLARED: Op = Op::Any;
    fn of(number: u64) -> Self {
        Self { a: number as u32 * 3, b: [number as u16, 7] }
    }
    fn add(&mut self, with: &Self) {
        self.a = self.a.wrapping_add(with.a);
        self.b[1] = self.b[1].wrapping_add(with.b[1]);
    }
    fn note(&mut self, with: &Self) {
        *self = Self { a: self.a ^ with.a.rotate_left(self.a % 32), b: [with.b[1], self.b[0]] };
    }
    fn bits(self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b[0]) << 16 | u64::from(self.b[1])
    }
}

/// How a write meets others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Any,
    Leader,
    Add,
    Note,
}

/// How an array lies over its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Block,
    Cyclic,
    BlockCyclic,
    Irregular,
    Tiles,
}

/// A form, how many dimensions there are and how many of them are distributed.
pub(crate) type Frame = (Form, usize, usize);

/// What there is to know about an array.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) frame: Frame,
    pub(crate) shape: Vec<usize>,
    /// The length of blocks.
    pub(crate) block: usize,
    /// The extents of tiles.
    pub(crate) tile: [usize; 3],
    /// The sizes of irregular parts.
    pub(crate) sizes: Vec<usize>,
    /// Who owns each element.
    pub(crate) owners: Vec<usize>,
}

impl Layout {
    /// Makes sense of raw numbers, for a group of `procs`.
    pub(crate) fn new(frames: &[Frame], raw: &[u8; 24], procs: usize) -> Self {
        let n = raw.map(usize::from);
        let frame = frames[n[0] % frames.len()];
        // So that there are a few dozen elements, and rarely none.
        let extents = [41, 9, 6, 4, 4][frame.1 - 1];
        let shape: Vec<usize> = n[1..=frame.1].iter().map(|n| n % extents + usize::from(n % 7 > 0)).collect();
        let mut cuts: Vec<usize> = (1..procs).map(|at| n[8 + at] % (shape[0] + 1)).collect();
        cuts.extend([0, shape[0]]);
        cuts.sort_unstable();
        let mut layout = Self {
            frame,
            block: n[6] % 5 + 1,
            tile: [n[6] % 3 + 1, n[7] % 4 + 1, n[8] % 3 + 1],
            sizes: cuts.windows(2).map(|cut| cut[1] - cut[0]).collect(),
            owners: Vec::new(),
            shape,
        };
        layout.owners = (0..layout.len()).map(|index| layout.owner(index, procs)).collect();
        layout
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// A1 and A2.
    fn owner(&self, index: usize, procs: usize) -> usize {
        let (form, _, distributed) = self.frame;
        let (outer, inner) = self.shape.split_at(distributed);
        let (units, unit) = (outer.iter().product::<usize>(), index / inner.iter().product::<usize>());
        match form {
            Form::Block => unit / units.div_ceil(procs),
            Form::Cyclic => unit % procs,
            Form::BlockCyclic => unit / self.block % procs,
            Form::Irregular => (0..procs).find(|&rank| unit < self.sizes[..=rank].iter().sum()).expect("they add up"),
            Form::Tiles => {
                let (mut rest, mut number, mut weight) = (unit, 0, 1);
                for (extent, tile) in outer.iter().zip(&self.tile).rev() {
                    number += rest % extent / tile * weight;
                    weight *= extent.div_ceil(*tile);
                    rest /= extent;
                }
                number % procs
            }
        }
    }
}

/// A raw instruction: what to do, to which array, and how.
#[derive(Clone, Debug)]
pub(crate) struct Raw(pub(crate) u8, pub(crate) u8, pub(crate) [u8; 12]);

/// Where a section begins and ends in one dimension, and its stride; nowhere if it is empty.
pub(crate) type Range = Option<(usize, usize, isize)>;

/// Elements with a value for each, one after another from this number on.
#[derive(Clone, Debug)]
pub(crate) struct Writes {
    pub(crate) at: Vec<usize>,
    pub(crate) number: u64,
    pub(crate) op: Op,
}

/// An instruction that means something.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// With the array's own operator, or with another.
    Update {
        section: Vec<Range>,
        number: u64,
        op: Option<Op>,
    },
    Scatter(Writes),
    /// One value for all.
    One(Writes),
    /// Two builders that are open at once; the second is dropped first.
    Builders(Writes, Writes),
    OneBuilder(Writes),
    Mirror(Vec<Range>),
    Gather(Vec<usize>),
    GatherBuilder(Vec<usize>),
    /// Sets an element that one owns.
    Own {
        index: usize,
        number: u64,
    },
    /// Adds to each element of a section that one owns.
    Forall {
        section: Vec<Range>,
        number: u64,
    },
}

/// What an instruction means for `me`.
pub(crate) fn deed(raw: &Raw, layout: &Layout, me: usize) -> Option<Deed> {
    let n = raw.2.map(usize::from);
    let (len, number) = (layout.len(), u64::from(raw.2[0]));
    let op = [Op::Any, Op::Leader, Op::Add, Op::Note, Op::Any, Op::Add, Op::Note][n[1] % 7];
    // Few or many, some of them several times.
    let count = if len == 0 { 0 } else { [0, 1, 2, 5, 9, 70][n[2] % 6] };
    let list = |salt: usize| (0..count).map(|i| (n[3] + salt + i * (n[4] + i % 3)) % len).collect::<Vec<_>>();
    let writes = |salt: usize, op: Op| Writes { at: list(salt), number: number + salt as u64, op };
    let section = || layout.shape.iter().enumerate().map(|(at, &extent)| range(extent, n[5 + at], n[6 + at])).collect();
    Some(match raw.0 {
        0 | 1 => Deed::Update { section: section(), number, op: (raw.0 == 1).then_some(op) },
        2 => Deed::Scatter(writes(0, op)),
        3 => Deed::One(writes(0, op)),
        4 => Deed::Builders(writes(0, op), writes(5, if n[5] % 2 == 0 { op } else { Op::Note })),
        5 => Deed::OneBuilder(writes(0, op)),
        6 => Deed::Mirror(section()),
        7 => Deed::Gather(list(0)),
        8 => Deed::GatherBuilder(list(0)),
        9 => {
            let owned: Vec<usize> = (0..len).filter(|&index| layout.owners[index] == me).collect();
            Deed::Own { index: *owned.get(n[3] % owned.len().max(1))?, number }
        }
        _ => Deed::Forall { section: section(), number },
    })
}

/// A range of `extent` indices: all of it one time in three, else with a stride of either sign.
fn range(extent: usize, a: usize, b: usize) -> Range {
    let last = extent.checked_sub(1)?;
    if a.is_multiple_of(3) {
        return Some((0, last, 1));
    }
    let (low, high) = (a % extent, a % extent + b % (extent - a % extent));
    let by = (b / 16 % 4 + 1) as isize;
    if a % 19 == 1 { None } else { Some(if a.is_multiple_of(2) { (low, high, by) } else { (high, low, -by) }) }
}

/// The indices of a range, in its order.
fn indices(range: &Range) -> Vec<usize> {
    match *range {
        None => Vec::new(),
        Some((from, to, by)) if by > 0 => (from..=to).step_by(by as usize).collect(),
        Some((from, to, by)) => (to..=from).rev().step_by(by.unsigned_abs()).collect(),
    }
}

/// How many elements a section has.
pub(crate) fn count(section: &[Range]) -> usize {
    section.iter().map(|range| indices(range).len()).product()
}

/// The elements of a section, in its order.
fn elements(layout: &Layout, section: &[Range]) -> Vec<usize> {
    let mut found = vec![0];
    for (extent, range) in layout.shape.iter().zip(section) {
        let indices = indices(range);
        found = found.iter().flat_map(|index| indices.iter().map(move |more| index * extent + more)).collect();
    }
    found
}

/// What a step tells one processor about one array, as bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    /// What it has read, in the order of asking.
    pub(crate) reads: Vec<Vec<u64>>,
    /// What it owns when its body ends.
    pub(crate) before: Vec<u64>,
    /// What it owns after the boundary.
    pub(crate) after: Vec<u64>,
}

/// Lives through the steps of an array, in which each processor does its deeds. Tells what each of them is told in each
/// step, and what the array holds at the end.
pub(crate) fn live<T: Kind>(layout: &Layout, steps: &[Vec<Vec<Deed>>]) -> (Vec<Vec<Told>>, Vec<u64>) {
    let mut values = vec![T::default(); layout.len()];
    let told = steps.iter().map(|deeds| boundary(layout, &mut values, deeds)).collect();
    (told, values.into_iter().map(T::bits).collect())
}

/// One step, by rank.
fn boundary<T: Kind>(layout: &Layout, values: &mut [T], deeds: &[Vec<Deed>]) -> Vec<Told> {
    let mut told = vec![Told::default(); deeds.len()];
    let owned = |values: &[T], rank: usize| -> Vec<u64> {
        values.iter().zip(&layout.owners).filter(|(_, owner)| **owner == rank).map(|(value, _)| value.bits()).collect()
    };
    // S1: what one owns changes at once, and nothing else does.
    for (rank, deed) in deeds.iter().enumerate().flat_map(|(rank, deeds)| deeds.iter().map(move |deed| (rank, deed))) {
        match deed {
            Deed::Own { index, number } => values[*index] = T::of(*number),
            Deed::Forall { section, number } => elements(layout, section)
                .into_iter()
                .filter(|&index| layout.owners[index] == rank)
                .for_each(|index| values[index].note(&T::of(*number + index as u64))),
            _ => {}
        }
    }
    for (rank, told) in told.iter_mut().enumerate() {
        told.before = owned(values, rank);
    }
    // S3: assignments first, so that the last one of the lowest rank stands; then the rest, by rank and order of issue.
    let writes: Vec<Vec<(usize, T, Op)>> = deeds.iter().map(|deeds| written(layout, deeds)).collect();
    for &(index, value, _) in writes.iter().rev().flatten().filter(|write| matches!(write.2, Op::Any)) {
        values[index] = value;
    }
    for &(index, value, _) in writes[0].iter().filter(|write| write.2 == Op::Leader || write.2 == Op::Any) {
        values[index] = value;
    }
    for (index, value, op) in writes.iter().flatten() {
        match op {
            Op::Add => values[*index].add(value),
            Op::Note => values[*index].note(value),
            Op::Any | Op::Leader => {}
        }
    }
    // S2: reads see all of this.
    for (rank, told) in told.iter_mut().enumerate() {
        told.after = owned(values, rank);
        told.reads = deeds[rank]
            .iter()
            .filter_map(|deed| match deed {
                Deed::Mirror(section) => Some(elements(layout, section)),
                Deed::Gather(at) | Deed::GatherBuilder(at) => Some(at.clone()),
                _ => None,
            })
            .map(|at| at.into_iter().map(|index| values[index].bits()).collect())
            .collect();
    }
    told
}

/// What a processor writes in a step, in the order of issue.
fn written<T: Kind>(layout: &Layout, deeds: &[Deed]) -> Vec<(usize, T, Op)> {
    let mut written = Vec::new();
    let mut each = |at: &[usize], number: u64, op: Op| {
        written.extend(at.iter().zip(number..).map(|(&index, number)| (index, T::of(number), op)));
    };
    for deed in deeds {
        match deed {
            Deed::Update { section, number, op } => {
                each(&elements(layout, section), *number, op.unwrap_or(T::DECLARED));
            }
            Deed::Scatter(Writes { at, number, op }) => each(at, *number, *op),
            Deed::Builders(first, second) => {
                each(&second.at, second.number, second.op);
                each(&first.at, first.number, first.op);
            }
            Deed::One(Writes { at, number, op }) | Deed::OneBuilder(Writes { at, number, op }) => {
                for &index in at {
                    each(&[index], *number, *op);
                }
            }
            _ => {}
        }
    }
    written
}
