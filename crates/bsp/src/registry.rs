//! Registration: which address of this process belongs to which of the others.
//!
//! Slots form a sequence, and the newest one with an address counts. Pushes and pops happen in the order of their
//! calls, all at the next boundary. Every process makes and frees the same slots in the same order, so their numbers
//! agree.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// No slot.
const NONE: u32 = u32::MAX;

/// Where and how long an area is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) address: usize,
    pub(crate) size: usize,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Push(Area),
    Pop(usize),
}

/// Addresses are spread already; a multiplication is enough.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

type Map<V> = HashMap<usize, V, BuildHasherDefault<Spread>>;

/// Why an address names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    NotRegistered,
    /// It was pushed in this superstep.
    NotYet,
}

#[derive(Debug)]
pub(crate) struct Registry {
    size: usize,
    rank: usize,
    /// The newest slot of each address of this process, and how many it has.
    newest: Map<(u32, u32)>,
    /// The one before it, by slot.
    before: Vec<u32>,
    /// The areas of all processes, by slot and then by rank.
    areas: Vec<Area>,
    free: Vec<u32>,
    /// What was asked for since the last boundary.
    events: Vec<Event>,
    /// How many more of each address there will be after it.
    more: Map<i64>,
    pushes: u64,
    pops: u64,
    /// The address that was looked up last, and its slot.
    last: (usize, u32),
}

impl Registry {
    pub(crate) fn new(rank: usize, size: usize) -> Self {
        Self {
            size,
            rank,
            newest: Map::default(),
            before: Vec::new(),
            areas: Vec::new(),
            free: Vec::new(),
            events: Vec::new(),
            more: Map::default(),
            pushes: 0,
            pops: 0,
            last: (0, NONE),
        }
    }

    /// Registers an area at the next boundary.
    pub(crate) fn push(&mut self, area: Area) {
        self.events.push(Event::Push(area));
        *self.more.entry(area.address).or_default() += 1;
        self.pushes += 1;
    }

    /// Ends the newest registration of an address at the next boundary; false if there will be none.
    pub(crate) fn pop(&mut self, address: usize) -> bool {
        let now = self.newest.get(&address).map_or(0, |&(_, count)| i64::from(count));
        let more = self.more.entry(address).or_default();
        if now + *more <= 0 {
            return false;
        }
        *more -= 1;
        self.pops += 1;
        self.events.push(Event::Pop(address));
        true
    }

