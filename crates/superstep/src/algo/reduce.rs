//! Reductions and prefixes: values that are combined with the boundary (R4).

use super::verb::{AtRoot, Verb, verbs};
use crate::{
    engine::{Combine, Item, Needs, Pending, Step, Value, decode, encode, fold, fold_into, mix},
    error::Result,
};
use std::{
    any::{self, type_name},
    marker::PhantomData,
    panic::Location,
};

verbs! {
    Reduce "reduce"
    ReduceTo "reduce_to"
    Prefix "prefix"
    PrefixInclusive "prefix_inclusive"
}

/// A value that is combined once, without a variable, by the verb `V`.
struct Fold<V, T, C> {
    needs: Needs,
    /// My contribution, then what became of it.
    value: Option<T>,
    /// What a prefix over nobody is.
    none: Option<T>,
    /// Whether my own value comes after those of the ranks below.
    adds_own: bool,
    /// Whether this processor gets the result.
    wants: bool,
    op: C,
    _verb: PhantomData<V>,
}

impl<V: Verb, T: Value, C: Combine<T>> Fold<V, T, C> {
    fn new(needs: Needs, value: T, op: C) -> Self {
        Self { needs, value: Some(value), none: None, adds_own: false, wants: true, op, _verb: PhantomData }
    }
}

impl<V: Verb, T: Value, C: Combine<T>> Item for Fold<V, T, C> {
    fn describe(&self) -> String {
        format!("{}::<{}, {}>", V::NAME, type_name::<T>(), type_name::<C>())
    }

    fn may_fail(&self) -> bool {
        self.op.may_fail()
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn contribute(&self, out: &mut Vec<u8>) -> Result {
        encode(self.value.as_ref().expect("a verb gives its value"), out)
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        fold(self.op.rule(), |acc, with| self.op.combine(acc, with), &|| self.describe(), (left, right), out)
    }

    fn conclude(&mut self, found: Option<&[u8]>) -> Result {
        let own = self.value.take();
        self.value = match found {
            _ if !self.wants => None,
            Some(bytes) => {
                let mut value = decode(bytes)?;
                if let Some(own) = own.filter(|_| self.adds_own) {
                    fold_into(&self.op, &mut value, &own, &|| self.describe())?;
                }
                Some(value)
            }
            None if self.adds_own => own,
            None => self.none.take(),
        };
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn any::Any {
        &mut self.value
    }
}

impl Step {
    /// Combines everybody's `value` in rank order; all get the result. Collective.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(4).run(|g| g.step(|s| s.reduce(s.rank(), superstep::Sum)));
    /// assert_eq!(sum.unwrap(), 6);
    /// ```
    ///
    /// # Cost
    ///
    /// Nothing beyond the boundary for small values: they travel with it. n g log p for n words.
    pub fn reduce<T: Value, C: Combine<T>>(&self, value: T, op: C) -> Pending<T> {
        self.core.place(Fold::<Reduce, _, _>::new(Needs::Total, value, op), op.mark())
    }

    /// Combines everybody's `value` in rank order; `root` gets the result and everybody else `None`. Collective.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| g.step(|s| s.reduce_to(1, 5, superstep::Sum)));
    /// assert_eq!(sums.unwrap(), [None, Some(10)]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`reduce`](Self::reduce).
    #[track_caller]
    pub fn reduce_to<T: Value, C: Combine<T>>(&self, root: usize, value: T, op: C) -> Pending<Option<T>> {
        self.core.check_rank(root, Location::caller()).unwrap_or_else(|error| error.raise());
        let mut fold = Fold::<ReduceTo, _, _>::new(Needs::Total, value, op);
        fold.wants = self.rank() == root;
        self.core.place(AtRoot::<_, T>::new(root, fold), mix(root as u64, op.mark()))
    }

    /// Yields what the ranks below contributed, combined in rank order. Collective.
    ///
    /// Rank 0 has nobody below it: it gets the operator's identity, and the type's default where the operator is a
    /// function, which has none.
    ///
    /// ```
    /// use superstep::{Config, Sum};
    ///
    /// let offsets = Config::new().procs(4).run_all(|g| g.step(|s| s.prefix(10, Sum)));
    /// assert_eq!(offsets.unwrap(), [0, 10, 20, 30]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`reduce`](Self::reduce): it travels along.
    pub fn prefix<T: Value + Default, C: Combine<T>>(&self, value: T, op: C) -> Pending<T> {
        let mut fold = Fold::<Prefix, _, _>::new(Needs::Before, value, op);
        fold.none = Some(op.identity().unwrap_or_default());
        self.core.place(fold, op.mark())
    }

    /// Yields what the ranks below and this one contributed, combined in rank order. Collective.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(3).run_all(|g| g.step(|s| s.prefix_inclusive(10, superstep::Sum)));
    /// assert_eq!(sums.unwrap(), [10, 20, 30]);
    /// ```
    ///
    /// # Cost
    ///
    /// As [`reduce`](Self::reduce).
    pub fn prefix_inclusive<T: Value, C: Combine<T>>(&self, value: T, op: C) -> Pending<T> {
        let mut fold = Fold::<PrefixInclusive, _, _>::new(Needs::Before, value, op);
        fold.adds_own = true;
        self.core.place(fold, op.mark())
    }

    /// The older name of [`prefix_inclusive`](Self::prefix_inclusive).
    #[doc(hidden)]
    pub fn prefix_with<T: Value, C: Combine<T>>(&self, value: T, op: C) -> Pending<T> {
        self.prefix_inclusive(value, op)
    }
}
