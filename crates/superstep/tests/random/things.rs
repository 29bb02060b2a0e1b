//! What groups have made.

use crate::{
    arrays::{self, Held, Line},
    epochs::{Cells, Objects},
    words::Variable,
};
use superstep::{Area, Group, Paged, Queue};
use superstep_model::{Made, Told};

/// An array of this group, or the part of an outer one that this group works on.
pub(crate) enum Slot<'a> {
    Own(Box<dyn Held>),
    Lent(&'a dyn Held),
}

/// What a group has made.
#[derive(Default)]
pub(crate) struct Things<'a> {
    pub(crate) areas: Vec<Area<u16>>,
    pub(crate) queues: Vec<Queue<u8, String>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) arrays: Vec<Slot<'a>>,
    pub(crate) paged: Vec<Paged<u64, 2>>,
    pub(crate) objects: Vec<Objects>,
    pub(crate) cells: Vec<Cells>,
}

impl Things<'_> {
    pub(crate) fn array(&self, number: usize) -> &dyn Held {
        match &self.arrays[number] {
            Slot::Own(array) => &**array,
            Slot::Lent(array) => *array,
        }
    }

    pub(crate) fn line(&self, number: usize) -> &dyn Line {
        self.array(number).line().expect("only those are used so")
    }

    pub(crate) fn make(&mut self, g: &mut Group, made: &Made) {
        match made {
            Made::Area { lens } => self.areas.push(g.area(lens[g.rank()])),
            Made::Queue => self.queues.push(g.queue()),
            Made::Variable { op, value } => self.variables.push(Variable::new(g, *op, value)),
            Made::Array(design) => self.arrays.push(Slot::Own(arrays::make(g, design))),
            Made::Paged { shape, block } => self.paged.push(g.paged(*shape, *block)),
            Made::Objects => self.objects.push(Objects::new(g)),
            Made::Cells { owner } => self.cells.push(Cells::new(g, *owner)),
        }
    }
}

/// The things of a group and those of all groups above it.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) things: &'a Things<'a>,
    pub(crate) outer: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    /// The things of a group so many levels above.
    pub(crate) fn above(&'a self, level: usize) -> &'a Things<'a> {
        let mut scope = self;
        for _ in 0..level {
            scope = scope.outer.expect("there are as many groups above");
        }
        scope.things
    }

    /// What a processor has: its parts of areas and arrays, and its copies of the variables of all groups.
    pub(crate) fn own(&self, told: &mut Vec<Told>) {
        for area in &self.things.areas {
            told.push(Told::Elements(area.local().iter().map(|&value| value.into()).collect()));
        }
        for number in 0..self.things.arrays.len() {
            told.push(Told::Elements(self.things.array(number).owned()));
        }
        self.variables(told);
    }

    /// From the root group down.
    fn variables(&self, told: &mut Vec<Told>) {
        if let Some(outer) = self.outer {
            outer.variables(told);
        }
        told.extend(self.things.variables.iter().map(|variable| Told::Value(variable.get())));
    }
}
