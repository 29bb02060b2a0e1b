//! Collective calls in a step.

use crate::{
    things::Things,
    words::{Came, With, Word, came},
};
use superstep::{Combine, Step};
use superstep_model::{Call, Kind, Op, Value};

/// How values are folded.
#[derive(Clone, Copy)]
enum Fold {
    Reduce,
    Prefix,
    PrefixWith,
}

struct Folding<'a, T>(&'a Step, T, Fold);

impl<T: Word> With<T> for Folding<'_, T> {
    type Out = Came;

    fn with<C: Combine<T>>(self, op: C) -> Came {
        let Self(s, value, fold) = self;
        T::came(match fold {
            Fold::Reduce => s.reduce(value, op),
            Fold::Prefix => s.prefix(value, op),
            Fold::PrefixWith => s.prefix_inclusive(value, op),
        })
    }
}

fn fold(s: &Step, op: Op, value: &Value, fold: Fold) -> Came {
    match value {
        Value::Number(_) => Word::by(op, Folding(s, u64::of(value), fold)),
        Value::Float(_) => Word::by(op, Folding(s, f64::of(value), fold)),
        Value::Text(_) => Word::by(op, Folding(s, String::of(value), fold)),
        Value::List(_) => Word::by(op, Folding(s, Vec::of(value), fold)),
    }
}

struct FoldingTo<'a>(&'a Step, usize, u64);

impl With<u64> for FoldingTo<'_> {
    type Out = Came;

    fn with<C: Combine<u64>>(self, op: C) -> Came {
        came(|came| came.4 = Some(self.0.reduce_to(self.1, self.2, op)))
    }
}

/// Lists travel as slices, and everything else as values.
fn lists(values: &[Value]) -> Option<Vec<&[u64]>> {
    values.iter().map(|value| if let Value::List(list) = value { Some(&list[..]) } else { None }).collect()
}

/// Makes a call as one of those who make it, and returns what will come of it.
pub(crate) fn call(s: &Step, call: &Call, things: &Things<'_>) -> Option<Came> {
    let me = s.rank();
    let is_root = |root: &usize| me == *root;
    Some(match call {
        Call::Reduce { op, values } => fold(s, *op, &values[me], Fold::Reduce),
        Call::Prefix { op, values } => fold(s, *op, &values[me], Fold::Prefix),
        Call::PrefixWith { op, values } => fold(s, *op, &values[me], Fold::PrefixWith),
        Call::ReduceTo { root, op, values } => Word::by(*op, FoldingTo(s, *root, u64::of(&values[me]))),
        Call::Broadcast { root, value: Value::List(list) } => {
            Word::came(s.broadcast_slice(*root, is_root(root).then_some(&list[..])))
        }
        Call::Broadcast { root, value } => {
            came(|came| came.5 = Some(s.broadcast(*root, is_root(root).then(|| value.clone()))))
        }
        Call::Collect { values } => match &values[me] {
            Value::List(list) => came(|came| came.7 = (None, Some(s.collect_slice(list)), None)),
            value => came(|came| came.6 = Some(s.collect(value.clone()))),
        },
        Call::CollectAt { root, values } => match &values[me] {
            Value::List(list) => came(|came| came.7 = (None, None, Some(s.collect_slice_to(*root, list)))),
            value => came(|came| came.7 = (Some(s.collect_to(*root, value.clone())), None, None)),
        },
        Call::Deal { root, values } => match lists(values) {
            Some(lists) => Word::came(s.deal_slices(*root, is_root(root).then_some(&lists[..]))),
            None => came(|came| came.5 = Some(s.deal(*root, is_root(root).then(|| values.clone())))),
        },
        Call::Exchange { values } => match lists(&values[me]) {
            Some(lists) => came(|came| came.7 = (None, Some(s.exchange_slices(&lists)), None)),
            None => came(|came| came.6 = Some(s.exchange(values[me].clone()))),
        },
        Call::Agree { values } => came(|came| came.5 = Some(s.agree(Ok::<_, String>(values[me].clone())))),
        Call::Combine { variable, op } => return things.variables[*variable].combine(s, *op, false),
        Call::CombinePrefix { variable, op } => return things.variables[*variable].combine(s, *op, true),
        Call::Assign { dst, src } => {
            things.line(*dst).assign(s, things.line(*src));
            return None;
        }
        Call::GatherTo { array, root } => came(|came| came.3 = things.line(*array).gather_to(s, *root)),
        Call::ScatterFrom { array, root, number } => {
            let line = things.line(*array);
            let values: Vec<u64> = (*number..).take(line.count()).map(|number| Kind::Whole.of(number)).collect();
            line.scatter_from(s, *root, is_root(root).then_some(&values[..]));
            return None;
        }
    })
}
