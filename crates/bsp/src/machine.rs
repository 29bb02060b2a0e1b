//! What a process knows between `bsp_begin` and `bsp_end`, and the boundary of a superstep.

use crate::{
    ending::{Ending, GETS, NOTES, PUTS},
    failing::{Fault, fail, fail_together, stopped},
    ground::{CHANNELS, Ground, STREAMS, Stream, Words},
    queue::Queue,
    registry::{Area, Registry},
    transfers::{self, Gets},
    watch::{self, Conflict, Watch},
};
use fabric::{
    Pen,
    wire::{Damaged, Reader, Writer},
};
use std::{
    collections::HashSet,
    sync::atomic::{AtomicU8, Ordering},
};

pub(crate) struct Machine {
    pub(crate) ground: Box<dyn Ground>,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    /// Whether a launcher has started this process.
    pub(crate) is_launched: bool,
    pub(crate) out: Vec<Stream>,
    answers: Vec<Stream>,
    pub(crate) registry: Registry,
    pub(crate) gets: Gets,
    pub(crate) queue: Queue,
    /// What `bsp_alloc` has given that is not the ground's.
    pub(crate) given: HashSet<usize>,
    /// What this process does to others, where conflicts are looked for.
    pub(crate) watch: Option<Watch>,
    /// How many bytes of everybody's notes are about registration, at the last boundary.
    registered: usize,
    said: Vec<Words>,
    /// How many supersteps have ended, and the pen that tells others so.
    steps: u64,
    pen: Pen,
}

/// What is said at a turn, by position.
mod word {
    pub(super) const ENDING: usize = 0;
    pub(super) const FLAGS: usize = 1;
    pub(super) const PUSHES: usize = 2;
    pub(super) const POPS: usize = 3;
    pub(super) const TAG_CALLS: usize = 4;
    pub(super) const TAG_SIZE: usize = 5;
    /// What must be the same for all in a collective.
    pub(super) const TERMS: usize = 6;
}

/// Whether somebody asks for data, and for a long stretch of it; writes to others; has no way to the memory of those it
/// asks; and lets others read its own, because nothing is written where they do.
const ASKS: u64 = 1;
const ASKS_LONG: u64 = 2;
const PUTS_SOME: u64 = 4;
const BLIND: u64 = 8;
const CLEAR: u64 = 16;
/// Whether somebody looks for conflicts, and whether there is something to look at.
const WATCHES: u64 = 32;
const TOUCHES: u64 = 64;

/// The call that ends a superstep now, by its code plus 1. A function of the program or a signal handler may run
/// meanwhile, and the call may be left by a longjmp. An atomic, because of those.
static UNDER_WAY: AtomicU8 = AtomicU8::new(0);

/// Whether a call that ends a superstep has not returned.
pub(crate) fn is_under_way() -> bool {
    UNDER_WAY.load(Ordering::Relaxed) > 0
}

impl Machine {
    /// The state of a process that has begun, and that looks for conflicts if `watches`.
    pub(crate) fn new(mut ground: Box<dyn Ground>, is_launched: bool, watches: bool) -> Self {
        const { assert!(CHANNELS == 2 && STREAMS == 4) };
        let (rank, size) = (ground.rank(), ground.size());
        let (out, answers) = (ground.streams(0), ground.streams(1));
        let pen = ground.pen();
        Self {
            ground,
            rank,
            size,
            is_launched,
            out,
            answers,
            registry: Registry::new(rank, size),
            gets: Gets::default(),
            queue: Queue::new(size),
            given: HashSet::new(),
            watch: watches.then(|| Watch::new(rank, size)),
            registered: 0,
            said: Vec::with_capacity(size),
            steps: 0,
            pen,
        }
    }

    /// A stream for another process, by its number in the first channel.
    #[inline]
    pub(crate) fn stream(&mut self, to: usize, stream: usize) -> &mut Stream {
        &mut self.out[to * STREAMS + stream]
    }

