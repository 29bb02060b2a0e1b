//! The state of the groups of a program, and the way through its stages.

use crate::{
    epoch::{Cells, Objects},
    layout::Design,
    paged::Paged,
    program::{Body, Made, Program, Stage},
    split::How,
    told::Told,
    value::{Op, Value, total},
};
use std::ops::Range;

/// A shared variable: what the group has agreed on, and each rank's copy.
pub(crate) struct Variable {
    pub(crate) op: Op,
    pub(crate) agreed: Value,
    pub(crate) copies: Vec<Value>,
    pub(crate) written: Vec<bool>,
}

impl Variable {
    /// What each rank contributes: its copy, if it wrote that (R2). With `Leader` rank 0 alone does.
    pub(crate) fn contributions(&self, op: Op) -> Vec<Option<Value>> {
        let takes_part = |rank: usize| self.written[rank] && (rank == 0 || op != Op::Leader);
        self.copies.iter().enumerate().map(|(rank, copy)| takes_part(rank).then(|| copy.clone())).collect()
    }

    /// R2: combines what was written, and lets every copy have it; if nobody wrote, the value stays.
    pub(crate) fn combine(&mut self, op: Op) {
        if let Some(value) = total(&self.contributions(op), op) {
            self.agreed = value;
        }
        self.undo();
    }

    /// Every copy is what was agreed on.
    pub(crate) fn undo(&mut self) {
        self.copies.fill(self.agreed.clone());
        self.written.fill(false);
    }
}

/// A distributed array: its values as bits, and the processor that owns each.
pub(crate) struct Array {
    pub(crate) design: Design,
    pub(crate) values: Vec<u64>,
    pub(crate) owners: Vec<usize>,
    /// What an update does that names no operator.
    pub(crate) declared: Op,
    /// Whether an owner has left: nobody can communicate about it any more (G6).
    pub(crate) is_lost: bool,
}

impl Array {
    fn new(design: Design, values: Vec<u64>, declared: Op, members: &[usize]) -> Self {
        let owners = (0..values.len()).map(|index| members[design.owner(index, members.len())]).collect();
        Self { design, values, owners, declared, is_lost: false }
    }

    /// What a processor owns, by ascending index.
    pub(crate) fn owned(&self, processor: usize) -> Vec<u64> {
        let mine = self.values.iter().zip(&self.owners).filter(|(_, owner)| **owner == processor);
        mine.map(|(value, _)| *value).collect()
    }
}

/// Keeps of a list by rank what those have that stay.
fn keep<T: Clone>(list: &mut Vec<T>, stays: &[usize]) {
    *list = stays.iter().map(|&rank| list[rank].clone()).collect();
}

/// A group and what it holds. Lists of members are by rank.
pub(crate) struct Group {
    /// The numbers of the groups on the way to it.
    path: Vec<usize>,
    /// The processors that are in it, by their ranks in the root group.
    pub(crate) members: Vec<usize>,
    pub(crate) steps: u64,
    /// The ranks that leave with the next boundary.
    pub(crate) leaving: Vec<usize>,
    pub(crate) areas: Vec<Vec<Vec<u16>>>,
    pub(crate) queues: usize,
    pub(crate) variables: Vec<Variable>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) paged: Vec<Paged>,
    pub(crate) objects: Vec<Objects>,
    pub(crate) cells: Vec<Cells>,
}

