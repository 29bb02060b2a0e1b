//! The boundary of a step: the one function that says what happens when (S1 to S3).

use crate::{
    conflict,
    layout::{elements, indices},
    model::{Array, Group, Model, Variable},
    program::{Act, Call, Deed, Fault, Step, Writes},
    told::Told,
    value::{Op, Value, Write, below, total, up_to},
};

/// The kind of the error of calls that get in each other's way.
const CONFLICT: &str = "Conflict";

/// Each rank's copy of a variable, and whether it was written.
type Copies = (Vec<Value>, Vec<bool>);

impl Model {
    /// Closes a step of the group at hand.
    pub(crate) fn boundary(&mut self, step: &Step) {
        let stays = self.group().stays();
        let before = self.outer_copies();
        self.act_at_once(step, &stays);
        for &rank in &stays {
            self.tell_own(self.group().members[rank]);
            self.tell_refusals(step, rank);
        }
        let has_conflict = self.watches && self.has_conflict(step, &stays);
        self.found_conflict |= has_conflict;
        let why = match step.fault {
            // Both are seen by owners, and the lowest of these is heard.
            Some(fault @ Fault::ElementOverflows { .. }) if has_conflict => {
                Some(format!("{} or {CONFLICT}", fault.kind()))
            }
            Some(fault) => Some(fault.kind().to_owned()),
            None => has_conflict.then(|| CONFLICT.to_owned()),
        };
        if let Some(kind) = why {
            self.fail(&kind, &stays, before);
            return;
        }
        // (b) Gets read their sources.
        let group = self.group_mut();
        let got: Vec<Vec<Told>> = stays.iter().map(|&rank| gets(group, step, rank)).collect();
        // (c) Puts, updates and combines are committed.
        let messages = transfer(group, step, &stays);
        let prefixes = prefixes(group, step);
        let all: Vec<Vec<Vec<Write>>> =
            (0..group.arrays.len()).map(|number| all_writes(group, step, number, &stays)).collect();
        for (number, writes) in all.iter().enumerate() {
            group.commit(number, writes);
        }
        for (number, variable) in group.variables.iter_mut().enumerate() {
            let instead = step.calls.iter().find_map(|call| match call {
                Call::Combine { variable, op } | Call::CombinePrefix { variable, op } if *variable == number => {
                    Some(*op)
                }
                _ => None,
            });
            variable.combine(instead.unwrap_or(variable.op));
        }
        // (d) Mirrors and gathers read the committed arrays.
        let mut told: Vec<Vec<Told>> = Vec::new();
        for (&rank, got) in stays.iter().zip(got) {
            let read = reads(group, step, rank);
            // In the order of asking, whatever was asked for.
            let (mut got, mut read) = (got.into_iter(), read.into_iter());
            let mut mine: Vec<Told> = step.plans[rank]
                .acts
                .iter()
                .filter_map(|act| match act {
                    Act::Get { .. } => got.next(),
                    Act::Array { deed: Deed::Mirror(_) | Deed::Gather(_) | Deed::GatherBuilder(_), .. } => read.next(),
                    _ => None,
                })
                .collect();
            mine.extend(step.calls.iter().zip(&prefixes).filter_map(|(call, prefix)| {
                prefix
                    .as_ref()
                    .map(|prefix| Told::Value(prefix[rank].clone()))
                    .or_else(|| outcome(group, call, &stays, rank))
            }));
            mine.extend(messages[rank].iter().cloned().map(Told::Messages));
            told.push(mine);
        }
        // (e) Leavings take effect, and all of this is told.
        let processors: Vec<usize> = stays.iter().map(|&rank| group.members[rank]).collect();
        group.close();
        for (processor, mine) in processors.into_iter().zip(told) {
            for told in mine {
                self.tell(processor, told);
            }
        }
        self.tell_place();
        self.tell_state();
    }

    /// Whether calls of the step get in each other's way.
    fn has_conflict(&self, step: &Step, stays: &[usize]) -> bool {
        let group = self.group();
        let in_array = |number: usize| conflict::in_writes(group, number, &all_writes(group, step, number, stays));
        conflict::in_areas(step, stays) || (0..group.arrays.len()).any(in_array)
    }

