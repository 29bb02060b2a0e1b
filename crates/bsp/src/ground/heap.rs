//! A process's own part of the shared memory, in pieces that come and go.

use std::collections::BTreeMap;

/// Pieces begin on multiples of this.
const GRAIN: usize = 64;

/// Keeps account of a range; what lies there is none of its business.
#[derive(Debug)]
pub(super) struct Heap {
    /// Free pieces by where they begin, and how long they are; no two touch.
    free: BTreeMap<usize, usize>,
    used: BTreeMap<usize, usize>,
}

impl Heap {
    pub(super) fn new(start: usize, len: usize) -> Self {
        Self { free: BTreeMap::from([(start, len)]), used: BTreeMap::new() }
    }

    /// Where `len` bytes are free now.
    pub(super) fn alloc(&mut self, len: usize) -> Option<usize> {
        let len = len.max(1).checked_next_multiple_of(GRAIN)?;
        let (&at, &room) = self.free.iter().find(|&(_, &room)| room >= len)?;
        self.free.remove(&at);
        if room > len {
            self.free.insert(at + len, room - len);
        }
        self.used.insert(at, len);
        Some(at)
    }

    /// Frees what begins there; says whether anything did.
    pub(super) fn free(&mut self, at: usize) -> bool {
        let Some(mut len) = self.used.remove(&at) else { return false };
        let mut start = at;
        if let Some(behind) = self.free.remove(&(at + len)) {
            len += behind;
        }
        if let Some((&before, &room)) = self.free.range(..at).next_back()
            && before + room == at
        {
            self.free.remove(&before);
            start = before;
            len += room;
        }
        self.free.insert(start, len);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_come_back_as_one() {
        let mut heap = Heap::new(4096, 1 << 20);
        let mut pieces: Vec<(usize, usize)> = Vec::new();
        for round in 0..1000_usize {
            if round % 3 == 2 {
                let (at, _) = pieces.swap_remove(round * 7 % pieces.len());
                assert!(heap.free(at));
                assert!(!heap.free(at));
            } else {
                let len = 1 + round * 37 % 900;
                let at = heap.alloc(len).expect("there is room");
                assert!(at.is_multiple_of(GRAIN) && at >= 4096 && at + len <= 4096 + (1 << 20));
                assert!(pieces.iter().all(|&(other, size)| other + size <= at || at + len <= other));
                pieces.push((at, len));
            }
        }
        assert!(pieces.iter().all(|&(at, _)| heap.free(at)));
        assert_eq!(heap.alloc(1 << 20), Some(4096));
        assert_eq!(heap.alloc(1), None);
    }
}
