//! The way from this processor to one other: requests wait here until there are enough for a letter.

use super::{
    letter::{Block, Header, Moved, Sheet, Tag},
    tuning::Bundle,
    work::{Entrance, Pool},
};
use crate::{
    engine::{Value, encode_next, is_fixed, mix, owned_bytes, type_hash},
    error::{Error, ErrorKind, Result},
};
use std::any::Any;

/// How a processor is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is this one.
    Here,
    /// It shares memory with this one.
    Near,
    /// It is in another process.
    Far,
}

/// The run of requests that is still growing, between processors that share memory.
struct Growing {
    method: Entrance,
    object: u64,
    ticket: Option<u64>,
    arguments: Box<dyn Any + Send>,
    /// How many questions there are.
    count: u64,
    /// How many requests had room when it began.
    room: usize,
}

/// The way to one processor.
pub(super) struct Lane {
    pub(super) way: Way,
    growing: Option<Growing>,
    block: Box<Block>,
    sheet: Sheet,
    /// How many more requests, and about how many more bytes, fit into the letter.
    room: Bundle,
    usual: Bundle,
    /// Methods of late, with their names. A processor of another process has been told of them in this epoch.
    names: [Option<(Entrance, u64)>; 16],
    /// How often, of late, a run has been followed by another before it was worth a vector of its own.
    changes: u8,
    /// Whether somebody waits for what is in the letter.
    pub(super) is_urgent: bool,
    /// The number of the next question.
    pub(super) next_ticket: u64,
    /// Letters that were sent, and those that the other side says it has taken in.
    pub(super) sent: u64,
    pub(super) taken_there: u64,
    /// Letters that were taken in here, and how many of them the other side knows of.
    pub(super) taken_here: u64,
    pub(super) told: u64,
}

/// Runs of up to so many requests are short; after so many short ones, and up to twice that, numbers are written.
const SHORT: usize = 2;
const CHANGES: u8 = 4;

/// What a value that owns something elsewhere counts for, besides what is known of it.
const ELSEWHERE: usize = 120;

impl Lane {
    pub(super) fn new(way: Way) -> Self {
        let none = Bundle { bytes: 0, count: 0 };
        Self {
            way,
            growing: None,
            block: Box::default(),
            sheet: Sheet::default(),
            room: none,
            usual: none,
            names: [None; 16],
            changes: 0,
            is_urgent: false,
            next_ticket: 0,
            sent: 0,
            taken_there: 0,
            taken_here: 0,
            told: 0,
        }
    }

    /// Begins an epoch.
    pub(super) fn begin(&mut self, usual: Bundle) {
        self.clear();
        if self.way == Way::Far {
            self.names = [None; 16];
        }
        (self.usual, self.room) = (usual, usual);
        (self.next_ticket, self.is_urgent) = (0, false);
        (self.sent, self.taken_there, self.taken_here, self.told) = (0, 0, 0, 0);
    }

    pub(super) fn clear(&mut self) {
        self.growing = None;
        self.block.items.clear();
        self.sheet.clear();
    }

    /// How many letters are under way there, as far as this processor knows.
    #[inline]
    pub(super) fn under_way(&self) -> u64 {
        self.sent - self.taken_there
    }

