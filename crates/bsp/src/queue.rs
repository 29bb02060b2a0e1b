//! Messages: the ones to be sent, and the ones that have come.
//!
//! A stream of messages begins with how many there are and how many bytes their payloads have together. Then each one:
//!
//! ```text
//! length of the payload u64 | tag | payload
//! ```
//!
//! Both lie on a multiple of 8, and on one of 16 if they have that many bytes, so that whatever type they are of can be
//! used where it lies. Messages are read where the sender has written them, and stay there for one superstep.

use crate::{
    ending::MESSAGES,
    ground::{Ground, STREAMS, Stream},
    program,
};
use fabric::wire::{Reader, Writer};
use std::ops::Range;

const HEAD: usize = 16;

/// Where a tag or a payload lies that would begin at `at`.
#[inline]
fn aligned(at: usize, len: usize) -> usize {
    at.next_multiple_of(if len >= 16 { 16 } else { 8 })
}

/// A message that has come: where its parts lie in the stream of its sender.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) from: usize,
    pub(crate) tag: Range<usize>,
    pub(crate) payload: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    /// The tag size of what is sent now, of what has come, and of what will be sent in the next superstep.
    sent: usize,
    come: usize,
    next: usize,
    calls: u64,
    /// How many messages each process is sent, and how many bytes.
    counts: Vec<[u64; 2]>,
    /// How many are left, and how many bytes they have.
    left: [u64; 2],
    /// The sender of the next message, and where in its stream it begins.
    at: (usize, usize),
    /// Where the stream of each sender lies, and how long it is, until the next turn.
    streams: Vec<(usize, usize)>,
}

impl Queue {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            sent: 0,
            come: 0,
            next: 0,
            calls: 0,
            counts: vec![[0; 2]; size],
            left: [0; 2],
            at: (0, HEAD),
            streams: vec![(0, 0); size],
        }
    }

    /// Sets the tag size from the next superstep on, and returns the one that was set before.
    pub(crate) fn set_tag(&mut self, size: usize) -> usize {
        self.calls += 1;
        std::mem::replace(&mut self.next, size)
    }

    /// How often the tag size was set in this superstep, and to what at last.
    pub(crate) fn tag_words(&self) -> (u64, u64) {
        (self.calls, self.next as u64)
    }

    /// The size of tags that are sent now.
    pub(crate) fn tag_sent(&self) -> usize {
        self.sent
    }

    /// The size of tags that have come.
    pub(crate) fn tag_come(&self) -> usize {
        self.come
    }

    /// Appends a message; false if there is no memory for it.
    #[inline]
    pub(crate) fn send(&mut self, stream: &mut Stream, to: usize, tag: &[u8], payload: &[u8]) -> bool {
        if stream.is_empty() && !stream.push(&[0; HEAD]) {
            return false;
        }
        let count = &mut self.counts[to];
        count[0] += 1;
        count[1] += payload.len() as u64;
        let len = payload.len() as u64;
        if tag.is_empty() && payload.len() < 16 {
            return stream.push_record([len], payload);
        }
        stream.push_record([len], &[]) && (tag.is_empty() || part(stream, tag)) && part(stream, payload)
    }

    /// Writes the counts before the streams are handed over.
    pub(crate) fn close(&mut self, out: &mut [Stream]) {
        for (streams, count) in out.chunks_mut(STREAMS).zip(&mut self.counts) {
            if count[0] > 0 {
                streams[MESSAGES].as_mut_slice().put(*count);
                *count = [0; 2];
            }
        }
    }

    /// Goes on to what has come with the last turn. What is left of the superstep before is gone.
    pub(crate) fn turn(&mut self, ground: &dyn Ground) {
        self.come = self.sent;
        self.sent = self.next;
        self.calls = 0;
        self.left = [0; 2];
        self.at = (0, HEAD);
        for from in 0..self.counts.len() {
            let stream = ground.incoming(0, from, MESSAGES);
            self.streams[from] = (stream.as_ptr().expose_provenance(), stream.len());
            if let Ok([count, bytes]) = Reader::new(stream).get::<[u64; 2]>() {
                self.left[0] = self.left[0].saturating_add(count);
                self.left[1] = self.left[1].saturating_add(bytes);
            }
        }
    }

    /// How many messages are left, and how many bytes their payloads have.
    pub(crate) fn left(&self) -> [u64; 2] {
        self.left
    }

    /// The first message that is left.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<Message> {
        loop {
            let (from, at) = self.at;
            if from >= self.counts.len() || self.left[0] == 0 {
                return None;
            }
            let stream = self.stream(from);
            let Ok(len) = Reader::new(stream.get(at..).unwrap_or_default()).get::<usize>() else {
                self.at = (from + 1, HEAD);
                continue;
            };
            let tag_at = if self.come == 0 { at + 8 } else { aligned(at + 8, self.come) };
            let tag = tag_at..tag_at + self.come;
            let payload = aligned(tag.end, len);
            let payload = payload..payload.checked_add(len)?;
            // What does not lie wholly in the stream was not written by this library.
            return (payload.end <= stream.len()).then_some(Message { from, tag, payload });
        }
    }

    /// What has come from a process.
    #[inline]
    pub(crate) fn stream(&self, from: usize) -> &[u8] {
        let (start, len) = self.streams[from];
        // SAFETY: the ground keeps what has come until the next turn, which is followed by one of the queue.
        unsafe { program::bytes(start, len) }
    }

    /// Takes the first message off the queue.
    #[inline]
    pub(crate) fn remove(&mut self, message: &Message) {
        self.at = (message.from, message.payload.end.next_multiple_of(8));
        self.left[0] -= 1;
        self.left[1] = self.left[1].saturating_sub(message.payload.len() as u64);
    }
}

