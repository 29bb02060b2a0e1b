//! What can be seen of a processor from outside: where it is, and for whom it waits.
//!
//! A program that stands still does not say why. So a processor writes down where it is as it goes along, and for whom
//! it waits once it has waited for more than a moment: a few stores into cache lines of its own, which nobody else
//! looks at until somebody has waited long. A lookout looks at all of them now and then, and says in one line who
//! waits where, for whom, and where that one was last seen.
//!
//! Who looks: a thread of the process for threads and the simulator, the watch of a team of forked
//! processes, and under MPI the heartbeat of process 0, to which the others tell what they see.

mod lookout;
pub(crate) mod monitor;
mod task;

pub(crate) use lookout::{Lookout, Report, Verdict};
pub(crate) use task::{Stint, own_task};

use crate::procs::Sheet;
use std::{
    env, fmt,
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering, fence},
    },
    time::Duration,
};

/// How long a processor may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so long it is said who waits where for whom, and again after twice as long, and so on; zero is never.
    pub notice: Duration,
    /// After so long it is an error of the whole run; zero is never.
    pub most: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { notice: Duration::from_secs(10), most: Duration::ZERO }
    }
}

impl Limits {
    /// What the environment says, in `SUPERSTEP_WAIT_NOTICE` and `SUPERSTEP_WAIT_LIMIT`, each a number of seconds.
    ///
    /// # Errors
    ///
    /// If one of them makes no sense; in words.
    pub fn from_environment() -> Result<Self, String> {
        let usual = Self::default();
        let read = |name: &str, usual: Duration| match env::var_os(name) {
            None => Ok(usual),
            Some(value) => {
                let seconds = value.to_str().and_then(|text| text.trim().parse::<f64>().ok());
                let found = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let wrong = || format!("{name} is {}; it must be a number of seconds, and 0 is off", value.display());
                found.ok_or_else(wrong)
            }
        };
        let notice = read("SUPERSTEP_WAIT_NOTICE", usual.notice)?;
        Ok(Self { notice, most: read("SUPERSTEP_WAIT_LIMIT", usual.most)? })
    }

    /// How often to look, if at all: often enough to tell how long a wait has lasted to a tenth.
    pub(crate) fn period(&self) -> Option<Duration> {
        let least = [self.notice, self.most].into_iter().filter(|limit| !limit.is_zero()).min()?;
        Some((least / 10).clamp(Duration::from_millis(5), Duration::from_secs(1)))
    }
}

/// How many places of a processor are kept in words.
const PLACES: usize = 16;
/// How many bytes of a place's words.
const WORDS: usize = 28;

/// What one processor shows. Atomics alone, for which zeros are a value.
#[repr(C, align(128))]
pub struct Sighting {
    /// The number of the step that it is in or comes to next.
    step: AtomicU64,
    /// Twice the number of its place plus one, and one more while it is in a step there; 0 before the first.
    place: AtomicU32,
    /// Whether it has begun, and ended.
    stage: AtomicU32,
    /// 0 while it goes on; else the number of the wait, and one more than whom it waits for, or [`ANYBODY`].
    wait: AtomicU64,
    waits: AtomicU32,
    /// The system's number of its thread.
    task: AtomicI32,
    /// Whether it knows that the run has failed.
    has_heard: AtomicU32,
    places: [Place; PLACES],
}

const ANYBODY: u32 = u32::MAX;
const BEGUN: u32 = 1;
const ENDED: u32 = 2;

/// A place in words. Whoever reads it while it is written sees that by `version`.
#[repr(C, align(128))]
struct Place {
    key: AtomicU64,
    version: AtomicU32,
    len: AtomicU32,
    text: [AtomicU64; WORDS],
}

impl Default for Place {
    fn default() -> Self {
        let text = [const { AtomicU64::new(0) }; WORDS];
        Self { key: AtomicU64::new(0), version: AtomicU32::new(0), len: AtomicU32::new(0), text }
    }
}

