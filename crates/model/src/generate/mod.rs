//! Programs from choices.
//!
//! The model lives through each stage as soon as it is chosen, and says what can be chosen next: who is still there,
//! how long parts are, what is present. So every list of choices makes a program without mistakes, and what it tells
//! its processors comes with it.

mod arrays;
mod others;
mod step;

use crate::{
    choices::Choices,
    model::{Group, Model},
    program::{Body, Made, Program, Stage},
    split::How,
    told::Told,
    value::{Op, Value},
};
use std::ops::Range;

/// How deep groups nest.
const DEPTH_MAX: usize = 5;

/// Makes a program, and what each of its processors is told.
///
/// ```
/// use superstep_model::{Choices, expected, generate};
///
/// let (program, told) = generate(&mut Choices::of_seed(1), 17);
/// assert_eq!(expected(&program), told);
/// ```
pub fn generate(choices: &mut Choices, procs_max: usize) -> (Program, Vec<Vec<Told>>) {
    let most = [3, 4, 5, 4, 3, 9, 17][choices.below(7)].min(procs_max);
    let procs = 1 + choices.below(most);
    generate_on(choices, procs)
}

/// Makes a program for so many processors.
///
/// ```
/// use superstep_model::{Choices, generate_on};
///
/// assert_eq!(generate_on(&mut Choices::of_seed(1), 4).0.procs, 4);
/// ```
pub fn generate_on(choices: &mut Choices, procs: usize) -> (Program, Vec<Vec<Told>>) {
    let first_step = if choices.one_in(16) { u64::MAX - 1 } else { 0 };
    let stages = [1, 3, 4, 6, 9, 12][choices.below(6)];
    let mut maker = Maker { choices, model: Model::new(procs, first_step), left: stages, number: 0 };
    let body = maker.body(0);
    (Program { procs, first_step, body }, maker.model.into_told())
}

/// What a program is made with.
struct Maker<'a> {
    choices: &'a mut Choices,
    model: Model,
    /// How many stages there may still be.
    left: usize,
    /// The last number that was given to something, so that each has another.
    number: u64,
}

