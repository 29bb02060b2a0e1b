//! Paged arrays: what each processor sees of them, and what coherence does (C1, C2, C4).

use crate::{
    asynchronous::PagedOp,
    layout::{Cut, elements},
    told::Sight,
};

/// The pages of an array that is dealt round element by element have so many elements.
const CYCLIC_PAGE: usize = 64;

/// A paged array of two dimensions. Lists are by rank.
#[derive(Clone)]
pub(crate) struct Paged {
    pub(crate) shape: [usize; 2],
    /// The rank that owns each element.
    pub(crate) owners: Vec<usize>,
    /// The page that each element lies on.
    pages: Vec<(usize, usize)>,
    pub(crate) sights: Vec<Vec<Sight>>,
    /// What each has written and told nobody yet.
    pub(crate) written: Vec<Vec<bool>>,
    /// Where copies may go by themselves.
    is_limited: Vec<bool>,
    pub(crate) is_lost: bool,
}

impl Paged {
    pub(crate) fn new(shape: [usize; 2], block: [usize; 2], size: usize) -> Self {
        let block = [block[0].min(shape[0]), block[1].min(shape[1])];
        let is_whole = |at: usize| block[at] >= shape[at];
        let along = (0..2).max_by_key(|&at| (block[at], is_whole(at), at)).expect("there are two");
        let page_len = match block[along] {
            _ if is_whole(along) => shape[along].next_power_of_two(),
            1 => CYCLIC_PAGE,
            extent => 1 << extent.ilog2(),
        };
        let places = || (0..shape[0] * shape[1]).map(|at| [at / shape[1], at % shape[1]]);
        let columns = shape[1].div_ceil(block[1]);
        let owners: Vec<usize> = places().map(|at| (at[0] / block[0] * columns + at[1] / block[1]) % size).collect();
        let first = |rank: usize, owner: usize| if owner == rank { Sight::Present(0) } else { Sight::Absent };
        Self {
            shape,
            pages: places().map(|at| (at[1 - along], at[along] / page_len)).collect(),
            sights: (0..size).map(|rank| owners.iter().map(|&owner| first(rank, owner)).collect()).collect(),
            written: vec![vec![false; owners.len()]; size],
            is_limited: vec![false; size],
            is_lost: false,
            owners,
        }
    }

    /// Somebody has left with its part: there is no coherence any more (G6).
    pub(crate) fn leave(&mut self) {
        self.is_lost = true;
    }

    pub(crate) fn elements(&self, section: &[Cut; 2]) -> Vec<usize> {
        elements(&self.shape, &section.map(Some))
    }

    fn write(&mut self, rank: usize, element: usize, value: u64) {
        self.sights[rank][element] = Sight::Present(value);
        self.written[rank][element] = true;
    }
}

/// A coherence call of the stage at hand.
pub(crate) struct Cohesion {
    pub(crate) array: usize,
    elements: Vec<usize>,
    ranks: Vec<usize>,
    /// What each element is after it, and who wrote that.
    results: Vec<(u64, Option<usize>)>,
    /// Which of them each rank had written, and whether it has finished the call.
    wrote: Vec<Vec<bool>>,
    is_finished: Vec<bool>,
}

impl Cohesion {
    /// Where the element stands, if it is of the call and `rank` takes part.
    fn find(&self, array: usize, element: usize, rank: usize) -> Option<usize> {
        let takes_part = self.array == array && self.ranks.contains(&rank);
        takes_part.then(|| self.elements.binary_search(&element).ok()).flatten()
    }

    pub(crate) fn is_open(&self, rank: usize) -> bool {
        self.ranks.contains(&rank) && !self.is_finished[rank]
    }
}

/// The paged arrays of a group in one stage, and the calls that were made.
#[derive(Default)]
pub(crate) struct Calls(pub(crate) Vec<Cohesion>);

impl Calls {
    /// The call that an owner must finish before it takes part in another one on this element: it may not tell others
    /// what an earlier call replaces.
    pub(crate) fn must_finish(&self, arrays: &[Paged], array: usize, element: usize) -> Option<(usize, usize)> {
        let owner = arrays[array].owners[element];
        if arrays[array].written[owner][element] {
            return None;
        }
        let number = self.0.iter().rposition(|call| call.find(array, element, owner).is_some())?;
        let call = &self.0[number];
        let writer = call.find(array, element, owner).and_then(|at| call.results[at].1);
        (call.is_open(owner) && writer.is_some_and(|writer| writer != owner)).then_some((number, owner))
    }

