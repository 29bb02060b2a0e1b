//! Shared variables: a copy on every processor, combined at each boundary.

use crate::{
    engine::{
        Combine, Core, Group, Item, Needs, Pending, Phase, Rule, Step, Value, Variable, decode, encode, fold, mix,
        type_hash,
    },
    error::{ErrorKind, Result, place},
};
use std::{
    any::{self, type_name},
    cell::{Cell, Ref, RefCell, RefMut},
    panic::Location,
    rc::Rc,
};

/// An operator whose type has been forgotten.
trait Operator<T> {
    fn combine(&self, acc: &mut T, with: &T);
    fn rule(&self) -> Rule;
    fn name(&self) -> &'static str;
}

struct Forgotten<C>(C);

impl<T, C: Combine<T>> Operator<T> for Forgotten<C> {
    fn combine(&self, acc: &mut T, with: &T) {
        self.0.combine(acc, with);
    }

    fn rule(&self) -> Rule {
        self.0.rule()
    }

    fn name(&self) -> &'static str {
        type_name::<C>()
    }
}

/// One processor's copy.
struct Copy<T> {
    value: RefCell<T>,
    /// The value that the group agreed on, while this copy has another.
    agreed: RefCell<Option<T>>,
    is_written: Cell<bool>,
    /// The step in which the boundary was last told to look at this copy, plus one.
    marked: Cell<u64>,
    operator: Box<dyn Operator<T>>,
    /// Replaces it for this step.
    instead: RefCell<Option<Box<dyn Operator<T>>>>,
    site: &'static Location<'static>,
}

impl<T: Value> Copy<T> {
    fn with_operator<R>(&self, use_it: impl FnOnce(&dyn Operator<T>) -> R) -> R {
        use_it(self.instead.borrow().as_deref().unwrap_or(&*self.operator))
    }
}

impl<T: Value> Variable for Copy<T> {
    fn describe(&self) -> String {
        format!("shared {} of {}", type_name::<T>(), place(self.site))
    }

    fn declaration(&self) -> String {
        format!("{} with {}", self.describe(), self.operator.name())
    }

    fn is_borrowed(&self) -> bool {
        self.value.try_borrow_mut().is_err()
    }

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

    fn commit(&self, bytes: &[u8]) -> Result {
        *self.value.borrow_mut() = decode(bytes)?;
        *self.agreed.borrow_mut() = None;
        Ok(())
    }

    fn settle(&self) {
        if let Some(agreed) = self.agreed.take() {
            // A borrow that is still alive is the very error that ends the step; the value is unreachable then.
            if let Ok(mut value) = self.value.try_borrow_mut() {
                *value = agreed;
            }
        }
        self.is_written.set(false);
        self.instead.take();
        // The step may be begun again under the same number.
        self.marked.set(0);
    }
}

/// A variable of a group, with a copy on every processor of it.
///
/// Inside a step each processor works on its own copy. At the boundary the copies that were written are combined with
/// the variable's operator, and every processor has the result; if nobody wrote, the value stays (R2). A variable
/// belongs to the group that made it: written in a subgroup, it is combined when the subgroups are done.
///
/// ```
/// use superstep::{Config, Each, Shared, Sum};
///
/// let counts = Config::new().procs(3).run(|g| {
///     let counts: Shared<Vec<u64>> = g.shared(vec![0; 2], Each(Sum));
///     g.step(|s| counts.set(vec![1, s.rank() as u64]));
///     counts.get()
/// });
/// assert_eq!(counts.unwrap(), [3, 3]);
/// ```
///
/// A handle stays on its processor:
///
/// ```compile_fail,E0277
/// superstep::run(|g| {
///     let x = g.shared(0, superstep::Sum);
///     std::thread::scope(|threads| { threads.spawn(|| x.get()); });
/// });
/// ```
pub struct Shared<T: Value> {
    core: Rc<Core>,
    copy: Rc<Copy<T>>,
    number: u32,
}

