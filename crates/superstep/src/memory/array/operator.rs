//! Operators on elements, as batches of writes carry them to the owner.
//!
//! Inside a process the value itself goes along. Another process has to find it there, and nothing is made up for it:
//!
//! - Operators of this library are made by the code that uses them, which has a name in every process.
//! - A function in a [`Fold`] has a name of its own.
//! - Anything else, a closure or a type of the program, was handed to the owner as well: with the array, or in the same
//!   step, which all members see to.

use crate::{
    engine::{Combine, Element, Fold, Rule, Way, damaged, type_hash},
    error::{Error, ErrorKind, Result},
};
use fabric::{
    Ahead,
    code::{Act, Entry, Refusal, Shape, Task, Two},
};
use std::{
    any::{Any, type_name},
    cell::RefCell,
    collections::HashMap,
    marker::PhantomData,
};

#[derive(Clone, Copy)]
pub(super) struct Operator<T: Element> {
    form: Form<T>,
    pub(super) rule: Rule,
    /// Whether its function may panic or refuse.
    pub(super) may_fail: bool,
    /// A number for its type and `T`, the same in every process of one build.
    pub(super) key: u64,
}

#[derive(Clone, Copy)]
enum Form<T: Element> {
    /// Another process can be told what it is.
    Named(Entry<OnPart<T>>),
    /// Another process has a value of its own.
    Handed(&'static dyn Apply<T>),
}

/// What an operator is asked to do.
pub(super) enum Job<'a, T> {
    /// Say who you are.
    Introduce(&'a mut Option<(Rule, bool, u64)>),
    /// Combine one value into each of these places of a part.
    One(&'a mut [T], &'a [u32], &'a T),
    /// Combine a value into each of these places of a part.
    Each(&'a mut [T], &'a [u32], &'a [T]),
    /// Combine a value into each place of a part, which is as long.
    Stretch(&'a mut [T], &'a [T]),
}

struct OnPart<T>(PhantomData<fn(T)>);

impl<T: Element> Task for OnPart<T> {
    type Of<'a> = Job<'a, T>;
}

/// An operator of this library.
struct Made<C>(PhantomData<fn() -> C>);

impl<T: Element, C: Combine<T>> Act<OnPart<T>> for Made<C> {
    type Pointer = ();

    fn act((): (), job: Job<'_, T>) {
        if let Way::Made(op) = C::WAY {
            apply(op, job);
        }
    }
}

/// A function of the program.
struct Folded<T>(PhantomData<fn(T)>);

impl<T: Element> Shape for Folded<T> {
    type On<'a> = &'a mut T;
    type With<'a> = &'a T;
    type Args = ();
    type Answer = ();
}

impl<T: Element> Act<OnPart<T>> for Folded<T> {
    type Pointer = Two<Self>;

    fn act(function: Two<Self>, job: Job<'_, T>) {
        apply(Fold(function.0), job);
    }
}

/// An operator of the program.
trait Apply<T>: Send + Sync {
    fn name(&self) -> &'static str;

    fn apply(&self, job: Job<'_, T>);
}

impl<T: Element, C: Combine<T>> Apply<T> for C {
    fn name(&self) -> &'static str {
        type_name::<C>()
    }

    fn apply(&self, job: Job<'_, T>) {
        apply(*self, job);
    }
}

fn apply<T: Element, C: Combine<T>>(op: C, job: Job<'_, T>) {
    let is_fold = op.rule() == Rule::Fold;
    match job {
        Job::Introduce(said) => *said = Some((op.rule(), op.may_fail(), type_hash::<(T, C)>())),
        Job::One(part, at, value) if is_fold => {
            fabric::visit(at, Ahead::of(part), |at| op.combine(&mut part[at], value));
        }
        Job::One(part, at, value) => {
            fabric::visit(at, Ahead::of(part), |at| part[at] = *value);
        }
        Job::Each(part, at, values) if is_fold => {
            let ahead = Ahead::of(part);
            fabric::visit_each(at, values, ahead, |at, value| op.combine(&mut part[at], value));
        }
        Job::Each(part, at, values) => {
            fabric::visit_each(at, values, Ahead::of(part), |at, value| part[at] = *value);
        }
        Job::Stretch(part, values) if is_fold => {
            for (at, value) in part.iter_mut().zip(values) {
                op.combine(at, value);
            }
        }
        Job::Stretch(part, values) => part.copy_from_slice(values),
    }
}

thread_local! {
    /// The operators of the program that this processor was handed, by their keys.
    static HANDED: RefCell<HashMap<u64, Box<dyn Any>>> = RefCell::default();
}

/// The operator is one that was handed to the owner.
const HANDED_ONE: u64 = 1 << 9;

impl<T: Element> Operator<T> {
    #[inline]
    pub(super) fn new<C: Combine<T>>(op: C) -> Self {
        const {
            assert!(
                size_of::<C>() == 0 || matches!(C::WAY, Way::Function(_)),
                "an operator on array elements is called by their owner, so it has to be a function or a closure that \
                 captures nothing"
            );
        }
        let form = match C::WAY {
            Way::Made(_) => Form::Named(Entry::new::<Made<C>>(())),
            Way::Function(function) => Form::Named(Entry::new::<Folded<T>>(Two::<Folded<T>>(function(op)))),
            Way::Handed => Form::Handed(hand::<T, C>(op)),
        };
        Self { form, rule: op.rule(), may_fail: op.may_fail(), key: type_hash::<(T, C)>() }
    }

    /// Whether it does the same as another one.
    #[inline]
    pub(super) fn is(self, other: Self) -> bool {
        let is_named_alike = match (self.form, other.form) {
            (Form::Named(mine), Form::Named(theirs)) => mine == theirs,
            (Form::Handed(_), Form::Handed(_)) => true,
            _ => false,
        };
        self.key == other.key && is_named_alike
    }

    #[inline]
    pub(super) fn apply(self, job: Job<'_, T>) {
        match self.form {
            Form::Named(entry) => entry.call(job),
            Form::Handed(op) => op.apply(job),
        }
    }

    /// What another process finds it by: a number to add to the form of a batch, and five more.
    pub(super) fn write(self) -> (u64, [u64; 5]) {
        match self.form {
            // Where no other process could find it, no name is right.
            Form::Named(entry) => (0, entry.describe().unwrap_or_default()),
            Form::Handed(_) => (HANDED_ONE, [self.key, 0, 0, 0, 0]),
        }
    }

    /// The operator that another process has named; takes off what it has added to the form.
    pub(super) fn read(form: &mut u64, words: [u64; 5]) -> Result<Self> {
        if *form & HANDED_ONE != 0 {
            *form &= !HANDED_ONE;
            return Self::handed(words[0]);
        }
        let entry = Entry::learn(words).map_err(|refusal| match refusal {
            Refusal::Damaged => damaged(),
            Refusal::Missing => {
                let what = "an operator on array elements is in a library that is not loaded here, or in another build";
                Error::new(ErrorKind::BuildMismatch, what)
            }
        })?;
        Self::introduced(Form::Named(entry))
    }

    /// What errors call it, if each member has to be handed it.
    pub(super) fn handed_name(&self) -> Option<&'static str> {
        match self.form {
            Form::Handed(op) => Some(op.name()),
            Form::Named(_) => None,
        }
    }

    fn handed(key: u64) -> Result<Self> {
        let op = HANDED.with_borrow(|all| all.get(&key)?.downcast_ref::<&'static dyn Apply<T>>().copied());
        Self::introduced(Form::Handed(op.ok_or_else(damaged)?))
    }

    fn introduced(form: Form<T>) -> Result<Self> {
        let mut said = None;
        let unknown = Self { form, rule: Rule::Fold, may_fail: true, key: 0 };
        unknown.apply(Job::Introduce(&mut said));
        said.map(|(rule, may_fail, key)| Self { form, rule, may_fail, key }).ok_or_else(damaged)
    }
}

/// Notes an operator of the program for what others send.
fn hand<T: Element, C: Combine<T>>(op: C) -> &'static dyn Apply<T> {
    let known = HANDED.with_borrow(|all| {
        let known = all.get(&type_hash::<(T, C)>())?.downcast_ref::<&'static dyn Apply<T>>();
        known.copied()
    });
    known.unwrap_or_else(|| {
        // It has no size, so it takes no memory.
        let op: &'static dyn Apply<T> = Box::leak(Box::new(op));
        HANDED.with_borrow_mut(|all| all.insert(type_hash::<(T, C)>(), Box::new(op)));
        op
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Max, Sum};

    /// An operator of the program.
    #[derive(Clone, Copy)]
    struct Later;

    impl Combine<u16> for Later {
        fn combine(&self, acc: &mut u16, with: &u16) {
            *acc = *with;
        }
    }

    #[test]
    fn an_operator_does_the_same_as_itself_and_as_no_other_one() {
        let (sum, max) = (Operator::<u16>::new(Sum), Operator::<u16>::new(Max));
        let (later, closure) = (Operator::<u16>::new(Later), Operator::new(|acc: &mut u16, with: &u16| *acc = *with));
        assert!(sum.is(sum) && later.is(later));
        assert!(!sum.is(max) && !sum.is(later) && !later.is(sum) && !later.is(closure));
    }

    #[test]
    fn an_operator_of_the_program_goes_by_the_name_of_its_type() {
        assert_eq!(Operator::<u16>::new(Later).handed_name(), Some(type_name::<Later>()));
        assert_eq!(Operator::<u16>::new(Sum).handed_name(), None);
    }
}
