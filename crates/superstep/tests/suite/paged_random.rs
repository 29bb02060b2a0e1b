//! Random programs of paged arrays against a serial model (C1, C2, C4): writes, calls under way that are finished in
//! any order, pages that are dropped meanwhile, and several arrays at a time.
//!
//! A seed makes the same program everywhere, and what fails says the seed and the number of the operation. Programs of
//! one seed begin alike however long they are, so that operation is the last one that is needed.

use superstep::{Cohering, Group, Paged, Sum, strided, testing::on_sizes};

const OPERATIONS: usize = 40;

/// Random numbers that are the same on every processor.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// A first index, an end and a stride.
    fn range(&mut self, extent: usize) -> [usize; 3] {
        let first = self.below(extent);
        [first, first + 1 + self.below(extent - first), [1, 1, 2, 3][self.below(4)]]
    }
}

/// A section: rows and columns.
type Places = [[usize; 3]; 2];

/// A call, as far as a serial program needs to know it.
struct Call {
    array: usize,
    elements: Vec<usize>,
    ranks: Vec<usize>,
    /// What each element is after it, and who wrote that.
    results: Vec<(u64, Option<usize>)>,
    /// Which of them each processor had written, and whether it has finished the call.
    wrote: Vec<Vec<bool>>,
    is_finished: Vec<bool>,
}

impl Call {
    /// Where the element stands, if it is of the call and `rank` takes part.
    fn find(&self, array: usize, element: usize, rank: usize) -> Option<usize> {
        let is_member = self.array == array && self.ranks.contains(&rank);
        is_member.then(|| self.elements.binary_search(&element).ok()).flatten()
    }

    fn is_open(&self, rank: usize) -> bool {
        self.ranks.contains(&rank) && !self.is_finished[rank]
    }
}

/// What is known of one array.
struct Model {
    shape: [usize; 2],
    owners: Vec<usize>,
    pages: Vec<(usize, usize)>,
    /// What each processor sees; `None` where nothing is present.
    seen: Vec<Vec<Option<u64>>>,
    /// What it wrote and told nobody yet.
    written: Vec<Vec<bool>>,
    /// Whether copies may go by themselves here.
    is_limited: bool,
}

impl Model {
    fn new(a: &Paged<u64, 2>, size: usize) -> Self {
        let (shape, block) = (a.shape(), a.block());
        let direction = (0..2).max_by_key(|&at| (block[at], block[at] >= shape[at], at)).unwrap();
        let places = || (0..shape[0] * shape[1]).map(|at| [at / shape[1], at % shape[1]]);
        let owners: Vec<usize> = places().map(|at| a.owner(at)).collect();
        let pages = places().map(|at| (at[1 - direction], at[direction] / a.page_len())).collect();
        let seen = (0..size).map(|rank| owners.iter().map(|&owner| (owner == rank).then_some(0)).collect()).collect();
        let written = vec![vec![false; owners.len()]; size];
        Self { shape, owners, pages, seen, written, is_limited: false }
    }

    fn place(&self, element: usize) -> [usize; 2] {
        [element / self.shape[1], element % self.shape[1]]
    }

    fn elements(&self, places: Places) -> Vec<usize> {
        let [rows, columns] = places.map(|[first, end, step]| (first..end).step_by(step));
        rows.flat_map(|i| columns.clone().map(move |j| i * self.shape[1] + j)).collect()
    }
}

fn section(places: Places) -> (superstep::Strided, superstep::Strided) {
    let [rows, columns] = places.map(|[first, end, step]| strided(first..end, step as isize));
    (rows, columns)
}

/// A program while it runs, on one processor.
struct Program<'a> {
    g: &'a Group,
    arrays: &'a [Paged<u64, 2>],
    models: &'a mut [Model],
    calls: Vec<Call>,
    /// This processor's calls under way, by number.
    under_way: Vec<(usize, Cohering<'a, u64, 2>)>,
    random: &'a mut Random,
    stamp: &'a mut u64,
}