impl Default for Sighting {
    fn default() -> Self {
        Self {
            step: AtomicU64::new(0),
            place: AtomicU32::new(0),
            stage: AtomicU32::new(0),
            wait: AtomicU64::new(0),
            waits: AtomicU32::new(0),
            task: AtomicI32::new(0),
            has_heard: AtomicU32::new(0),
            places: std::array::from_fn(|_| Place::default()),
        }
    }
}

impl Place {
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
const TEXT: usize = 512;

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
pub(crate) struct Mark {
    step: u64,
    place: u32,
    stage: u32,
    wait: u64,
}

/// Whom a processor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whom {
    Nobody,
    Anybody,
    One(usize),
}

impl Mark {
    /// Whether the processor has begun and not ended.
    pub(crate) fn is_under_way(self) -> bool {
        self.stage == BEGUN
    }

    /// Whom it waits for.
    fn waits_for(self) -> Whom {
        match self.wait as u32 {
            _ if !self.is_under_way() => Whom::Nobody,
            0 => Whom::Nobody,
            ANYBODY => Whom::Anybody,
            whom => Whom::One(whom as usize - 1),
        }
    }
}

impl Sighting {
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            step: self.step.load(Ordering::Relaxed),
            place: self.place.load(Ordering::Relaxed),
            stage: self.stage.load(Ordering::Relaxed),
            wait: self.wait.load(Ordering::Relaxed),
        }
    }

    /// Where the processor is, in words.
    pub(crate) fn place(&self) -> String {
        let at = (self.place.load(Ordering::Relaxed) >> 1).wrapping_sub(1) as usize;
        self.places.get(at).and_then(Place::read).unwrap_or_default()
    }

    /// The system's number of its thread; 0 if it has none any more.
    pub(crate) fn task(&self) -> i32 {
        if self.mark().is_under_way() { self.task.load(Ordering::Relaxed) } else { 0 }
    }

    pub(crate) fn has_heard(&self) -> bool {
        self.has_heard.load(Ordering::Relaxed) == 1
    }
}

/// Where the sightings of a run lie.
#[derive(Clone, Default)]
enum Board {
    #[default]
    Nowhere,
    Here(Arc<[Sighting]>),
    Team(Sheet),
}

/// With what a processor writes down where it is.
#[derive(Clone, Default)]
pub struct Pen {
    board: Board,
    at: usize,
}

impl Pen {
    /// That of the processor whose sighting is number `at`.
    pub(crate) fn here(board: &Arc<[Sighting]>, at: usize) -> Self {
        Self { board: Board::Here(Arc::clone(board)), at }
    }

    pub(crate) fn of_team(sheet: Sheet, at: usize) -> Self {
        Self { board: Board::Team(sheet), at }
    }

    #[inline]
    fn sighting(&self) -> Option<&Sighting> {
        match &self.board {
            Board::Here(all) => all.get(self.at),
            Board::Team(sheet) => Some(sheet.sighting(self.at)),
            Board::Nowhere => None,
        }
    }

    /// The processor begins, on the calling thread.
    pub(crate) fn begin(&self) {
        if let Some(mine) = self.sighting() {
            mine.task.store(own_task(), Ordering::Relaxed);
            mine.stage.store(BEGUN, Ordering::Relaxed);
        }
    }

    /// The processor has ended.
    pub(crate) fn end(&self) {
        if let Some(mine) = self.sighting() {
            mine.stage.store(ENDED, Ordering::Relaxed);
        }
    }

    /// The processor is in a step of this number. `key` stands for the place, which `words` tells.
    #[inline]
    pub fn enter(&self, step: u64, key: u64, words: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) {
        if let Some(mine) = self.sighting() {
            mine.step.store(step, Ordering::Relaxed);
            mine.place.store(mine.find(key, words) | 1, Ordering::Relaxed);
        }
    }

    /// The processor is at a place outside of steps.
    pub fn go_to(&self, key: u64, words: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) {
        if let Some(mine) = self.sighting() {
            mine.place.store(mine.find(key, words), Ordering::Relaxed);
        }
    }

    /// The processor has left its step, and `step` comes next.
    #[inline]
    pub fn leave(&self, step: u64) {
        if let Some(mine) = self.sighting() {
            mine.step.store(step, Ordering::Relaxed);
            mine.place.store(mine.place.load(Ordering::Relaxed) & !1, Ordering::Relaxed);
        }
    }

