//! A ground on any circle: streams travel as trays.

use super::{CHANNELS, Ground, STREAMS, Stream, Words};
use fabric::{
    Circle, Failure, Meld, Melded, Pen, Tray, make_room,
    wire::{Damaged, LENGTH, Reader, Writer},
};

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
const ENTRY: usize = LENGTH + size_of::<Words>();

impl Meld for Page {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        let (Some(last), Some(first)) = (left.last_chunk::<ENTRY>(), right.first_chunk::<ENTRY>()) else {
            out.extend_from_slice(right);
            return;
        };
        if last[LENGTH..] == first[LENGTH..] {
            let count = |entry: &[u8]| Reader::new(entry).get::<u64>().unwrap_or(0);
            let at = out.len() - ENTRY;
            (&mut out[at..]).put(count(last).saturating_add(count(first)));
            out.extend_from_slice(&right[ENTRY..]);
        } else {
            out.extend_from_slice(right);
        }
    }
}

/// Takes a page apart into what each of `size` members has said.
fn read_page(page: &[u8], size: usize, said: &mut Vec<Words>) -> Result<(), Damaged> {
    said.clear();
    let mut page = Reader::new(page);
    while !page.is_empty() {
        let (count, words): (usize, Words) = (page.get()?, page.get()?);
        if count > size - said.len() {
            return Err(Damaged);
        }
        said.extend(std::iter::repeat_n(words, count));
    }
    if said.len() == size { Ok(()) } else { Err(Damaged) }
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
                tray.bytes.put(ends);
                self.circle.post(to, tray)?;
            }
        }
        self.mine.clear();
        self.mine.put(1u64);
        self.mine.put(*mine);
        self.circle.meet(&self.mine, &mut Page, &mut self.melded)?;
        read_page(&self.melded.total, self.circle.size(), said).map_err(|Damaged| Failure::Damaged { rank: me })?;
        for from in 0..self.circle.size() {
            let damaged = Failure::Damaged { rank: from };
            if self.circle.take(from, &mut self.taken) {
                let bytes = &mut self.taken.bytes;
                let len = bytes.len().saturating_sub(STREAMS * LENGTH);
                let ends = Reader::new(&bytes[len..]).get::<[u64; STREAMS]>();
                let ends = ends.ok().filter(|ends| ends.is_sorted() && ends[STREAMS - 1] == len as u64);
                let ends = ends.ok_or(damaged)?;
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
