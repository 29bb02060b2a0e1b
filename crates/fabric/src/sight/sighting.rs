//! What one processor shows of itself.

use crate::lock::lock;
use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering, fence},
    },
};

/// How many places of a processor are kept in words: as many as so many bits tell apart.
const PLACES: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 4;
/// How many bytes of a place's words.
pub(super) const WORDS: usize = 28;

/// What one processor shows. Atomics alone, for which zeros are a value.
#[derive(Default)]
#[repr(C, align(128))]
pub struct Sighting {
    /// The number of the step that it is in or comes to next.
    pub(super) step: AtomicU64,
    /// Twice the number of its place plus one, and one more while it is in a step there; 0 before the first.
    pub(super) place: AtomicU32,
    /// Whether it has begun, and ended.
    pub(super) stage: AtomicU32,
    /// 0 while it goes on; else the number of the wait, and one more than whom it waits for, or [`ANYBODY`].
    pub(super) wait: AtomicU64,
    pub(super) waits: AtomicU32,
    /// The system's number of its thread.
    pub(super) task: AtomicI32,
    /// Whether it knows that the run has failed.
    pub(super) has_heard: AtomicU32,
    /// How many processors have begun here, one after the other: places of former ones are forgotten.
    pub(super) generation: AtomicU32,
    places: [SiteText; PLACES],
}

pub(super) const ANYBODY: u32 = u32::MAX;
pub(super) const BEGUN: u32 = 1;
pub(super) const ENDED: u32 = 2;

/// A place in words. Whoever reads it while it is written sees that by `version`.
#[derive(Default)]
#[repr(C, align(128))]
struct SiteText {
    key: AtomicU64,
    version: AtomicU32,
    len: AtomicU32,
    text: [AtomicU64; WORDS],
}

impl SiteText {
    #[cold]
    fn write(&self, key: u64, words: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) {
        let mut text = Text { bytes: [0; TEXT], len: 0 };
        // What has no room is left out.
        let _ = words(&mut text);
        // Of what is too long the end says most.
        let bytes = &text.bytes[text.len.saturating_sub(8 * WORDS)..text.len];
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for (place, chunk) in self.text.iter().zip(bytes.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            place.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        self.len.store(bytes.len() as u32, Ordering::Relaxed);
        self.key.store(key, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    fn read(&self) -> Option<String> {
        let version = self.version.load(Ordering::Acquire);
        let bytes: Vec<u8> = self.text.iter().flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).collect();
        let len = (self.len.load(Ordering::Relaxed) as usize).min(bytes.len());
        fence(Ordering::Acquire);
        let is_whole = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        is_whole.then(|| String::from_utf8_lossy(&bytes[..len]).into_owned())
    }
}

/// How long the words of a place may be before they are cut.
pub(super) const TEXT: usize = 512;

/// Words that take no memory but this: they may be written in the middle of a loop of steps.
struct Text {
    bytes: [u8; TEXT],
    len: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = &mut self.bytes[self.len..];
        let len = more.len().min(room.len());
        room[..len].copy_from_slice(&more.as_bytes()[..len]);
        self.len += len;
        if len == more.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// What of a sighting changes when its processor goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(super) step: u64,
    pub(super) place: u32,
    pub(super) stage: u32,
    pub(super) wait: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    Nobody,
    Anybody,
    One(usize),
}

impl Progress {
    pub(crate) fn is_under_way(self) -> bool {
        self.stage == BEGUN
    }

    pub(super) fn waits_for(self) -> Whom {
        match self.wait as u32 {
            _ if !self.is_under_way() => Whom::Nobody,
            0 => Whom::Nobody,
            ANYBODY => Whom::Anybody,
            whom => Whom::One(whom as usize - 1),
        }
    }

    /// Where it is, in words; `place` tells the words of its place.
    pub(super) fn whereabouts(self, place: impl FnOnce() -> String) -> String {
        if self.place == 0 {
            return "before its first step".to_owned();
        }
        let (when, step) = if self.place % 2 == 1 { ("in", self.step) } else { ("after", self.step.wrapping_sub(1)) };
        format!("{when} step {step} {}", place()).trim_end().to_owned()
    }
}

impl Sighting {
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            step: self.step.load(Ordering::Relaxed),
            place: self.place.load(Ordering::Relaxed),
            stage: self.stage.load(Ordering::Relaxed),
            wait: self.wait.load(Ordering::Relaxed),
        }
    }

    /// Where the processor is, in words.
    pub(crate) fn whereabouts(&self) -> String {
        self.progress().whereabouts(|| self.place())
    }

    /// The words of the place where it is.
    pub(crate) fn place(&self) -> String {
        let at = (self.place.load(Ordering::Relaxed) >> 1).wrapping_sub(1) as usize;
        self.places.get(at).and_then(SiteText::read).unwrap_or_default()
    }

