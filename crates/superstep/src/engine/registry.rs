//! What a group has made: its shared variables, areas and queues, by number.
//!
//! Numbers are given in the order of declaration, which the check of S5 makes sure is the same on every member. An
//! object is forgotten when every member has dropped its handle; until then each keeps its part, so that nothing which
//! is under way to it gets lost.

use super::exchange::{Outbox, Payload};
use crate::error::{Error, ErrorKind, Result};
use fabric::Circle;
use serde::{Deserialize, Serialize};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

/// One member's part of an area or a queue.
pub(crate) trait Object: Any {
    /// How messages name it.
    fn describe(&self) -> String;

    /// Whether a borrow of it is alive.
    fn is_borrowed(&self) -> bool {
        false
    }

    /// Makes its memory readable by peers, after the owner may have written to it.
    fn open(&self) {}

    /// Hands over what was collected for others in this step.
    fn flush(&self, _number: u32, _outbox: &mut Outbox, _circle: &dyn Circle) -> Result {
        Ok(())
    }

    /// Answers a request of member `from`, before anything is committed.
    fn serve(&self, _from: usize, _request: &[u8], _outbox: &mut Outbox) -> Result {
        Ok(())
    }

    /// Takes notice of a transfer from area to area that this member has a part in.
    fn notice(&self, _from: usize, _notice: &[u8], _registry: &Registry) -> Result {
        Ok(())
    }

    /// Copies away what transfers will both read and write here.
    fn stage(&self, _number: u32, _outbox: &mut Outbox) {}

    /// Its memory, if something is carried out of it or into it.
    fn carry(&self, _number: u32) -> Option<Box<dyn Carrying + '_>> {
        None
    }

    /// Takes in what transfers bring here. `left` holds the ranks that left in this boundary.
    fn pull(&self, _left: &[usize]) -> Result {
        Ok(())
    }

    /// Commits a record of member `from`, or keeps it until all records are here.
    fn deliver(&self, _from: usize, _payload: Payload<'_>) -> Result {
        Ok(())
    }

    /// Whether it keeps records until all are here, so that [`attempt`](Self::attempt) can be taken back.
    fn keeps(&self) -> bool {
        false
    }

    /// Commits the records that were kept for the time being: [`commit`](Self::commit) makes it final, and
    /// [`abandon`](Self::abandon) takes it back. A second call before that does nothing.
    fn attempt(&self) -> Result {
        Ok(())
    }

    /// Commits the records that were kept. It may be called when there are none.
    fn commit(&self) -> Result {
        Ok(())
    }

    /// Answers a request of member `from`, after everything is committed.
    fn mirror(&self, _from: usize, _request: &[u8], _outbox: &mut Outbox) -> Result {
        Ok(())
    }

    /// Ends the boundary.
    fn settle(&self) {}

    /// Forgets what was collected for others in a step that failed, and takes back what was attempted.
    fn abandon(&self) {}

    /// Follows the new numbering: `stayed` lists the old ranks of those who stay.
    fn renumber(&self, _stayed: &[usize]) {}
}

/// The error of a transfer whose source has left.
pub(crate) fn departed(rank: usize) -> Error {
    let message = format!("rank {rank} left the group before data of its area was moved");
    Error::new(ErrorKind::Departed, message)
}

/// From how many bytes on data is carried.
pub(crate) const CARRIED: usize = 64 << 10;

/// What goes to others: its number among all that this member sends, to whom, and what.
pub(crate) type Sent<'a> = (u64, usize, &'a [u8]);

/// What comes: its number among all that the sender sends, from whom, and where to.
pub(crate) type Awaited<'a> = (u64, usize, &'a mut [u8]);

/// The memory of an object while pieces of it are carried.
pub(crate) trait Carrying {
    /// Adds what goes out of it and what comes into it.
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result;

    /// All has gone and come.
    fn done(&mut self) -> Result;
}

/// One member's copy of a shared variable.
pub(crate) trait Variable {
    /// How messages name it.
    fn describe(&self) -> String;

    /// The same with everything that must agree on all members.
    fn declaration(&self) -> String;

    fn is_borrowed(&self) -> bool;

    /// Whether this processor's copy takes part, at the given rank.
    fn takes_part(&self, rank: usize) -> bool;

    fn contribute(&self, out: &mut Vec<u8>) -> Result;

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result;

    /// Takes the new value.
    fn commit(&self, bytes: &[u8]) -> Result;

    /// Ends the step: what was written and not committed is as it was before.
    fn settle(&self);
}

/// Everything of one kind that a group has declared, by number.
struct Numbered<T: ?Sized> {
    all: Vec<Option<Rc<T>>>,
    /// Which members have dropped each.
    dropped: Vec<Vec<usize>>,
    /// Numbers to give again. All members free the same ones at the same boundaries, so they agree on them.
    free: Vec<u32>,
}

impl<T: ?Sized> Default for Numbered<T> {
    fn default() -> Self {
        Self { all: Vec::new(), dropped: Vec::new(), free: Vec::new() }
    }
}