impl Group {
    /// Makes a shared variable. Collective: every member makes the same ones in the same order; what they start with
    /// should be the same.
    ///
    /// ```
    /// let value = superstep::Config::new().procs(3).run(|g| {
    ///     let x = g.shared(5, superstep::Sum);
    ///     g.step(|s| x.set(s.rank()));
    ///     x.get()
    /// });
    /// assert_eq!(value.unwrap(), 3);
    /// ```
    ///
    /// # Cost
    ///
    /// Nothing: whether all members agree is checked at the next boundary.
    #[track_caller]
    pub fn shared<T: Value, C: Combine<T>>(&mut self, init: T, op: C) -> Shared<T> {
        let copy = Rc::new(Copy {
            value: RefCell::new(init),
            agreed: RefCell::new(None),
            is_written: Cell::new(false),
            marked: Cell::new(0),
            operator: Box::new(Forgotten(op)),
            instead: RefCell::new(None),
            site: Location::caller(),
        });
        let kind = mix(type_hash::<Declared<T, C>>(), op.mark());
        let number = self.core().add_variable(Rc::clone(&copy) as Rc<dyn Variable>, kind);
        Shared { core: Rc::clone(self.core()), copy, number }
    }
}

/// A variable with its operator, and another operator for one step: only their types are used.
struct Declared<T, C>(T, C);
struct Replaced<T, C>(T, C);

impl<T: Value> Shared<T> {
    /// A clone of this processor's copy.
    ///
    /// ```
    /// let value = superstep::Config::new().procs(2).run(|g| g.shared(5, superstep::Sum).get());
    /// assert_eq!(value.unwrap(), 5);
    /// ```
    ///
    /// # Panics
    ///
    /// While the copy is lent for writing.
    #[track_caller]
    pub fn get(&self) -> T {
        self.lend().clone()
    }

    #[track_caller]
    fn lend(&self) -> Ref<'_, T> {
        let Ok(copy) = self.copy.value.try_borrow() else {
            let what =
                format!("the {} is read while it is lent for writing; drop that borrow first", self.copy.describe());
            self.core.error(ErrorKind::StillBorrowed, what, Location::caller()).raise()
        };
        copy
    }

    /// Writes this processor's copy. The others see it combined, after the boundary.
    ///
    /// ```
    /// let value = superstep::Config::new().procs(3).run(|g| {
    ///     let x = g.shared(0, superstep::Max);
    ///     g.step(|s| x.set(s.rank()));
    ///     x.get()
    /// });
    /// assert_eq!(value.unwrap(), 2);
    /// ```
    ///
    /// # Panics
    ///
    /// Outside of any step, and while the copy is borrowed.
    #[track_caller]
    pub fn set(&self, value: T) {
        self.check_open();
        let Ok(mut copy) = self.copy.value.try_borrow_mut() else { self.refuse_while_borrowed() };
        self.mark_written();
        let old = std::mem::replace(&mut *copy, value);
        drop(copy);
        self.copy.agreed.borrow_mut().get_or_insert(old);
    }

    /// Lends this processor's copy.
    ///
    /// ```
    /// let len = superstep::Config::new().procs(2).run(|g| {
    ///     let text = g.shared("hello".to_owned(), superstep::Same);
    ///     text.read().len()
    /// });
    /// assert_eq!(len.unwrap(), 5);
    /// ```
    #[track_caller]
    pub fn read(&self) -> Ref<'_, T> {
        self.mark();
        self.lend()
    }

    /// Lends this processor's copy for writing; it counts as written.
    ///
    /// ```
    /// let list = superstep::Config::new().procs(2).run(|g| {
    ///     let list = g.shared(vec![1], superstep::Same);
    ///     g.step(|_| list.write().push(2));
    ///     list.get()
    /// });
    /// assert_eq!(list.unwrap(), [1, 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`set`](Self::set).
    #[track_caller]
    pub fn write(&self) -> RefMut<'_, T> {
        self.check_open();
        let Ok(copy) = self.copy.value.try_borrow_mut() else { self.refuse_while_borrowed() };
        self.mark_written();
        self.copy.agreed.borrow_mut().get_or_insert_with(|| copy.clone());
        copy
    }

    #[track_caller]
    fn check_open(&self) {
        if !matches!(self.core.phase.get(), Phase::Step | Phase::Split) {
            let what =
                format!("the {} is written outside of any step; write it in a step's body", self.copy.describe());
            self.core.error(ErrorKind::OutsideStep, what, Location::caller()).raise();
        }
    }

    #[track_caller]
    fn refuse_while_borrowed(&self) -> ! {
        let what = format!("the {} is written while it is borrowed; drop the borrow first", self.copy.describe());
        self.core.error(ErrorKind::StillBorrowed, what, Location::caller()).raise()
    }

    #[track_caller]
    fn mark_written(&self) {
        self.mark();
        self.copy.is_written.set(true);
    }

    /// Makes the boundary look at this copy.
    #[track_caller]
    fn mark(&self) {
        let step = self.core.steps.get().wrapping_add(1);
        if self.copy.marked.get() != step || step == 0 {
            let mut registry = self.core.registry();
            let is_there = registry.variable(self.number).is_some();
            let checked = self.core.check_declared(is_there, &|| self.copy.describe(), Location::caller());
            checked.unwrap_or_else(|error| error.raise());
            self.copy.marked.set(step);
            if !registry.written.contains(&self.number) {
                registry.written.push(self.number);
            }
        }
    }
}