    /// S1: a processor's own copies and parts change at once, and nothing else does. What was done to parts in a step
    /// that unwound stays done; copies of variables go back.
    fn act_at_once(&mut self, step: &Step, stays: &[usize]) {
        let (depth, members) = (self.groups.len() - 1, self.group().members.clone());
        for &rank in stays {
            let (plan, me) = (&step.plans[rank], members[rank]);
            for act in plan.acts.iter().cycle().take(plan.acts.len() * (1 + usize::from(plan.abandons))) {
                match act {
                    Act::Own { area, at, value } => self.groups[depth].areas[*area][rank][*at] = *value,
                    Act::Write { level, variable, value } => {
                        let group = &mut self.groups[depth - level];
                        let rank = group.rank(me);
                        group.variables[*variable].copies[rank] = value.clone();
                        group.variables[*variable].written[rank] = true;
                    }
                    Act::Array { array, deed } => own(&mut self.groups[depth].arrays[*array], me, deed),
                    _ => {}
                }
            }
        }
    }

    /// The copies of variables of the groups above, and who has written to them.
    fn outer_copies(&self) -> Vec<Copies> {
        let above = &self.groups[..self.groups.len() - 1];
        let copies = |variable: &Variable| (variable.copies.clone(), variable.written.clone());
        above.iter().flat_map(|group| group.variables.iter().map(copies)).collect()
    }

    /// X2 and X6: the step fails for all, and of what it registered nothing has taken effect. Copies of variables of
    /// the groups above are what they were before it.
    fn fail(&mut self, kind: &str, stays: &[usize], before: Vec<Copies>) {
        for &rank in stays {
            let processor = self.group().members[rank];
            self.tell(processor, Told::Failed(kind.to_owned()));
        }
        let outer = self.groups.len() - 1;
        let above = self.groups[..outer].iter_mut().flat_map(|group| &mut group.variables);
        for (variable, (copies, written)) in above.zip(before) {
            (variable.copies, variable.written) = (copies, written);
        }
        let group = self.group_mut();
        group.variables.iter_mut().for_each(Variable::undo);
        group.close();
        self.tell_place();
        self.tell_state();
    }

    fn tell_refusals(&mut self, step: &Step, rank: usize) {
        for act in &step.plans[rank].acts {
            if let Act::Refused(misuse) = act {
                self.tell(self.group().members[rank], Told::Failed(misuse.kind().to_owned()));
            }
        }
    }

    /// Tells every member what it has.
    pub(crate) fn tell_state(&mut self) {
        for processor in self.group().members.clone() {
            self.tell_own(processor);
        }
    }

    /// Tells a processor its parts of areas and arrays, and its copies of the variables of all groups that it is in.
    fn tell_own(&mut self, processor: usize) {
        let group = self.group();
        let rank = group.rank(processor);
        let areas = group.areas.iter().map(|parts| parts[rank].iter().map(|&value| value.into()).collect());
        let arrays = group.arrays.iter().map(|array| array.owned(processor));
        let mut told: Vec<Told> = areas.chain(arrays).map(Told::Elements).collect();
        for group in &self.groups {
            let rank = group.rank(processor);
            told.extend(group.variables.iter().map(|variable| Told::Value(variable.copies[rank].clone())));
        }
        for told in told {
            self.tell(processor, told);
        }
    }

    /// A6: a step of its own, with an array that is made for it and says where each element goes.
    pub(crate) fn permute(&mut self, dst: usize, src: usize, to: &[usize]) {
        let group = self.group_mut();
        group.close();
        let source = &group.arrays[src];
        let of = |rank: usize| -> Vec<Write> {
            let mine = (0..to.len()).filter(|&index| source.owners[index] == group.members[rank]);
            mine.map(|index| (to[index], source.values[index], Op::Any)).collect()
        };
        let writes: Vec<Vec<Write>> = (0..group.members.len()).map(of).collect();
        let is_none = conflict::in_permutation(group, dst, to);
        if self.watches && is_none {
            self.found_conflict = true;
            for member in self.group().members.clone() {
                self.tell(member, Told::Failed(CONFLICT.to_owned()));
            }
        } else {
            self.group_mut().commit(dst, &writes);
        }
        self.group_mut().close();
        self.tell_place();
        self.tell_state();
    }
}