/// Appends a tag or a payload where it may lie.
#[inline]
fn part(stream: &mut Stream, bytes: &[u8]) -> bool {
    let padding = aligned(stream.len(), bytes.len()) - stream.len();
    (padding == 0 || stream.push_record([0], &[])) && stream.push_record([], bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Words;
    use fabric::Failure;

    /// A process alone, to which something has come.
    struct Alone(Vec<u8>);

    impl Ground for Alone {
        fn rank(&self) -> usize {
            0
        }

        fn size(&self) -> usize {
            1
        }

        fn streams(&mut self, _: usize) -> Vec<Stream> {
            Vec::new()
        }

        fn turn(&mut self, _: usize, _: &mut [Stream], _: &Words, _: &mut Vec<Words>) -> Result<(), Failure> {
            Ok(())
        }

        fn incoming(&self, _: usize, _: usize, _: usize) -> &[u8] {
            &self.0
        }

        fn raise(&self, _: Failure) {}

        fn end(self: Box<Self>) -> Option<Failure> {
            None
        }
    }

    /// X5: whatever a stream says, its messages lie in it, and there is an end to them.
    #[test]
    fn messages_of_a_damaged_stream_lie_in_it() {
        let (mut sender, mut stream) = (Queue::new(1), Stream::default());
        for (tag, payload) in [(&b"tag4"[..], &b"payload"[..]), (b"four", b""), (b"....", &[5; 40])] {
            assert!(sender.send(&mut stream, 0, tag, payload));
        }
        let mut whole = stream.as_slice().to_vec();
        (&mut whole[..HEAD]).put([3u64, 47]);
        let takes = |bytes: Vec<u8>, tag: usize| {
            let (ground, mut queue) = (Alone(bytes), Queue::new(1));
            queue.sent = tag;
            queue.turn(&ground);
            let mut lengths = Vec::new();
            while let Some(message) = queue.first() {
                assert!(message.tag.end <= ground.0.len() && message.payload.end <= ground.0.len());
                lengths.push(message.payload.len());
                queue.remove(&message);
                assert!(lengths.len() <= ground.0.len(), "they never end");
            }
            lengths
        };
        assert_eq!(takes(whole.clone(), 4), [7, 0, 40]);
        for at in 0..whole.len() {
            takes(whole[..at].to_vec(), 4);
            for byte in [0, 1, 8, 0x7F, 0x80, 0xFF] {
                let mut changed = whole.clone();
                changed[at] = byte;
                takes(changed.clone(), 4);
                changed[at..].iter_mut().take(8).for_each(|byte| *byte = 0xFF);
                takes(changed, 16);
            }
        }
    }
}