    /// The processor waits, for `whom` by its number in the run, or for anybody. Says whether this wait is to be ended
    /// by [`go_on`](Self::go_on), and not one around it.
    #[inline]
    pub fn wait(&self, whom: impl FnOnce() -> Option<usize>) -> bool {
        let Some(mine) = self.sighting().filter(|mine| mine.wait.load(Ordering::Relaxed) == 0) else { return false };
        let number = mine.waits.load(Ordering::Relaxed).wrapping_add(1);
        mine.waits.store(number, Ordering::Relaxed);
        let whom = whom().map_or(ANYBODY, |whom| whom as u32 + 1);
        mine.wait.store(u64::from(number) << 32 | u64::from(whom), Ordering::Relaxed);
        true
    }

    /// For a loop in which the processor may have to wait.
    pub fn waiting(&self) -> Waiting<'_> {
        Waiting { pen: self, is_mine: false }
    }

    /// The processor goes on.
    #[inline]
    pub fn go_on(&self) {
        if let Some(mine) = self.sighting() {
            mine.wait.store(0, Ordering::Relaxed);
        }
    }

    /// The processor has heard that the run has failed.
    #[cold]
    pub(crate) fn hear(&self) {
        if let Some(mine) = self.sighting() {
            mine.has_heard.store(1, Ordering::Relaxed);
        }
    }
}

/// A processor that may have to wait, and has not had to yet. When this is dropped, it goes on.
pub struct Waiting<'a> {
    pen: &'a Pen,
    is_mine: bool,
}

impl Waiting<'_> {
    /// It waits from now on, as [`Pen::wait`] says, unless it does already.
    pub fn begin(&mut self, whom: impl FnOnce() -> Option<usize>) {
        self.is_mine = self.is_mine || self.pen.wait(whom);
    }

    /// It goes on for now.
    #[inline]
    pub fn go_on(&mut self) {
        if std::mem::take(&mut self.is_mine) {
            self.pen.go_on();
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.go_on();
    }
}

impl Sighting {
    /// Where the words of a place are, written there first if they are not; as `place` has it.
    #[inline]
    fn find(&self, key: u64, words: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) -> u32 {
        let at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60) as usize % PLACES;
        if self.places[at].key.load(Ordering::Relaxed) != key {
            self.places[at].write(key, words);
        }
        2 * (at as u32 + 1)
    }
}

/// The sightings of so many processors.
pub(crate) fn board(processors: usize) -> Arc<[Sighting]> {
    (0..processors).map(|_| Sighting::default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written_and_a_long_one_keeps_its_end() {
        let all = board(1);
        let pen = Pen::here(&all, 0);
        pen.begin();
        pen.enter(7, 99, |out| out.write_str("of group 0 (a.rs:1)"));
        assert_eq!(all[0].place(), "of group 0 (a.rs:1)");
        pen.enter(8, 99, |_| unreachable!("it is known"));
        let long = format!("{}(b.rs:2)", "x".repeat(300));
        pen.enter(9, 100, |out| out.write_str(&long));
        assert_eq!(all[0].place(), long[long.len() - 8 * WORDS..]);
        pen.enter(9, 101, |out| out.write_str(&"y".repeat(2 * TEXT)));
        assert_eq!(all[0].place(), "y".repeat(8 * WORDS));
    }

    #[test]
    fn a_wait_inside_a_wait_leaves_it_alone() {
        let all = board(2);
        let pen = Pen::here(&all, 1);
        pen.begin();
        assert!(pen.wait(|| Some(0)));
        let mark = all[1].mark();
        assert!(!pen.wait(|| None));
        assert_eq!(all[1].mark(), mark);
        assert_eq!(mark.waits_for(), Whom::One(0));
        pen.go_on();
        assert_eq!(all[1].mark().waits_for(), Whom::Nobody);
        assert!(pen.wait(|| Some(0)));
        assert_ne!(all[1].mark(), mark, "it is another wait");
    }
}
