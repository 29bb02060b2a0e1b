//! Registration: which address of this process belongs to which of the others.
//!
//! Slots form a sequence, and the newest one with an address counts. Pushes and pops happen in the order of their
//! calls, all at the next boundary. Every process makes and frees the same slots in the same order, so their numbers
//! agree.
//!
//! NULL stands for memory that is not there, and so it names no slot. Who pops it goes along with those that pop an
//! address; the standard's rule, that the newest slot goes that has the address, would tie it to the order in which the
//! others happen to pop. If all pop NULL, one slot goes in which all have it.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// No slot, or whichever the others name.
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
            self.write_usize(byte.into());
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
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
    /// Slots in which every process has registered NULL.
    vacant: Vec<u32>,
    /// How many slots there are in which this process has registered NULL.
    nulls: i64,
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
            vacant: Vec::new(),
            nulls: 0,
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
        let now = match self.newest.get(&address) {
            _ if address == 0 => self.nulls,
            Some(&(_, count)) => i64::from(count),
            None => 0,
        };
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
            Some(&(slot, _)) => {
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

    /// What I tell all others: my areas and the slots that I end, or none for NULL.
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
                Event::Pop(0) => ends.push(NONE),
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

    /// Takes everything in: `areas` has those of all processes, by push and then by rank, and `ends` what each of them
    /// has popped, by pop and then by rank.
    ///
    /// # Errors
    ///
    /// Two processes that have popped different slots. The registry cannot be used then.
    pub(crate) fn settle(&mut self, areas: &[Area], ends: &[u32]) -> Result<(), [usize; 2]> {
        let pushed: Vec<u32> = areas.chunks_exact(self.size).map(|theirs| self.allot(theirs)).collect();
        let popped: Vec<u32> =
            ends.chunks_exact(self.size).map(|named| self.agreed(named)).collect::<Result<_, _>>()?;
        let (mut pushed, mut popped) = (pushed.into_iter(), popped.into_iter());
        // Numbers come free only at the end, so that all processes give the same ones whatever they popped in between.
        let mut freed = Vec::new();
        for event in std::mem::take(&mut self.events) {
            match event {
                Event::Push(area) => {
                    let Some(slot) = pushed.next() else { continue };
                    if area.address == 0 {
                        self.nulls += 1;
                        continue;
                    }
                    let (below, count) = self.newest.get(&area.address).copied().unwrap_or((NONE, 0));
                    self.before[slot as usize] = below;
                    self.newest.insert(area.address, (slot, count + 1));
                }
                Event::Pop(address) => {
                    let Some(slot) = popped.next() else { continue };
                    if address == 0 {
                        self.nulls -= 1;
                    } else if let Some((_, count)) = self.newest.remove(&address)
                        && self.before[slot as usize] != NONE
                    {
                        self.newest.insert(address, (self.before[slot as usize], count - 1));
                    }
                    freed.push(slot);
                }
            }
        }
        for &slot in &freed {
            // What still names it finds no room there.
            let at = slot as usize * self.size;
            self.areas[at..at + self.size].fill(Area::default());
        }
        self.free.append(&mut freed);
        self.more.clear();
        (self.pushes, self.pops) = (0, 0);
        self.last = (0, NONE);
        Ok(())
    }

    /// Makes a slot of everybody's areas.
    fn allot(&mut self, theirs: &[Area]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.before.push(NONE);
            self.areas.resize(self.areas.len() + self.size, Area::default());
            self.before.len() as u32 - 1
        });
        let at = slot as usize * self.size;
        self.areas[at..at + self.size].copy_from_slice(theirs);
        if theirs.iter().all(|area| area.address == 0) {
            self.vacant.push(slot);
        }
        slot
    }

    /// The slot that all processes pop, of what each of them has named; or two that differ.
    fn agreed(&mut self, named: &[u32]) -> Result<u32, [usize; 2]> {
        let Some(first) = named.iter().position(|&slot| slot != NONE) else {
            return self.vacant.pop().ok_or([0, self.size - 1]);
        };
        let slot = named[first];
        let is_alike = |rank: usize| match named[rank] {
            // Who has an address there must say it.
            NONE => self.areas.get(slot as usize * self.size + rank).is_some_and(|area| area.address == 0),
            other => other == slot,
        };
        match (0..self.size).find(|&rank| !is_alike(rank)) {
            None => Ok(slot),
            Some(other) => Err([first.min(other), first.max(other)]),
        }
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
        let (areas, ends) = registry.tell();
        registry.settle(&areas, &ends).unwrap();
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

    /// Two processes: both say what they have, and both take it in.
    fn meet(both: &mut [Registry; 2]) -> [Result<(), [usize; 2]>; 2] {
        let told = [both[0].tell(), both[1].tell()];
        let areas: Vec<Area> = told[0].0.iter().zip(&told[1].0).flat_map(|(&one, &other)| [one, other]).collect();
        let ends: Vec<u32> = told[0].1.iter().zip(&told[1].1).flat_map(|(&one, &other)| [one, other]).collect();
        both.each_mut().map(|registry| registry.settle(&areas, &ends))
    }

    #[test]
    fn null_goes_along_with_what_the_other_pops() {
        let mut both = [0, 1].map(|rank| Registry::new(rank, 2));
        for address in [8, 16, 24] {
            both[0].push(area(address, 1));
            both[1].push(area(0, 0));
        }
        assert_eq!(meet(&mut both), [Ok(()), Ok(())]);
        for address in [16, 8] {
            assert!(both[0].pop(address) && both[1].pop(0));
        }
        assert_eq!(meet(&mut both), [Ok(()), Ok(())]);
        assert!(both[0].find(24).is_ok() && both[0].find(8).is_err() && both[0].find(16).is_err());
        assert_eq!(both[0].free, both[1].free);
        // Nobody has memory there; the order of push and pop is each one's own.
        both[0].push(area(0, 0));
        assert!(both[0].pop(0) && both[1].pop(0));
        both[1].push(area(0, 0));
        assert_eq!(meet(&mut both), [Ok(()), Ok(())]);
        assert!(!both[0].pop(0), "it has none left");
        assert!(both[0].pop(24) && both[1].pop(0));
        assert_eq!(meet(&mut both), [Ok(()), Ok(())]);
        assert_eq!(both[0].free, both[1].free);
    }

    #[test]
    fn null_does_not_stand_for_an_address() {
        let mut both = [0, 1].map(|rank| Registry::new(rank, 2));
        for (rank, registry) in both.iter_mut().enumerate() {
            registry.push(area(8, 1));
            registry.push(area(if rank == 0 { 16 } else { 0 }, 0));
        }
        assert_eq!(meet(&mut both), [Ok(()), Ok(())]);
        assert!(both[0].pop(8) && both[1].pop(0));
        assert_eq!(meet(&mut both), [Err([0, 1]), Err([0, 1])]);
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
