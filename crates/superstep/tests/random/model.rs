//! A sequential model of the rules: what each group holds, and one function that is the boundary.
//!
//! It knows nothing of the library. A program is a tree of [`Block`]s of raw numbers; [`act`] says what each of them
//! means for a processor, and both sides ask it.

use std::{collections::BTreeMap, ops::Range};

/// A raw instruction; [`act`] makes sense of it.
#[derive(Clone, Debug)]
pub(crate) struct Op(pub(crate) u8, pub(crate) [u8; 5]);

/// What one processor does in one step.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) ops: Vec<Op>,
    pub(crate) value: u8,
}

/// How a group splits.
#[derive(Clone, Debug)]
pub(crate) struct How {
    pub(crate) form: u8,
    pub(crate) count: usize,
    pub(crate) weights: Vec<f64>,
    pub(crate) choices: Vec<Option<usize>>,
}

/// One thing that a group does together. Plans are by the processors' ranks in the root group.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// A step, perhaps with another operator for the first variable, perhaps with its prefix.
    Step { plans: Vec<Plan>, replaces: bool, prefixes: bool },
    /// Subgroups, each of which does the block.
    Split(How, Block),
}

/// What a group does in its life: it makes two areas of these lengths, four variables and a queue, and goes on.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) lens: Vec<[usize; 2]>,
    pub(crate) stages: Vec<Stage>,
}

/// An instruction that means something.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Put { to: usize, area: usize, at: usize, values: Vec<u16>, is_given: bool },
    MoveOut { source: usize, range: Range<usize>, to: usize, area: usize, at: usize },
    MoveIn { from: usize, area: usize, range: Range<usize>, into: usize, at: usize },
    Get { from: usize, area: usize, range: Range<usize> },
    Send { to: usize, tag: u8, text: String },
    Write { level: usize, variable: usize, value: u8 },
    Own { area: usize, at: usize, value: u16 },
}

/// What an instruction means for rank `me` of `size`, where parts have these lengths and there are so many groups.
pub(crate) fn act(op: &Op, me: usize, size: usize, len: &dyn Fn(usize, usize) -> usize, groups: usize) -> Option<Act> {
    let n = op.1.map(usize::from);
    let (other, area, into) = (n[0] % size, n[1] % 2, n[1] / 2 % 2);
    let section = |rank: usize, area: usize, count: usize| {
        let start = n[2] % (len(rank, area) + 1);
        start..start + count.min(len(rank, area) - start)
    };
    // What fits both where it comes from and where it goes.
    let fit = |from: (usize, usize), to: (usize, usize)| {
        let at = n[3] % (len(to.0, to.1) + 1);
        (section(from.0, from.1, (n[4] % 4).min(len(to.0, to.1) - at)), at)
    };
    Some(match op.0 {
        0 | 1 => {
            let at = n[2] % (len(other, area) + 1);
            let count = (n[4] % 4).min(len(other, area) - at);
            let values = (0..count).map(|more| (n[3] * 10 + more) as u16).collect();
            Act::Put { to: other, area, at, values, is_given: op.0 == 1 }
        }
        2 => {
            let (range, at) = fit((me, area), (other, into));
            Act::MoveOut { source: area, range, to: other, area: into, at }
        }
        3 => {
            let (range, at) = fit((other, area), (me, into));
            Act::MoveIn { from: other, area, range, into, at }
        }
        4 => Act::Get { from: other, area, range: section(other, area, n[4] % 4) },
        5 => Act::Send { to: other, tag: op.1[1], text: "m".repeat(n[2] % 3) },
        6 => Act::Write { level: n[0] % groups, variable: n[1] % 4, value: op.1[2] },
        _ if len(me, area) > 0 => Act::Own { area, at: n[2] % len(me, area), value: 1000 + n[3] as u16 },
        _ => return None,
    })
}

/// The variables of a group: a sum, a text that grows, one that anybody may set, and one that the leader sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values(pub(crate) u64, pub(crate) String, pub(crate) u32, pub(crate) u32);

impl Values {
    /// Writes one of them.
    pub(crate) fn write(&mut self, variable: usize, value: u8) {
        match variable {
            0 => self.0 = u64::from(value),
            1 => self.1 = format!("<{value}>"),
            2 => self.2 = u32::from(value),
            _ => self.3 = u32::from(value),
        }
    }
}

/// A group and what it holds; everything is by rank.
struct Held {
    /// The members, by their ranks in the root group.
    members: Vec<usize>,
    areas: Vec<[Vec<u16>; 2]>,
    agreed: Values,
    copies: Vec<Values>,
    written: Vec<[bool; 4]>,
}