impl Program<'_> {
    fn operation(&mut self) -> &'static str {
        let (array, rank) = (self.random.below(self.arrays.len()), self.random.below(self.g.size()));
        match self.random.below(16) {
            0..3 => self.write(array, rank),
            3 => self.borrow(array, rank),
            4..8 => self.call(array),
            8..11 => self.finish_some(rank),
            11..14 => self.forget(array, rank),
            14 => self.prefetch(array, rank),
            _ => self.limit(array, rank),
        }
    }

    fn is_me(&self, rank: usize) -> bool {
        self.g.rank() == rank
    }

    fn places(&mut self, array: usize) -> Places {
        self.models[array].shape.map(|extent| self.random.range(extent))
    }

    /// Notes a write, and returns its value.
    fn note(&mut self, array: usize, rank: usize, element: usize) -> u64 {
        *self.stamp += 1;
        self.models[array].seen[rank][element] = Some(*self.stamp);
        self.models[array].written[rank][element] = true;
        *self.stamp
    }

    fn write(&mut self, array: usize, rank: usize) -> &'static str {
        let len = self.models[array].owners.len();
        let (start, stride) = (self.random.below(len), 1 + self.random.below(3));
        // A page of others' that was written stays, so most writes are to what the processor owns.
        let is_anywhere = self.random.below(4) == 0;
        for element in (start..len).step_by(stride).take(self.random.below(8)) {
            if !is_anywhere && self.models[array].owners[element] != rank {
                continue;
            }
            let value = self.note(array, rank, element);
            if self.is_me(rank) {
                self.arrays[array].write(self.models[array].place(element), value);
            }
        }
        "write"
    }

    /// Writes an element of its own through a slice.
    fn borrow(&mut self, array: usize, rank: usize) -> &'static str {
        let owned = self.models[array].owners.iter().enumerate().filter(|&(_, &owner)| owner == rank);
        let owned: Vec<usize> = owned.map(|(element, _)| element).collect();
        if !owned.is_empty() {
            let element = owned[self.random.below(owned.len())];
            let value = self.note(array, rank, element);
            if self.is_me(rank) {
                self.arrays[array].run_mut(self.models[array].place(element), 1)[0] = value;
            }
        }
        "slice"
    }

    /// All of a set make a section coherent: some wait for it at once, others only begin.
    fn call(&mut self, array: usize) -> &'static str {
        let places = self.places(array);
        let elements = self.models[array].elements(places);
        let mut ranks: Vec<usize> = elements.iter().map(|&element| self.models[array].owners[element]).collect();
        ranks.push(self.random.below(self.g.size()));
        ranks.sort_unstable();
        ranks.dedup();
        for &element in &elements {
            self.finish_what_others_wrote(array, element);
        }
        let model = &mut self.models[array];
        let value = |&element: &usize| {
            let owner = model.owners[element];
            let writer = ranks.iter().copied().find(|&rank| model.written[rank][element]);
            (model.seen[writer.unwrap_or(owner)][element].unwrap(), writer)
        };
        let results = elements.iter().map(value).collect();
        let mut wrote = vec![Vec::new(); self.g.size()];
        for &rank in &ranks {
            wrote[rank] = elements.iter().map(|&at| std::mem::take(&mut model.written[rank][at])).collect();
        }
        let (number, is_finished) = (self.calls.len(), vec![false; self.g.size()]);
        self.calls.push(Call { array, elements, ranks: ranks.clone(), results, wrote, is_finished });
        let (g, arrays) = (self.g, self.arrays);
        for &rank in &ranks {
            let waits = self.random.below(4) == 0;
            if waits {
                self.note_finished(number, rank);
            }
            match (self.is_me(rank), waits) {
                (true, true) => g.cohere(&arrays[array], section(places), &ranks),
                (true, false) => {
                    let begun = g.begin_cohere(&arrays[array], section(places), &ranks);
                    self.under_way.push((number, begun));
                }
                _ => {}
            }
        }
        "call"
    }

    /// An owner may not tell others what an earlier call, which it has not finished, replaces.
    fn finish_what_others_wrote(&mut self, array: usize, element: usize) {
        let owner = self.models[array].owners[element];
        let last = self.calls.iter().rposition(|call| call.find(array, element, owner).is_some());
        if let Some(number) = last.filter(|_| !self.models[array].written[owner][element]) {
            let call = &self.calls[number];
            let writer = call.find(array, element, owner).and_then(|at| call.results[at].1);
            if call.is_open(owner) && writer.is_some_and(|writer| writer != owner) {
                self.finish(number, owner);
            }
        }
    }

    fn finish_some(&mut self, rank: usize) -> &'static str {
        let open: Vec<usize> = (0..self.calls.len()).filter(|&number| self.calls[number].is_open(rank)).collect();
        if !open.is_empty() {
            let number = open[self.random.below(open.len())];
            self.finish(number, rank);
        }
        "finish"
    }

    fn finish(&mut self, number: usize, rank: usize) {
        self.note_finished(number, rank);
        let is_dropped = self.random.below(2) == 0;
        if self.is_me(rank) {
            let at = self.under_way.iter().position(|&(other, _)| other == number).unwrap();
            let (_, begun) = self.under_way.swap_remove(at);
            if is_dropped { drop(begun) } else { begun.finish() }
        }
    }

    /// What a processor sees when it has finished a call: the results, where it knows nothing newer.
    fn note_finished(&mut self, number: usize, rank: usize) {
        self.calls[number].is_finished[rank] = true;
        let (call, later) = (&self.calls[number], &self.calls[number + 1..]);
        let model = &mut self.models[call.array];
        for (&element, &(value, _)) in call.elements.iter().zip(&call.results) {
            let is_newer = |later: &Call| {
                let at = later.find(call.array, element, rank);
                at.is_some_and(|at| later.is_finished[rank] || later.wrote[rank][at])
            };
            if !model.written[rank][element] && !later.iter().any(is_newer) {
                model.seen[rank][element] = Some(value);
            }
        }
    }

    /// The elements of a page that may be dropped; none if it may not.
    fn droppable(&self, array: usize, rank: usize, page: (usize, usize)) -> Vec<usize> {
        let model = &self.models[array];
        let on_page: Vec<usize> = (0..model.pages.len()).filter(|&element| model.pages[element] == page).collect();
        let is_told = |element: usize| {
            let open = self.calls.iter().filter(|call| call.is_open(rank));
            open.into_iter().any(|call| call.find(array, element, rank).is_some_and(|at| call.wrote[rank][at]))
        };
        let is_kept = |&at: &usize| model.owners[at] == rank || model.written[rank][at] || is_told(at);
        if on_page.iter().any(is_kept) { Vec::new() } else { on_page }
    }

    fn forget(&mut self, array: usize, rank: usize) -> &'static str {
        let places = self.places(array);
        for element in self.models[array].elements(places) {
            for gone in self.droppable(array, rank, self.models[array].pages[element]) {
                self.models[array].seen[rank][gone] = None;
            }
        }
        if self.is_me(rank) {
            self.arrays[array].forget(section(places));
        }
        "forget"
    }

    fn prefetch(&mut self, array: usize, rank: usize) -> &'static str {
        let places = self.places(array);
        if self.is_me(rank) {
            let elements = self.models[array].elements(places);
            let is_present = elements.iter().all(|&at| self.models[array].seen[rank][at].is_some());
            assert_eq!(self.arrays[array].prefetch(section(places)), is_present);
        }
        "prefetch"
    }

    fn limit(&mut self, array: usize, rank: usize) -> &'static str {
        let bytes = [0, 8 * self.arrays[array].page_len(), usize::MAX][self.random.below(3)];
        if self.is_me(rank) {
            self.models[array].is_limited = true;
            self.arrays[array].limit_copies(bytes);
        }
        "limit"
    }

    /// Holds what this processor sees against the model.
    fn check(&mut self, context: &str) {
        let me = self.g.rank();
        for (array, a) in self.arrays.iter().enumerate() {
            for element in 0..self.models[array].owners.len() {
                let place = self.models[array].place(element);
                let seen = a.is_present(place).then(|| a.read(place));
                let (model, page) = (&self.models[array], self.models[array].pages[element]);
                let is_gone = seen.is_none() && model.is_limited && model.seen[me][element].is_some();
                if is_gone && !self.droppable(array, me, page).is_empty() {
                    // It may have gone by itself.
                    self.models[array].seen[me][element] = None;
                }
                let wanted = self.models[array].seen[me][element];
                assert_eq!(seen, wanted, "{context}, element {place:?} of array {array} on {me}");
            }
        }
    }

    /// Finishes all calls, each processor in an order of its own.
    fn finish_all(&mut self) {
        for rank in 0..self.g.size() {
            while self.calls.iter().any(|call| call.is_open(rank)) {
                self.finish_some(rank);
            }
        }
    }
}

