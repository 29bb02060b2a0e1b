//! The papers' rules by brute force: every processor runs a step on copies of its own, and then they are combined.

use crate::program::{Array, CELLS, Expr, Op, PRIVATE, Part, Program, Stmt};

/// What a processor has written to an element in a step.
#[derive(Clone, Debug, PartialEq)]
enum Written {
    Not,
    Assigned(i64),
    Combined(Vec<i64>),
}

#[derive(Clone)]
struct Processor {
    private: [i64; PRIVATE],
    shared: Vec<i64>,
    wrote: Vec<bool>,
    cells: [i64; CELLS],
    wrote_cells: [bool; CELLS],
    elements: Vec<Vec<Written>>,
    loops: Vec<i64>,
    /// Its place in the innermost group.
    rank: usize,
    size: usize,
    id: usize,
}

struct Machine<'a> {
    program: &'a Program,
    processors: Vec<Processor>,
    arrays: Vec<Vec<i64>>,
}

fn combine(op: Op, one: i64, other: i64) -> i64 {
    match op {
        Op::Any => one,
        Op::Sum => one.wrapping_add(other),
        Op::Max => one.max(other),
    }
}

fn owner(array: &Array, index: usize, size: usize) -> usize {
    if array.is_cyclic { index % size } else { index / array.len.div_ceil(size) }
}