impl<T: ?Sized> Numbered<T> {
    fn add(&mut self, one: Rc<T>) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = Some(one);
            return number;
        }
        let number = u32::try_from(self.all.len()).ok().filter(|&number| number < VARIABLE);
        let number = number.expect("a group has fewer than 2^31 objects and as many variables");
        self.all.push(Some(one));
        self.dropped.push(Vec::new());
        number
    }

    fn numbers(&self) -> Numbers {
        Numbers { count: self.all.len(), free: self.free.len() }
    }

    /// Follows what all members together have given. Numbers are only taken off the end of the free ones between two
    /// boundaries, so what is left of the shortest list is what all of them have left.
    fn follow(&mut self, numbers: Numbers) {
        self.all.resize_with(numbers.count, || None);
        self.dropped.resize_with(numbers.count, Vec::new);
        self.free.truncate(numbers.free);
    }

    fn get(&self, number: u32) -> Option<&Rc<T>> {
        self.all.get(number as usize)?.as_ref()
    }

    /// Notes who has dropped it, and whether that was everybody.
    fn drop_by(&mut self, number: u32, members: impl Iterator<Item = usize>, size: usize) -> bool {
        self.dropped.get_mut(number as usize).is_some_and(|dropped| {
            dropped.extend(members);
            dropped.len() >= size
        })
    }

    fn forget(&mut self, number: u32) -> Option<Rc<T>> {
        self.dropped[number as usize].clear();
        self.free.push(number);
        self.all[number as usize].take()
    }

    /// Forgets that members who left have dropped anything, and hands `bury` what all others have.
    fn renumber(&mut self, stayed: &[usize], mut bury: impl FnMut(Rc<T>)) {
        for (number, dropped) in self.dropped.iter_mut().enumerate().filter(|(_, dropped)| !dropped.is_empty()) {
            *dropped = dropped.iter().filter_map(|rank| stayed.iter().position(|old| old == rank)).collect();
            if dropped.len() >= stayed.len() {
                self.all[number].take().into_iter().for_each(&mut bury);
                dropped.clear();
                self.free.push(number as u32);
            }
        }
    }
}

/// Which numbers members have given: if they have declared different things, these differ too, and they agree on what
/// is free on all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Given {
    variables: Numbers,
    objects: Numbers,
}

/// How many numbers there are, and how many of those that may be given again are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Numbers {
    count: usize,
    free: usize,
}

impl Numbers {
    fn meld(self, other: Self) -> Self {
        Self { count: self.count.max(other.count), free: self.free.min(other.free) }
    }
}

impl Given {
    /// What is given on one of two members.
    pub(crate) fn meld(self, other: Self) -> Self {
        Self { variables: self.variables.meld(other.variables), objects: self.objects.meld(other.objects) }
    }
}

/// Something that was declared since the members last agreed on what was.
enum Fresh {
    Variable(u32),
    Object(u32),
    /// Something else, and how to take it back.
    Other(Box<dyn FnOnce()>),
}

/// What a group has declared, and what of it this step has touched.
#[derive(Default)]
pub(crate) struct Registry {
    variables: Numbered<dyn Variable>,
    objects: Numbered<dyn Object>,
    /// Objects of which a borrow was handed out since the last boundary.
    pub(crate) touched: Vec<u32>,
    /// How many transfers were asked for so far.
    pub(crate) issued: u64,
    /// Objects that have something to hand over.
    pub(crate) outgoing: Vec<u32>,
    /// The objects that are queues: they turn at every boundary.
    pub(crate) queues: Vec<u32>,
    /// Variables that were borrowed or written.
    pub(crate) written: Vec<u32>,
    /// What this processor has dropped since the last boundary; variables have their highest bit set.
    pub(crate) dropped: Vec<u32>,
    /// What everybody has dropped by this boundary, at which it still takes part.
    forgotten: Vec<u32>,
    /// Objects that were forgotten. What they hold may name this registry when it is dropped.
    buried: Vec<Rc<dyn Object>>,
    /// A description of the last declarations, for messages.
    pub(crate) declared: Vec<String>,
    /// What was declared since the members last agreed on that.
    fresh: Vec<Fresh>,
}

/// Marks a number in a list of drops as a variable's.
const VARIABLE: u32 = 1 << 31;

impl Registry {
    pub(crate) fn add_variable(&mut self, variable: Rc<dyn Variable>) -> u32 {
        self.describe(variable.declaration());
        let number = self.variables.add(variable);
        self.fresh.push(Fresh::Variable(number));
        number
    }

    pub(crate) fn add_object(&mut self, object: Rc<dyn Object>) -> u32 {
        self.describe(object.describe());
        let number = self.objects.add(object);
        self.fresh.push(Fresh::Object(number));
        number
    }

    /// Notes how to take back something else that was declared.
    pub(crate) fn undo_with(&mut self, undo: Box<dyn FnOnce()>) {
        self.fresh.push(Fresh::Other(undo));
    }

