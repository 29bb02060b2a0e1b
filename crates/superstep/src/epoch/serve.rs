//! Taking letters in, and running what they ask for.

use super::{
    letter::{Content, MovedLetter, Parcel, Requests},
    state::{Epoch, State},
    work::Work,
    written,
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

impl Epoch {
    /// Takes in the letters that have come; says whether there were any.
    pub(super) fn take_in(&self) -> Result<bool> {
        let state = &*self.state;
        let mut letter = state.incoming.letter.borrow_mut();
        let mut any = false;
        loop {
            let Some(from) = self.core.wire.circle_mut().next_letter(&mut letter)? else { return Ok(any) };
            any = true;
            state.incoming.came.update(|came| came + 1);
            // Somebody can go on, and so requests run in order again.
            state.incoming.is_loose.set(false);
            let held = state.incoming.held.get();
            let (is_bare, taken) = self.open(from, &mut letter)?;
            if let Some(lane) = state.outgoing.lanes.borrow_mut().get_mut(from) {
                // Nobody has taken what was not sent.
                lane.taken_there = if taken <= lane.sent { lane.taken_there.max(taken) } else { return Err(damaged()) };
            }
            let mut queue = state.incoming.backlogs.get(from).ok_or_else(damaged)?.queue.borrow_mut();
            // What waits behind a busy object takes up memory: its sender is to be held back until it runs.
            match queue.back_mut() {
                Some(last) if state.incoming.held.get() > held => last.is_last = true,
                _ if is_bare => {}
                _ => {
                    drop(queue);
                    self.acknowledge(from)?;
                }
            }
        }
    }

    /// Takes everything out of a letter; says whether there was nothing, and how many letters the sender has taken in.
    fn open(&self, from: usize, letter: &mut Tray) -> Result<(bool, u64)> {
        let incoming = &self.state.incoming;
        if let Some(moved) = letter.moved.pop() {
            let moved = moved.downcast::<MovedLetter>().map_err(|_| damaged())?;
            return self.open_moved(from, moved, std::mem::take(letter));
        }
        // The page before is free again if what stood on it has run.
        let mut page = incoming.page.take().unwrap_or_default();
        match Rc::get_mut(&mut page).filter(|page| page.capacity() <= KEPT) {
            Some(page) => {
                page.clear();
                std::mem::swap(page, &mut letter.bytes);
            }
            None => page = Rc::new(std::mem::take(&mut letter.bytes)),
        }
        let taken = written::read(&page, &incoming.methods, |parcel| self.take_parcel(from, parcel))?;
        let is_bare = written::is_bare(&page);
        incoming.page.set(Some(page));
        Ok((is_bare, taken))
    }

    /// Puts a parcel where it belongs.
    fn take_parcel(&self, from: usize, parcel: Parcel<Content>) {
        match parcel {
            Parcel::Requests(requests) => self.state.incoming.enter(from, requests),
            Parcel::Answers { first, count, answers } => self.state.book.borrow().enter(from, first, count, answers),
            Parcel::Note { number, about, note } => self.notes.enter(number, from, about, note),
            // Its sender tells everybody.
            Parcel::Fault(error) => self.trouble.hear(&error),
        }
    }

    /// Opens a letter that was moved here in `tray`, as [`open`](Self::open) does.
    pub(super) fn open_moved(&self, from: usize, mut letter: Box<MovedLetter>, tray: Tray) -> Result<(bool, u64)> {
        let State { incoming, outgoing, .. } = &*self.state;
        let found = (letter.parcels.is_empty(), letter.taken);
        let take = |parcel| self.take_parcel(from, parcel);
        letter.parcels.drain(..).try_for_each(|it| it.open(&incoming.methods, take))?;
        outgoing.pool.borrow_mut().keep_letter(letter, tray);
        Ok(found)
    }

    /// Takes in what has come and runs what can be run; says whether anything did.
    pub(super) fn serve(&self) -> Result<bool> {
        self.serve_if(|_| true)
    }

    /// The same where this processor waits. A request may send others on, so while too much is under way to a slow
    /// processor none runs here, and those who send them are held back in their turn.
    pub(super) fn serve_in_bounds(&self) -> Result<bool> {
        self.serve_if(|from| self.state.outgoing.may_run(from))
    }

    fn serve_if(&self, may_run: impl Fn(usize) -> bool) -> Result<bool> {
        let state = &*self.state;
        self.trouble.check_stuck()?;
        let has_come = self.take_in()?;
        if state.incoming.held.get() == 0 || self.is_deep() {
            return Ok(has_come);
        }
        let mut has_run = false;
        for from in 0..state.size {
            // What is added meanwhile waits for the next turn: a method that sends itself on to this processor would
            // otherwise keep everybody else out.
            let queued = state.incoming.backlogs[from].queue.borrow().len();
            for _ in 0..queued {
                if !may_run(from) {
                    break;
                }
                let Some(requests) = state.incoming.next(from, |object| self.is_busy(object)) else { break };
                has_run = true;
                if requests.is_last {
                    self.acknowledge(from)?;
                }
                self.work_off(from, requests)?;
            }
        }
        if has_run {
            self.post_urgent()?;
        }
        Ok(has_come || has_run)
    }

    /// Whether as many methods are under way as there may be.
    #[inline]
    pub(super) fn is_deep(&self) -> bool {
        self.activity.depth.get() >= self.tuning.nesting
    }

    /// Whether a request could run, if there were not as many methods under way as there may be.
    pub(super) fn is_too_deep(&self) -> bool {
        self.is_deep() && self.state.incoming.could_begin(|object| self.is_busy(object))
    }

    fn is_busy(&self, object: u64) -> bool {
        self.core.tenants().is_borrowed(object as u32)
    }

    fn work_off(&self, from: usize, requests: Requests<Content>) -> Result {
        let state = &*self.state;
        let Requests { method, object, ticket, count, arguments, .. } = requests;
        let left = &state.incoming.backlogs[from].left;
        let mut outcome = Ok(());
        // Who waited computes now, and may not come back.
        self.core.pen.go_on();
        self.activity.begun.update(|begun| begun + 1);
        let left_before = left.replace(if ticket.is_some() { count as usize } else { 0 });
        let work = Work { epoch: self, from, object, ticket, count, arguments, left, outcome: &mut outcome };
        let unwound = catch_unwind(AssertUnwindSafe(|| method.call(work)));
        self.activity.done.update(|done| done + 1);
        match unwound {
            Ok(()) => {
                if let Err(error) = outcome {
                    self.fail(from, ticket, count, &error)?;
                }
            }
            Err(payload) => {
                // The method has noted its failure while it unwound, unless the epoch had failed before.
                let error = panics::caught(payload);
                self.trouble.check_stuck()?;
                let error = self.trouble.check().err().unwrap_or(error);
                self.fail(from, ticket, count, &error)?;
            }
        }
        left.set(left_before);
        Ok(())
    }

    /// Notes that a request has failed, and tells who waits for its answer.
    fn fail(&self, from: usize, ticket: Option<u64>, count: u64, error: &Error) -> Result {
        let state = &*self.state;
        if let Some(first) = ticket {
            // It and the rest of the series, which does not begin any more, have no answers.
            let begun = count.saturating_sub(state.incoming.backlogs[from].left.get() as u64);
            for ticket in first + begun.saturating_sub(1)..first + count {
                state.outgoing.lanes.borrow_mut()[from].fail(ticket, error)?;
            }
            self.post(from)?;
        }
        self.trouble.note(error);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::Config;

    /// One of answers alone is taken in at once, whatever waits here.
    #[test]
    fn a_letter_counts_as_taken_in_when_its_requests_have_begun() {
        let outcome = Config::new().procs(2).run(|g| {
            let (object, other) = (g.object(0), g.object(0));
            g.epoch(|e| {
                if e.rank() == 0 {
                    e.send(1, &object, 1, |object, _, x| *object += x);
                    e.flush();
                    return;
                }
                let taken = || e.state.outgoing.lanes.borrow()[0].taken_here;
                object.with(|_| {
                    while e.state.incoming.held.get() == 0 {
                        e.poll();
                    }
                    assert_eq!(taken(), 0);
                    e.call(0, &other, (), |_, _, ()| ());
                    assert_eq!(taken(), 1);
                });
                e.poll();
                assert_eq!(taken(), 2);
            });
            assert_eq!(object.with(|object| *object), g.rank());
        });
        outcome.expect("the run succeeds");
    }
}
