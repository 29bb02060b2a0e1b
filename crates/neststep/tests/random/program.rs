//! Random programs: what they are made of, and how one is drawn.

/// Numbers that a seed decides.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Any,
    Sum,
    Max,
}

#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) len: usize,
    pub(crate) is_cyclic: bool,
    pub(crate) op: Op,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i64),
    Rank,
    Size,
    Id,
    /// A variable of a loop, by its depth.
    Loop(usize),
    Private(usize),
    Shared(usize),
    /// An element of the replicated array.
    Cell(Box<Expr>),
    Element(usize, Box<Expr>),
    /// The sum of a section, from one number to another.
    Section(usize, usize, usize, usize),
    Add(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    SetPrivate(usize, Expr),
    SetShared(usize, Expr),
    AddShared(usize, Expr),
    SetCell(Expr, Expr),
    AddCell(Expr, Expr),
    Assign(usize, Expr, Expr),
    /// Combines by the array's operator; an array that has none is read and written.
    Combine(usize, Expr, Expr),
    AssignSection(usize, usize, Vec<Expr>),
    /// `a[:] = b[:]`, of arrays as long as each other.
    Move(usize, usize),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    For(usize, usize, Vec<Stmt>),
    /// A loop over owned elements: adds each to a private variable, or assigns each.
    SumOwned(usize, usize),
    SetOwned(usize, usize, Expr),
    /// Leaves the loop around the step, if a value is even that is the same on all processors.
    Break(Expr),
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Body, and operators that it replaces: a shared variable, its operator, and a private target of the prefix.
    Step(Vec<Stmt>, Vec<(usize, Op, Option<usize>)>),
    Private(usize, Expr),
    Repeat(usize, usize, Vec<Part>),
    /// So many subgroups, how each processor chooses one if it does, and their steps. Who chooses none skips them.
    Nest(usize, Option<Expr>, Vec<Vec<Stmt>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) arrays: Vec<Array>,
    pub(crate) shared: Vec<Op>,
    pub(crate) cells: Op,
    pub(crate) parts: Vec<Part>,
}

pub(crate) const PRIVATE: usize = 3;
pub(crate) const CELLS: usize = 4;
/// Private variables from this one on are never changed inside of a step, so an index may be made of them.
pub(crate) const KNOWN: usize = 2;

/// What may be said at a place.
struct Place<'a> {
    random: &'a mut Random,
    arrays: &'a [Array],
    shared: usize,
    loops: usize,
    /// Whether elements may be read and written: not in subgroups, to which the arrays do not belong.
    has_arrays: bool,
    /// How each array is written in this step, if it has an operator: whether it is assigned.
    assigns: Vec<bool>,
    /// An array that is moved as a whole is not written otherwise.
    moved: Option<usize>,
}

impl Place<'_> {
    /// An expression; a known one does not depend on what the step reads and writes.
    fn expr(&mut self, depth: usize, is_known: bool) -> Expr {
        let pick = self.random.below(if depth == 0 { 6 } else { 10 });
        match pick {
            0 => Expr::Number(self.random.below(30) as i64 - 9),
            1 => Expr::Rank,
            2 => [Expr::Size, Expr::Id][self.random.below(2)].clone(),
            3 if self.loops > 0 => Expr::Loop(self.random.below(self.loops)),
            3 | 4 => Expr::Private(if is_known { KNOWN } else { self.random.below(PRIVATE) }),
            5 if is_known => Expr::Number(self.random.below(12) as i64),
            5 => Expr::Shared(self.random.below(self.shared)),
            6 if !is_known => Expr::Cell(Box::new(self.expr(0, true))),
            7 | 8 if !is_known && self.has_arrays => {
                let array = self.random.below(self.arrays.len());
                if self.random.chance(5) {
                    let len = self.arrays[array].len;
                    let first = self.random.below(len);
                    let last = first + self.random.below(len - first);
                    return Expr::Section(array, first, last, 1 + self.random.below(2));
                }
                Expr::Element(array, Box::new(self.expr(1, true)))
            }
            9 => Expr::Mul(Box::new(self.expr(depth - 1, is_known)), Box::new(self.expr(0, is_known))),
            _ => Expr::Add(Box::new(self.expr(depth - 1, is_known)), Box::new(self.expr(depth - 1, is_known))),
        }
    }

    fn array(&mut self) -> Option<usize> {
        let array = self.random.below(self.arrays.len());
        (self.has_arrays && self.moved != Some(array)).then_some(array)
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        let is_deep = depth > 0;
        loop {
            match self.random.below(15) {
                0 => return Stmt::SetPrivate(self.random.below(KNOWN), self.expr(2, false)),
                1 => return Stmt::SetShared(self.random.below(self.shared), self.expr(2, false)),
                2 => return Stmt::AddShared(self.random.below(self.shared), self.expr(1, false)),
                3 if self.has_arrays => return Stmt::SetCell(self.expr(1, true), self.expr(1, false)),
                4 if self.has_arrays => return Stmt::AddCell(self.expr(1, true), self.expr(1, false)),
                5..=7 => {
                    let Some(array) = self.array() else { continue };
                    let (at, value) = (self.expr(1, false), self.expr(2, false));
                    if self.arrays[array].op == Op::Any || self.assigns[array] {
                        return Stmt::Assign(array, at, value);
                    }
                    return Stmt::Combine(array, at, value);
                }
                8 => {
                    let Some(array) = self.array() else { continue };
                    if self.arrays[array].op == Op::Any {
                        return Stmt::Combine(array, self.expr(1, true), self.expr(1, false));
                    }
                }
                9 => {
                    let Some(array) = self.array() else { continue };
                    if self.arrays[array].op == Op::Any || self.assigns[array] {
                        let first = self.random.below(self.arrays[array].len);
                        let count = 1 + self.random.below((self.arrays[array].len - first).min(3));
                        return Stmt::AssignSection(array, first, (0..count).map(|_| self.expr(1, false)).collect());
                    }
                }
                10 | 11 if is_deep => {
                    let is_known = self.random.chance(2);
                    let condition = self.expr(1, is_known);
                    return Stmt::If(condition, self.block(depth - 1), self.block(depth - 1));
                }
                12 if is_deep => {
                    self.loops += 1;
                    let (number, count) = (self.loops - 1, 1 + self.random.below(4));
                    let body = self.block(depth - 1);
                    self.loops -= 1;
                    return Stmt::For(number, count, body);
                }
                13 if self.has_arrays => {
                    return Stmt::SumOwned(self.random.below(self.arrays.len()), self.random.below(KNOWN));
                }
                14 if is_deep => {
                    let Some(array) = self.array() else { continue };
                    if self.arrays[array].op == Op::Any || self.assigns[array] {
                        self.loops += 1;
                        let stmt = Stmt::SetOwned(array, self.loops - 1, self.expr(1, false));
                        self.loops -= 1;
                        return stmt;
                    }
                }
                _ => {}
            }
        }
    }

    /// An expression that is the same on all processors.
    fn stable(&mut self) -> Expr {
        let number = Expr::Number(self.random.below(30) as i64);
        let round = Expr::Loop(self.random.below(self.loops));
        let size = if self.random.chance(3) { Expr::Size } else { number };
        Expr::Add(Box::new(round), Box::new(size))
    }

    fn block(&mut self, depth: usize) -> Vec<Stmt> {
        (0..=self.random.below(3)).map(|_| self.stmt(depth)).collect()
    }
}