    /// Whether there is nothing to send.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.growing.is_none() && self.block.items.is_empty() && self.sheet.is_empty()
    }

    /// Adds a request; says whether the letter is full.
    #[inline]
    pub(super) fn request<A: Value>(
        &mut self,
        method: Entrance,
        object: u64,
        arguments: A,
        pool: &Pools,
    ) -> Result<bool> {
        if let Some(growing) = &mut self.growing
            && growing.method == method
            && growing.object == object
            && growing.ticket.is_none()
            && let Some(run) = growing.arguments.downcast_mut::<Vec<A>>()
        {
            let weight = weight(&arguments, self.usual.bytes);
            run.push(arguments);
            return Ok(self.shrink(weight));
        }
        self.request_another(method, object, None, arguments, false, pool)
    }

    /// Adds a question, which is alone if its answer is waited for; returns its number and whether the letter is full.
    #[inline]
    pub(super) fn question<A: Value>(
        &mut self,
        method: Entrance,
        object: u64,
        arguments: A,
        is_alone: bool,
        pool: &Pools,
    ) -> Result<(u64, bool)> {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        if let Some(growing) = &mut self.growing
            && growing.method == method
            && growing.object == object
            && growing.ticket.is_some_and(|first| first + growing.count == ticket)
            && let Some(run) = growing.arguments.downcast_mut::<Vec<A>>()
        {
            let weight = weight(&arguments, self.usual.bytes);
            run.push(arguments);
            growing.count += 1;
            return Ok((ticket, self.shrink(weight)));
        }
        let is_full = self.request_another(method, object, Some(ticket), arguments, is_alone, pool)?;
        Ok((ticket, is_full))
    }

    fn request_another<A: Value>(
        &mut self,
        method: Entrance,
        object: u64,
        ticket: Option<u64>,
        argument: A,
        is_alone: bool,
        pool: &Pools,
    ) -> Result<bool> {
        if let Some(growing) = &self.growing {
            let is_short = growing.room - self.room.count <= SHORT;
            self.changes = if is_short { (self.changes + 1).min(2 * CHANGES) } else { 0 };
        }
        if self.is_written::<A>(is_alone) {
            let tag = if ticket.is_some() { Tag::Questions } else { Tag::Requests };
            let header = Header { tag, names: [self.name(method)?, object], first: ticket.unwrap_or_default() };
            return self.write(header, |bytes| encode_next(&argument, bytes));
        }
        self.close();
        let weight = weight(&argument, self.usual.bytes) + size_of::<Moved>();
        let room = self.room.count;
        let mut arguments = pool.borrow_mut().take::<A>();
        if let Some(run) = arguments.downcast_mut::<Vec<A>>() {
            run.push(argument);
        }
        self.growing = Some(Growing { method, object, ticket, arguments, count: 1, room });
        Ok(self.shrink(weight))
    }

    /// The name of a method, which the other side understands.
    #[inline]
    fn name(&mut self, method: Entrance) -> Result<u64> {
        let [thunk, function] = method.places();
        let hash = mix(thunk as u64, function as u64);
        // Two that are used in turn must not drive each other out.
        let places = [hash, hash >> 32].map(|hash| hash as usize % self.names.len());
        match places.map(|place| self.names[place]) {
            [Some((known, name)), _] | [_, Some((known, name))] if known == method => Ok(name),
            [first, _] => self.introduce(method, places[usize::from(first.is_some())]),
        }
    }

    #[cold]
    fn introduce(&mut self, method: Entrance, place: usize) -> Result<u64> {
        let Some(description) = method.describe() else {
            let what = "the method's code is in no file that is loaded, so no other processor can find it";
            return Err(Error::new(ErrorKind::BuildMismatch, what));
        };
        if self.way == Way::Far {
            self.sheet.describe(description);
        }
        self.names[place] = Some((method, description[0]));
        Ok(description[0])
    }

    /// Adds an answer, to a question that was alone or not; says whether the letter is full.
    pub(super) fn answer<R: Value>(&mut self, ticket: u64, answer: R, is_alone: bool) -> Result<bool> {
        self.is_urgent = true;
        if self.is_written::<R>(is_alone) {
            // Answers of one type follow each other.
            let header = Header { tag: Tag::Answers, names: [type_hash::<R>(), 0], first: ticket };
            return self.write(header, |bytes| encode_next(&answer, bytes));
        }
        let weight = weight(&answer, self.usual.bytes);
        self.close();
        if let Some(Moved::Answers { first, count, answers }) = self.block.items.last_mut()
            && *first + *count == ticket
            && let Some(run) = answers.downcast_mut::<Vec<Option<R>>>()
        {
            run.push(Some(answer));
            *count += 1;
        } else {
            let answers = Box::new(vec![Some(answer)]);
            self.block.items.push(Moved::Answers { first: ticket, count: 1, answers });
        }
        Ok(self.shrink(weight))
    }

    /// Adds the failure of a question.
    pub(super) fn fail(&mut self, ticket: u64, error: &Error) -> Result<bool> {
        self.is_urgent = true;
        if self.way == Way::Far {
            let header = Header { tag: Tag::Failure, names: [0; 2], first: ticket };
            return self.write(header, |bytes| append_report(error, bytes));
        }
        self.close();
        self.block.items.push(Moved::Failure { ticket, error: error.clone() });
        Ok(false)
    }

    /// Adds that this processor's part of the epoch has failed.
    pub(super) fn fault(&mut self, error: &Error) -> Result {
        self.is_urgent = true;
        if self.way == Way::Far {
            let header = Header { tag: Tag::Fault, names: [0; 2], first: 0 };
            return self.write(header, |bytes| append_report(error, bytes)).map(|_| ());
        }
        self.close();
        self.block.items.push(Moved::Fault(error.clone()));
        Ok(())
    }

    /// Adds a note of a collective.
    pub(super) fn note<R: Value>(&mut self, number: u64, about: u64, note: R) -> Result<bool> {
        if self.is_written::<R>(true) {
            let header = Header { tag: Tag::Note, names: [number, about], first: 0 };
            return self.write(header, |bytes| encode_next(&note, bytes));
        }
        self.close();
        self.block.items.push(Moved::Note { number, about, note: Box::new(note) });
        Ok(false)
    }

    /// Whether a value of this type is written, and does not move: between processes always, and inside one if it is a
    /// few bytes that somebody waits for, which travel faster in one piece, or if runs are so short that vectors of
    /// their own would cost more.
    #[inline]
    fn is_written<A: 'static>(&self, is_alone: bool) -> bool {
        let is_better = || (is_alone && self.is_all_written()) || self.changes >= CHANGES;
        self.way == Way::Far || (is_fixed::<A>() && is_better())
    }

    /// Writes one more of an item; says whether the letter is full.
    #[inline]
    fn write(&mut self, header: Header, encode: impl FnOnce(&mut Vec<u8>) -> Result) -> Result<bool> {
        if self.growing.is_some() {
            self.close_run();
        }
        let (bytes, goes_on) = self.sheet.item(header);
        // Where runs become longer again they move.
        self.changes = if goes_on { self.changes.saturating_sub(1) } else { (self.changes + 1).min(2 * CHANGES) };
        let start = bytes.len();
        let unfinished = Unfinished { sheet: &mut self.sheet, start };
        encode(&mut unfinished.sheet.bytes)?;
        std::mem::forget(unfinished);
        self.room.count = self.room.count.saturating_sub(1);
        Ok(self.room.count == 0 || self.sheet.bytes.len() >= self.usual.bytes)
    }

    /// Takes away the room of a request; says whether none is left.
    #[inline]
    fn shrink(&mut self, bytes: usize) -> bool {
        self.room.count = self.room.count.saturating_sub(1);
        self.room.bytes = self.room.bytes.saturating_sub(bytes);
        self.room.count == 0 || self.room.bytes == 0
    }

    /// Ends what is growing: what comes next stands behind it.
    fn close(&mut self) {
        self.close_run();
        if !self.sheet.is_empty() {
            self.block.items.push(Moved::Written(self.sheet.finish(0)));
        }
    }

    fn close_run(&mut self) {
        if let Some(Growing { method, object, ticket, arguments, count, .. }) = self.growing.take() {
            self.block.items.push(Moved::Requests { method, object, ticket, count, arguments });
        }
    }

    /// Whether all that waits here is written.
    pub(super) fn is_all_written(&self) -> bool {
        self.growing.is_none() && self.block.items.is_empty()
    }

    /// Takes back the room of bytes that have been sent.
    pub(super) fn keep(&mut self, bytes: Vec<u8>) {
        if self.sheet.bytes.capacity() == 0 {
            self.sheet.bytes = bytes;
        }
    }

    /// Takes what waits here as a letter that moves, and puts an empty one in its place.
    #[expect(clippy::unnecessary_box_returns, reason = "the box itself travels")]
    pub(super) fn take_block(&mut self, empty: Box<Block>) -> Box<Block> {
        self.close();
        self.finish();
        std::mem::replace(&mut self.block, empty)
    }

    /// Takes what waits here as the bytes of a letter.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        self.finish();
        self.sheet.finish(self.taken_here)
    }

    fn finish(&mut self) {
        self.room = self.usual;
        self.is_urgent = false;
        self.told = self.taken_here;
        self.block.taken = self.taken_here;
    }
}

#[expect(clippy::unnecessary_wraps, reason = "whatever else is written may fail")]
fn append_report(error: &Error, bytes: &mut Vec<u8>) -> Result {
    bytes.extend_from_slice(&error.report());
    Ok(())
}

/// Something that is being written. It is taken back if it cannot be written, or if the program's part in that panics.
struct Unfinished<'a> {
    sheet: &'a mut Sheet,
    start: usize,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.sheet.undo(self.start);
    }
}

/// The vectors that runs are made of.
pub(super) type Pools = std::cell::RefCell<Pool>;

/// About how many bytes a value takes up, here and elsewhere; what is more than `most` is not counted to its end.
#[inline]
fn weight<A: Value>(value: &A, most: usize) -> usize {
    let elsewhere = if std::mem::needs_drop::<A>() { ELSEWHERE + owned_bytes(value, most) } else { 0 };
    (size_of::<A>() + elsewhere).max(1)
}