impl<T: Value> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.core.phase.get() != Phase::Ended {
            self.core.registry().drop_variable(self.number);
        }
    }
}

impl<T: Value + std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Shared").field(&self.copy.value).finish()
    }
}

impl Step {
    /// Combines `x` with another operator in this step. Collective: every member names the same one, also a member that
    /// does not write.
    ///
    /// ```
    /// use superstep::{Config, Max, Sum};
    ///
    /// let values = Config::new().procs(3).run(|g| {
    ///     let x = g.shared(0, Sum);
    ///     g.step(|s| x.set(s.rank()));
    ///     let sum = x.get();
    ///     g.step(|s| {
    ///         x.set(s.rank());
    ///         s.combine(&x, Max);
    ///     });
    ///     (sum, x.get())
    /// });
    /// assert_eq!(values.unwrap(), (3, 2));
    /// ```
    ///
    /// # Cost
    ///
    /// Nothing beyond the boundary's messages.
    #[track_caller]
    pub fn combine<T: Value, C: Combine<T>>(&self, x: &Shared<T>, op: C) {
        self.core.check_member(&x.core, "variable", Location::caller()).unwrap_or_else(|error| error.raise());
        let name = format!("operator {} for the {}", type_name::<C>(), x.copy.describe());
        self.core.add_term(Core::hash_numbers([type_hash::<Replaced<T, C>>(), u64::from(x.number), op.mark()]), name);
        *x.copy.instead.borrow_mut() = Some(Box::new(Forgotten(op)));
        x.mark();
    }

    /// Combines `x` like [`combine`](Self::combine), and yields what the ranks below contributed to it, combined:
    /// nothing of them gives `op`'s identity, or else the default.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(3).run_all(|g| {
    ///     let x = g.shared(0, superstep::Sum);
    ///     let below = g.step(|s| {
    ///         x.set(10);
    ///         s.combine_prefix(&x, superstep::Sum)
    ///     });
    ///     (below, x.get())
    /// });
    /// assert_eq!(values.unwrap(), [(0, 30), (10, 30), (20, 30)]);
    /// ```
    #[track_caller]
    pub fn combine_prefix<T: Value + Default, C: Combine<T>>(&self, x: &Shared<T>, op: C) -> Pending<T> {
        self.combine(x, op);
        let none = op.identity().unwrap_or_default();
        let prefix = PrefixOf::<T> { variable: x.number, value: Some(none), may_fail: op.may_fail() };
        self.core.place(prefix, u64::from(x.number))
    }
}

/// What the ranks below contributed to a variable.
struct PrefixOf<T> {
    variable: u32,
    value: Option<T>,
    /// Whether the operator may.
    may_fail: bool,
}

impl<T: Value> Item for PrefixOf<T> {
    fn describe(&self) -> String {
        format!("combine_prefix of a {}", type_name::<T>())
    }

    fn needs(&self) -> Needs {
        Needs::Before
    }

    fn may_fail(&self) -> bool {
        self.may_fail
    }

    fn follows(&self) -> Option<u32> {
        Some(self.variable)
    }

    fn conclude(&mut self, found: Option<&[u8]>) -> Result {
        if let Some(bytes) = found {
            self.value = Some(decode(bytes)?);
        }
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn any::Any {
        &mut self.value
    }
}
