//! Where the elements of a list of indices lie: worked out once, for a [plan](super::plan).
//!
//! Each element that the list names has one *slot*, however often it is named. Slots are numbered by owner, and by
//! place in the owner's part. A *route* is the slots of one owner. Those who have to be asked come first, in the order
//! of their ranks, and then those whose memory can be reached: so what comes from the first, as it comes, and what is
//! loaded from the others after that, is a list of values by slot.

use super::layout::{Locator, Map};
use std::{cell::OnceCell, ops::Range, sync::Arc};

/// What a list of indices names of one stretch of 2^32 elements of one owner.
pub(super) struct Route {
    pub(super) owner: usize,
    /// Where in the owner's part its places are counted from.
    pub(super) base: usize,
    /// Rising, and each once.
    pub(super) places: Arc<Vec<u32>>,
    /// The slot of its first place.
    first: usize,
}

impl Route {
    pub(super) fn slots(&self) -> Range<usize> {
        self.first..self.first + self.places.len()
    }

    /// Its places in the owner's part, if they follow each other.
    pub(super) fn stretch(&self) -> Option<Range<usize>> {
        let (&lowest, &highest) = (self.places.first()?, self.places.last()?);
        let stretch = self.base + lowest as usize..self.base + highest as usize + 1;
        (stretch.len() == self.places.len()).then_some(stretch)
    }
}

/// The routes of all elements that a list of indices names.
pub(super) struct Routes {
    /// How many indices there are.
    pub(super) count: usize,
    all: Vec<Route>,
    /// How many of the routes lead to owners that have to be asked.
    asked: usize,
    /// The slot of each index.
    pub(super) slots: Vec<u32>,
    /// Whether each index has a slot of its own, and they follow each other.
    pub(super) is_straight: bool,
    order: OnceCell<Order>,
}

/// The indices by slot: which of the list they are. Those of one slot stand in the order of the list.
pub(super) struct Order {
    pub(super) indices: Vec<u32>,
    /// Where each slot ends among them; none where each slot has one.
    ends: Vec<u32>,
    /// The places of each route, as often as they are named; none where each is named once.
    repeated: Vec<Arc<Vec<u32>>>,
}

/// Why there are no routes for a list.
pub(super) enum Lost {
    /// This index does not exist.
    Index(usize),
    /// The list is too long to be numbered in 32 bits.
    TooLong,
}

impl Routes {
    /// Finds the routes of these indices, where `lens` are the lengths of all parts, and `reached` says whose memory
    /// can be.
    pub(super) fn find<M: Map>(
        at: &[usize],
        locator: &Locator<M>,
        lens: &[usize],
        reached: &[bool],
    ) -> Result<Self, Lost> {
        if let Some(&index) = at.iter().find(|&&index| index >= locator.len) {
            return Err(Lost::Index(index));
        }
        if u32::try_from(at.len()).is_err() {
            return Err(Lost::TooLong);
        }
        let line = Line::new(lens, reached);
        let place = |index: usize| {
            let (owner, at) = locator.locate(index);
            line.starts[owner] + at
        };
        let (places, slots) =
            if line.len / 64 <= 4 * at.len() { by_bits(at, line.len, place) } else { by_order(at, place) };
        let is_straight = places.len() == at.len() && slots.iter().zip(0..).all(|(&slot, number)| slot == number);
        let (all, asked) = line.cut(&places);
        Ok(Self { count: at.len(), all, asked, slots, is_straight, order: OnceCell::new() })
    }

    /// Makes them the routes of a list that names each element once, in the order of the slots. Returns the slots of
    /// the list that they were for.
    pub(super) fn straighten(&mut self) -> Vec<u32> {
        (self.count, self.is_straight) = (self.elements(), true);
        std::mem::take(&mut self.slots)
    }

    pub(super) fn all(&self) -> &[Route] {
        &self.all
    }

    /// Those to owners that have to be asked, by rank.
    pub(super) fn asked(&self) -> &[Route] {
        &self.all[..self.asked]
    }