impl Held {
    fn rank(&self, processor: usize) -> usize {
        self.members.iter().position(|&member| member == processor).expect("it is a member")
    }

    /// R2: combines what was written, and lets every copy have it.
    fn combine(&mut self, replaces: bool) {
        let (size, written) = (self.members.len(), &self.written);
        let wrote = |variable: usize| (0..size).filter(move |&rank| written[rank][variable]);
        let mut agreed = self.agreed.clone();
        if wrote(0).count() > 0 {
            let all = wrote(0).map(|rank| self.copies[rank].0);
            agreed.0 = if replaces { all.max().unwrap_or(0) } else { all.sum() };
        }
        if wrote(1).count() > 0 {
            agreed.1 = wrote(1).map(|rank| self.copies[rank].1.as_str()).collect();
        }
        if let Some(rank) = wrote(2).next() {
            agreed.2 = self.copies[rank].2;
        }
        if wrote(3).any(|rank| rank == 0) {
            agreed.3 = self.copies[0].3;
        }
        self.copies.fill(agreed.clone());
        self.written.fill([false; 4]);
        self.agreed = agreed;
    }
}

/// What a step tells one processor, as one line.
#[derive(Debug)]
#[allow(dead_code, reason = "it is read as text")]
pub(crate) struct Told<'a> {
    pub(crate) got: &'a [Vec<u16>],
    pub(crate) sum: u64,
    pub(crate) below: u64,
    pub(crate) upto: &'a str,
    pub(crate) all: &'a [u8],
    pub(crate) float: u64,
    pub(crate) prefix: Option<u64>,
    pub(crate) messages: &'a [(u8, String)],
    pub(crate) areas: [&'a [u16]; 2],
    pub(crate) values: &'a [Values],
}

/// The number that a processor puts into a sum of floats.
pub(crate) fn float(value: u8) -> f64 {
    (f64::from(value) - 100.3) * 10f64.powi(i32::from(value % 7) - 3)
}

/// A sum in the one grouping that there is: cut at the largest power of two below the size.
fn bracketed(values: &[f64]) -> f64 {
    let [one] = values else {
        let (left, right) = values.split_at(1 << (values.len() - 1).ilog2());
        return bracketed(left) + bracketed(right);
    };
    *one
}

/// Who joins which subgroup, as ranks, lowest number first (G2 to G4).
fn parts(how: &How, members: &[usize]) -> Vec<(usize, Vec<usize>)> {
    let size = members.len();
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    match how.form {
        1 if how.count > size => parts.extend((0..how.count).map(|id| (id, vec![id % size]))),
        0 | 1 => (0..size).for_each(|rank| parts.entry(rank % how.count).or_default().push(rank)),
        2 => {
            let sizes = share(&how.weights, size);
            let mut first = 0;
            for (id, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
                parts.insert(id, (first..first + size).collect());
                first += size;
            }
        }
        _ => {
            for (rank, &member) in members.iter().enumerate() {
                if let Some(choice) = how.choices[member].filter(|&choice| choice < how.count) {
                    parts.entry(choice).or_default().push(rank);
                }
            }
        }
    }
    parts.into_iter().collect()
}

/// G3, by trying: gives one processor to each that runs, and each further one to whoever lacks most. Weights are small
/// multiples of a half, so that all of this is exact.
fn share(weights: &[f64], processors: usize) -> Vec<usize> {
    let halves: Vec<i64> = weights.iter().map(|weight| (weight * 2.0) as i64).collect();
    let mut runs: Vec<usize> = (0..weights.len()).filter(|&at| halves[at] > 0).collect();
    runs.sort_by_key(|&at| (-halves[at], at));
    runs.truncate(processors);
    runs.sort_unstable();
    let sum: i64 = runs.iter().map(|&at| halves[at]).sum();
    let mut sizes = vec![0; weights.len()];
    for &at in &runs {
        sizes[at] = 1;
    }
    for _ in runs.len()..if runs.is_empty() { 0 } else { processors } {
        let lack = |at: usize| processors as i64 * halves[at] - sizes[at] as i64 * sum;
        let most = runs.iter().copied().max_by_key(|&at| (lack(at), std::cmp::Reverse(at)));
        sizes[most.expect("somebody runs")] += 1;
    }
    sizes
}