/// What a processor does to its part of an array at once.
fn own(array: &mut Array, processor: usize, deed: &Deed) {
    let kind = array.design.frame.0;
    match deed {
        Deed::Own { index, number } => array.values[*index] = kind.of(*number),
        Deed::Forall { section, number } => {
            let mut places = elements(&array.design.shape, section);
            places.retain(|&index| array.owners[index] == processor);
            for index in places {
                let value = kind.of(*number + index as u64);
                array.values[index] = kind.combine(Op::Note, array.values[index], value);
            }
        }
        _ => {}
    }
}

/// S2 (b): what a rank gets.
fn gets(group: &Group, step: &Step, rank: usize) -> Vec<Told> {
    let get = |act: &Act| match act {
        Act::Get { from, area, cut } => {
            let part = &group.areas[*area][*from];
            Some(Told::Elements(indices(*cut).into_iter().map(|at| part[at].into()).collect()))
        }
        _ => None,
    };
    step.plans[rank].acts.iter().filter_map(get).collect()
}

/// S2 (b, c) and D2: transfers and puts are done, and messages sorted out. What goes to somebody who leaves is gone.
fn transfer(group: &mut Group, step: &Step, stays: &[usize]) -> Vec<Vec<Vec<(u8, String)>>> {
    let before = group.areas.clone();
    let mut messages = vec![vec![Vec::new(); group.queues]; group.members.len()];
    let acts = || stays.iter().flat_map(|&rank| step.plans[rank].acts.iter().map(move |act| (rank, act)));
    let mut place = |area: usize, rank: usize, at: usize, values: &[u16]| {
        group.areas[area][rank][at..at + values.len()].copy_from_slice(values);
    };
    for (rank, act) in acts() {
        if let Act::MoveIn { from, area, range, into, at } = act {
            place(*into, rank, *at, &before[*area][*from][range.clone()]);
        }
    }
    for (rank, act) in acts() {
        if let Act::MoveOut { area, range, to, into, at } = act {
            place(*into, *to, *at, &before[*area][rank][range.clone()]);
        }
    }
    for (_, act) in acts() {
        match act {
            Act::Put { to, area, at, values, .. } => place(*area, *to, *at, values),
            Act::Send { queue, to, tag, text } => messages[*to][*queue].push((*tag, text.clone())),
            _ => {}
        }
    }
    messages
}

/// R3: for each call, the prefixes of a variable by rank, if it asks for them.
fn prefixes(group: &Group, step: &Step) -> Vec<Option<Vec<Value>>> {
    let prefix = |call: &Call| match call {
        Call::CombinePrefix { variable, op } => {
            let variable = &group.variables[*variable];
            let values = variable.contributions(*op);
            Some((0..values.len()).map(|rank| below(&values, rank, *op, &variable.agreed)).collect())
        }
        _ => None,
    };
    step.calls.iter().map(prefix).collect()
}

/// What each rank writes to an array in a step.
fn all_writes(group: &Group, step: &Step, number: usize, stays: &[usize]) -> Vec<Vec<Write>> {
    let of = |rank| if stays.contains(&rank) { writes(group, step, number, rank) } else { Vec::new() };
    (0..group.members.len()).map(of).collect()
}

/// What a rank writes to an array in a step, in the order of issue.
fn writes(group: &Group, step: &Step, number: usize, rank: usize) -> Vec<Write> {
    let array = &group.arrays[number];
    let kind = array.design.frame.0;
    let mut all: Vec<Write> = Vec::new();
    let mut each = |at: &[usize], first: u64, is_one: bool, op: Op| {
        let number = |at: usize| if is_one { first } else { first + at as u64 };
        all.extend(at.iter().enumerate().map(|(at, &index)| (index, kind.of(number(at)), op)));
    };
    for act in &step.plans[rank].acts {
        let Act::Array { array: of, deed } = act else { continue };
        if *of != number {
            continue;
        }
        match deed {
            Deed::Update { section, number, op } => {
                each(&elements(&array.design.shape, section), *number, false, op.unwrap_or(array.declared));
            }
            Deed::Scatter(Writes { at, number, op }) => each(at, *number, false, *op),
            Deed::ScatterOne(Writes { at, number, op }) | Deed::OneBuilder(Writes { at, number, op }) => {
                each(at, *number, true, *op);
            }
            Deed::Builders(first, second) => {
                each(&second.at, second.number, false, second.op);
                each(&first.at, first.number, false, first.op);
            }
            _ => {}
        }
    }
    for call in &step.calls {
        match call {
            Call::Assign { dst, src } if *dst == number => {
                let source = &group.arrays[*src];
                let mine = (0..source.values.len()).filter(|&index| source.owners[index] == group.members[rank]);
                all.extend(mine.map(|index| (index, source.values[index], Op::Any)));
            }
            Call::ScatterFrom { array: of, root, number: first } if *of == number && *root == rank => {
                all.extend(
                    (0..array.values.len()).zip(*first..).map(|(index, number)| (index, kind.of(number), Op::Any)),
                );
            }
            _ => {}
        }
    }
    all
}

