//! Sending letters, taking them in, and running what they ask for.

use super::{
    Epoch,
    lane::{Lane, Way},
    letter::{self, Block, Item, Requests},
    state::add,
    work::Work,
};
use crate::{
    engine::damaged,
    error::{Error, Result},
    panics,
};
use fabric::Tray;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

/// Up to so many bytes of room are kept for the next letter.
const KEPT: usize = 64 << 10;

/// Polls that find nothing before a processor that waits is counted among those that do: longer than an answer takes.
const PATIENCE: u32 = 200;

impl Epoch {
    /// Sends what waits for `to`.
    #[cold]
    pub(super) fn post(&self, to: usize) -> Result {
        let state = &*self.state;
        self.check_stuck()?;
        let mut lanes = state.lanes.borrow_mut();
        let lane = &mut lanes[to];
        let mut letter;
        let is_bare = lane.is_empty();
        if lane.is_all_written() && lane.way != Way::Here {
            letter = Tray { bytes: lane.take_bytes(), moved: Vec::new() };
        } else {
            let empty;
            (empty, letter) = state.pool.borrow_mut().take_letter();
            let mut block = lane.take_block(empty);
            if lane.way == Way::Here {
                drop(lanes);
                block.items.drain(..).try_for_each(|item| item.unpack(&state.methods, |it| self.take_item(to, it)))?;
                state.pool.borrow_mut().keep_letter(block, letter);
                return Ok(());
            }
            letter.moved.push(block);
        }
        // One that only says how many were taken in is not answered by another.
        lane.sent += u64::from(!is_bare);
        if lane.under_way() > state.allowance.get() {
            state.is_crowded.set(true);
        }
        drop(lanes);
        add(&state.sent, 1);
        self.core.circle.borrow_mut().send_letter(to, &mut letter)?;
        if letter.bytes.capacity() > 0 {
            state.lanes.borrow_mut()[to].keep(letter.bytes);
        }
        Ok(())
    }

    /// Sends what waits for `to`, and serves others while too much is on its way there. A method is not held back: it
    /// gives way only where it waits for an answer.
    #[cold]
    pub(super) fn post_held_back(&self, to: usize) -> Result {
        let state = &*self.state;
        let window = state.tuning.get().window;
        self.post(to)?;
        let is_behind = || {
            let lane = &state.lanes.borrow()[to];
            lane.way != Way::Here && lane.under_way() > window
        };
        if state.depth.get() == 0 && to == state.rank {
            // Nobody else will.
            self.serve()?;
        }
        if state.depth.get() > 0 || !is_behind() {
            return Ok(());
        }
        // Where nobody can go on, the other one may wait for what is behind all this.
        let why = || format!("until rank {to} has caught up with what was sent to it");
        // It has much to do: this processor does not need to be quick.
        self.wait(0, &why, || (!is_behind() || state.is_loose.replace(false)).then_some(()))
    }

    /// Sends everything that waits.
    pub(super) fn post_all(&self) -> Result {
        self.tell_failure()?;
        for to in 0..self.state.size {
            if !self.state.lanes.borrow()[to].is_empty() {
                self.post(to)?;
            }
        }
        Ok(())
    }

    /// Sends everything that somebody waits for.
    fn post_urgent(&self) -> Result {
        self.tell_failure()?;
        for to in 0..self.state.size {
            if self.state.lanes.borrow()[to].is_urgent {
                self.post(to)?;
            }
        }
        Ok(())
    }

    /// Notes why the epoch cannot end well. The first reason counts, and everybody is told of it when something is sent
    /// next: a processor that polls for what a failed method should have done never comes to the fence.
    pub(super) fn note_failure(&self, error: &Error) {
        let state = &*self.state;
        let mut failure = state.failure.borrow_mut();
        if failure.is_none() {
            *failure = Some(error.clone());
            state.is_untold.set(true);
        }
    }

    /// Puts a failure that the others do not know of on its way to them.
    fn tell_failure(&self) -> Result {
        let state = &*self.state;
        if !state.is_untold.replace(false) {
            return Ok(());
        }
        let failure = state.failure.borrow();
        let mut lanes = state.lanes.borrow_mut();
        let mut others = lanes.iter_mut().filter(|lane| lane.way != Way::Here);
        match &*failure {
            Some(error) => others.try_for_each(|lane| lane.fault(error)),
            None => Ok(()),
        }
    }

    /// The failure that this processor knows of, as an error.
    pub(super) fn check_failure(&self) -> Result {
        self.state.failure.borrow().clone().map_or(Ok(()), Err)
    }

    /// The error that everybody has where nobody could go on, as an error: the epoch is over, whatever the program does
    /// with it.
    #[inline]
    pub(super) fn check_stuck(&self) -> Result {
        if self.state.is_stuck.get() { self.check_failure() } else { Ok(()) }
    }