impl Group {
    fn new(path: Vec<usize>, members: Vec<usize>, steps: u64) -> Self {
        Self {
            path,
            members,
            steps,
            leaving: Vec::new(),
            areas: Vec::new(),
            queues: 0,
            variables: Vec::new(),
            arrays: Vec::new(),
            paged: Vec::new(),
            objects: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// The ranks that stay.
    pub(crate) fn stays(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|rank| !self.leaving.contains(rank)).collect()
    }

    pub(crate) fn path(&self) -> String {
        self.path.iter().map(usize::to_string).collect::<Vec<_>>().join("/")
    }

    pub(crate) fn rank(&self, processor: usize) -> usize {
        self.members.iter().position(|&member| member == processor).expect("it is a member")
    }

    /// What every boundary does: it counts, and leavings take effect (S2 e, G6).
    pub(crate) fn close(&mut self) {
        self.steps = self.steps.wrapping_add(1);
        let stays = self.stays();
        if stays.len() == self.members.len() {
            return;
        }
        keep(&mut self.members, &stays);
        self.areas.iter_mut().for_each(|parts| keep(parts, &stays));
        for variable in &mut self.variables {
            keep(&mut variable.copies, &stays);
            keep(&mut variable.written, &stays);
        }
        self.objects.iter_mut().for_each(|objects| keep(&mut objects.seen, &stays));
        self.arrays.iter_mut().for_each(|array| array.is_lost = true);
        self.paged.iter_mut().for_each(Paged::leave);
        self.cells.iter_mut().for_each(|cells| cells.is_lost |= !self.members.contains(&cells.owner));
        self.leaving.clear();
    }

    fn make(&mut self, made: &Made) {
        let size = self.members.len();
        match made {
            Made::Area { lens } => self.areas.push(lens.iter().map(|&len| vec![0; len]).collect()),
            Made::Queue => self.queues += 1,
            Made::Variable { op, value } => self.variables.push(Variable {
                op: *op,
                agreed: value.clone(),
                copies: vec![value.clone(); size],
                written: vec![false; size],
            }),
            Made::Array(design) => {
                let (values, declared) = (vec![0; design.len()], design.frame.0.declared());
                self.arrays.push(Array::new(design.clone(), values, declared, &self.members));
            }
            Made::Paged { shape, block } => self.paged.push(Paged::new(*shape, *block, size)),
            Made::Objects => self.objects.push(Objects::new(size)),
            Made::Cells { owner } => self.cells.push(Cells::new(self.members[*owner], &self.members)),
        }
        // Nothing else needs to meet: whether all members agree is checked at the next boundary.
        if matches!(made, Made::Area { .. } | Made::Array(_) | Made::Paged { .. }) {
            self.close();
        }
    }
}

/// The way from the root group to one below: the stage in which it splits off, and its number there.
pub(crate) type Trail = Vec<(usize, usize)>;

/// Somebody who looks at the model before each stage.
pub(crate) type Visit<'a> = dyn FnMut(&Model, &[(usize, usize)], usize, &Body) + 'a;

/// The groups of a program from the root down to the one at hand, and what each processor was told so far.
pub(crate) struct Model {
    pub(crate) groups: Vec<Group>,
    told: Vec<Vec<Told>>,
    /// Whether conflicts are looked for, and whether any was found.
    pub(crate) watches: bool,
    pub(crate) found_conflict: bool,
}

impl Model {
    /// A program that has just begun.
    pub(crate) fn new(procs: usize, first_step: u64) -> Self {
        let told = vec![Vec::new(); procs];
        let mut model = Self { groups: Vec::new(), told, watches: false, found_conflict: false };
        model.open(0, (0..procs).collect(), first_step, None);
        model
    }

    pub(crate) fn group(&self) -> &Group {
        self.groups.last().expect("there is a group until the end")
    }

    pub(crate) fn group_mut(&mut self) -> &mut Group {
        self.groups.last_mut().expect("there is a group until the end")
    }

    pub(crate) fn tell(&mut self, processor: usize, told: Told) {
        self.told[processor].push(told);
    }

    /// Tells every member of the group that stays where it is.
    pub(crate) fn tell_place(&mut self) {
        let group = self.groups.last().expect("there is a group until the end");
        let path = group.path();
        for rank in group.stays() {
            let member = group.members[rank];
            let (path, size, steps) = (path.clone(), group.members.len(), group.steps);
            self.told[member].push(Told::Place { path, rank, size, steps });
        }
    }

    /// Begins a subgroup, perhaps with an array of its own (G7).
    fn open(&mut self, id: usize, members: Vec<usize>, first_step: u64, array: Option<(Design, Vec<u64>)>) {
        let mut path = self.groups.last().map(|group| group.path.clone()).unwrap_or_default();
        path.push(id);
        let mut group = Group::new(path, members, first_step);
        if let Some((design, values)) = array {
            group.arrays.push(Array::new(design, values, Op::Any, &group.members));
            group.close();
        }
        self.groups.push(group);
        self.tell_place();
    }