    /// Those to owners whose memory can be reached.
    pub(super) fn reached(&self) -> &[Route] {
        &self.all[self.asked..]
    }

    /// How many elements the list names.
    pub(super) fn elements(&self) -> usize {
        self.all.last().map_or(0, |route| route.slots().end)
    }

    pub(super) fn order(&self) -> &Order {
        self.order.get_or_init(|| Order::new(self))
    }

    /// The places of the route with this number, as often as they are named.
    pub(super) fn repeated(&self, route: usize) -> &Arc<Vec<u32>> {
        if self.elements() == self.count { &self.all[route].places } else { &self.order().repeated[route] }
    }
}

impl Order {
    fn new(routes: &Routes) -> Self {
        let mut ends = vec![0u32; routes.elements()];
        for &slot in &routes.slots {
            ends[slot as usize] += 1;
        }
        // From how often each slot comes to where it begins, and then, as indices are entered, to where it ends.
        let mut next = 0;
        for end in &mut ends {
            next += std::mem::replace(end, next);
        }
        let mut indices = vec![0; routes.count];
        for (&slot, index) in routes.slots.iter().zip(0..) {
            let end = &mut ends[slot as usize];
            indices[*end as usize] = index;
            *end += 1;
        }
        let mut order = Self { indices, ends, repeated: Vec::new() };
        if routes.elements() == routes.count {
            order.ends = Vec::new();
        } else {
            order.repeated = routes.all.iter().map(|route| order.repeat(route)).collect();
        }
        order
    }

    /// The places of a route, each as often as it is named.
    fn repeat(&self, route: &Route) -> Arc<Vec<u32>> {
        let counts = self.counts(route);
        if counts.clone().all(|count| count == 1) {
            return Arc::clone(&route.places);
        }
        let repeated = route.places.iter().zip(counts).flat_map(|(&place, count)| std::iter::repeat_n(place, count));
        Arc::new(repeated.collect())
    }

    /// How often each place of a route is named.
    fn counts(&self, route: &Route) -> impl Iterator<Item = usize> + Clone {
        route.slots().map(|slot| self.named(slot..slot + 1).len())
    }

    /// Where the indices of some slots stand.
    pub(super) fn named(&self, slots: Range<usize>) -> Range<usize> {
        if self.ends.is_empty() {
            return slots;
        }
        let end = |slot: usize| if slot == 0 { 0 } else { self.ends[slot - 1] as usize };
        end(slots.start)..end(slots.end)
    }
}

/// All parts behind each other: first those of owners that have to be asked, then the others.
struct Line {
    /// The owners in that order.
    owners: Vec<usize>,
    /// Where each owner's part begins, by rank.
    starts: Vec<usize>,
    /// How many of the owners have to be asked.
    asked: usize,
    len: usize,
}

impl Line {
    fn new(lens: &[usize], reached: &[bool]) -> Self {
        let mut owners: Vec<usize> = (0..lens.len()).collect();
        owners.sort_by_key(|&owner| reached[owner]);
        let (mut starts, mut len) = (vec![0; lens.len()], 0);
        for &owner in &owners {
            starts[owner] = len;
            len += lens[owner];
        }
        Self { owners, starts, asked: reached.iter().filter(|&&is_reached| !is_reached).count(), len }
    }

    /// The routes of some rising places in the line, and how many of them lead to owners that have to be asked.
    fn cut(&self, mut places: &[usize]) -> (Vec<Route>, usize) {
        let (mut routes, mut asked, mut first) = (Vec::new(), 0, 0);
        for (number, &owner) in self.owners.iter().enumerate() {
            let start = self.starts[owner];
            let end = self.owners.get(number + 1).map_or(self.len, |&next| self.starts[next]);
            let (mut here, behind) = places.split_at(places.partition_point(|&place| place < end));
            places = behind;
            while let Some(&lowest) = here.first() {
                let base = (lowest - start) & !0xFFFF_FFFF;
                let in_window = here.partition_point(|&place| place - start - base <= 0xFFFF_FFFF);
                let (window, rest) = here.split_at(in_window);
                let list: Vec<u32> = window.iter().map(|&place| (place - start - base) as u32).collect();
                routes.push(Route { owner, base, places: Arc::new(list), first });
                first += in_window;
                here = rest;
            }
            if number + 1 == self.asked {
                asked = routes.len();
            }
        }
        (routes, asked)
    }
}