    /// Ends the superstep. `terms` must be the same for all.
    pub(crate) fn boundary(&mut self, ending: Ending, terms: u64) {
        let before = UNDER_WAY.load(Ordering::Relaxed);
        UNDER_WAY.store(1 + ending.code() as u8, Ordering::Relaxed);
        if before > 0 {
            fail(ending.name(), Fault::Within(Ending::name_of(u64::from(before - 1))));
        }
        self.pen.enter(self.steps, 8 * ending.code() + 8, |out| write!(out, "({})", ending.name()));
        let (pushes, pops) = self.registry.counts();
        let (tag_calls, tag_size) = self.queue.tag_words();
        let flags = self.flags();
        self.registered = 16 * pushes as usize + 8 * pops as usize;
        if pushes + pops > 0 {
            self.note_registrations(ending);
        }
        if self.watch.is_some() {
            self.tell_touches(ending);
        }
        self.queue.close(&mut self.out);
        let mine: Words = [ending.code(), flags, pushes, pops, tag_calls, tag_size, terms];
        self.turn(0, ending, &mine);
        let mut all = 0;
        let mut is_alike = true;
        for said in &self.said {
            all |= said[word::FLAGS];
            is_alike &= *said == mine;
        }
        if !is_alike {
            self.check(ending, &mine);
        }
        if all & TOUCHES != 0 {
            self.look_for_conflicts(ending);
        }
        if all & ASKS != 0 {
            self.answer(ending, &mine, all);
        }
        for from in 0..self.size {
            let puts = self.ground.incoming(0, from, PUTS);
            if !puts.is_empty() && transfers::apply(puts, &self.registry).is_err() {
                fail(ending.name(), Fault::Damaged { from });
            }
        }
        if pushes + pops > 0 {
            self.register(ending);
        }
        self.queue.turn(&*self.ground);
        self.steps += 1;
        self.pen.leave(self.steps);
        // A collective has still to write what it has moved.
        if !matches!(ending, Ending::Collective(_)) {
            self.settle();
        }
    }

    /// Says that the call that has ended the superstep returns.
    pub(crate) fn settle(&mut self) {
        self.ground.settle();
        UNDER_WAY.store(0, Ordering::Relaxed);
    }

    fn turn(&mut self, channel: usize, ending: Ending, mine: &Words) {
        let out = if channel == 0 { &mut self.out } else { &mut self.answers };
        if let Err(failure) = self.ground.turn(channel, out, mine, &mut self.said) {
            stopped(ending.name(), &failure);
        }
    }

    /// Makes sure that all are at the same boundary and have registered alike.
    fn check(&self, ending: Ending, mine: &Words) {
        let differ = |at: usize| self.said.iter().position(|said| said[at] != self.said[0][at]);
        if let Some(other) = differ(word::ENDING) {
            let names = [0, other].map(|rank| Ending::name_of(self.said[rank][word::ENDING]));
            fail_together(ending.name(), &Fault::Endings { other, names });
        }
        let watches = |said: &Words| said[word::FLAGS] & WATCHES != 0;
        if let Some(other) = self.said.iter().position(|said| watches(said) != watches(&self.said[0])) {
            fail_together(ending.name(), &Fault::Checks { other });
        }
        let values = |at: usize| self.said.iter().map(|said| said[at]).collect::<Vec<u64>>();
        if differ(word::PUSHES).is_some() {
            fail_together(ending.name(), &Fault::Pushes(values(word::PUSHES)));
        }
        if differ(word::POPS).is_some() {
            fail_together(ending.name(), &Fault::Pops(values(word::POPS)));
        }
        if differ(word::TAG_CALLS).is_some() {
            fail_together(ending.name(), &Fault::TagCalls(values(word::TAG_CALLS)));
        }
        // Who has not set one says what it was before, which is everybody's.
        if differ(word::TAG_SIZE).is_some() {
            fail_together(ending.name(), &Fault::TagSizes(values(word::TAG_SIZE)));
        }
        if mine[word::ENDING] >= 2 && differ(word::TERMS).is_some() {
            fail_together(ending.name(), &Fault::Terms);
        }
    }

    fn flags(&self) -> u64 {
        let puts = self.out.chunks_exact(STREAMS).any(|streams| !streams[PUTS].is_empty());
        let mut flags = if puts { PUTS_SOME } else { 0 };
        if let Some(watch) = &self.watch {
            flags |= WATCHES | if watch.is_empty() { 0 } else { TOUCHES };
        }
        if !self.gets.is_empty() {
            flags |= ASKS;
        }
        if self.gets.has_long() {
            flags |= ASKS_LONG | if self.ground.reaches() { 0 } else { BLIND };
        }
        flags
    }