impl Group {
    /// S3 and A5: assignments first, so that the last one of the lowest rank stands; then the rest, by rank and order
    /// of issue. What an owner who leaves would have to keep is gone.
    pub(crate) fn commit(&mut self, number: usize, writes: &[Vec<Write>]) {
        let gone: Vec<usize> = self.leaving.iter().map(|&rank| self.members[rank]).collect();
        let array = &mut self.arrays[number];
        let kind = array.design.frame.0;
        let is_kept = |index: usize| !gone.contains(&array.owners[index]);
        let assigned = writes.iter().rev().flatten().filter(|write| write.2 == Op::Any);
        let leaders = writes[0].iter().filter(|write| matches!(write.2, Op::Any | Op::Leader));
        for &(index, value, _) in assigned.chain(leaders).filter(|write| is_kept(write.0)) {
            array.values[index] = value;
        }
        for &(index, value, op) in writes.iter().flatten().filter(|write| !write.2.picks() && is_kept(write.0)) {
            array.values[index] = kind.combine(op, array.values[index], value);
        }
    }
}

/// S2 (d): what a rank reads of arrays.
fn reads(group: &Group, step: &Step, rank: usize) -> Vec<Told> {
    let read = |act: &Act| {
        let Act::Array { array, deed } = act else { return None };
        let array = &group.arrays[*array];
        let at = match deed {
            Deed::Mirror(section) => elements(&array.design.shape, section),
            Deed::Gather(at) | Deed::GatherBuilder(at) => at.clone(),
            _ => return None,
        };
        Some(Told::Elements(at.into_iter().map(|index| array.values[index]).collect()))
    };
    step.plans[rank].acts.iter().filter_map(read).collect()
}

/// R4, R5, A6: what a collective comes to for a rank.
fn outcome(group: &Group, call: &Call, stays: &[usize], rank: usize) -> Option<Told> {
    let present = |values: &[Value]| -> Vec<Option<Value>> {
        let of = |(rank, value): (usize, &Value)| stays.contains(&rank).then(|| value.clone());
        values.iter().enumerate().map(of).collect()
    };
    let all = |values: &[Value]| Told::Values(stays.iter().map(|&rank| values[rank].clone()).collect());
    let at = |root: usize, told: Told| if rank == root { told } else { Told::Nothing };
    Some(match call {
        Call::Reduce { op, values } => Told::Value(total(&present(values), *op)?),
        Call::ReduceTo { root, op, values } => at(*root, Told::Value(total(&present(values), *op)?)),
        Call::Prefix { op, values } => Told::Value(below(&present(values), rank, *op, &values[rank])),
        Call::PrefixWith { op, values } => Told::Value(up_to(&present(values), rank, *op)?),
        Call::Broadcast { value, .. } => Told::Value(value.clone()),
        Call::Collect { values } => all(values),
        Call::CollectAt { root, values } => at(*root, all(values)),
        Call::Deal { values, .. } | Call::Agree { values } => Told::Value(values[rank].clone()),
        Call::Exchange { values } => Told::Values(stays.iter().map(|&from| values[from][rank].clone()).collect()),
        Call::GatherTo { array, root } => at(*root, Told::Value(Value::List(group.arrays[*array].values.clone()))),
        Call::Combine { .. } | Call::CombinePrefix { .. } | Call::Assign { .. } | Call::ScatterFrom { .. } => {
            return None;
        }
    })
}
