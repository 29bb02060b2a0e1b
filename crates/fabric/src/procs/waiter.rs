//! How a process of a team waits for what another one counts.

use super::{
    futex::{Count, Fences},
    team::Team,
};
use crate::{
    failure::Failure,
    sight::Pen,
    threads::wait::{Crowd, Habit, wait},
};
use std::sync::atomic::{AtomicU32, Ordering};

/// Waits for numbers of other processes, which lie in memory that the team shares.
pub struct Waiter {
    habit: Habit,
    /// With more processes than cores the one that is waited for may need this very core.
    _crowd: Crowd,
    fences: Fences,
    pen: Pen,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.pen.end();
    }
}

impl Waiter {
    /// The only waiter of this process of the team.
    pub fn new(team: &Team) -> Self {
        let (habit, crowd) = (Habit::of_rank(team.rank()), Crowd::enter_alone(team.size()));
        let pen = team.pen();
        pen.begin();
        Self { habit, _crowd: crowd, fences: Fences::register(), pen }
    }

    /// The pen of the process.
    pub fn pen(&self) -> Pen {
        self.pen.clone()
    }

    /// Sets a count, and wakes those who sleep until it changes.
    #[inline]
    pub fn set(&self, count: &Count, number: u32) {
        count.set(number, self.fences);
    }

    /// Waits until the count of process `other` has come as far as `mine`.
    #[inline]
    pub fn wait(&self, team: &Team, other: usize, count: &Count, mine: u32) -> Result<(), Failure> {
        self.until(team, other, || count.get(), mine, |seen| count.sleep(seen, self.fences))
    }

    /// Waits like [`wait`](Self::wait) for a number whose owner wakes nobody.
    pub fn wait_awake(&self, team: &Team, other: usize, number: &AtomicU32, mine: u32) -> Result<(), Failure> {
        self.until(team, other, || number.load(Ordering::Acquire), mine, |_| std::thread::yield_now())
    }

    #[inline]
    fn until(
        &self,
        team: &Team,
        other: usize,
        look: impl Fn() -> u32,
        mine: u32,
        nap: impl Fn(u32),
    ) -> Result<(), Failure> {
        let is_there = |theirs: u32| theirs.wrapping_sub(mine).cast_signed() >= 0;
        let find = |(): &mut ()| Ok(is_there(look()).then_some(()));
        wait(
            &self.habit,
            &self.pen,
            &mut (),
            find,
            |()| Some(other),
            |()| match (look(), team.raised()) {
                (seen, _) if is_there(seen) => Ok(()),
                (_, Some(failure)) => Err(failure),
                (seen, None) => {
                    nap(seen);
                    Ok(())
                }
            },
        )
    }
}
