//! What each member has planned to read from this one and to write to it.
//!
//! Who shares no memory with an owner tells it once, when the plan is made, which of its places it means:
//!
//! ```text
//! per stretch of 2^32 elements: base u64 | number of places u64 | the places, u32 each, as often as they are named
//! ```
//!
//! Later the number of the plan stands for all of that.

use super::routes::Routes;
use crate::{
    engine::{Core, Payload, Receives, Renumbers, Tenant, damaged, decode_into, hooks, read_words},
    error::{Result, place},
};
use fabric::wire::Writer as _;
use std::{
    cell::{Cell, RefCell},
    panic::Location,
    rc::{Rc, Weak},
    sync::Arc,
};

/// This processor's part of a plan.
pub(super) struct PlanPart {
    pub(super) routes: Routes,
    /// What others mean here.
    meant: RefCell<Vec<Meant>>,
    /// How many elements this processor's part of the array has.
    len: usize,
    /// The first owner that has left the group.
    pub(super) lost: Cell<Option<usize>>,
    /// The places of all indices in parts that lie so far apart in one piece of memory.
    flat: RefCell<Option<(usize, Rc<Vec<u32>>)>>,
    /// How errors name it, and the array that it was made with.
    words: [String; 2],
    site: &'static Location<'static>,
}

/// What one member means of this processor's part.
struct Meant {
    by: usize,
    base: usize,
    places: Arc<Vec<u32>>,
    /// The places as often as they are named.
    repeated: Arc<Vec<u32>>,
}

impl PlanPart {
    pub(super) fn new(routes: Routes, len: usize, words: [String; 2], site: &'static Location<'static>) -> Self {
        let (meant, flat) = (RefCell::default(), RefCell::default());
        Self { routes, meant, len, lost: Cell::new(None), flat, words, site }
    }

    /// Calls `visit` with what member `by` reads here: from where on places are counted, and the places.
    pub(super) fn each_meant(&self, by: usize, mut visit: impl FnMut(usize, &[u32])) {
        let meant = self.meant.borrow();
        meant.iter().filter(|meant| meant.by == by).for_each(|meant| visit(meant.base, &meant.places));
    }

    /// The places that member `by` writes to here from `base` on: each once, or as often as it is named.
    pub(super) fn places(&self, by: usize, base: usize, is_repeated: bool) -> Option<Arc<Vec<u32>>> {
        let meant = self.meant.borrow();
        let found = meant.iter().find(|meant| meant.by == by && meant.base == base)?;
        Some(Arc::clone(if is_repeated { &found.repeated } else { &found.places }))
    }

    /// The places of all indices in parts that lie `stride` apart, if that is how far they lay the first time.
    pub(super) fn flat(&self, stride: usize) -> Option<Rc<Vec<u32>>> {
        let mut flat = self.flat.borrow_mut();
        let (known, places) = flat.get_or_insert_with(|| (stride, Rc::new(flatten(&self.routes, stride))));
        (*known == stride).then(|| Rc::clone(places))
    }
}

fn flatten(routes: &Routes, stride: usize) -> Vec<u32> {
    let mut by_slot = Vec::with_capacity(routes.elements());
    for route in routes.all() {
        // Parts in one piece have at most 2^32 places together, so all of them are counted from 0.
        let start = (route.owner * stride) as u32;
        by_slot.extend(route.places.iter().map(|&place| start + place));
    }
    let mut places = Vec::new();
    fabric::make_room(&mut places, routes.count);
    fabric::load(&by_slot, &routes.slots, &mut places);
    places
}

/// Appends what an owner is told: the places of those routes that lead to it.
pub(super) fn write(routes: &Routes, owner: usize, out: &mut Vec<u8>) {
    for (number, route) in routes.asked().iter().enumerate().filter(|(_, route)| route.owner == owner) {
        let places = routes.repeated(number);
        out.put([route.base as u64, places.len() as u64]);
        out.extend_from_slice(bytemuck::cast_slice(places));
    }
}

/// Reads what member `by` means of a part of `len` elements.
fn read(by: usize, bytes: &mut &[u8], len: usize) -> Result<Meant> {
    let [base, count] = read_words(bytes)?;
    let (base, length) = (base as usize, (count as usize).checked_mul(4));
    let (list, rest) = length.and_then(|length| bytes.split_at_checked(length)).ok_or_else(damaged)?;
    *bytes = rest;
    let mut repeated: Vec<u32> = Vec::new();
    decode_into(list, &mut repeated)?;
    let highest = repeated.last().copied().ok_or_else(damaged)? as usize;
    let room = len.checked_sub(base).ok_or_else(damaged)?;
    if highest >= room || !repeated.is_sorted() {
        return Err(damaged());
    }
    let repeated = Arc::new(repeated);
    let mut places = Arc::clone(&repeated);
    if !places.is_sorted_by(|a, b| a < b) {
        Arc::make_mut(&mut places).dedup();
    }
    Ok(Meant { by, base, places, repeated })
}