    /// What was declared is everybody's.
    #[inline]
    pub(crate) fn keep_fresh(&mut self) {
        self.fresh.clear();
    }

    /// Which numbers were given so far, and how many keys.
    pub(crate) fn given(&self) -> Given {
        Given { variables: self.variables.numbers(), objects: self.objects.numbers() }
    }

    /// Forgets what was declared since the members last agreed, and returns what there is to do about it. Its numbers
    /// are given to nothing else as long as somebody has a handle with one of them.
    pub(crate) fn void_fresh(&mut self, given: &Given) -> Vec<Box<dyn FnOnce()>> {
        let mut undone = Vec::new();
        for fresh in self.fresh.drain(..).rev() {
            match fresh {
                Fresh::Variable(number) => drop(self.variables.all[number as usize].take()),
                Fresh::Object(number) => self.buried.extend(self.objects.all[number as usize].take()),
                Fresh::Other(undo) => undone.push(undo),
            }
        }
        self.variables.follow(given.variables);
        self.objects.follow(given.objects);
        let objects = &self.objects;
        for list in [&mut self.queues, &mut self.outgoing, &mut self.touched] {
            list.retain(|&number| objects.get(number).is_some());
        }
        // They would be compared with those of other members again.
        self.declared.clear();
        undone
    }

    /// Keeps the last few descriptions: members differ, if at all, in what they have declared since the last boundary.
    pub(crate) fn describe(&mut self, declaration: String) {
        if self.declared.len() >= 256 {
            self.declared.drain(..128);
        }
        self.declared.push(declaration);
    }

    pub(crate) fn variable(&self, number: u32) -> Option<&Rc<dyn Variable>> {
        self.variables.get(number)
    }

    pub(crate) fn object(&self, number: u32) -> Option<&Rc<dyn Object>> {
        self.objects.get(number)
    }

    /// Whether there is such an object, and it keeps records.
    pub(crate) fn keeps(&self, number: u32) -> bool {
        self.object(number).is_some_and(|object| object.keeps())
    }

    /// Notes that this processor has dropped its handle of a variable.
    pub(crate) fn drop_variable(&mut self, number: u32) {
        self.dropped.push(number | VARIABLE);
    }

    /// Notes that this processor has dropped its handle of an area or a queue.
    pub(crate) fn drop_object(&mut self, number: u32) {
        self.dropped.push(number);
        self.queues.retain(|&queue| queue != number);
    }

    /// Notes that these members of `size` have dropped what `number` names.
    pub(crate) fn drop_by(&mut self, number: u32, members: impl Iterator<Item = usize>, size: usize) {
        let is_everybodys = if number & VARIABLE == 0 {
            self.objects.drop_by(number, members, size)
        } else {
            self.variables.drop_by(number & !VARIABLE, members, size)
        };
        if is_everybodys {
            self.forgotten.push(number);
        }
    }

    /// Forgets what everybody has dropped, when the boundary has no more need of it.
    pub(crate) fn forget(&mut self) {
        while let Some(number) = self.forgotten.pop() {
            if number & VARIABLE == 0 {
                self.buried.extend(self.objects.forget(number));
            } else {
                self.variables.forget(number & !VARIABLE);
            }
        }
    }

    /// What was forgotten, to be dropped when nobody holds the registry.
    pub(crate) fn take_buried(&mut self) -> Vec<Rc<dyn Object>> {
        std::mem::take(&mut self.buried)
    }

    /// Ends the step for the variables that were written.
    pub(crate) fn settle_variables(&mut self) {
        for &number in &self.written {
            if let Some(variable) = self.variable(number) {
                variable.settle();
            }
        }
        self.written.clear();
    }

    /// Undoes what a step that failed has registered. Its borrows may still be alive, so they stay noted.
    pub(crate) fn abandon(&mut self) {
        self.settle_variables();
        self.outgoing.clear();
        for object in self.objects.all.iter().flatten() {
            // A value that unwinds when it is dropped, and has said so, must not keep the rest from being undone.
            let _ = catch_unwind(AssertUnwindSafe(|| object.abandon()));
        }
    }

    /// Puts the messages that have come in the place of those of the step before.
    pub(crate) fn turn_queues(&self) {
        for queue in self.queues.iter().filter_map(|&number| self.object(number)) {
            queue.settle();
        }
    }

    /// All objects that are left, with their numbers.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (u32, &Rc<dyn Object>)> {
        self.objects.all.iter().enumerate().filter_map(|(number, object)| Some((number as u32, object.as_ref()?)))
    }

    /// Lets every object follow a new numbering.
    pub(crate) fn renumber(&mut self, stayed: &[usize]) {
        self.variables.renumber(stayed, drop);
        self.objects.renumber(stayed, |object| self.buried.push(object));
        for object in self.objects.all.iter().flatten() {
            object.renumber(stayed);
        }
    }

    /// Forgets everything, at the end of the group.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