fn follows_the_model(g: &mut Group, seed: u64, shape: [usize; 2], block: [usize; 2]) {
    let arrays = [g.paged::<u64, 2>(shape, block), g.paged::<u64, 2>([3, 5], [1, 5])];
    let mut models: Vec<Model> = arrays.iter().map(|a| Model::new(a, g.size())).collect();
    let (mut random, mut stamp) = (Random(seed), 0);
    for part in 0..2 {
        let mut program = Program {
            g,
            arrays: &arrays,
            models: &mut models,
            calls: Vec::new(),
            under_way: Vec::new(),
            random: &mut random,
            stamp: &mut stamp,
        };
        for number in 0..OPERATIONS {
            let what = program.operation();
            program.check(&format!("seed {seed} of {shape:?} in {block:?}: {what}, operation {number} of part {part}"));
        }
        program.finish_all();
        program.check(&format!("seed {seed} of {shape:?} in {block:?}: end of part {part}"));
        drop(program);
        // Between two boundaries nothing is under way, and everybody has come as far.
        assert_eq!(g.step(|s| s.reduce(stamp, Sum)), stamp * g.size() as u64);
    }
}

/// As many programs as `SUPERSTEP_RANDOM_PROGRAMS` says.
fn programs() -> u64 {
    std::env::var("SUPERSTEP_RANDOM_PROGRAMS").map_or(1, |text| text.parse().expect("a number of programs"))
}

