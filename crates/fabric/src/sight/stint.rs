//! How much time a thread has had to itself.
//!
//! A limit on how long something may take must not be reached because the machine is slow (X9): what is not given a
//! core cannot go on, however long that lasts. So such a limit counts the time in which the thread ran, or slept
//! because it wanted to, and not that in which it waited for a core. Nor does it count time in which nobody looked.
//! Only Linux tells the two apart; elsewhere all the time counts in which somebody looked.

use std::{
    cell::Cell,
    fs,
    time::{Duration, Instant},
};

/// How much more time one has who has heard of the failure than one who has not.
pub(crate) const UNWINDING: u32 = 20;

/// The time that one thread has had since it was first looked at.
pub(crate) struct Stint {
    folder: String,
    last: Instant,
    sample: Option<Sample>,
    had: Duration,
}

/// What the system says of a thread.
#[derive(Clone, Copy)]
struct Sample {
    /// Nanoseconds on a core, and in wait for one.
    ran: u64,
    queued: u64,
    /// Whether it is on a core, or waits for one.
    wants_core: bool,
}

impl Sample {
    fn of(folder: &str) -> Option<Self> {
        let times = fs::read_to_string(format!("{folder}/schedstat")).ok()?;
        let mut times = times.split_whitespace().map_while(|word| word.parse().ok());
        let stat = fs::read_to_string(format!("{folder}/stat")).ok()?;
        // The name before it may hold anything.
        let state = stat.rsplit(')').next()?.trim_start().chars().next()?;
        Some(Self { ran: times.next()?, queued: times.next()?, wants_core: state == 'R' })
    }
}

impl Stint {
    /// The stint of a thread of this process or of another one.
    pub(crate) fn of(process: i32, task: i32) -> Self {
        let folder = format!("/proc/{process}/task/{task}");
        let sample = Sample::of(&folder);
        Self { folder, last: Instant::now(), sample, had: Duration::ZERO }
    }

    /// How much it has had. It is looked at about every `period`; what a look was late by does not count.
    pub(crate) fn had(&mut self, period: Duration) -> Duration {
        let now = Instant::now();
        let passed = (now - self.last).min(2 * period);
        let sample = Sample::of(&self.folder);
        self.had += had_between(self.sample, sample, passed);
        (self.last, self.sample) = (now, sample);
        self.had
    }
}

/// What a thread has had of the time that has passed between two looks.
fn had_between(before: Option<Sample>, now: Option<Sample>, passed: Duration) -> Duration {
    let had = match (before, now) {
        (Some(before), Some(now)) if now.wants_core => Duration::from_nanos(now.ran.saturating_sub(before.ran)),
        (Some(before), Some(now)) => {
            passed.saturating_sub(Duration::from_nanos(now.queued.saturating_sub(before.queued)))
        }
        _ => passed,
    };
    had.min(passed)
}

thread_local! {
    /// The number of this thread, if it was asked to remember it.
    static TASK: Cell<i32> = const { Cell::new(0) };
}

/// The system's number of the calling thread.
pub(crate) fn own_task() -> i32 {
    match TASK.get() {
        0 => crate::system::own_task(),
        known => known,
    }
}

/// Asks the system for it once. Only for threads that fork no process which goes on: the number would be the parent's.
pub(crate) fn remember_task() {
    TASK.set(own_task());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_a_core_has_the_time_on_it_and_who_sleeps_all_but_the_wait_for_one() {
        let sample = |ran, queued, wants_core| Some(Sample { ran, queued, wants_core });
        let passed = Duration::from_nanos(100);
        for (before, now, had) in [
            (sample(10, 5, true), sample(40, 75, true), 30),
            (sample(10, 5, false), sample(10, 65, true), 0),
            (sample(10, 5, true), sample(40, 25, false), 80),
            (sample(10, 5, false), sample(10, 205, false), 0),
            (sample(10, 5, true), sample(500, 5, true), 100),
            // Another thread has the number now.
            (sample(50, 50, true), sample(10, 10, true), 0),
            (sample(50, 50, true), sample(10, 10, false), 100),
            (None, sample(10, 10, true), 100),
            (sample(10, 10, true), None, 100),
        ] {
            assert_eq!(had_between(before, now, passed), Duration::from_nanos(had));
        }
    }

    #[test]
    fn who_sleeps_has_time_and_who_is_not_looked_at_has_none() {
        let own = || Stint::of(std::process::id() as i32, own_task());
        let mut stint = own();
        let (mut had, period) = (Duration::ZERO, Duration::from_millis(2));
        // However slow the machine is, a look counts for something.
        while had < Duration::from_millis(10) {
            std::thread::sleep(period);
            had = stint.had(period);
        }
        let mut stint = own();
        std::thread::sleep(Duration::from_millis(50));
        assert!(stint.had(period) <= 2 * period);
    }

    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "Miri shows no files of the system")]
    fn who_looks_at_itself_is_on_a_core() {
        let own = Sample::of(&format!("/proc/{}/task/{}", std::process::id(), own_task()));
        assert!(own.expect("Linux tells").wants_core);
        assert!(Sample::of("/proc/0/task/0").is_none(), "there is no such thread");
    }
}