impl Machine<'_> {
    fn eval(&self, rank: usize, expr: &Expr) -> i64 {
        let me = &self.processors[rank];
        let index = |at: &Expr, len: usize| self.eval(rank, at).rem_euclid(len as i64) as usize;
        match expr {
            Expr::Number(number) => *number,
            Expr::Rank => me.rank as i64,
            Expr::Size => me.size as i64,
            Expr::Id => me.id as i64,
            Expr::Loop(number) => me.loops[*number],
            Expr::Private(number) => me.private[*number],
            Expr::Shared(number) => me.shared[*number],
            Expr::Cell(at) => me.cells[index(at, CELLS)],
            Expr::Element(array, at) => self.element(rank, *array, index(at, self.program.arrays[*array].len)),
            Expr::Section(array, first, last, by) => {
                let all: Vec<i64> = (*first..=*last).step_by(*by).map(|at| self.element(rank, *array, at)).collect();
                crate::total(&all)
            }
            Expr::Add(one, other) => (self.eval(rank, one) + self.eval(rank, other)) % 997,
            Expr::Mul(one, other) => (self.eval(rank, one) * self.eval(rank, other)) % 997,
        }
    }

    /// An element as this processor sees it.
    fn element(&self, rank: usize, array: usize, at: usize) -> i64 {
        let old = self.arrays[array][at];
        match &self.processors[rank].elements[array][at] {
            Written::Not => old,
            Written::Assigned(value) => *value,
            Written::Combined(values) => {
                values.iter().fold(old, |sum, value| combine(self.program.arrays[array].op, sum, *value))
            }
        }
    }

    fn assign(&mut self, rank: usize, array: usize, at: usize, value: i64) {
        self.processors[rank].elements[array][at] = Written::Assigned(value);
    }

    fn set_loop(&mut self, rank: usize, number: usize, value: i64) {
        let loops = &mut self.processors[rank].loops;
        loops.resize(loops.len().max(number + 1), 0);
        loops[number] = value;
    }

    fn run(&mut self, rank: usize, list: &[Stmt]) {
        for stmt in list {
            self.stmt(rank, stmt);
        }
    }

    /// Runs a step on all processors; says whether they leave the loop around it.
    fn step(&mut self, body: &[Stmt]) -> bool {
        let mut is_left = false;
        for rank in 0..self.processors.len() {
            let leaves = |stmt: &Stmt| matches!(stmt, Stmt::Break(condition) if self.eval(rank, condition) % 2 == 0);
            let end = body.iter().position(leaves);
            is_left = end.is_some();
            self.run(rank, &body[..end.unwrap_or(body.len())]);
        }
        is_left
    }

    fn stmt(&mut self, rank: usize, stmt: &Stmt) {
        let lens: Vec<usize> = self.program.arrays.iter().map(|array| array.len).collect();
        let index = |machine: &Self, at: &Expr, len: usize| machine.eval(rank, at).rem_euclid(len as i64) as usize;
        match stmt {
            Stmt::SetPrivate(number, value) => self.processors[rank].private[*number] = self.eval(rank, value),
            Stmt::SetShared(number, value) | Stmt::AddShared(number, value) => {
                let value = self.eval(rank, value);
                let me = &mut self.processors[rank];
                let before = if matches!(stmt, Stmt::AddShared(..)) { me.shared[*number] } else { 0 };
                (me.shared[*number], me.wrote[*number]) = (before + value, true);
            }
            Stmt::SetCell(at, value) | Stmt::AddCell(at, value) => {
                let (at, value) = (index(self, at, CELLS), self.eval(rank, value));
                let me = &mut self.processors[rank];
                let before = if matches!(stmt, Stmt::AddCell(..)) { me.cells[at] } else { 0 };
                (me.cells[at], me.wrote_cells[at]) = (before + value, true);
            }
            Stmt::Assign(array, at, value) => {
                let (at, value) = (index(self, at, lens[*array]), self.eval(rank, value));
                self.assign(rank, *array, at, value);
            }
            Stmt::Combine(array, at, value) => {
                let (at, value) = (index(self, at, lens[*array]), self.eval(rank, value));
                if self.program.arrays[*array].op == Op::Any {
                    let before = self.element(rank, *array, at);
                    self.assign(rank, *array, at, before + value);
                    return;
                }
                match &mut self.processors[rank].elements[*array][at] {
                    Written::Combined(values) => values.push(value),
                    other => *other = Written::Combined(vec![value]),
                }
            }
            Stmt::AssignSection(array, first, values) => {
                let values: Vec<i64> = values.iter().map(|value| self.eval(rank, value)).collect();
                for (at, value) in values.into_iter().enumerate() {
                    self.assign(rank, *array, first + at, value);
                }
            }
            Stmt::Move(target, source) => {
                for at in 0..lens[*source] {
                    if owner(&self.program.arrays[*source], at, self.processors.len()) == rank {
                        self.assign(rank, *target, at, self.arrays[*source][at]);
                    }
                }
            }
            Stmt::If(condition, then, other) => {
                let is_even = self.eval(rank, condition) % 2 == 0;
                self.run(rank, if is_even { then } else { other });
            }
            Stmt::For(number, count, body) => {
                for round in 0..*count {
                    self.set_loop(rank, *number, round as i64);
                    self.run(rank, body);
                }
            }
            Stmt::SumOwned(array, target) => {
                let (array_of, size) = (&self.program.arrays[*array], self.processors.len());
                for at in (0..lens[*array]).filter(|at| owner(array_of, *at, size) == rank) {
                    let value = self.element(rank, *array, at);
                    let sum = &mut self.processors[rank].private[*target];
                    *sum = (*sum * 3 + value + at as i64) % 997;
                }
            }
            Stmt::SetOwned(array, number, value) => {
                for at in 0..lens[*array] {
                    if owner(&self.program.arrays[*array], at, self.processors.len()) == rank {
                        self.set_loop(rank, *number, at as i64);
                        let value = self.eval(rank, value);
                        self.assign(rank, *array, at, value);
                    }
                }
            }
            Stmt::Break(_) => {}
        }
    }

    /// The end of a step of the whole group.
    fn boundary(&mut self, replaced: &[(usize, Op, Option<usize>)]) {
        for number in 0..self.program.shared.len() {
            let other = replaced.iter().find(|(other, ..)| *other == number);
            let op = other.map_or(self.program.shared[number], |(_, op, _)| *op);
            let mut all: Option<i64> = None;
            for rank in 0..self.processors.len() {
                if let Some((_, _, Some(target))) = other {
                    self.processors[rank].private[*target] = all.unwrap_or(0);
                }
                let me = &self.processors[rank];
                if me.wrote[number] {
                    all = Some(all.map_or(me.shared[number], |all| combine(op, all, me.shared[number])));
                }
            }
            self.agree(number, all);
        }
        for at in 0..CELLS {
            let wrote = self.processors.iter().filter(|me| me.wrote_cells[at]).map(|me| me.cells[at]);
            if let Some(all) = wrote.reduce(|one, other| combine(self.program.cells, one, other)) {
                self.processors.iter_mut().for_each(|me| me.cells[at] = all);
            }
            self.processors.iter_mut().for_each(|me| me.wrote_cells[at] = false);
        }
        for (number, array) in self.program.arrays.iter().enumerate() {
            for at in 0..array.len {
                let written: Vec<Written> = self.processors.iter().map(|me| me.elements[number][at].clone()).collect();
                let assigned = written.iter().filter_map(|written| match written {
                    Written::Assigned(value) => Some(*value),
                    _ => None,
                });
                let element = &mut self.arrays[number][at];
                if let Some(all) = assigned.reduce(|one, other| combine(array.op, one, other)) {
                    *element = all;
                }
                for written in &written {
                    if let Written::Combined(values) = written {
                        *element = values.iter().fold(*element, |sum, value| combine(array.op, sum, *value));
                    }
                }
                self.processors.iter_mut().for_each(|me| me.elements[number][at] = Written::Not);
            }
        }
    }

    fn agree(&mut self, number: usize, all: Option<i64>) {
        for me in &mut self.processors {
            me.wrote[number] = false;
            if let Some(all) = all {
                me.shared[number] = all;
            }
        }
    }

    /// Says whether the loop around is left.
    fn parts(&mut self, list: &[Part]) -> bool {
        for part in list {
            match part {
                Part::Step(body, combine) => {
                    let is_left = self.step(body);
                    self.boundary(combine);
                    if is_left {
                        return true;
                    }
                }
                Part::Private(number, value) => {
                    for rank in 0..self.processors.len() {
                        self.processors[rank].private[*number] = self.eval(rank, value);
                    }
                }
                Part::Repeat(number, count, inner) => {
                    for round in 0..*count {
                        (0..self.processors.len()).for_each(|rank| self.set_loop(rank, *number, round as i64));
                        if self.parts(inner) {
                            break;
                        }
                    }
                }
                Part::Nest(count, choice, steps) => self.nest(*count, choice.as_ref(), steps),
            }
        }
        false
    }

    /// Subgroups know only variables of the outer group, which are combined when all are done.
    fn nest(&mut self, count: usize, choice: Option<&Expr>, steps: &[Vec<Stmt>]) {
        let size = self.processors.len();
        let chosen = |rank: usize| match choice {
            Some(choice) => self.eval(rank, choice).rem_euclid(count as i64 + 1) as usize,
            None => rank % count,
        };
        let ids: Vec<usize> = (0..size).map(chosen).collect();
        for (rank, me) in self.processors.iter_mut().enumerate() {
            let mut others = (0..size).filter(|&other| ids[other] == ids[rank]);
            let before = others.clone().take_while(|&other| other < rank).count();
            (me.rank, me.size, me.id) = (before, others.by_ref().count(), ids[rank]);
        }
        for step in steps {
            (0..size).filter(|&rank| ids[rank] < count).for_each(|rank| self.run(rank, step));
        }
        for (rank, me) in self.processors.iter_mut().enumerate() {
            (me.rank, me.size, me.id) = (rank, size, 0);
        }
        self.boundary(&[]);
    }
}

/// What every processor knows in the end.
pub(crate) fn run(program: &Program, size: usize) -> Vec<Vec<i64>> {
    let processor = |rank: usize| Processor {
        private: std::array::from_fn(|number| number as i64),
        shared: (0..program.shared.len()).map(|number| number as i64 + 1).collect(),
        wrote: vec![false; program.shared.len()],
        cells: [0; CELLS],
        wrote_cells: [false; CELLS],
        elements: program.arrays.iter().map(|array| vec![Written::Not; array.len]).collect(),
        loops: Vec::new(),
        rank,
        size,
        id: 0,
    };
    let mut machine = Machine {
        program,
        processors: (0..size).map(processor).collect(),
        arrays: program.arrays.iter().map(|array| (1..=array.len as i64).collect()).collect(),
    };
    machine.parts(&program.parts);
    let Machine { processors, arrays, .. } = machine;
    let known = |me: Processor| {
        let own = me.private.into_iter().chain(me.shared).chain(me.cells);
        own.chain(arrays.iter().flatten().copied()).collect()
    };
    processors.into_iter().map(known).collect()
}
