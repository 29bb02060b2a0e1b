//! Shared variables: a copy on every processor, combined at each boundary.

use super::copy::Copy;
use crate::{
    engine::{
        Combine, Core, Group, Item, Lease, Needs, Pending, Phase, Step, Tenant, Value, decode, hash_numbers, mix,
        type_hash,
    },
    error::{ErrorKind, Result},
};
use std::{
    any::{self, type_name},
    cell::{Ref, RefMut},
    panic::Location,
    rc::Rc,
};

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
    core: Lease,
    copy: Rc<Copy<T>>,
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
        let copy = Rc::new(Copy::new(init, op, Location::caller()));
        let mark = mix(type_hash::<Declared<T, C>>(), op.mark());
        let core = self.core().add_tenant(Rc::clone(&copy) as Rc<dyn Tenant>, mark);
        Shared { core, copy }
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
        self.copy.lend().unwrap_or_else(|| self.refuse_to_lend())
    }

    #[cold]
    #[track_caller]
    fn refuse_to_lend(&self) -> ! {
        let what = self.copy.describe();
        let what = if self.copy.is_in_order() {
            format!("the {what} is read while it is lent for writing; drop that borrow first")
        } else {
            format!("the {what} is read while a borrow from a step that failed is alive; drop that borrow first")
        };
        self.core.error(ErrorKind::StillBorrowed, what, Location::caller()).raise()
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
        let Some(copy) = self.copy.lend_mut() else { self.refuse_while_borrowed() };
        self.mark();
        self.keep_before(&copy);
        self.copy.put(copy, value);
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
        let Some(copy) = self.copy.lend_mut() else { self.refuse_while_borrowed() };
        self.mark();
        self.keep_before(&copy);
        self.copy.keep(&copy);
        copy
    }

    /// Refuses another group than the one that made it.
    pub(crate) fn check_home(&self, core: &Core, site: &Location<'_>) -> Result {
        core.check_member(&self.core, "variable", site)
    }

    /// In the body of a subgroup's step, sees to it that the write goes with that step if it does not close (X6).
    #[inline]
    fn keep_before(&self, value: &T) {
        if self.core.phase() == Phase::Split {
            let copy = Rc::clone(&self.copy);
            self.core.write_from_inside(copy, |step| self.copy.keep_before(step, value));
        }
    }

    #[track_caller]
    fn check_open(&self) {
        if !matches!(self.core.phase(), Phase::Step | Phase::Split) {
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

    /// Makes the boundary look at this copy.
    #[track_caller]
    fn mark(&self) {
        let step = self.core.steps().wrapping_add(1);
        if self.copy.marked.get() != step || step == 0 {
            let mut registry = self.core.registry();
            let is_there = registry.tenant(self.core.number).is_some();
            let checked = self.core.check_declared(is_there, &|| self.copy.describe(), Location::caller());
            checked.unwrap_or_else(|error| error.raise());
            self.copy.marked.set(step);
            registry.write(self.core.number);
        }
    }
}

impl<T: Value + std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Shared").field(&self.copy.value()).finish()
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
    /// Nothing beyond the boundary.
    #[track_caller]
    pub fn combine<T: Value, C: Combine<T>>(&self, x: &Shared<T>, op: C) {
        self.check_variable(x);
        self.replace_operator(x, op);
    }

    #[track_caller]
    fn check_variable<T: Value>(&self, x: &Shared<T>) {
        self.core.check_member(&x.core, "variable", Location::caller()).unwrap_or_else(|error| error.raise());
        x.mark();
    }

    /// Refuses nothing, so that a call which adds this last has added nothing if it was refused (X1).
    fn replace_operator<T: Value, C: Combine<T>>(&self, x: &Shared<T>, op: C) {
        let term = hash_numbers([type_hash::<Replaced<T, C>>(), u64::from(x.core.number), op.mark()]);
        let name = format!("operator {} for the {}", type_name::<C>(), x.copy.describe());
        *x.copy.instead.borrow_mut() = Some(Box::new(op));
        self.core.log.add_term(term, name);
    }

    /// Combines `x` like [`combine`](Self::combine), and yields what the ranks below contributed to it, combined. Where
    /// they contributed nothing, that is `op`'s identity, or else the default.
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
        self.check_variable(x);
        let none = op.identity().unwrap_or_default();
        let prefix = PrefixOf::<T> { variable: x.core.number, value: Some(none), may_fail: op.may_fail() };
        let pending = self.core.place(prefix, u64::from(x.core.number));
        self.replace_operator(x, op);
        pending
    }
}

/// What the ranks below contributed to a variable.
struct PrefixOf<T> {
    variable: u32,
    value: Option<T>,
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