    /// Takes in the letters that have come; says whether there were any.
    fn take_in(&self) -> Result<bool> {
        let state = &*self.state;
        let mut letter = state.letter.borrow_mut();
        let mut any = false;
        loop {
            let Some(from) = self.core.circle.borrow_mut().next_letter(&mut letter)? else { return Ok(any) };
            any = true;
            add(&state.came, 1);
            // Somebody can go on, and so requests run in order again.
            state.is_loose.set(false);
            let held = state.held.get();
            let (is_bare, taken);
            if let Some(moved) = letter.moved.pop() {
                let mut block = moved.downcast::<Block>().map_err(|_| damaged())?;
                (is_bare, taken) = (block.items.is_empty(), block.taken);
                block
                    .items
                    .drain(..)
                    .try_for_each(|item| item.unpack(&state.methods, |it| self.take_item(from, it)))?;
                state.pool.borrow_mut().keep_letter(block, std::mem::take(&mut *letter));
            } else {
                is_bare = letter::is_bare(&letter.bytes);
                // The page before is free again if what stood on it has run.
                let mut page = state.page.take().unwrap_or_default();
                match Rc::get_mut(&mut page).filter(|page| page.capacity() <= KEPT) {
                    Some(page) => {
                        page.clear();
                        std::mem::swap(page, &mut letter.bytes);
                    }
                    None => page = Rc::new(std::mem::take(&mut letter.bytes)),
                }
                taken = letter::read(&page, &state.methods, |item| self.take_item(from, item))?;
                state.page.set(Some(page));
            }
            if let Some(lane) = state.lanes.borrow_mut().get_mut(from) {
                lane.taken_there = lane.taken_there.max(taken);
            }
            let mut queue = state.sources.get(from).ok_or_else(damaged)?.queue.borrow_mut();
            // What waits behind a busy object takes up memory: its sender is to be held back until it runs.
            match queue.back_mut() {
                Some(last) if state.held.get() > held => last.is_last = true,
                _ if is_bare => {}
                _ => {
                    drop(queue);
                    self.acknowledge(from)?;
                }
            }
        }
    }

    /// Counts a letter of `from` as taken in, and says so now and then: who sends much hears of it even if nothing goes
    /// the other way.
    fn acknowledge(&self, from: usize) -> Result {
        let state = &*self.state;
        let mut lanes = state.lanes.borrow_mut();
        let lane = &mut lanes[from];
        lane.taken_here += 1;
        let is_due = lane.taken_here - lane.told > state.tuning.get().window / 2;
        drop(lanes);
        if is_due { self.post(from) } else { Ok(()) }
    }

    /// Puts an item where it belongs.
    fn take_item(&self, from: usize, item: Item) {
        let state = &*self.state;
        match item {
            Item::Requests(requests) => {
                add(&state.held, 1);
                state.sources[from].queue.borrow_mut().push_back(requests);
            }
            Item::Answers { first, count, answers } => state.book.borrow().enter(from, first, count, answers),
            Item::Note { number, about, note } => {
                state.notes.borrow_mut().insert((number, from), (about, note));
            }
            // Its sender tells everybody.
            Item::Fault(error) => {
                state.failure.borrow_mut().get_or_insert(error);
            }
        }
    }

    /// Whether so many letters are under way to somebody that what might send more has to wait.
    pub(super) fn is_crowded(&self) -> bool {
        let state = &*self.state;
        if state.is_crowded.get() {
            let lanes = state.lanes.borrow();
            state.is_crowded.set(lanes.iter().any(|lane| lane.under_way() > state.allowance.get()));
        }
        state.is_crowded.get()
    }

    /// Lets more letters be under way: nobody can go on otherwise.
    pub(super) fn allow_more(&self) {
        let state = &*self.state;
        if self.is_crowded() {
            let most = state.lanes.borrow().iter().map(Lane::under_way).max().unwrap_or_default();
            state.allowance.set(most.saturating_mul(2));
        }
    }

    /// Takes in what has come and runs what can be run; says whether anything did.
    pub(super) fn serve(&self) -> Result<bool> {
        self.serve_if(|_| true)
    }

    /// The same where this processor waits. A request may send others on, so while too much is under way to a slow
    /// processor none runs here, and those who send them are held back in their turn. The slow one's own requests run:
    /// it may wait for them.
    pub(super) fn serve_in_bounds(&self) -> Result<bool> {
        let state = &*self.state;
        self.serve_if(|from| !self.is_crowded() || state.lanes.borrow()[from].under_way() > state.allowance.get())
    }

    fn serve_if(&self, may_run: impl Fn(usize) -> bool) -> Result<bool> {
        let state = &*self.state;
        self.check_stuck()?;
        let has_come = self.take_in()?;
        if state.held.get() == 0 {
            return Ok(has_come);
        }
        if state.depth.get() >= state.tuning.get().nesting {
            return Ok(has_come);
        }
        let mut has_run = false;
        for from in 0..state.size {
            // What is added meanwhile waits for the next turn: a method that sends itself on to this processor would
            // otherwise keep everybody else out.
            let queued = state.sources[from].queue.borrow().len();
            for _ in 0..queued {
                if !may_run(from) {
                    break;
                }
                let Some(requests) = self.next_run(from) else { break };
                has_run = true;
                if requests.is_last {
                    self.acknowledge(from)?;
                }
                self.run(from, requests)?;
            }
        }
        if has_run {
            self.post_urgent()?;
        }
        Ok(has_come || has_run)
    }