/// Lets a group live through `block` and writes down what each processor is told. `outer` are the groups above.
fn live(block: &Block, members: Vec<usize>, id: usize, outer: &mut Vec<Held>, traces: &mut [Vec<String>]) {
    let size = members.len();
    for (rank, &member) in members.iter().enumerate() {
        traces[member].push(format!("group {id}: {rank} of {size}"));
    }
    outer.push(Held {
        areas: members.iter().map(|&member| block.lens[member].map(|len| vec![0; len])).collect(),
        agreed: Values::default(),
        copies: vec![Values::default(); size],
        written: vec![[false; 4]; size],
        members,
    });
    for stage in &block.stages {
        match stage {
            Stage::Step { plans, replaces, prefixes } => boundary(plans, (*replaces, *prefixes), outer, traces),
            Stage::Split(how, inner) => {
                let members = outer.last().expect("it was pushed").members.clone();
                for (id, ranks) in parts(how, &members) {
                    live(inner, ranks.iter().map(|&rank| members[rank]).collect(), id, outer, traces);
                }
                outer.last_mut().expect("it is still there").combine(false);
            }
        }
    }
    outer.pop();
}

/// One step of the innermost group, in the order of S2.
fn boundary(plans: &[Plan], (replaces, prefixes): (bool, bool), outer: &mut [Held], traces: &mut [Vec<String>]) {
    let groups = outer.len();
    let held = outer.last().expect("a group steps");
    let (members, size) = (held.members.clone(), held.members.len());
    let len = |rank: usize, area: usize| held.areas[rank][area].len();
    let acts: Vec<Vec<Act>> = (0..size)
        .map(|rank| plans[members[rank]].ops.iter().filter_map(|op| act(op, rank, size, &len, groups)).collect())
        .collect();
    let all = || acts.iter().enumerate().flat_map(|(rank, acts)| acts.iter().map(move |act| (rank, act)));

    for (rank, act) in all() {
        match act {
            Act::Own { area, at, value } => outer[groups - 1].areas[rank][*area][*at] = *value,
            Act::Write { level, variable, value } => {
                let group = &mut outer[groups - 1 - level];
                let rank = group.rank(members[rank]);
                group.copies[rank].write(*variable, *value);
                group.written[rank][*variable] = true;
            }
            _ => {}
        }
    }
    let held = &mut outer[groups - 1];
    let before = held.areas.clone();
    let mut got = vec![Vec::new(); size];
    for (rank, act) in all() {
        if let Act::Get { from, area, range } = act {
            got[rank].push(before[*from][*area][range.clone()].to_vec());
        }
    }
    let mut place = |rank: usize, area: usize, at: usize, values: &[u16]| {
        held.areas[rank][area][at..at + values.len()].copy_from_slice(values);
    };
    for (rank, act) in all() {
        if let Act::MoveIn { from, area, range, into, at } = act {
            place(rank, *into, *at, &before[*from][*area][range.clone()]);
        }
    }
    for (rank, act) in all() {
        if let Act::MoveOut { source, range, to, area, at } = act {
            place(*to, *area, *at, &before[rank][*source][range.clone()]);
        }
    }
    let mut messages = vec![Vec::new(); size];
    for (_, act) in all() {
        match act {
            Act::Put { to, area, at, values, .. } => place(*to, *area, *at, values),
            Act::Send { to, tag, text } => messages[*to].push((*tag, text.clone())),
            _ => {}
        }
    }
    let below_of =
        |rank: usize| (0..rank).filter(|&below| held.written[below][0]).map(|below| held.copies[below].0).sum();
    let prefix: Vec<u64> = (0..size).map(below_of).collect();
    held.combine(replaces);

    let values: Vec<u8> = members.iter().map(|&member| plans[member].value).collect();
    let sum = bracketed(&values.iter().map(|&value| float(value)).collect::<Vec<_>>());
    let held = &outer[groups - 1];
    for rank in 0..size {
        let told = Told {
            got: &got[rank],
            sum: values.iter().map(|&value| u64::from(value)).sum(),
            below: values[..rank].iter().map(|&value| u64::from(value)).sum(),
            upto: &values[..=rank].iter().map(|value| format!("{value},")).collect::<String>(),
            all: &values,
            float: sum.to_bits(),
            prefix: prefixes.then_some(prefix[rank]),
            messages: &messages[rank],
            areas: [&held.areas[rank][0], &held.areas[rank][1]],
            values: &outer.iter().map(|held| held.copies[held.rank(members[rank])].clone()).collect::<Vec<_>>(),
        };
        traces[members[rank]].push(format!("{told:?}"));
    }
}

/// What each of `procs` processors is told by a program.
pub(crate) fn expected(block: &Block, procs: usize) -> Vec<Vec<String>> {
    let mut traces = vec![Vec::new(); procs];
    live(block, (0..procs).collect(), 0, &mut Vec::new(), &mut traces);
    traces
}
