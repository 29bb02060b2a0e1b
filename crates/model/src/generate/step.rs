//! Steps: what each member does, and what all do.

use super::Maker;
use crate::{
    layout::Cut,
    program::{Act, Call, Deed, Fault, Misuse, Plan, Step},
    value::{Op, Value},
};
use std::ops::Range;

impl Maker<'_> {
    pub(super) fn step(&mut self) -> Step {
        let stays = self.group().stays();
        let mut plans = vec![Plan::default(); self.size()];
        for &rank in &stays {
            let acts = (0..self.choices.below(5)).filter_map(|_| self.act(rank)).collect();
            let acts = self.again(acts);
            plans[rank] = Plan { acts, abandons: self.choices.one_in(24) };
        }
        let mut calls: Vec<Call> = Vec::new();
        for _ in 0..self.choices.below(3) {
            let call = self.call();
            // One operator for a variable in a step.
            let is_combine = |call: &Call| matches!(call, Call::Combine { .. } | Call::CombinePrefix { .. });
            if !(is_combine(&call) && calls.iter().any(is_combine)) {
                calls.push(call);
            }
        }
        let fault = if self.choices.one_in(16) { self.fault(stays.len()) } else { None };
        Step { plans, calls, fault }
    }

    /// The same acts, of which an update may be there several times.
    fn again(&mut self, acts: Vec<Act>) -> Vec<Act> {
        let mut all = Vec::with_capacity(acts.len());
        for act in acts {
            let is_update = matches!(act, Act::Array { deed: Deed::Update { .. }, .. });
            let more = if is_update && self.choices.one_in(4) { 1 + self.choices.below(3) } else { 0 };
            all.extend(vec![act; 1 + more]);
        }
        all
    }

    /// A section of somebody's part that has at most so many elements.
    fn range(&mut self, len: usize, most: usize) -> Range<usize> {
        let start = self.choices.below(len + 1);
        // Rarely all of it, which may be long.
        let most = if self.choices.one_in(20) { len } else { most };
        start..start + self.choices.below(most.min(len - start) + 1)
    }

    fn act(&mut self, rank: usize) -> Option<Act> {
        let (areas, queues, arrays) = (self.group().areas.len(), self.group().queues, self.group().arrays.len());
        match self.choices.below(14) {
            0..6 if areas > 0 => self.area_act(rank),
            6 if queues > 0 => {
                let (queue, to) = (self.choices.below(queues), self.choices.below(self.size()));
                Some(Act::Send { queue, to, tag: self.choices.below(5) as u8, text: self.text() })
            }
            7 | 8 => self.write(),
            9..12 if arrays > 0 => self.deed(rank),
            12 => self.misuse().map(Act::Refused),
            _ => None,
        }
    }

    fn area_act(&mut self, me: usize) -> Option<Act> {
        let areas = self.group().areas.len();
        let (area, into) = (self.choices.below(areas), self.choices.below(areas));
        let (anybody, stayer) = (self.choices.below(self.size()), self.stayer());
        let len = |maker: &Self, area: usize, rank: usize| maker.group().areas[area][rank].len();
        Some(match self.choices.below(6) {
            0 | 1 => {
                let range = self.range(len(self, area, anybody), 3);
                let first = self.fresh() * 10;
                let values = (first..).take(range.len()).map(|value| value as u16).collect();
                Act::Put { to: anybody, area, at: range.start, values, is_given: self.choices.one_in(3) }
            }
            2 => {
                let range = self.range(len(self, area, me), 3);
                let at = self.room(len(self, into, anybody), range.len())?;
                Act::MoveOut { area, range, to: anybody, into, at }
            }
            3 => {
                let range = self.range(len(self, area, stayer), 3);
                let at = self.room(len(self, into, me), range.len())?;
                Act::MoveIn { from: stayer, area, range, into, at }
            }
            4 => {
                let cut = self.cut(len(self, area, stayer));
                Act::Get { from: stayer, area, cut }
            }
            _ => {
                let len = len(self, area, me);
                if len == 0 {
                    return None;
                }
                Act::Own { area, at: self.choices.below(len), value: 1000 + self.fresh() as u16 }
            }
        })
    }

    /// A place for so many elements.
    fn room(&mut self, len: usize, count: usize) -> Option<usize> {
        let last = len.checked_sub(count)?;
        Some(self.choices.below(last + 1))
    }

    /// A range of so many indices, with a stride of either sign; sometimes none, sometimes all.
    pub(super) fn cut(&mut self, extent: usize) -> Option<Cut> {
        let last = extent.checked_sub(1)?;
        let (low, by) = (self.choices.below(extent), 1 + self.choices.below(4) as isize);
        let high = low + self.choices.below(extent - low);
        match self.choices.below(10) {
            0..4 => Some(Cut { from: 0, to: last, by: 1 }),
            4..7 => Some(Cut { from: low, to: high, by }),
            7 | 8 => Some(Cut { from: high, to: low, by: -by }),
            _ => None,
        }
    }

    fn write(&mut self) -> Option<Act> {
        let level = self.choices.below(self.model.groups.len());
        let level = if self.choices.one_in(3) { level } else { 0 };
        let group = &self.model.groups[self.model.groups.len() - 1 - level];
        let variable = self.choices.below(group.variables.len().max(1));
        let found = group.variables.get(variable)?;
        let (op, like) = (found.op, found.agreed.clone());
        // What all must write alike depends on nothing but the variable.
        let value = if op == Op::Same { Value::Number(100 + variable as u64) } else { self.value_like(Some(&like)) };
        Some(Act::Write { level, variable, value })
    }

    fn misuse(&mut self) -> Option<Misuse> {
        let group = self.group();
        let (areas, queues, levels) = (group.areas.len(), group.queues, self.model.groups.len());
        let sound = group.arrays.iter().position(|array| !array.is_lost);
        let lost = group.arrays.iter().position(|array| array.is_lost);
        let (area, rank) = (self.choices.below(areas.max(1)), self.choices.below(self.size()));
        let level = 1 + self.choices.below(levels);
        let outer = levels.checked_sub(1 + level).map_or(0, |at| self.model.groups[at].areas.len());
        if let Some(array) = lost.filter(|_| self.choices.one_in(2)) {
            return Some(Misuse::UseLost { array });
        }
        Some(match self.choices.below(11) {
            0 if areas > 0 => Misuse::PutToNobody { area },
            1 if areas > 0 => Misuse::PutBeyond { area, to: rank },
            2 if areas > 0 => Misuse::GetFromNobody { area },
            3 if areas > 0 => Misuse::GetBeyond { area, from: rank },
            4 if areas > 0 => Misuse::MoveBeyond { area, to: rank },
            5 if queues > 0 => Misuse::SendToNobody { queue: self.choices.below(queues) },
            6 if outer > 0 => Misuse::PutToOuter { level, area: self.choices.below(outer) },
            7 => Misuse::GatherBeyond { array: sound? },
            8 => Misuse::ScatterBeyond { array: sound? },
            9 => Misuse::ScatterTooFew { array: sound? },
            10 => Misuse::MirrorBeyond { array: sound? },
            _ => return None,
        })
    }

    /// A value of some type for each rank.
    fn values(&mut self, is_float_allowed: bool) -> Vec<Value> {
        let first = match self.value_like(None) {
            Value::Float(_) if !is_float_allowed => Value::Number(1),
            value => value,
        };
        let mut values = vec![first.clone()];
        values.extend((1..self.size()).map(|_| self.value_like(Some(&first))));
        values
    }

    /// The same, with an operator for them. What should be the same is.
    fn folded(&mut self) -> (Op, Vec<Value>) {
        let mut values = self.values(true);
        let op = self.operator(&values[0].clone(), true);
        if op == Op::Same {
            values = vec![values[0].clone(); values.len()];
        }
        (op, values)
    }

    fn call(&mut self) -> Call {
        let root = self.stayer();
        match self.choices.below(14) {
            0 => {
                let (op, values) = self.folded();
                Call::Reduce { op, values }
            }
            1 => {
                let (op, values) = self.folded();
                Call::Prefix { op, values }
            }
            2 => {
                let (op, values) = self.folded();
                Call::PrefixWith { op, values }
            }
            3 => {
                let values = (0..self.size()).map(|_| Value::Number(self.word())).collect();
                Call::ReduceTo { root, op: self.operator(&Value::Number(0), false), values }
            }
            4 => Call::Broadcast { root, value: self.values(false).swap_remove(0) },
            5 => Call::Collect { values: self.values(false) },
            6 => Call::CollectAt { root, values: self.values(false) },
            7 => Call::Deal { root, values: self.values(false) },
            8 => {
                let first = self.values(false);
                let more = |maker: &mut Self| first.iter().map(|like| maker.value_like(Some(like))).collect();
                let values = (0..self.size()).map(|_| more(self)).collect();
                Call::Exchange { values }
            }
            9 => Call::Agree { values: self.values(false) },
            10 | 11 => self.combine().unwrap_or(Call::Agree { values: self.values(false) }),
            _ => self.whole().unwrap_or(Call::Collect { values: self.values(false) }),
        }
    }

    fn combine(&mut self) -> Option<Call> {
        let variables = self.group().variables.len();
        let variable = self.choices.below(variables.max(1));
        let like = self.group().variables.get(variable)?.agreed.clone();
        let op = self.operator(&like, false);
        Some(if self.choices.one_in(2) { Call::CombinePrefix { variable, op } } else { Call::Combine { variable, op } })
    }

    fn fault(&mut self, stay: usize) -> Option<Fault> {
        let (rank, areas) = (self.stayer(), self.group().areas.len());
        Some(match self.choices.below(8) {
            0 => Fault::Brings { rank },
            1 if stay > 1 => Fault::Differs { rank },
            2 if stay > 1 => Fault::Overflows,
            3 if stay > 1 => Fault::OperatorPanics,
            4 if stay > 1 => Fault::OtherVerb { rank },
            5 if stay > 1 => Fault::OtherOperator { rank },
            6 if areas > 0 => Fault::Borrows { rank, area: self.choices.below(areas) },
            7 if !self.is_leaving() => Fault::ElementOverflows { array: self.line()?, rank },
            _ => return None,
        })
    }
}