#[test]
fn random_programs_see_what_a_serial_one_does() {
    on_sizes(&[1, 2, 3, 4], |g| {
        for seed in 0..programs() {
            follows_the_model(g, 4 * seed, [6, 9], [2, 9]);
            follows_the_model(g, 4 * seed + 1, [6, 9], [6, 2]);
            follows_the_model(g, 4 * seed + 2, [5, 13], [2, 5]);
            follows_the_model(g, 4 * seed + 3, [4, 5], [1, 1]);
        }
    });
}

/// The same with runs that are long enough to be lent.
#[test]
fn random_programs_may_lend() {
    on_sizes(&[2, 3], |g| {
        for seed in 0..programs() {
            follows_the_model(g, 1000 + seed, [3, 520], [1, 520]);
        }
    });
}

/// The same in subgroups, while an array of the outer group has copies.
#[test]
fn subgroups_have_programs_of_their_own() {
    on_sizes(&[3, 4], |g| {
        let all: Vec<usize> = (0..g.size()).collect();
        let outer = g.paged::<u64, 1>([g.size()], [1]);
        outer.write(g.rank(), 7 + g.rank() as u64);
        g.cohere(&outer, .., &all);
        g.split(2, |sub| follows_the_model(sub, 100 + sub.id() as u64, [6, 9], [2, 9]));
        assert_eq!(outer.read_section(..), (0..g.size()).map(|rank| 7 + rank as u64).collect::<Vec<_>>());
        g.cohere(&outer, .., &all);
    });
}
