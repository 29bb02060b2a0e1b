//! This processor's part of an area, and what it does in each phase of a boundary.

use super::{
    puts::{CARRIED_PUT, Delivering, Puts},
    transfer::{Moving, STAGED, Transit, reply_address},
};
use crate::{
    engine::{
        Abandons, Answers, Buried, Carries, Carrying, Commits, Element, Lends, Outbox, Payload, Receives, Renumbers,
        Round, Sends, Tag, Tenant, Touched, Transfers, damaged, hooks, read_words,
    },
    error::{Result, place},
    memory::{owned::Owned, section::Span},
};
use fabric::Circle;
use std::{
    any::{Any, type_name},
    cell::RefCell,
    panic::Location,
    rc::Rc,
};

pub(super) struct Part<T> {
    pub(super) owned: Owned<T>,
    pub(super) lens: RefCell<Vec<usize>>,
    pub(super) transit: RefCell<Transit<T>>,
    pub(super) puts: RefCell<Puts<T>>,
    site: &'static Location<'static>,
}

/// A put that gave its vector away.
pub(super) struct Given<T> {
    pub(super) at: usize,
    pub(super) values: Vec<T>,
}

impl<T: Element> Part<T> {
    pub(super) fn new(owned: Owned<T>, site: &'static Location<'static>) -> Self {
        Self { owned, lens: RefCell::default(), transit: RefCell::default(), puts: RefCell::default(), site }
    }

    /// Copies `bytes` to the place that starts at `at`, whatever their alignment; now, or after what is carried there.
    fn write(&self, at: usize, bytes: &[u8]) -> Result {
        if self.puts.borrow_mut().keep(at, bytes)? {
            return Ok(());
        }
        let mut region = self.owned.region.borrow_mut();
        let len = bytes.len() / size_of::<T>().max(1);
        let target = at.checked_add(len).and_then(|end| region.as_mut_slice().get_mut(at..end)).ok_or_else(damaged)?;
        let target = bytemuck::cast_slice_mut::<T, u8>(target);
        if target.len() != bytes.len() {
            return Err(damaged());
        }
        target.copy_from_slice(bytes);
        Ok(())
    }
}

/// The elements of a section out of its hull.
pub(super) fn pick<T: Element>(hull: &[T], span: Span) -> Vec<T> {
    if span.is_range() {
        return hull.to_vec();
    }
    let start = span.hull().start;
    span.indices().map(|index| hull[index - start]).collect()
}

impl<T: Element> Tenant for Part<T> {
    fn describe(&self) -> String {
        format!("area of {} of {}", type_name::<T>(), place(self.site))
    }

    hooks!(lends, sends, read_before, transfers, receives, carries, touched, commits, abandons, renumbers);
}

impl<T: Element> Lends for Part<T> {
    fn take_back(&self) -> bool {
        self.owned.take_back()
    }
}

impl<T: Element> Sends for Part<T> {
    fn send(&self, number: u32, outbox: &mut Outbox, circle: &dyn Circle) -> Result {
        self.transit.borrow_mut().send(number, &self.owned.region.borrow(), outbox, circle);
        Ok(())
    }
}

impl<T: Element> Answers for Part<T> {
    fn answer(&self, from: usize, mut question: &[u8], outbox: &mut Outbox) -> Result {
        let [reply_to, first, count, step] = read_words(&mut question)?;
        let (first, count, step) = (first as usize, count as usize, step as isize);
        let region = self.owned.region.borrow();
        if count > region.len() {
            return Err(damaged());
        }
        let span = Span { first, step, count };
        let values = pick(region.as_slice().get(span.hull()).ok_or_else(damaged)?, span);
        let (address, prefix) = reply_address(reply_to);
        outbox.push(from, address, Tag::Data, |out| {
            out.extend_from_slice(&prefix);
            out.extend_from_slice(bytemuck::cast_slice(&values));
        });
        Ok(())
    }
}

impl<T: Element> Transfers for Part<T> {
    fn notice(&self, from: usize, notice: &[u8], find: &dyn Fn(u32) -> Option<Rc<dyn Tenant>>) -> Result {
        self.transit.borrow_mut().notice(from, notice, |number| {
            let source = find(number).ok_or_else(damaged)? as Rc<dyn Any>;
            let source = source.downcast::<Self>().map_err(|_| damaged())?;
            let reaches = source.owned.reaches.borrow();
            Ok(reaches.get(from).cloned().flatten())
        })
    }

    fn stage(&self, number: u32, outbox: &mut Outbox) {
        self.transit.borrow().stage(number, &self.owned.region.borrow(), outbox);
    }

    fn pull(&self, left: &[usize]) -> Result {
        self.transit.borrow_mut().take_in(&mut self.owned.region.borrow_mut(), left)
    }
}

impl<T: Element> Carries for Part<T> {
    fn carry(&self, _: u32, round: Round) -> Option<Box<dyn Carrying + '_>> {
        let (transit, puts, region) = (self.transit.borrow_mut(), self.puts.borrow_mut(), &self.owned.region);
        match round {
            Round::Transfer if transit.is_carried() => Some(Box::new(Moving { transit, region: region.borrow_mut() })),
            Round::Commit if puts.is_any() => Some(Box::new(Delivering { puts, region: region.borrow_mut() })),
            _ => None,
        }
    }
}

impl<T: Element> Touched for Part<T> {
    fn len(&self) -> usize {
        self.owned.region.borrow().len()
    }
}

impl<T: Element> Receives for Part<T> {
    fn receive(&self, from: usize, payload: Payload<'_>) -> Result {
        match payload {
            Payload::Bytes(mut bytes) => match read_words(&mut bytes)? {
                [STAGED] => self.transit.borrow_mut().take_staged(from, bytes),
                [CARRIED_PUT] => self.puts.borrow_mut().hear(from, bytes, self.owned.region.borrow().len()),
                [at] => self.write(at as usize, bytes),
            },
            Payload::Moved(value) => match value.downcast::<Given<T>>() {
                Ok(given) => self.write(given.at, bytemuck::cast_slice(&given.values)),
                Err(value) => self.owned.accept(from, value),
            },
        }
    }
}

impl<T: Element> Commits for Part<T> {
    fn commit(&self) -> Result {
        self.owned.open();
        Ok(())
    }
}

impl<T: Element> Abandons for Part<T> {
    fn abandon(&self, _: &mut Buried) {
        self.transit.take();
        self.puts.borrow_mut().abandon();
    }
}

impl<T: Element> Renumbers for Part<T> {
    fn renumber(&self, stayed: &[usize]) {
        // There are none yet while the area is being made.
        let lens = stayed.iter().filter_map(|&rank| self.lens.borrow().get(rank).copied()).collect();
        *self.lens.borrow_mut() = lens;
        self.owned.renumber(stayed);
    }
}