impl Maker<'_> {
    fn group(&self) -> &Group {
        self.model.group()
    }

    fn size(&self) -> usize {
        self.group().members.len()
    }

    /// A rank that stays.
    fn stayer(&mut self) -> usize {
        let stays = self.group().stays();
        self.choices.pick(&stays)
    }

    fn is_leaving(&self) -> bool {
        !self.group().leaving.is_empty()
    }

    fn fresh(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// What the group at hand does, at so many levels below the root.
    fn body(&mut self, depth: usize) -> Body {
        let mut stages = Vec::new();
        for _ in 0..self.choices.below(5) {
            let made = self.made();
            self.live(Stage::Make(made), &mut stages);
        }
        let most = 1 + self.choices.below(4);
        for _ in 0..if depth == 0 { self.left } else { most } {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let stage = self.stage(depth);
            if let Stage::Split { .. } = stage {
                stages.push(stage);
            } else {
                self.live(stage, &mut stages);
            }
        }
        Body { stages }
    }

    fn live(&mut self, stage: Stage, stages: &mut Vec<Stage>) {
        self.model.stage(&stage);
        stages.push(stage);
    }

    fn stage(&mut self, depth: usize) -> Stage {
        let (group, is_leaving) = (self.group(), self.is_leaving());
        let is_whole = |group: &Group| group.arrays.iter().any(|it| it.design.is_line() && !it.is_lost);
        let has_epochs = !group.objects.is_empty() || group.cells.iter().any(|cells| !cells.is_lost);
        let has_blocks = group.arrays.iter().any(|array| group.is_in_blocks(array));
        let has_pages = group.paged.iter().any(|paged| !paged.is_lost);
        let (can_permute, can_leave) = (is_whole(group), depth > 0 && group.members.len() > 1);
        if can_leave && !is_leaving && self.choices.one_in(4) {
            return self.leave();
        }
        match self.choices.below(16) {
            8 | 9 => return Stage::Make(self.made()),
            10 | 11 if depth < DEPTH_MAX => return self.split(depth),
            12 if has_epochs => return Stage::Epoch(self.epoch()),
            13 if has_pages && !is_leaving => return Stage::Paged(self.pages()),
            14 if can_permute && !is_leaving => return self.permute(),
            15 if has_blocks && !is_leaving => return Stage::Halo(self.halo()),
            // Whoever is within subgroups goes deeper sooner, or few would come to the bottom.
            _ if depth > 0 && depth < DEPTH_MAX && self.choices.one_in(8) => return self.split(depth),
            _ => {}
        }
        Stage::Step(self.step())
    }

    fn leave(&mut self) -> Stage {
        let (size, stays) = (self.size(), self.choices.below(self.size()));
        let mut ranks: Vec<usize> = (0..size).filter(|&rank| rank != stays && self.choices.one_in(3)).collect();
        if ranks.is_empty() {
            ranks.push((stays + 1) % size);
        }
        Stage::Leave(ranks)
    }

    fn split(&mut self, depth: usize) -> Stage {
        let size = self.size();
        let count = 1 + self.choices.below(4);
        let how = match self.choices.below(4) {
            0 => How::Even(count),
            1 => How::Every(count),
            2 => How::Weighted((0..count).map(|_| self.choices.below(8) as f64 / 2.0).collect()),
            _ => {
                let mut choose = || Some(self.choices.below(count + 2)).filter(|&choice| choice <= count);
                How::By(count, (0..size).map(|_| choose()).collect())
            }
        };
        let on = self.imports(how.count());
        let mut bodies = vec![Body::default(); how.count()];
        for (id, members) in self.model.split(&how, on.is_some()) {
            let on: Option<(usize, &Range<usize>)> = on.as_ref().map(|(array, sections)| (*array, &sections[id]));
            self.model.enter(id, members, on);
            bodies[id] = self.body(depth + 1);
            self.model.leave(on);
        }
        self.model.rejoin();
        Stage::Split { how, on, bodies }
    }

    fn made(&mut self) -> Made {
        let size = self.size();
        match self.choices.below(11) {
            0 => {
                let most = if self.choices.one_in(40) { 3000 } else { 6 };
                Made::Area { lens: (0..size).map(|_| self.choices.below(most + 1)).collect() }
            }
            1 => Made::Queue,
            2 | 3 => {
                let (op, value) = self.variable();
                Made::Variable { op, value }
            }
            4 => self.paged(),
            5 => Made::Objects,
            6 => Made::Cells { owner: self.choices.below(size) },
            // Most of what there is to do is done to these.
            _ => Made::Array(self.design()),
        }
    }

    /// An operator with the first value of a variable that has it.
    fn variable(&mut self) -> (Op, Value) {
        let value = self.value_like(None);
        (self.operator(&value, true), value)
    }

    /// An operator that values of this type have.
    fn operator(&mut self, like: &Value, may_be_same: bool) -> Op {
        let all = match like {
            Value::Number(_) => &Op::ALL[..],
            Value::Float(_) => &[Op::Sum, Op::Product, Op::Min, Op::Max, Op::Any, Op::Leader],
            Value::Text(_) => &[Op::Note],
            Value::List(_) => &[Op::Sum, Op::Max, Op::Xor, Op::Any],
        };
        let op = self.choices.pick(all);
        if op == Op::Same && !may_be_same { Op::Sum } else { op }
    }

    /// A value of the same type, or of any.
    fn value_like(&mut self, like: Option<&Value>) -> Value {
        let sort = match like {
            None => self.choices.below(4),
            Some(Value::Number(_)) => 0,
            Some(Value::Text(_)) => 1,
            Some(Value::Float(_)) => 2,
            Some(Value::List(_)) => 3,
        };
        match sort {
            0 => Value::Number(self.word()),
            1 => Value::Text(self.text()),
            2 => Value::Float(crate::value::Kind::Float.of(self.choices.below(250) as u64)),
            _ => Value::List((0..3).map(|_| self.word()).collect()),
        }
    }

    /// A number: mostly small, sometimes at an end.
    fn word(&mut self) -> u64 {
        match self.choices.below(12) {
            10 => u64::MAX,
            11 => 1 << 63,
            _ => self.choices.below(100) as u64,
        }
    }

    /// A text: mostly short, sometimes longer than what travels with a boundary.
    fn text(&mut self) -> String {
        let len = if self.choices.one_in(40) { 1500 } else { self.choices.below(4) };
        let letter = char::from(b'a' + (self.fresh() % 26) as u8);
        letter.to_string().repeat(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::expected, shrink};

    /// Everything that a program can be made of, by the names that its text has.
    const ALL: [&str; 80] = [
        "Area",
        "Queue",
        "Variable",
        "Array",
        "Paged",
        "Objects",
        "Cells",
        "Leave",
        "Step",
        "Split",
        "Epoch",
        "Permute",
        "Halo",
        "is_periodic: true",
        "Even",
        "Every",
        "Weighted",
        "By(",
        "Put",
        "is_given: true",
        "MoveOut",
        "MoveIn",
        "Get",
        "Send",
        "Write",
        "Own",
        "abandons: true",
        "Update",
        "Scatter(",
        "ScatterOne",
        "Builders",
        "OneBuilder",
        "Mirror",
        "Gather(",
        "GatherBuilder",
        "Forall",
        "PutToNobody",
        "PutBeyond",
        "GetFromNobody",
        "GetBeyond",
        "MoveBeyond",
        "SendToNobody",
        "PutToOuter",
        "GatherBeyond",
        "ScatterBeyond",
        "ScatterTooFew",
        "MirrorBeyond",
        "UseLost",
        "Reduce {",
        "ReduceTo",
        "Prefix {",
        "PrefixWith",
        "Broadcast",
        "Collect {",
        "CollectAt",
        "Deal",
        "Exchange",
        "Agree",
        "Combine {",
        "CombinePrefix",
        "Assign",
        "GatherTo",
        "ScatterFrom",
        "Differs",
        "Overflows",
        "Brings",
        "OperatorPanics",
        "OtherVerb",
        "OtherOperator",
        "Borrows",
        "ElementOverflows",
        "LogAll",
        "FetchAdd",
        "CompareExchange",
        "Text",
        "WriteRun",
        "Finish",
        "Forget",
        "Prefetch",
        "Limit",
    ];

    #[test]
    fn programs_use_everything_there_is() {
        let mut missing: Vec<&str> = ALL.to_vec();
        let (mut deepest, mut longest) = (0, 0);
        for seed in 0..4000 {
            let (program, told) = generate(&mut Choices::of_seed(seed), 17);
            let text = format!("{program:?}");
            missing.retain(|name| !text.contains(name));
            let depth = |told: &Told| if let Told::Place { path, .. } = told { path.matches('/').count() } else { 0 };
            deepest = deepest.max(told.iter().flatten().map(depth).max().unwrap_or(0));
            longest = longest.max(program.body.stages.len());
        }
        assert_eq!((missing, deepest), (Vec::new(), DEPTH_MAX));
        assert!(longest >= 12, "the longest has {longest} stages");
    }

    #[test]
    fn what_is_told_comes_from_the_program_alone() {
        for seed in 0..300 {
            let (program, told) = generate(&mut Choices::of_seed(seed), 17);
            assert_eq!(expected(&program), told, "seed {seed}");
        }
    }

    #[test]
    fn a_program_shrinks_to_what_is_looked_for() {
        let has_get = |list: &[u32]| generate(&mut Choices::given(list.to_vec()), 17).0.to_string().contains("Get {");
        let mut choices = Choices::of_seed(0);
        while !has_get(choices.made()) {
            choices = Choices::of_seed(choices.made().iter().map(|&choice| u64::from(choice)).sum());
            generate(&mut choices, 17);
        }
        let least = shrink(choices.made().to_vec(), 20_000, has_get);
        let lines = generate(&mut Choices::given(least), 17).0.to_string();
        assert!(lines.lines().count() <= 5, "{lines}");
    }
}
