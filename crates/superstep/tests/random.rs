//! Random programs against a sequential model, on every fabric (S2, S3, R2, D1, D2, G2 to G5).
//!
//! A program puts, gets, moves and sends at overlapping places, writes shared variables of its group and of those
//! above, reduces, and splits in every form. Every byte and value that a processor sees must be the model's.

#![forbid(unsafe_code)]
#![allow(clippy::format_collect, reason = "short texts in a model")]

#[path = "random/model.rs"]
mod model;
#[path = "random/programs.rs"]
mod programs;

use model::{Act, Block, How, Op, Plan, Stage, Told, Values, act, expected, float};
use programs::programs;
use proptest::{collection::vec, prelude::*};
use superstep::{Any, Area, Config, Fabric, Group, Leader, Max, Pending, Queue, Shared, Split, Step, Sum};

/// The most processors that a program has.
const PROCS_MAX: usize = 9;

/// The variables of a group.
struct Variables {
    sum: Shared<u64>,
    text: Shared<String>,
    any: Shared<u32>,
    leader: Shared<u32>,
}

impl Variables {
    fn new(g: &mut Group) -> Self {
        let append = |all: &mut String, one: &String| *all += one;
        Self {
            sum: g.shared(0, Sum),
            text: g.shared(String::new(), append),
            any: g.shared(0, Any),
            leader: g.shared(0, Leader),
        }
    }

    fn write(&self, variable: usize, value: u8) {
        match variable {
            0 => self.sum.set(value.into()),
            1 => *self.text.write() = format!("<{value}>"),
            2 => self.any.set(value.into()),
            _ => *self.leader.write() = value.into(),
        }
    }

    fn values(&self) -> Values {
        Values(self.sum.get(), self.text.get(), self.any.get(), self.leader.get())
    }
}

/// Does what an instruction says; a get hands back what it will have got.
fn perform(
    s: &Step,
    act: Act,
    areas: &[Area<u16>; 2],
    queue: &Queue<u8, String>,
    outer: &[Variables],
) -> Option<Pending<Vec<u16>>> {
    match act {
        Act::Put { to, area, at, values, is_given: false } => s.put(to, &values, &areas[area], at),
        Act::Put { to, area, at, values, is_given: true } => s.hp_put(to, values, &areas[area], at),
        Act::MoveOut { source, range, to, area, at } => s.hp_put(to, (&areas[source], range), &areas[area], at),
        Act::MoveIn { from, area, range, into, at } => s.hp_get(from, &areas[area], range, &areas[into], at),
        Act::Get { from, area, range } => return Some(s.get(from, &areas[area], range)),
        Act::Send { to, tag, text } => s.send(queue, to, tag, text),
        Act::Write { level, variable, value } => outer[outer.len() - 1 - level].write(variable, value),
        Act::Own { area, at, value } => areas[area].local_mut()[at] = value,
    }
    None
}