    /// Reads what others ask for, and writes what I have asked for when everybody has read.
    ///
    /// A long stretch would be copied twice. If nobody puts anything in this superstep, and an owner gets nothing into
    /// where others read, those read it themselves, and all meet once more before anybody goes on.
    fn answer(&mut self, ending: Ending, mine: &Words, all: u64) {
        let may_be_direct = all & (ASKS_LONG | PUTS_SOME | BLIND) == ASKS_LONG;
        let asked = |from: usize| self.ground.incoming(0, from, GETS);
        let is_clear = may_be_direct && (0..self.size).all(|from| self.gets.is_clear(asked(from), &self.registry));
        for from in 0..self.size {
            let requests = self.ground.incoming(0, from, GETS);
            let answers = &mut self.answers[from * STREAMS];
            if let Err(fault) = transfers::serve(requests, from, &self.registry, answers, !is_clear) {
                fail(ending.name(), fault);
            }
        }
        let mut mine = *mine;
        mine[word::FLAGS] |= if is_clear { CLEAR } else { 0 };
        self.turn(1, ending, &mine);
        let is_direct = |from: usize| self.said[from][word::FLAGS] & CLEAR != 0;
        if let Err(from) = self.gets.take(&*self.ground, is_direct) {
            fail(ending.name(), Fault::Damaged { from });
        }
        if may_be_direct {
            self.turn(1, ending, &mine);
        }
    }

    /// Tells everybody what I do to its memory.
    #[cold]
    fn tell_touches(&mut self, ending: Ending) {
        let Some(watch) = &mut self.watch else { return };
        for to in 0..self.size {
            if !watch.tell(to, &mut self.out[to * STREAMS + NOTES]) {
                fail(ending.name(), Fault::OutOfMemory);
            }
        }
    }

    /// Looks for conflicts in my memory, and hears what the others have found in theirs.
    #[cold]
    fn look_for_conflicts(&mut self, ending: Ending) {
        let mut touches = Vec::new();
        for from in 0..self.size {
            let records = watch::split(self.ground.incoming(0, from, NOTES)).map(|(_, records)| records);
            if records.and_then(|records| watch::read(records, from, &self.registry, &mut touches)).is_none() {
                fail(ending.name(), Fault::Damaged { from });
            }
        }
        let found = watch::look(&mut touches, self.rank, &self.registry);
        let mine = found.map_or(Words::default(), |found| found.words());
        self.turn(1, ending, &mine);
        if let Some(found) = self.said.iter().find_map(Conflict::read) {
            fail_together(ending.name(), &Fault::Conflict(found));
        }
    }

    /// Tells everybody what I register: how many areas and ends, and which.
    fn note_registrations(&mut self, ending: Ending) {
        let (areas, ends) = self.registry.tell();
        let mut notes = Vec::new();
        for area in areas {
            notes.put([area.address, area.size]);
        }
        for slot in ends {
            notes.put(slot as usize);
        }
        for to in 0..self.size {
            // What a collective moves is there already.
            if !self.stream(to, NOTES).push(&notes) {
                fail(ending.name(), Fault::OutOfMemory);
            }
        }
    }

    /// What a collective has moved here from a process, and what that process has registered.
    fn notes(&self, from: usize) -> Option<(&[u8], &[u8])> {
        let mut notes = self.ground.incoming(0, from, NOTES);
        if self.watch.is_some() {
            notes = watch::split(notes)?.0;
        }
        notes.split_at_checked(notes.len().checked_sub(self.registered)?)
    }

    /// What a collective has moved here from a process.
    pub(crate) fn moved(&self, from: usize) -> &[u8] {
        self.notes(from).map_or(&[], |(moved, _)| moved)
    }

    /// Takes in what everybody has registered; all have the same numbers of pushes and pops.
    fn register(&mut self, ending: Ending) {
        let (pushes, pops) = self.registry.counts();
        let mut areas = vec![Area::default(); pushes as usize * self.size];
        let mut ends = vec![0; pops as usize * self.size];
        for from in 0..self.size {
            let mut read = || {
                let mut notes = Reader::new(self.notes(from).ok_or(Damaged)?.1);
                for area in areas.iter_mut().skip(from).step_by(self.size) {
                    let [address, size] = notes.get()?;
                    *area = Area { address, size };
                }
                for end in ends.iter_mut().skip(from).step_by(self.size) {
                    *end = notes.get::<u64>()? as u32;
                }
                notes.end()
            };
            if read().is_err() {
                fail(ending.name(), Fault::Damaged { from });
            }
        }
        if let Err(pair) = self.registry.settle(&areas, &ends) {
            fail_together(ending.name(), &Fault::Slots(pair));
        }
    }
}