    /// Enters a split: the subgroups that run, each with its number and its members' processors.
    pub(crate) fn split(&mut self, how: &How, is_on_array: bool) -> Vec<(usize, Vec<usize>)> {
        let stays = self.group().stays();
        let parts = how.parts(&stays);
        let group = self.group_mut();
        group.close();
        if is_on_array {
            group.close();
        }
        let processors = |ranks: Vec<usize>| ranks.into_iter().map(|rank| group.members[rank]).collect();
        parts.into_iter().map(|(id, ranks)| (id, processors(ranks))).collect()
    }

    /// Begins one of the subgroups.
    pub(crate) fn enter(&mut self, id: usize, members: Vec<usize>, on: Option<(usize, &Range<usize>)>) {
        let array = on.map(|(array, section)| {
            let array = &self.group().arrays[array];
            (array.design.resized(section.len(), members.len()), array.values[section.clone()].to_vec())
        });
        self.open(id, members, 0, array);
    }

    /// Ends it, and writes its array back.
    pub(crate) fn leave(&mut self, on: Option<(usize, &Range<usize>)>) {
        let inner = self.groups.pop().expect("it was entered");
        if let Some((array, section)) = on {
            self.group_mut().arrays[array].values[section.clone()].copy_from_slice(&inner.arrays[0].values);
        }
    }

    /// Ends a split: variables that subgroups wrote are combined (G5).
    pub(crate) fn rejoin(&mut self) {
        let group = self.group_mut();
        for variable in &mut group.variables {
            let op = variable.op;
            variable.combine(op);
        }
        group.close();
        self.tell_place();
        self.tell_state();
    }

    /// A stage of the group at hand that is no split.
    pub(crate) fn stage(&mut self, stage: &Stage) {
        match stage {
            Stage::Make(made) => {
                self.group_mut().make(made);
                self.tell_place();
            }
            Stage::Leave(ranks) => self.group_mut().leaving.clone_from(ranks),
            Stage::Step(step) => self.boundary(step),
            Stage::Epoch(epoch) => self.epoch(epoch),
            Stage::Paged(ops) => self.cohere(ops),
            Stage::Permute { dst, src, to } => self.permute(*dst, *src, to),
            Stage::Halo(halo) => self.halo(halo),
            Stage::Split { .. } => unreachable!("a split is walked through by its bodies"),
        }
    }

    /// Lives through what a group does; `visit` is shown the model before each stage, with the way to the group.
    pub(crate) fn live(&mut self, body: &Body, trail: &mut Trail, visit: &mut Visit<'_>) {
        for (number, stage) in body.stages.iter().enumerate() {
            visit(self, trail, number, body);
            let Stage::Split { how, on, bodies } = stage else {
                self.stage(stage);
                continue;
            };
            for (id, members) in self.split(how, on.is_some()) {
                let on = on.as_ref().map(|(array, sections)| (*array, &sections[id]));
                self.enter(id, members, on);
                trail.push((number, id));
                self.live(&bodies[id], trail, visit);
                trail.pop();
                self.leave(on);
            }
            self.rejoin();
        }
    }

    pub(crate) fn into_told(self) -> Vec<Vec<Told>> {
        self.told
    }
}

/// What each processor of a program is told, in order.
///
/// ```
/// use superstep_model::{Body, Program, Told, expected};
///
/// let told = expected(&Program { procs: 1, first_step: 7, body: Body::default() });
/// assert_eq!(told[0][0], Told::Place { path: "0".to_owned(), rank: 0, size: 1, steps: 7 });
/// ```
pub fn expected(program: &Program) -> Vec<Vec<Told>> {
    let mut model = Model::new(program.procs, program.first_step);
    model.live(&program.body, &mut Trail::new(), &mut |_, _, _, _| ());
    model.into_told()
}

/// What each processor is told where conflicts are looked for, and whether there is any.
///
/// ```
/// use superstep_model::{Choices, expected, generate, watched};
///
/// let found = |seed| {
///     let (program, told) = generate(&mut Choices::of_seed(seed), 4);
///     let (watched, has_conflict) = watched(&program);
///     assert_eq!(watched != told, has_conflict);
///     has_conflict
/// };
/// assert!((0..100).any(found) && !(0..100).all(found));
/// ```
pub fn watched(program: &Program) -> (Vec<Vec<Told>>, bool) {
    let mut model = Model { watches: true, ..Model::new(program.procs, program.first_step) };
    model.live(&program.body, &mut Trail::new(), &mut |_, _, _, _| ());
    (model.told, model.found_conflict)
}