    /// The system's number of its thread; 0 if it has none any more.
    pub(crate) fn task(&self) -> i32 {
        if self.progress().is_under_way() { self.task.load(Ordering::Relaxed) } else { 0 }
    }

    pub(crate) fn has_heard(&self) -> bool {
        self.has_heard.load(Ordering::Relaxed) == 1
    }

    /// Where the words of a place are, written there first if they are not; as `place` has it.
    #[inline]
    pub(super) fn find(&self, key: u64, words: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) -> u32 {
        let key = key.wrapping_add(u64::from(self.generation.load(Ordering::Relaxed)) << 48);
        let at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACE_BITS)) as usize;
        if self.places[at].key.load(Ordering::Relaxed) != key {
            self.places[at].write(key, words);
        }
        2 * (at as u32 + 1)
    }
}

/// Those of the last run.
static LAST: Mutex<Option<Arc<[Sighting]>>> = Mutex::new(None);

/// Keeps the sightings of the last run as they are while the process is forked.
pub(crate) fn hold_sightings() -> impl Sized {
    lock(&LAST)
}

/// Sightings of more processors than these are not kept from one run to the next.
const KEPT: usize = 256;

/// The sightings of so many processors. Those of the last run serve again if they are as many and nobody holds them any
/// more: they are some pages of memory, and a run begins in microseconds. Each processor forgets the last one's when it
/// begins, in its own cache.
pub(crate) fn sightings(processors: usize) -> Arc<[Sighting]> {
    let mut last = lock(&LAST);
    if let Some(mut kept) = last.take().filter(|kept| kept.len() == processors)
        && Arc::get_mut(&mut kept).is_some()
    {
        *last = Some(Arc::clone(&kept));
        return kept;
    }
    let made: Arc<[Sighting]> = (0..processors).map(|_| Sighting::default()).collect();
    *last = Some(Arc::clone(&made)).filter(|made| made.len() <= KEPT);
    made
}

#[cfg(test)]
mod tests {
    use super::{super::pen::Pen, *};

    #[test]
    fn words_that_are_being_written_are_not_read() {
        let text = SiteText::default();
        text.write(7, |out| out.write_str("of group 0 (a.rs:1)"));
        assert_eq!(text.read().as_deref(), Some("of group 0 (a.rs:1)"));
        text.version.fetch_add(1, Ordering::Relaxed);
        assert_eq!(text.read(), None);
    }

    /// More places than are kept: each is still told in its own words while it is the last.
    #[test]
    fn every_place_is_told_in_its_own_words() {
        let all: Arc<[Sighting]> = (0..1).map(|_| Sighting::default()).collect();
        let pen = Pen::here(&all, 0);
        pen.begin();
        assert_eq!(all[0].whereabouts(), "before its first step");
        for key in 0..4 * PLACES as u64 {
            pen.enter(key, key, |out| write!(out, "of group {key}"));
            assert_eq!(all[0].whereabouts(), format!("in step {key} of group {key}"));
            pen.leave(key + 1);
            assert_eq!(all[0].whereabouts(), format!("after step {key} of group {key}"));
        }
        // Between steps it is after the last one, wherever it goes.
        pen.go_to(1, |out| out.write_str("in the epoch"));
        assert_eq!(all[0].whereabouts(), format!("after step {} in the epoch", 4 * PLACES - 1));
        // Whoever begins next has other words for the same number.
        pen.begin();
        pen.enter(0, 1, |out| out.write_str("elsewhere"));
        assert_eq!(all[0].whereabouts(), "in step 0 elsewhere");
    }

    #[test]
    fn a_thread_is_known_while_its_processor_is_under_way() {
        let all: Arc<[Sighting]> = (0..1).map(|_| Sighting::default()).collect();
        let pen = Pen::here(&all, 0);
        assert_eq!((all[0].task(), all[0].has_heard()), (0, false));
        pen.begin();
        pen.hear();
        assert_eq!(all[0].task(), crate::system::own_task());
        assert!(all[0].has_heard() && all[0].progress().is_under_way());
        pen.end();
        assert_eq!((all[0].task(), all[0].progress().is_under_way()), (0, false));
        pen.begin();
        assert!(!all[0].has_heard(), "another run");
    }

    #[test]
    fn who_has_ended_waits_for_nobody() {
        let all: Arc<[Sighting]> = (0..1).map(|_| Sighting::default()).collect();
        let pen = Pen::here(&all, 0);
        pen.begin();
        assert!(pen.wait(|| Some(3)));
        assert_eq!(all[0].progress().waits_for(), Whom::One(3));
        pen.end();
        assert_eq!(all[0].progress().waits_for(), Whom::Nobody);
    }
}