/// Lives through `block` as processor `me` of the root group, and writes down what it is told.
fn live(g: &mut Group, block: &Block, me: usize, outer: &mut Vec<Variables>, trace: &mut Vec<String>) {
    trace.push(format!("group {}: {} of {}", g.id(), g.rank(), g.size()));
    let areas = [g.area::<u16>(block.lens[me][0]), g.area::<u16>(block.lens[me][1])];
    let queue = g.queue::<u8, String>();
    outer.push(Variables::new(g));
    for stage in &block.stages {
        let (plans, replaces, prefixes) = match stage {
            Stage::Step { plans, replaces, prefixes } => (plans, *replaces, *prefixes),
            Stage::Split(how, inner) => {
                let split = match how.form {
                    0 => Split::Even(how.count),
                    1 => Split::Every(how.count),
                    2 => Split::Weighted(&how.weights),
                    _ => Split::By(how.count, how.choices[me]),
                };
                g.split(split, |sub| live(sub, inner, me, outer, trace));
                continue;
            }
        };
        let plan = &plans[me];
        let (got, sums, upto, all, float, prefix) = g.step(|s| {
            let len = |rank: usize, area: usize| areas[area].len_of(rank);
            let acts = plan.ops.iter().filter_map(|op| act(op, s.rank(), s.size(), &len, outer.len()));
            let got: Vec<_> = acts.filter_map(|act| perform(s, act, &areas, &queue, outer)).collect();
            let own = outer.last().expect("it was pushed");
            let prefix = match (prefixes, replaces) {
                (true, false) => Some(s.combine_prefix(&own.sum, Sum)),
                (_, true) => {
                    s.combine(&own.sum, Max);
                    None
                }
                _ => None,
            };
            let value = u64::from(plan.value);
            let append = |all: &mut String, one: &String| *all += one;
            let upto = s.prefix_with(format!("{},", plan.value), append);
            let sums = (s.reduce(value, Sum), s.prefix(value, Sum));
            (got, sums, upto, s.collect(plan.value), s.reduce(float(plan.value), Sum), prefix)
        });
        let told = Told {
            got: &got,
            sum: sums.0,
            below: sums.1,
            upto: &upto,
            all: &all,
            float: float.to_bits(),
            prefix,
            messages: &queue.drain().collect::<Vec<_>>(),
            areas: [&areas[0].local(), &areas[1].local()],
            values: &outer.iter().map(Variables::values).collect::<Vec<_>>(),
        };
        trace.push(format!("{told:?}"));
    }
    outer.pop();
}

fn steps() -> impl Strategy<Value = Stage> {
    let op = (0u8..8, any::<[u8; 5]>()).prop_map(|(kind, numbers)| Op(kind, numbers));
    let plan = (vec(op, 0..5), any::<u8>()).prop_map(|(ops, value)| Plan { ops, value });
    (vec(plan, PROCS_MAX), any::<bool>(), any::<bool>()).prop_map(|(plans, replaces, prefixes)| Stage::Step {
        plans,
        replaces,
        prefixes: prefixes && !replaces,
    })
}

fn splits() -> impl Strategy<Value = How> {
    let weights = vec((0u8..12).prop_map(|halves| f64::from(halves) / 2.0), 0..5);
    let choices = vec(proptest::option::of(0..6usize), PROCS_MAX);
    (0u8..4, 1..12usize, weights, choices).prop_map(|(form, count, weights, choices)| How {
        form,
        count,
        weights,
        choices,
    })
}

/// Blocks that nest so deeply.
fn blocks(depth: usize, stages: usize) -> BoxedStrategy<Block> {
    let stage = if depth == 0 {
        steps().boxed()
    } else {
        let split = (splits(), blocks(depth - 1, 3)).prop_map(|(how, block)| Stage::Split(how, block));
        prop_oneof![3 => steps(), 1 => split].boxed()
    };
    let lens = vec(any::<[u8; 2]>().prop_map(|lens| lens.map(|len| usize::from(len % 7))), PROCS_MAX);
    (lens, vec(stage, 1..=stages)).prop_map(|(lens, stages)| Block { lens, stages }).boxed()
}

proptest! {
    #![proptest_config(programs(300))]

    #[test]
    fn every_processor_is_told_what_the_model_says(
        procs in 1..=PROCS_MAX,
        block in blocks(2, 8),
        seed in any::<u64>(),
    ) {
        let expected = expected(&block, procs);
        let fabrics = [
            Fabric::Threads,
            Fabric::Sim { seed, shares_memory: false },
            Fabric::Sim { seed, shares_memory: true },
        ];
        for fabric in fabrics {
            let traces = Config::new().procs(procs).fabric(fabric).run_all(|g| {
                let mut trace = Vec::new();
                live(g, &block, g.rank(), &mut Vec::new(), &mut trace);
                trace
            });
            prop_assert_eq!(&traces.unwrap(), &expected, "{:?}", fabric);
        }
    }
}
