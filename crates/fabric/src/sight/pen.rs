//! The pen with which a processor writes down where it is and for whom it waits.

use super::{
    sighting::{ANYBODY, BEGUN, ENDED, Sighting},
    stint::own_task,
};
#[cfg(target_os = "linux")]
use crate::mapping::Mapping;
use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

/// What can be seen of the processes of a team, in memory that they share.
#[cfg(target_os = "linux")]
#[derive(Clone)]
pub(crate) struct TeamSightings {
    memory: Arc<Mapping>,
    /// Where the first of them lies; the others follow.
    first: usize,
}

#[cfg(target_os = "linux")]
impl TeamSightings {
    pub(crate) fn new(memory: Arc<Mapping>, first: usize) -> Self {
        Self { memory, first }
    }

    #[inline]
    fn get(&self, rank: usize) -> &Sighting {
        self.memory.get(self.first + rank * size_of::<Sighting>())
    }
}

/// Where the sightings of a run lie.
#[derive(Clone, Default)]
enum Sightings {
    #[default]
    Nowhere,
    Here(Arc<[Sighting]>),
    #[cfg(target_os = "linux")]
    Team(TeamSightings),
}

/// The pen of a processor.
#[derive(Clone, Default)]
pub struct Pen {
    sightings: Sightings,
    at: usize,
}

impl Pen {
    /// The pen of the processor whose sighting is number `at`.
    pub(crate) fn here(sightings: &Arc<[Sighting]>, at: usize) -> Self {
        Self { sightings: Sightings::Here(Arc::clone(sightings)), at }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn of_team(sightings: TeamSightings, at: usize) -> Self {
        Self { sightings: Sightings::Team(sightings), at }
    }

    #[inline]
    fn sighting(&self) -> Option<&Sighting> {
        match &self.sightings {
            Sightings::Here(all) => all.get(self.at),
            #[cfg(target_os = "linux")]
            Sightings::Team(all) => Some(all.get(self.at)),
            Sightings::Nowhere => None,
        }
    }

    /// The processor begins, on the calling thread.
    pub(crate) fn begin(&self) {
        if let Some(mine) = self.sighting() {
            mine.step.store(0, Ordering::Relaxed);
            mine.wait.store(0, Ordering::Relaxed);
            mine.place.store(0, Ordering::Relaxed);
            mine.has_heard.store(0, Ordering::Relaxed);
            mine.generation.store(mine.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
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
        self.is_mine |= self.pen.wait(whom);
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

#[cfg(test)]
mod tests {
    use super::{
        super::sighting::{TEXT, WORDS, Whom, sightings},
        *,
    };

    #[test]
    fn a_place_is_read_as_it_was_written_and_a_long_one_keeps_its_end() {
        let all = sightings(1);
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
        let all = sightings(2);
        let pen = Pen::here(&all, 1);
        pen.begin();
        assert!(pen.wait(|| Some(0)));
        let progress = all[1].progress();
        assert!(!pen.wait(|| None));
        assert_eq!(all[1].progress(), progress);
        assert_eq!(progress.waits_for(), Whom::One(0));
        pen.go_on();
        assert_eq!(all[1].progress().waits_for(), Whom::Nobody);
        assert!(pen.wait(|| Some(0)));
        assert_ne!(all[1].progress(), progress, "it is another wait");
    }

    #[test]
    fn a_wait_in_a_loop_ends_when_it_goes_on_or_the_loop_ends() {
        let all = sightings(2);
        let pen = Pen::here(&all, 0);
        pen.begin();
        let whom = || all[0].progress().waits_for();
        let mut waiting = pen.waiting();
        for _ in 0..2 {
            assert_eq!(whom(), Whom::Nobody);
            waiting.begin(|| Some(1));
            waiting.begin(|| None);
            assert_eq!(whom(), Whom::One(1));
            waiting.go_on();
        }
        assert_eq!(whom(), Whom::Nobody);
        waiting.begin(|| None);
        assert_eq!(whom(), Whom::Anybody);
        drop(waiting);
        assert_eq!(whom(), Whom::Nobody);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_processes_of_a_team_write_one_behind_the_other() {
        const EACH: usize = size_of::<Sighting>();
        let memory = Arc::new(Mapping::map(3 * EACH, 3 * EACH).unwrap());
        let pen = Pen::of_team(TeamSightings::new(Arc::clone(&memory), EACH), 1);
        pen.begin();
        assert!(pen.wait(|| Some(0)));
        let seen = [0, 1, 2].map(|at| memory.get::<Sighting>(at * EACH).progress());
        assert_eq!(seen[2].waits_for(), Whom::One(0));
        assert!(!seen[0].is_under_way() && !seen[1].is_under_way());
    }
}