/// Draws a program.
pub(crate) fn draw(seed: u64) -> Program {
    let mut random = Random::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x5DEE_CE66);
    let op = |random: &mut Random| [Op::Any, Op::Any, Op::Sum, Op::Max][random.below(4)];
    let len = 3 + random.below(10);
    let arrays: Vec<Array> = (0..2 + random.below(2))
        .map(|number| Array {
            len: if number < 2 { len } else { 2 + random.below(12) },
            is_cyclic: random.chance(2),
            op: op(&mut random),
        })
        .collect();
    let shared: Vec<Op> = (0..2).map(|_| op(&mut random)).collect();
    let cells = op(&mut random);
    let count = 2 + random.below(4);
    let parts = (0..count).map(|_| part(&mut random, &arrays, shared.len(), 0, 2)).collect();
    Program { arrays, shared, cells, parts }
}

fn part(random: &mut Random, arrays: &[Array], shared: usize, loops: usize, depth: usize) -> Part {
    let assigns: Vec<bool> = arrays.iter().map(|_| random.chance(2)).collect();
    let mut place = Place { random, arrays, shared, loops, has_arrays: true, assigns, moved: None };
    match place.random.below(10) {
        0 if depth > 0 => {
            let (count, parts) = (1 + place.random.below(3), 1 + place.random.below(2));
            let parts = (0..parts).map(|_| part(random, arrays, shared, loops + 1, depth - 1)).collect();
            Part::Repeat(loops, count, parts)
        }
        1 => {
            place.has_arrays = false;
            let value = place.expr(2, true);
            Part::Private(KNOWN, value)
        }
        2 => {
            place.has_arrays = false;
            let count = 1 + place.random.below(3);
            let steps = 1 + place.random.below(2);
            let choice = place.random.chance(2).then(|| place.expr(1, true));
            Part::Nest(count, choice, (0..steps).map(|_| place.block(1)).collect())
        }
        3 => {
            // The first two arrays are as long as each other; one goes to the other.
            place.moved = Some(1);
            let mut body = place.block(1);
            let writes = arrays[0].op == Op::Any || place.assigns[0];
            if writes {
                body.push(Stmt::Move(0, 1));
            }
            Part::Step(body, Vec::new())
        }
        _ => {
            let mut body = place.block(2);
            if place.loops > 0 && place.random.chance(3) {
                let (at, condition) = (place.random.below(body.len() + 1), place.stable());
                body.insert(at, Stmt::Break(condition));
            }
            let mut combine = Vec::new();
            if place.random.chance(3) {
                let number = place.random.below(shared);
                let op = [Op::Any, Op::Sum, Op::Max][place.random.below(3)];
                let target = (op == Op::Sum && place.random.chance(2)).then_some(0);
                combine.push((number, op, target));
            }
            Part::Step(body, combine)
        }
    }
}