impl Tenant for PlanPart {
    fn describe(&self) -> String {
        format!("{} of {}", self.words[0], place(self.site))
    }

    fn declaration(&self) -> String {
        format!("{}, for the {}", self.describe(), self.words[1])
    }

    hooks!(receives, renumbers);
}

impl Receives for PlanPart {
    fn receive(&self, from: usize, payload: Payload<'_>) -> Result {
        let mut bytes = payload.bytes()?;
        while !bytes.is_empty() {
            let meant = read(from, &mut bytes, self.len)?;
            self.meant.borrow_mut().push(meant);
        }
        Ok(())
    }
}

impl Renumbers for PlanPart {
    fn renumber(&self, stayed: &[usize]) {
        // Ranks follow each other, so who is missing first stands where another one should.
        let left =
            stayed.iter().zip(0..).find(|&(&rank, number)| rank != number).map_or(stayed.len(), |(_, left)| left);
        self.lost.set(self.lost.get().or(Some(left)));
    }
}

/// All plans of a group, by their numbers among its tenants.
#[derive(Default)]
pub(super) struct Plans(RefCell<Vec<Weak<PlanPart>>>);

impl Plans {
    /// Those of a group.
    pub(super) fn of(core: &Core) -> Rc<Self> {
        core.state().unwrap_or_else(|| {
            let plans = Rc::new(Self::default());
            core.keep_state(Rc::clone(&plans));
            plans
        })
    }

    pub(super) fn add(&self, number: u32, plan: &Rc<PlanPart>) {
        let (mut plans, number) = (self.0.borrow_mut(), number as usize);
        if plans.len() <= number {
            plans.resize_with(number + 1, Weak::new);
        }
        plans[number] = Rc::downgrade(plan);
    }

    /// The plan with this number, which came from another process.
    pub(super) fn find(&self, number: u64) -> Result<Rc<PlanPart>> {
        let plans = self.0.borrow();
        let plan = usize::try_from(number).ok().and_then(|number| plans.get(number)?.upgrade());
        plan.ok_or_else(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            distributions::Block,
            divisor::Divisor,
            layout::{Distribution as _, Locator},
        },
        *,
    };

    fn plan(at: &[usize]) -> PlanPart {
        let map = Block::new().lay(&[8], 2).unwrap();
        let locator = Locator { map, inner: 1, by_inner: Divisor::new(1), len: 8, windows: 1 };
        let Ok(routes) = Routes::find(at, &locator, &[4, 4], &[true, true]) else { panic!("all of them are there") };
        PlanPart::new(routes, 4, ["plan".to_owned(), "array".to_owned()], Location::caller())
    }

    #[test]
    fn the_places_in_one_piece_are_those_of_parts_that_lie_as_far_apart() {
        let plan = plan(&[5, 1, 5]);
        let flat = |stride| plan.flat(stride).map(|places| places.to_vec());
        assert_eq!(flat(10), Some(vec![11, 1, 11]));
        assert_eq!([flat(16), flat(10)], [None, Some(vec![11, 1, 11])]);
    }

    #[test]
    fn a_plan_is_declared_with_the_array_it_is_for() {
        let declared = plan(&[]).declaration();
        assert!(declared.starts_with("plan of ") && declared.ends_with(", for the array"), "{declared}");
    }

    /// A list of which no place is named again is kept once.
    #[test]
    fn places_that_are_named_once_are_kept_once() {
        let mut bytes = Vec::new();
        bytes.put([0u64, 3]);
        bytes.extend_from_slice(bytemuck::cast_slice(&[0u32, 4, 5]));
        let meant = read(1, &mut &bytes[..], 8).unwrap();
        assert_eq!(meant.places[..], [0, 4, 5]);
        assert!(Arc::ptr_eq(&meant.places, &meant.repeated));
    }

    /// X5.
    #[test]
    fn no_byte_can_be_cut_or_flipped_into_a_place_that_is_not_there() {
        let mut whole = Vec::new();
        whole.put([2u64, 4]);
        whole.extend_from_slice(bytemuck::cast_slice(&[0u32, 4, 4, 5]));
        let meant = read(1, &mut &whole[..], 8).unwrap();
        assert_eq!((&meant.places[..], &meant.repeated[..]), (&[0, 4, 5][..], &[0, 4, 4, 5][..]));
        assert!(!Arc::ptr_eq(&meant.places, &meant.repeated));
        assert!(read(1, &mut &whole[..], 7).is_err());
        for cut in 0..whole.len() {
            assert!(read(1, &mut &whole[..cut], 8).is_err(), "cut at {cut}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x41;
            if let Ok(meant) = read(1, &mut &flipped[..], 8) {
                assert!(meant.repeated.iter().all(|&place| meant.base + (place as usize) < 8), "byte {at}");
                assert!(meant.places.is_sorted_by(|a, b| a < b));
            }
        }
    }
}
