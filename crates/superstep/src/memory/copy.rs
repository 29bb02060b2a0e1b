//! One processor's copy of a shared variable, and what it does in each phase of a boundary.

use crate::{
    engine::{Buried, Combine, Contributes, Lends, Rule, StepMark, Tenant, Value, decode, encode, fold, hooks},
    error::{Result, place},
};
use std::{
    any::type_name,
    cell::{Cell, Ref, RefCell, RefMut},
    mem::{needs_drop, replace},
    panic::Location,
};

/// An operator whose type has been forgotten.
pub(super) trait Operator<T> {
    fn combine(&self, acc: &mut T, with: &T);
    fn rule(&self) -> Rule;
    fn name(&self) -> &'static str;
}

impl<T, C: Combine<T>> Operator<T> for C {
    fn combine(&self, acc: &mut T, with: &T) {
        Combine::combine(self, acc, with);
    }

    fn rule(&self) -> Rule {
        Combine::rule(self)
    }

    fn name(&self) -> &'static str {
        type_name::<C>()
    }
}

pub(super) struct Copy<T> {
    value: RefCell<T>,
    /// The value that the group agreed on, while this copy is written and may have another.
    agreed: RefCell<Option<T>>,
    is_written: Cell<bool>,
    /// What this copy was before the body of a subgroup's step wrote it.
    before: RefCell<Option<Before<T>>>,
    /// What this copy is again as soon as a borrow is gone that has outlived a step that failed.
    owed: RefCell<Option<T>>,
    /// The step in which the boundary was last told to look at this copy, plus one.
    pub(super) marked: Cell<u64>,
    operator: Box<dyn Operator<T>>,
    /// Replaces it for this step.
    pub(super) instead: RefCell<Option<Box<dyn Operator<T>>>>,
    site: &'static Location<'static>,
}

/// What a copy was before the body of a subgroup's step wrote it.
struct Before<T> {
    step: StepMark,
    /// Its value, or none where it had not been written and had the value that was agreed on.
    value: Option<T>,
}

impl<T: Value> Copy<T> {
    pub(super) fn new(init: T, op: impl Combine<T>, site: &'static Location<'static>) -> Self {
        Self {
            value: RefCell::new(init),
            agreed: RefCell::new(None),
            is_written: Cell::new(false),
            before: RefCell::new(None),
            owed: RefCell::new(None),
            marked: Cell::new(0),
            operator: Box::new(op),
            instead: RefCell::new(None),
            site,
        }
    }