    /// Whether a request could run, if there were not as many methods under way as there may be.
    pub(super) fn is_too_deep(&self) -> bool {
        let state = &*self.state;
        if state.depth.get() < state.tuning.get().nesting {
            return false;
        }
        let registry = self.core.registry.borrow();
        let is_free = |it: &Requests| registry.object(it.object as u32).is_none_or(|object| !object.is_borrowed());
        state.sources.iter().any(|source| source.left.get() == 0 && source.queue.borrow().front().is_some_and(is_free))
    }

    /// The next run of a source that may begin.
    fn next_run(&self, from: usize) -> Option<Requests> {
        let state = &*self.state;
        let source = &state.sources[from];
        let mut queue = source.queue.borrow_mut();
        let registry = self.core.registry.borrow();
        let is_busy = |it: &Requests| registry.object(it.object as u32).is_some_and(|object| object.is_borrowed());
        // What was sent before has not all begun, or cannot: its object is that of a method that waits.
        let at = if source.left.get() == 0 && !is_busy(queue.front()?) {
            0
        } else {
            let at = queue.iter().position(|it| state.is_loose.get() && !is_busy(it))?;
            state.is_loose.set(false);
            at
        };
        add(&state.held, 1u64.wrapping_neg());
        queue.remove(at)
    }

    /// Works off a run.
    fn run(&self, from: usize, requests: Requests) -> Result {
        let state = &*self.state;
        let Requests { method, object, ticket, count, arguments, .. } = requests;
        let source = &state.sources[from];
        let mut outcome = Ok(());
        let left_before = source.left.replace(if ticket.is_some() { count as usize } else { 0 });
        let work = Work { epoch: self, from, object, ticket, arguments, left: &source.left, outcome: &mut outcome };
        let unwound = catch_unwind(AssertUnwindSafe(|| method.call(work)));
        add(&state.runs, 1);
        match unwound {
            Ok(()) => {
                if let Err(error) = outcome {
                    self.fail(from, ticket, count, error)?;
                }
            }
            Err(payload) => {
                // The method has noted its failure while it unwound, unless the epoch had failed before.
                let error = panics::caught(payload);
                self.check_stuck()?;
                let error = self.check_failure().err().unwrap_or(error);
                self.fail(from, ticket, count, error)?;
            }
        }
        source.left.set(left_before);
        Ok(())
    }

    /// Notes that a request has failed, and tells who waits for its answer.
    fn fail(&self, from: usize, ticket: Option<u64>, count: u64, error: Error) -> Result {
        let state = &*self.state;
        if let Some(first) = ticket {
            // It and the rest of the run, which does not begin any more, have no answers.
            let begun = count.saturating_sub(state.sources[from].left.get() as u64);
            for ticket in first + begun.saturating_sub(1)..first + count {
                state.lanes.borrow_mut()[from].fail(ticket, &error)?;
            }
            self.post(from)?;
        }
        self.note_failure(&error);
        Ok(())
    }

    /// Waits until `ready`, and serves others meanwhile; `why` says what is waited for.
    pub(super) fn wait_until<R>(&self, why: &dyn Fn() -> String, ready: impl FnMut() -> Option<R>) -> Result<R> {
        self.wait(PATIENCE, why, ready)
    }

    fn wait<R>(&self, patience: u32, why: &dyn Fn() -> String, mut ready: impl FnMut() -> Option<R>) -> Result<R> {
        let (mut polls, mut waiting) = (0, self.core.pen.waiting());
        loop {
            if let Some(found) = ready() {
                return Ok(found);
            }
            self.check_stuck()?;
            self.post_all()?;
            // A method goes on as long as it can, because its object could not be used any more.
            if self.state.depth.get() == 0 {
                self.check_failure()?;
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

    /// Waits for a letter or for the sum of a count, if one has been entered.
    pub(super) fn rest_in_count(&self) -> Result {
        if self.state.counting.get().is_entered {
            self.core.circle.borrow_mut().rest()?;
        }
        Ok(())
    }

    /// Sends what waits, takes in what has come and runs it.
    pub(super) fn poll_now(&self) -> Result {
        self.state.until_poll.set(self.state.tuning.get().poll_every);
        self.post_all()?;
        if self.serve()? {
            self.post_all()?;
        }
        self.check_failure()
    }

    /// Does what a processor owes others where it may be in a loop that waits for something; a method gives way to no
    /// request here, but it hears that the epoch has failed.
    #[cold]
    pub(super) fn look(&self) -> Result {
        let state = &*self.state;
        state.until_poll.set(state.tuning.get().poll_every);
        if state.depth.get() == 0 {
            self.serve()?;
        } else {
            self.take_in()?;
        }
        self.check_failure()
    }
}
