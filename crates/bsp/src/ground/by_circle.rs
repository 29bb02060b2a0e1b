//! A ground on any circle: streams travel as trays.

use super::{CHANNELS, Ground, STREAMS, Stream, Words};
use fabric::{Circle, Failure, Meld, Melded, Pen, Tray, make_room};

/// A ground whose members need not share memory.
pub(crate) struct ByCircle {
    circle: Box<dyn Circle>,
    /// What came with the last turn of each channel, by source.
    incoming: [Vec<Come>; CHANNELS],
    /// What is posted to each, and what is taken; kept for their room.
    trays: Vec<Tray>,
    taken: Tray,
    mine: Vec<u8>,
    melded: Melded,
    at_end: Option<AtEnd>,
}

/// The streams of one member: one behind the other, and where each ends.
#[derive(Default)]
struct Come {
    bytes: Vec<u8>,
    ends: [u64; STREAMS],
}

/// Streams begin on multiples of this, so that what lies in them may be of any type.
const ALIGN: usize = 16;

/// Puts streams one behind the other, and empties them; says where each ends.
fn append_all(streams: &mut [Stream], into: &mut Vec<u8>) -> [u64; STREAMS] {
    make_room(into, streams.iter().map(|stream| stream.len() + ALIGN).sum());
    let mut ends = [0; STREAMS];
    for (stream, end) in streams.iter_mut().zip(&mut ends) {
        if !stream.is_empty() {
            into.resize(into.len().next_multiple_of(ALIGN), 0);
            into.extend_from_slice(stream.as_slice());
            stream.clear();
        }
        *end = into.len() as u64;
    }
    ends
}

/// Called last; says what has stopped everybody.
type AtEnd = Box<dyn FnOnce() -> Option<Failure>>;

impl ByCircle {
    /// The ground of a circle's members.
    pub(crate) fn new(circle: Box<dyn Circle>) -> Self {
        let come = || (0..circle.size()).map(|_| Come::default()).collect();
        let incoming = [come(), come()];
        let trays = (0..circle.size()).map(|_| Tray::default()).collect();
        Self {
            circle,
            incoming,
            trays,
            taken: Tray::default(),
            mine: Vec::new(),
            melded: Melded::default(),
            at_end: None,
        }
    }

    /// Lets `end` be called last, to say what has stopped everybody.
    #[must_use]
    pub(crate) fn with_end(self, end: impl FnOnce() -> Option<Failure> + 'static) -> Self {
        Self { at_end: Some(Box::new(end)), ..self }
    }
}

/// Strings together what members say. Neighbours that say the same are counted: mostly everybody does.
struct Page;

/// Bytes of an entry: how many neighbours say the same, and their words.
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
        for come in &mut self.incoming[channel] {
            come.bytes.clear();
            come.ends = [0; STREAMS];
        }
        let me = self.rank();
        for (to, streams) in out.chunks_mut(STREAMS).enumerate().filter(|(_, all)| all.iter().any(|s| !s.is_empty())) {
            if to == me {
                let come = &mut self.incoming[channel][me];
                come.ends = append_all(streams, &mut come.bytes);
            } else {
                // What was posted leaves room behind, mostly as much as is needed here.
                let tray = &mut self.trays[to];
                let ends = append_all(streams, &mut tray.bytes);
                tray.bytes.extend_from_slice(bytemuck::bytes_of(&ends));
                self.circle.post(to, tray)?;
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
            let damaged = Failure::Damaged { rank: from };
            if self.circle.take(from, &mut self.taken) {
                let bytes = &mut self.taken.bytes;
                let Some((rest, &tail)) = bytes.split_last_chunk::<{ size_of::<[u64; STREAMS]>() }>() else {
                    return Err(damaged);
                };
                let (ends, len) = (bytemuck::cast::<_, [u64; STREAMS]>(tail), rest.len());
                if !ends.is_sorted() || ends[STREAMS - 1] != len as u64 {
                    return Err(damaged);
                }
                bytes.truncate(len);
                let come = &mut self.incoming[channel][from];
                come.ends = ends;
                // What was there has been read, and its room is used again.
                std::mem::swap(&mut come.bytes, bytes);
                self.taken.clear();
            }
        }
        Ok(())
    }

    fn incoming(&self, channel: usize, from: usize, stream: usize) -> &[u8] {
        let Come { bytes, ends } = &self.incoming[channel][from];
        let start = if stream == 0 { 0 } else { (ends[stream - 1] as usize).next_multiple_of(ALIGN) };
        // One that is empty ends where the one before it does.
        bytes.get(start..ends[stream] as usize).unwrap_or_default()
    }

    fn pen(&self) -> Pen {
        self.circle.pen()
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