    /// Lends it for reading, unless a borrow is in the way.
    #[inline]
    pub(super) fn lend(&self) -> Option<Ref<'_, T>> {
        if self.is_in_order() { self.value.try_borrow().ok() } else { None }
    }

    /// Lends it for writing, unless a borrow is in the way.
    #[inline]
    pub(super) fn lend_mut(&self) -> Option<RefMut<'_, T>> {
        if self.is_in_order() { self.value.try_borrow_mut().ok() } else { None }
    }

    /// Whether it has the value that it should have. It gets it here, if the borrow that was in the way is gone.
    #[inline]
    pub(super) fn is_in_order(&self) -> bool {
        self.owed.borrow().is_none() || self.pay()
    }

    #[cold]
    fn pay(&self) -> bool {
        let Ok(mut value) = self.value.try_borrow_mut() else { return false };
        let old = self.owed.take().map(|owed| replace(&mut *value, owed));
        drop(value);
        drop(old);
        true
    }

    /// The value and its borrows, for a program that is debugged.
    pub(super) fn value(&self) -> &RefCell<T> {
        self.is_in_order();
        &self.value
    }

    /// Keeps what the value is before it is lent for writing.
    pub(super) fn keep(&self, value: &T) {
        if self.agreed.borrow().is_none() {
            // A clone that panics leaves everything as it is.
            let agreed = value.clone();
            *self.agreed.borrow_mut() = Some(agreed);
        }
        self.is_written.set(true);
    }

    /// Puts another value in the place of the one that was lent.
    pub(super) fn put(&self, mut lent: RefMut<'_, T>, value: T) {
        let old = replace(&mut *lent, value);
        drop(lent);
        let is_first = self.agreed.borrow().is_none();
        self.is_written.set(true);
        // What was put there before in the same step is dropped, and that is code of the program.
        if is_first {
            *self.agreed.borrow_mut() = Some(old);
        }
    }

    /// Keeps what the value is before the body of a subgroup's step writes it. False if that was kept already.
    pub(super) fn keep_before(&self, step: StepMark, value: &T) -> bool {
        if self.before.borrow().as_ref().is_some_and(|before| before.step == step) {
            return false;
        }
        let value = self.is_written.get().then(|| value.clone());
        let old = self.before.replace(Some(Before { step, value }));
        drop(old);
        true
    }

    /// Gives it back a value that it had. If a borrow is in the way, that happens when the borrow is gone.
    fn give_back(&self, value: T, buried: &mut Buried) {
        let over = match self.value.try_borrow_mut() {
            Ok(mut copy) => [self.owed.take(), Some(replace(&mut *copy, value))],
            Err(_) => [self.owed.replace(Some(value)), None],
        };
        bury(over, buried);
    }

    fn with_operator<R>(&self, use_it: impl FnOnce(&dyn Operator<T>) -> R) -> R {
        use_it(self.instead.borrow().as_deref().unwrap_or(&*self.operator))
    }
}

impl<T: Value> Tenant for Copy<T> {
    fn describe(&self) -> String {
        format!("shared {} of {}", type_name::<T>(), place(self.site))
    }

    fn declaration(&self) -> String {
        format!("{} with {}", self.describe(), self.operator.name())
    }

    hooks!(lends, contributes);
}

impl<T: Value> Lends for Copy<T> {
    fn take_back(&self) -> bool {
        self.lend_mut().is_some()
    }
}

impl<T: Value> Contributes for Copy<T> {
    fn takes_part(&self, rank: usize) -> bool {
        self.is_written.get() && (rank == 0 || self.with_operator(|op| op.rule() != Rule::Leader))
    }

    fn contribute(&self, out: &mut Vec<u8>) -> Result {
        encode(&*self.value.borrow(), out)
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        self.with_operator(|op| {
            let name = || format!("the {}", self.describe());
            fold(op.rule(), |acc, with| op.combine(acc, with), &name, (left, right), out)
        })
    }

    fn conclude(&self, bytes: &[u8]) -> Result {
        let over = (self.value.replace(decode(bytes)?), self.agreed.take());
        drop(over);
        Ok(())
    }

    fn settle(&self, buried: &mut Buried) -> bool {
        if let Some(agreed) = self.agreed.take() {
            self.give_back(agreed, buried);
        }
        if let Some(before) = self.before.take() {
            bury(before.value, buried);
        }
        self.is_written.set(false);
        self.instead.take();
        // The step may be begun again under the same number.
        self.marked.set(0);
        self.value.try_borrow_mut().is_err()
    }

    fn revert(&self, buried: &mut Buried) {
        let Some(Before { value, .. }) = self.before.take() else { return };
        self.is_written.set(value.is_some());
        if let Some(value) = value.or_else(|| self.agreed.take()) {
            self.give_back(value, buried);
        }
    }
}

/// Leaves values that are over to be dropped later, where that can do anything.
fn bury<V: 'static>(over: V, buried: &mut Buried) {
    if needs_drop::<V>() {
        buried.push(Box::new(over));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Sum;

    /// S5: what is declared says by which operator.
    #[test]
    fn a_declaration_names_the_operator() {
        let declared = Copy::new(1u8, Sum, Location::caller()).declaration();
        assert!(declared.starts_with("shared u8 of "), "{declared}");
        assert!(declared.ends_with(&format!(" with {}", type_name::<Sum>())), "{declared}");
    }
}
