//! A ground on any circle: streams travel as trays.

use super::{CHANNELS, Ground, STREAMS, Stream, Words};
use crate::{
    circle::{Circle, Meld, Melded},
    failure::Failure,
    tray::Tray,
};

/// A ground whose members need not share memory.
pub struct ByCircle {
    circle: Box<dyn Circle>,
    /// What came with the last turn of each channel: by source and stream.
    incoming: [Vec<Vec<u8>>; CHANNELS],
    /// What is posted to each, and what is taken; kept for their room.
    trays: Vec<Tray>,
    taken: Tray,
    mine: Vec<u8>,
    melded: Melded,
    at_end: Option<AtEnd>,
}

/// What is done last.
type AtEnd = Box<dyn FnOnce() -> Option<Failure>>;

impl ByCircle {
    /// The ground of a circle's members.
    pub fn new(circle: Box<dyn Circle>) -> Self {
        let streams = vec![Vec::new(); circle.size() * STREAMS];
        let trays = (0..circle.size()).map(|_| Tray::default()).collect();
        Self {
            circle,
            incoming: [streams.clone(), streams],
            trays,
            taken: Tray::default(),
            mine: Vec::new(),
            melded: Melded::default(),
            at_end: None,
        }
    }

    /// Lets `end` be called last, to say what has stopped everybody.
    #[must_use]
    pub fn with_end(self, end: impl FnOnce() -> Option<Failure> + 'static) -> Self {
        Self { at_end: Some(Box::new(end)), ..self }
    }
}

/// Strings together what members say. Neighbours that say the same are counted: mostly everybody does.
struct Page;

/// What a run of members says: how many they are, and their words.
const ENTRY: usize = 8 + size_of::<Words>();

impl Meld for Page {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        let (Some(last), Some(first)) = (left.last_chunk::<ENTRY>(), right.first_chunk::<ENTRY>()) else {
            out.extend_from_slice(right);
            return;
        };
        if last[8..] == first[8..] {
            let count = |entry: &[u8; ENTRY]| entry.first_chunk().map_or(0, |&bytes| u64::from_le_bytes(bytes));
            let at = out.len() - ENTRY;
            out[at..at + 8].copy_from_slice(&(count(last) + count(first)).to_le_bytes());
            out.extend_from_slice(&right[ENTRY..]);
        } else {
            out.extend_from_slice(right);
        }
    }
}

impl Ground for ByCircle {
    fn rank(&self) -> usize {
        self.circle.rank()
    }

    fn size(&self) -> usize {
        self.circle.size()
    }

    fn streams(&mut self, _channel: usize) -> Vec<Stream> {
        (0..self.size() * STREAMS).map(|_| Stream::default()).collect()
    }

    fn turn(&mut self, channel: usize, out: &mut [Stream], mine: &Words, said: &mut Vec<Words>) -> Result<(), Failure> {
        for streams in &mut self.incoming[channel] {
            streams.clear();
        }
        let me = self.rank();
        for (to, streams) in out.chunks_mut(STREAMS).enumerate() {
            for (number, stream) in streams.iter_mut().enumerate().filter(|(_, stream)| !stream.is_empty()) {
                if to == me {
                    self.incoming[channel][me * STREAMS + number].extend_from_slice(stream.as_slice());
                } else {
                    // The number goes last, so that what a reader gets lies as it lay here.
                    // What was posted leaves room behind, mostly as much as is needed here.
                    let tray = &mut self.trays[to];
                    crate::memory::make_room(&mut tray.bytes, stream.len() + 1);
                    tray.bytes.extend_from_slice(stream.as_slice());
                    tray.bytes.push(number as u8);
                    self.circle.post(to, tray)?;
                }
                stream.clear();
            }
        }
        self.mine.clear();
        self.mine.extend_from_slice(&1_u64.to_le_bytes());
        self.mine.extend_from_slice(bytemuck::bytes_of(mine));
        self.circle.meet(&self.mine, &mut Page, &mut self.melded)?;
        said.clear();
        let (entries, rest) = self.melded.total.as_chunks::<ENTRY>();
        let damaged = Failure::Damaged { rank: me };
        if !rest.is_empty() {
            return Err(damaged);
        }
        for entry in entries {
            let words: [u64; 8] = bytemuck::pod_read_unaligned(entry);
            let count = usize::try_from(words[0]).ok().filter(|count| said.len() + count <= self.circle.size());
            let mut theirs = Words::default();
            theirs.copy_from_slice(&words[1..]);
            said.extend(std::iter::repeat_n(theirs, count.ok_or_else(|| damaged.clone())?));
        }
        if said.len() != self.circle.size() {
            return Err(damaged);
        }
        for from in 0..self.circle.size() {
            let tray = &mut self.taken;
            while self.circle.take(from, tray) {
                let number = tray.bytes.pop().map_or(STREAMS, usize::from);
                let place = self.incoming[channel].get_mut(from * STREAMS + number).filter(|_| number < STREAMS);
                // What was there has been read, and its room is used again.
                std::mem::swap(place.ok_or(Failure::Damaged { rank: from })?, &mut tray.bytes);
                tray.clear();
            }
        }
        Ok(())
    }

    fn incoming(&self, channel: usize, from: usize, stream: usize) -> &[u8] {
        &self.incoming[channel][from * STREAMS + stream]
    }

    fn raise(&self, failure: Failure) {
        self.circle.alarm().raise(failure);
    }

    fn end(self: Box<Self>) -> Option<Failure> {
        let alarm = self.circle.alarm();
        match self.at_end {
            Some(end) => end(),
            None => alarm.raised(),
        }
    }
}
