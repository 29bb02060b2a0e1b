//! The check of conflicts: what processes do to each other's memory in one superstep, where `SUPERSTEP_CHECK` asks.
//!
//! Each transfer leaves a record for the process whose memory it touches, and one for its own where it reads or writes
//! that without a copy. These travel with the notes of the superstep, at their end and with their length behind them.
//! Then each process looks at its own memory by the rule of `fabric`, and all meet once more to say what they have
//! found; the lowest process's counts.
//!
//! ```text
//! function u32 | slot u32 | offset u64 | length u64
//! ```
//!
//! Without the check nobody leaves anything, and a call costs one comparison more.

use crate::{
    ground::{Stream, Words},
    registry::Registry,
};
use fabric::{
    Touch, Use, first_clash,
    wire::{LENGTH, Reader, Writer},
};
use std::fmt;

/// The call that touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Put,
    Get,
    HpPut,
    HpGet,
    /// What a high-performance call reads or writes in its own process.
    HpPutSource,
    HpGetTarget,
}

impl Call {
    const ALL: [Self; 6] = [Self::Put, Self::Get, Self::HpPut, Self::HpGet, Self::HpPutSource, Self::HpGetTarget];

    fn name(self) -> &'static str {
        match self {
            Self::Put => "bsp_put",
            Self::Get => "bsp_get",
            Self::HpPut | Self::HpPutSource => "bsp_hpput",
            Self::HpGet | Self::HpGetTarget => "bsp_hpget",
        }
    }

    fn how(self) -> Use {
        match self {
            Self::Put => Use::Write,
            Self::Get | Self::HpGet | Self::HpPutSource => Use::Read,
            Self::HpPut | Self::HpGetTarget => Use::Transfer,
        }
    }
}

/// No slot: the offset is an address.
const ADDRESS: u32 = u32::MAX;

/// What this process does in the superstep, for each process.
#[derive(Debug)]
pub(crate) struct Watch {
    out: Vec<Vec<u8>>,
    rank: usize,
}

/// Two calls that get in each other's way: where, and who made which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    slot: u32,
    start: usize,
    end: usize,
    owner: usize,
    calls: [(usize, Call); 2],
}

impl Watch {
    pub(crate) fn new(rank: usize, size: usize) -> Self {
        Self { out: vec![Vec::new(); size], rank }
    }

    /// Notes what a call does to an area of another process.
    #[cold]
    pub(crate) fn touch(&mut self, call: Call, to: usize, (slot, offset, len): (u32, usize, usize)) {
        self.out[to].put([call as u32, slot]);
        self.out[to].put([offset, len]);
    }

    /// Notes what a call does to memory of this process.
    #[cold]
    pub(crate) fn touch_mine(&mut self, call: Call, address: usize, len: usize) {
        self.touch(call, self.rank, (ADDRESS, address, len));
    }

    /// Whether nothing was noted.
    pub(crate) fn is_empty(&self) -> bool {
        self.out.iter().all(Vec::is_empty)
    }

    /// Adds what was noted for a process to the end of its notes; false if there is no memory for it.
    pub(crate) fn tell(&mut self, to: usize, notes: &mut Stream) -> bool {
        let records = &mut self.out[to];
        let len = records.len() as u64;
        let is_told = notes.push(records) && notes.push_record([len], &[]);
        records.clear();
        is_told
    }
}

/// Splits the notes of a process that looks for conflicts into what else they say, and the records.
pub(crate) fn split(notes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, len) = notes.split_at_checked(notes.len().checked_sub(LENGTH)?)?;
    let len = Reader::new(len).get().ok()?;
    rest.split_at_checked(rest.len().checked_sub(len)?)
}

/// Adds the records of process `from` about memory of this process; nothing comes back if they make no sense.
pub(crate) fn read(records: &[u8], from: usize, registry: &Registry, into: &mut Vec<Touch>) -> Option<()> {
    let mut records = Reader::new(records);
    while !records.is_empty() {
        let [call, slot]: [u32; 2] = records.get().ok()?;
        let [offset, len]: [usize; 2] = records.get().ok()?;
        let call = *Call::ALL.get(call as usize)?;
        let first = if slot == ADDRESS { 0 } else { registry.mine(slot)?.address };
        let start = first.checked_add(offset)?;
        let range = start..start.checked_add(len)?;
        // A slot is below 2^28: there is memory for no more.
        let note = call as u32 | (slot & SLOTS) << 4;
        into.push(Touch { space: 0, range, member: from as u32, note, how: call.how() });
    }
    Some(())
}

/// The part of a note that has room for a slot; all of it stands for none.
const SLOTS: u32 = (1 << 28) - 1;