    /// How many pushes and pops the next boundary brings.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.pushes, self.pops)
    }

    /// The slot of an address.
    #[inline]
    pub(crate) fn find(&mut self, address: usize) -> Result<u32, Missing> {
        if self.last.0 == address && self.last.1 != NONE {
            return Ok(self.last.1);
        }
        match self.newest.get(&address) {
            // NULL stands for an area that is not registered.
            Some(&(slot, _)) if address != 0 => {
                self.last = (address, slot);
                Ok(slot)
            }
            _ if address != 0 && self.more.get(&address).is_some_and(|&more| more > 0) => Err(Missing::NotYet),
            _ => Err(Missing::NotRegistered),
        }
    }

    /// The area of a process in a slot.
    #[inline]
    pub(crate) fn area(&self, slot: u32, rank: usize) -> Area {
        self.areas[slot as usize * self.size + rank]
    }

    /// My own area in a slot that another process names, if there is one.
    #[inline]
    pub(crate) fn mine(&self, slot: u32) -> Option<Area> {
        self.areas.get(slot as usize * self.size + self.rank).copied()
    }

    /// What I tell all others: my areas and the slots that I end.
    pub(crate) fn tell(&self) -> (Vec<Area>, Vec<u32>) {
        let (mut areas, mut ends) = (Vec::new(), Vec::new());
        // Numbers that the pushes will get, and what they hide.
        let (mut free, mut next) = (self.free.iter().rev(), self.before.len() as u32);
        let (mut newest, mut before): (Map<u32>, Map<u32>) = (Map::default(), Map::default());
        let now = |newest: &Map<u32>, address: usize| {
            let known = || self.newest.get(&address).map(|&(slot, _)| slot);
            newest.get(&address).copied().or_else(known).unwrap_or(NONE)
        };
        for event in &self.events {
            match *event {
                Event::Push(area) => {
                    areas.push(area);
                    let slot = free.next().copied().unwrap_or_else(|| {
                        next += 1;
                        next - 1
                    });
                    before.insert(slot as usize, now(&newest, area.address));
                    newest.insert(area.address, slot);
                }
                Event::Pop(address) => {
                    let slot = now(&newest, address);
                    ends.push(slot);
                    let below = before.get(&(slot as usize)).or_else(|| self.before.get(slot as usize));
                    newest.insert(address, below.copied().unwrap_or(NONE));
                }
            }
        }
        (areas, ends)
    }

    /// Takes everything in: `areas` has those of all processes, by push and then by rank.
    pub(crate) fn settle(&mut self, areas: &[Area]) {
        let mut pushed = areas.chunks_exact(self.size);
        // Numbers come free only at the end, so that all processes give the same ones whatever they popped in between.
        let mut freed = Vec::new();
        for event in std::mem::take(&mut self.events) {
            match event {
                Event::Push(area) => {
                    let theirs = pushed.next().unwrap_or_default();
                    let slot = self.free.pop().unwrap_or_else(|| {
                        self.before.push(NONE);
                        self.areas.resize(self.areas.len() + self.size, Area::default());
                        self.before.len() as u32 - 1
                    });
                    let at = slot as usize * self.size;
                    self.areas[at..at + theirs.len()].copy_from_slice(theirs);
                    let (below, count) = self.newest.get(&area.address).copied().unwrap_or((NONE, 0));
                    self.before[slot as usize] = below;
                    self.newest.insert(area.address, (slot, count + 1));
                }
                Event::Pop(address) => {
                    let Some((slot, count)) = self.newest.remove(&address) else { continue };
                    if self.before[slot as usize] != NONE {
                        self.newest.insert(address, (self.before[slot as usize], count - 1));
                    }
                    // What still names it finds no room there.
                    let at = slot as usize * self.size;
                    self.areas[at..at + self.size].fill(Area::default());
                    freed.push(slot);
                }
            }
        }
        self.free.append(&mut freed);
        self.more.clear();
        (self.pushes, self.pops) = (0, 0);
        self.last = (0, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(address: usize, size: usize) -> Area {
        Area { address, size }
    }

    /// One process alone: its areas are everybody's.
    fn boundary(registry: &mut Registry) {
        let (areas, _) = registry.tell();
        registry.settle(&areas);
    }

    #[test]
    fn the_newest_registration_counts_and_they_need_not_nest() {
        let mut registry = Registry::new(0, 1);
        registry.push(area(8, 1));
        registry.push(area(16, 2));
        registry.push(area(8, 3));
        assert_eq!(registry.find(8), Err(Missing::NotYet));
        boundary(&mut registry);
        let slot = registry.find(8).unwrap();
        assert_eq!(registry.mine(slot), Some(area(8, 3)));
        assert!(registry.pop(8));
        assert!(registry.find(8).is_ok(), "a pop takes effect at the boundary");
        boundary(&mut registry);
        let slot = registry.find(8).unwrap();
        assert_eq!(registry.mine(slot), Some(area(8, 1)));
        assert!(registry.pop(8) && registry.pop(16));
        assert!(!registry.pop(8), "it was popped already");
        boundary(&mut registry);
        assert_eq!(registry.find(16), Err(Missing::NotRegistered));
        assert!(!registry.pop(16));
    }

    #[test]
    fn a_push_and_a_pop_in_one_superstep_leave_nothing() {
        let mut registry = Registry::new(0, 1);
        registry.push(area(8, 1));
        boundary(&mut registry);
        registry.push(area(8, 2));
        assert!(registry.pop(8));
        assert_eq!(registry.tell().1, [1], "the pop is of the push before it");
        boundary(&mut registry);
        let slot = registry.find(8).unwrap();
        assert_eq!(registry.mine(slot), Some(area(8, 1)));
        // And the other way round the old one goes.
        assert!(registry.pop(8));
        registry.push(area(8, 3));
        boundary(&mut registry);
        let slot = registry.find(8).unwrap();
        assert_eq!(registry.mine(slot), Some(area(8, 3)));
    }

    #[test]
    fn null_counts_as_a_slot_and_names_nothing() {
        let mut registry = Registry::new(0, 1);
        registry.push(area(0, 0));
        boundary(&mut registry);
        assert_eq!(registry.find(0), Err(Missing::NotRegistered));
        assert!(registry.pop(0));
        assert!(!registry.pop(0));
    }

    #[test]
    fn registering_and_popping_over_and_over_takes_no_more_memory() {
        let mut registry = Registry::new(0, 1);
        for round in 0..1000 {
            registry.push(area(8 * (1 + round % 7), 1));
            boundary(&mut registry);
            assert!(registry.pop(8 * (1 + round % 7)));
            boundary(&mut registry);
        }
        assert_eq!(registry.before.len(), 1);
    }
}
