//! Streams of bytes that change hands when everybody meets: what a library of puts, gets and messages stands on.
//!
//! Every member fills a few streams for every other one and for itself. A *turn* hands all of them over: it returns
//! when everybody has taken it, and from then on each can read what the others had for it, until it takes the next turn
//! of the same channel. With each turn goes a page of [`Words`], and everybody gets to see everybody's.
//!
//! There are two channels. Streams of the first are filled while members compute; those of the second answer what came
//! with the first.
//!
//! Where members share memory, streams lie in it: what one has written, the other reads where it is. Elsewhere they
//! travel.

mod by_circle;
mod forked;
mod heap;
mod stream;

pub(crate) use by_circle::ByCircle;
pub(crate) use forked::Forked;
pub(crate) use stream::Stream;

use fabric::{Failure, Pen, procs::Speaker};

/// What a member says at a turn. With a count beside it, it fills one cache line.
pub(crate) type Words = [u64; 7];

/// How many streams each member has for each other one in a channel.
pub(crate) const STREAMS: usize = 4;

/// How many channels there are.
pub(crate) const CHANNELS: usize = 2;

/// One member's place among others.
pub(crate) trait Ground {
    /// My number.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Streams to fill, for the first turn of a channel: [`STREAMS`] for each member in turn.
    fn streams(&mut self, channel: usize) -> Vec<Stream>;

    /// Hands over `out` and says `mine`, waits for everybody, and fills `said` with what each one says. `out` is empty
    /// then.
    fn turn(&mut self, channel: usize, out: &mut [Stream], mine: &Words, said: &mut Vec<Words>) -> Result<(), Failure>;

    /// What member `from` had for me in a stream at the last turn of a channel.
    fn incoming(&self, channel: usize, from: usize, stream: usize) -> &[u8];

    /// Says that I have done all that came with the last turns: what others write to my memory from now on is not
    /// overwritten by what was handed over before.
    fn settle(&mut self) {}

    /// Whether there is a way to the memory of others, so that [`read_from`](Self::read_from) works. Members ask after
    /// their first turn.
    fn reaches(&self) -> bool {
        false
    }

    /// Writes bytes to an address of another member's memory at once, if there is a way to.
    ///
    /// # Safety
    ///
    /// There are as many bytes at that address of that member, and nobody else uses them meanwhile.
    unsafe fn write_to(&self, _to: usize, _address: usize, _bytes: &[u8]) -> bool {
        false
    }

    /// Fills bytes from an address of another member's memory at once, if there is a way to.
    ///
    /// # Safety
    ///
    /// There are as many bytes at that address of that member, and nobody changes them meanwhile.
    unsafe fn read_from(&self, _from: usize, _address: usize, _into: &mut [u8]) -> bool {
        false
    }

    /// Whether these bytes are in memory that everybody has at the same address.
    fn is_common(&self, _address: usize, _len: usize) -> bool {
        false
    }

    /// Memory in which others can read and write as fast as I can, if there is such memory.
    fn alloc(&mut self, _len: usize) -> Option<std::ptr::NonNull<u8>> {
        None
    }

    /// Gives back what [`alloc`](Self::alloc) gave; says whether it was that.
    fn free(&mut self, _start: std::ptr::NonNull<u8>) -> bool {
        false
    }

    /// The pen with which this member writes down where it is and for whom it waits.
    fn pen(&self) -> Pen {
        Pen::default()
    }

    /// Decides which member says why everybody is stopped; without it each may.
    fn speaker(&self) -> Option<Speaker> {
        None
    }

    /// Stops everybody.
    fn raise(&self, failure: Failure);

    /// Ends those that depend on me, at once; for a member that ends itself and everybody.
    fn stop(&self) {}

    /// Ends, when everybody else does, and says what has stopped everybody, if anything has.
    fn end(self: Box<Self>) -> Option<Failure>;
}