/// The first conflict in the memory of process `owner`.
pub(crate) fn look(touches: &mut [Touch], owner: usize, registry: &Registry) -> Option<Conflict> {
    let (first, second) = first_clash(touches)?;
    let start = first.range.start.max(second.range.start);
    let end = first.range.end.min(second.range.end);
    // One of the two names an area, because the other one is of another process or writes to it.
    let slot = [first, second].map(|touch| touch.note >> 4).into_iter().find(|&slot| slot != SLOTS);
    let base = slot.and_then(|slot| registry.mine(slot)).map_or(0, |area| area.address);
    let call = |touch: &Touch| (touch.member as usize, Call::ALL[(touch.note & 15) as usize]);
    Some(Conflict {
        slot: slot.unwrap_or(ADDRESS),
        start: start - base,
        end: end - base,
        owner,
        calls: [call(first), call(second)],
    })
}

impl Conflict {
    /// What is said of it at a meeting; a word that is not 0 comes first.
    pub(crate) fn words(&self) -> Words {
        let [a, b] = self.calls.map(|(rank, call)| (rank as u64) << 8 | call as u64);
        [1, u64::from(self.slot), self.start as u64, self.end as u64, self.owner as u64, a, b]
    }

    /// What somebody has found, if it has.
    pub(crate) fn read(words: &Words) -> Option<Self> {
        let [1, slot, start, end, owner, a, b] = *words else { return None };
        let call = |word: u64| Some(((word >> 8) as usize, *Call::ALL.get((word & 0xFF) as usize)?));
        let calls = [call(a)?, call(b)?];
        Some(Self { slot: slot as u32, start: start as usize, end: end as usize, owner: owner as usize, calls })
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slot, start, end, owner, calls: [first, second] } = self;
        let is = if end - start == 1 { "is" } else { "are" };
        match end - start {
            1 => write!(f, "byte {start}")?,
            _ => write!(f, "bytes {start} to {}", end - 1)?,
        }
        if *slot == ADDRESS {
            write!(f, " of the memory of process {owner}")?;
        } else {
            write!(f, " of registered area {slot} of process {owner}")?;
        }
        let verb = |call: Call| if call.how() == Use::Read { "read" } else { "written" };
        let ((rank, call), (its_rank, its_call)) = (first, second);
        write!(f, " {is} {} by {} of process {rank}", verb(*call), call.name())?;
        write!(f, " and {} by {} of process {its_rank} in one superstep", verb(*its_call), its_call.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Area;

    fn registry(areas: &[Area]) -> Registry {
        let mut registry = Registry::new(0, 1);
        for &area in areas {
            registry.push(area);
        }
        registry.settle(areas, &[]).expect("it is the only process");
        registry
    }

    #[test]
    fn what_is_noted_comes_back_and_two_areas_of_one_memory_are_one() {
        let registry = registry(&[Area { address: 4096, size: 64 }, Area { address: 4128, size: 64 }]);
        let mut touches = Vec::new();
        for (from, slot, offset) in [(1, 0, 32), (2, 1, 4)] {
            let (mut watch, mut stream) = (Watch::new(from, 3), Stream::default());
            assert!(stream.push(b"12345678"));
            watch.touch(Call::Put, 0, (slot, offset, 8));
            assert!(!watch.is_empty() && watch.tell(0, &mut stream) && watch.is_empty());
            let (rest, records) = split(stream.as_slice()).unwrap();
            assert_eq!(rest, b"12345678");
            assert!(read(records, from, &registry, &mut touches).is_some());
        }
        let found = look(&mut touches, 0, &registry).unwrap();
        let says = "bytes 36 to 39 of registered area 0 of process 0 are written by bsp_put of process 1 and written \
                    by bsp_put of process 2 in one superstep";
        assert_eq!(found.to_string(), says);
        assert_eq!(Conflict::read(&found.words()), Some(found));
        let one = Conflict { end: 37, ..found };
        assert!(one.to_string().starts_with("byte 36 of registered area 0 of process 0 is written by"));
        assert_eq!(Conflict::read(&[0; 7]), None);
    }

    #[test]
    fn damaged_records_are_refused() {
        let registry = registry(&[Area { address: 4096, size: 64 }]);
        let refused = |words: &[u64]| {
            let records: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            read(&records, 0, &registry, &mut Vec::new()).is_none()
        };
        assert!(!refused(&[0, 0, 8]));
        assert!(refused(&[0, 0]) && refused(&[6, 0, 8]) && refused(&[5 << 32, 0, 8]) && refused(&[0, u64::MAX, 8]));
        assert!(split(&[0; 7]).is_none() && split(&[9; 16]).is_none());
    }
}
