//! Sending letters, and waiting: others are served meanwhile.

use super::{
    lane::Lane,
    state::{Epoch, State},
};
use crate::{engine::Value, error::Result};

/// After so many polls in vain a processor that waits enters the count: longer than an answer takes.
const PATIENCE: u32 = 200;

impl Epoch {
    /// Waits until `ready`, and serves others meanwhile; `why` says what is waited for.
    pub(super) fn wait_until<R>(&self, why: &dyn Fn() -> String, ready: impl FnMut() -> Option<R>) -> Result<R> {
        self.wait(PATIENCE, why, ready)
    }

    fn wait<R>(&self, patience: u32, why: &dyn Fn() -> String, mut ready: impl FnMut() -> Option<R>) -> Result<R> {
        let trouble = &self.trouble;
        let (mut polls, mut waiting) = (0, self.core.pen.waiting());
        loop {
            if let Some(found) = ready() {
                return Ok(found);
            }
            trouble.check_stuck()?;
            self.post_all()?;
            // A method goes on as long as it can, because its object could not be used any more.
            if self.activity.depth.get() == 0 {
                trouble.check()?;
            }
            if self.serve_in_bounds()? {
                waiting.go_on();
                polls = 0;
                continue;
            }
            polls += 1;
            if polls < patience {
                std::hint::spin_loop();
                continue;
            }
            waiting.begin(|| None);
            self.count(Some(why))?;
            self.rest_in_count()?;
        }
    }

    /// Takes what this processor has sent to itself.
    fn take_own(&self) -> Result {
        let (rank, State { outgoing, .. }) = (self.rank(), &*self.state);
        let (empty, tray) = outgoing.pool.borrow_mut().take_letter();
        let letter = outgoing.lanes.borrow_mut()[rank].take_moved(empty);
        self.open_moved(rank, letter, tray).map(|_| ())
    }

    #[cold]
    pub(super) fn post(&self, to: usize) -> Result {
        let state = &*self.state;
        self.trouble.check_stuck()?;
        if to == state.rank {
            return self.take_own();
        }
        let mut letter = state.outgoing.take_letter(to);
        self.core.wire.circle_mut().send_letter(to, &mut letter)?;
        state.outgoing.lanes.borrow_mut()[to].keep(letter.bytes);
        Ok(())
    }

    pub(super) fn post_all(&self) -> Result {
        self.post_if(|lane| !lane.is_empty())
    }

    pub(super) fn post_urgent(&self) -> Result {
        self.post_if(|lane| lane.is_urgent)
    }

    /// Sends what waits in some lanes, and first tells the others of a failure that they do not know of.
    fn post_if(&self, is_due: impl Fn(&Lane) -> bool) -> Result {
        let outgoing = &self.state.outgoing;
        if let Some(error) = self.trouble.take_untold() {
            outgoing.tell(&error)?;
        }
        for to in 0..self.state.size {
            if is_due(&outgoing.lanes.borrow()[to]) {
                self.post(to)?;
            }
        }
        Ok(())
    }

    pub(super) fn answer<R: Value>(&self, to: usize, ticket: u64, answer: R, is_alone: bool) {
        let is_full = self.state.outgoing.lanes.borrow_mut()[to].answer(ticket, answer, is_alone);
        let posted = is_full.and_then(|is_full| if is_full { self.post(to) } else { Ok(()) });
        posted.unwrap_or_else(|error| error.raise());
    }

    /// Counts a letter of `from` as taken in, and tells it now and then.
    pub(super) fn acknowledge(&self, from: usize) -> Result {
        let window = self.tuning.window;
        if self.state.outgoing.acknowledge(from, window) { self.post(from) } else { Ok(()) }
    }

    /// Sends what waits for `to`, and serves others while too much is on its way there. A method is not held back: it
    /// gives way only where it waits for an answer.
    #[cold]
    pub(super) fn post_held_back(&self, to: usize) -> Result {
        let state = &*self.state;
        self.post(to)?;
        if self.activity.depth.get() > 0 {
            return Ok(());
        }
        if to == state.rank {
            // Nobody else will.
            self.serve()?;
        }
        let window = self.tuning.window;
        if !state.outgoing.is_behind(to, window) {
            return Ok(());
        }
        let why = || format!("until rank {to} has caught up with what was sent to it");
        // It has much to do: this processor does not need to be quick. Where nobody can go on, the other one may wait
        // for what is behind all this.
        let may_go_on = || !state.outgoing.is_behind(to, window) || state.incoming.is_loose.replace(false);
        self.wait(0, &why, || may_go_on().then_some(()))
    }

    /// Sends what waits, takes in what has come and runs it.
    pub(super) fn poll_now(&self) -> Result {
        self.pace.look(&self.tuning);
        self.post_all()?;
        if self.serve()? {
            self.post_all()?;
        }
        self.trouble.check()
    }

    /// Looks for what came, every so many requests.
    #[inline]
    pub(super) fn tick(&self, requests: u32) -> Result {
        if self.pace.is_due(requests) { self.look() } else { Ok(()) }
    }

    /// Serves others, for a processor that may loop. A method serves none here, but hears that the epoch has failed.
    #[cold]
    pub(super) fn look(&self) -> Result {
        self.pace.look(&self.tuning);
        if self.activity.depth.get() == 0 {
            self.serve()?;
        } else {
            self.take_in()?;
        }
        self.trouble.check()
    }

    /// Looks for what came. What is waited for may be the effect of a request that waits here to be sent, so that is
    /// sent on as well, but not so often that letters become small.
    #[cold]
    pub(super) fn look_from_loop(&self) -> Result {
        if self.pace.is_flush_due() {
            self.post_all()?;
        }
        self.look()
    }
}