/// The places of all indices, rising and each once, and which of them each index has: by a table with a bit for each of
/// `len` places.
fn by_bits(at: &[usize], len: usize, place: impl Fn(usize) -> usize) -> (Vec<usize>, Vec<u32>) {
    let mut bits = vec![0u64; len.div_ceil(64)];
    for &index in at {
        let place = place(index);
        bits[place / 64] |= 1 << (place % 64);
    }
    let (mut places, mut before) = (Vec::new(), Vec::with_capacity(bits.len()));
    for (number, &word) in bits.iter().enumerate() {
        before.push(places.len() as u32);
        let mut rest = word;
        while rest != 0 {
            places.push(number * 64 + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
    let slot = |&index: &usize| {
        let place = place(index);
        before[place / 64] + (bits[place / 64] & ((1 << (place % 64)) - 1)).count_ones()
    };
    let slots = at.iter().map(slot).collect();
    (places, slots)
}

/// The same by sorting, for indices that are few beside all places.
fn by_order(at: &[usize], place: impl Fn(usize) -> usize) -> (Vec<usize>, Vec<u32>) {
    let mut all: Vec<(usize, u32)> = at.iter().map(|&index| place(index)).zip(0..).collect();
    all.sort_unstable();
    let (mut places, mut slots) = (Vec::new(), vec![0; at.len()]);
    for (place, number) in all {
        if places.last() != Some(&place) {
            places.push(place);
        }
        slots[number as usize] = places.len() as u32 - 1;
    }
    (places, slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_number_places_agree() {
        for (count, len) in [(0, 0), (0, 100), (1, 1), (50, 64), (90, 65), (300, 1000)] {
            let at: Vec<usize> = (0..count).map(|i| i * i * 31 % len).collect();
            let place = |index: usize| len - 1 - index;
            let (places, slots) = by_bits(&at, len, place);
            assert_eq!((&places, &slots), (&by_order(&at, place).0, &by_order(&at, place).1));
            assert!(places.is_sorted_by(|a, b| a < b));
            assert!(at.iter().zip(&slots).all(|(&index, &slot)| places[slot as usize] == place(index)));
        }
    }

    /// A7: a part may be longer than 32 bits can count.
    #[test]
    fn a_long_part_has_a_route_for_each_stretch_of_places() {
        let line = Line::new(&[1 << 34, 5, 7], &[true, false, true]);
        assert_eq!((line.asked, line.len), (1, (1 << 34) + 12));
        let (routes, asked) = line.cut(&[4, 5 + 3, 5 + (1 << 32) - 1, 5 + (3 << 32), 5 + (3 << 32) + 9, 5 + (1 << 34)]);
        let found: Vec<_> = routes.iter().map(|it| (it.owner, it.base >> 32, it.places.to_vec(), it.slots())).collect();
        let expected =
            [(1, 0, vec![4], 0..1), (0, 0, vec![3, u32::MAX], 1..3), (0, 3, vec![0, 9], 3..5), (2, 0, vec![0], 5..6)];
        assert_eq!((found, asked), (expected.to_vec(), 1));
    }

    #[test]
    fn a_route_is_a_stretch_where_its_places_follow_each_other() {
        let stretch = |base: usize, places: &[u32]| {
            let route = Route { owner: 0, base, places: Arc::new(places.to_vec()), first: 0 };
            route.stretch()
        };
        assert_eq!(stretch(0, &[7, 8, 9]), Some(7..10));
        assert_eq!(stretch(1 << 32, &[7]), Some((1 << 32) + 7..(1 << 32) + 8));
        assert_eq!([stretch(0, &[7, 9]), stretch(0, &[])], [None, None]);
    }
}