    /// Does an operation.
    pub(crate) fn perform(&mut self, arrays: &mut [Paged], op: &PagedOp) {
        match op {
            PagedOp::Write { array, rank, element, value } | PagedOp::WriteRun { array, rank, element, value } => {
                arrays[*array].write(*rank, *element, *value);
            }
            PagedOp::Call { array, section, ranks, waits } => {
                self.call(arrays, *array, section, ranks);
                let number = self.0.len() - 1;
                for (&rank, _) in ranks.iter().zip(waits).filter(|(_, waits)| **waits) {
                    self.finish(arrays, number, rank);
                }
            }
            PagedOp::Finish { call, rank, .. } => self.finish(arrays, *call, *rank),
            PagedOp::Forget { array, rank, section } => {
                for element in arrays[*array].elements(section) {
                    for gone in self.droppable(&arrays[*array], *array, *rank, element) {
                        arrays[*array].sights[*rank][gone] = Sight::Absent;
                    }
                }
            }
            PagedOp::Limit { array, rank, .. } => {
                arrays[*array].is_limited[*rank] = true;
                self.doubt(arrays, *array, *rank);
            }
            PagedOp::Prefetch { .. } => {}
        }
    }

    /// C2: every write to the section since the last such call is taken in; of several the lowest rank's.
    fn call(&mut self, arrays: &mut [Paged], number: usize, section: &[Cut; 2], ranks: &[usize]) {
        let array = &mut arrays[number];
        let elements = array.elements(section);
        let result = |&element: &usize| {
            let writer = ranks.iter().copied().find(|&rank| array.written[rank][element]);
            match array.sights[writer.unwrap_or(array.owners[element])][element] {
                Sight::Present(value) | Sight::Either(value) => (value, writer),
                Sight::Absent => unreachable!("owners and writers have it"),
            }
        };
        let results = elements.iter().map(result).collect();
        let mut wrote = vec![Vec::new(); array.written.len()];
        for &rank in ranks {
            wrote[rank] = elements.iter().map(|&at| std::mem::take(&mut array.written[rank][at])).collect();
        }
        let is_finished = vec![false; array.written.len()];
        self.0.push(Cohesion { array: number, elements, ranks: ranks.to_vec(), results, wrote, is_finished });
    }

    /// What a rank sees when it has finished a call: the results, where it knows nothing newer.
    fn finish(&mut self, arrays: &mut [Paged], number: usize, rank: usize) {
        self.0[number].is_finished[rank] = true;
        let (call, later) = (&self.0[number], &self.0[number + 1..]);
        let array = &mut arrays[call.array];
        for (&element, &(value, _)) in call.elements.iter().zip(&call.results) {
            let is_newer = |later: &Cohesion| {
                let at = later.find(call.array, element, rank);
                at.is_some_and(|at| later.is_finished[rank] || later.wrote[rank][at])
            };
            if !array.written[rank][element] && !later.iter().any(is_newer) {
                array.sights[rank][element] = Sight::Present(value);
            }
        }
        let number = call.array;
        self.doubt(arrays, number, rank);
    }

    /// Where copies are limited, each that may be dropped may have gone by itself.
    fn doubt(&self, arrays: &mut [Paged], array: usize, rank: usize) {
        if !arrays[array].is_limited[rank] {
            return;
        }
        for element in 0..arrays[array].owners.len() {
            for gone in self.droppable(&arrays[array], array, rank, element) {
                let sight = &mut arrays[array].sights[rank][gone];
                if let Sight::Present(value) = *sight {
                    *sight = Sight::Either(value);
                }
            }
        }
    }

    /// The elements of an element's page, if that may be dropped.
    fn droppable(&self, array: &Paged, number: usize, rank: usize, element: usize) -> Vec<usize> {
        let page = array.pages[element];
        let on_page: Vec<usize> = (0..array.pages.len()).filter(|&at| array.pages[at] == page).collect();
        let is_told = |element: usize| {
            let mut open = self.0.iter().filter(|call| call.is_open(rank));
            open.any(|call| call.find(number, element, rank).is_some_and(|at| call.wrote[rank][at]))
        };
        let is_kept = |&at: &usize| array.owners[at] == rank || array.written[rank][at] || is_told(at);
        if on_page.iter().any(is_kept) { Vec::new() } else { on_page }
    }
}
