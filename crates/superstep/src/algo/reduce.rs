//! Reductions and prefixes: values that are combined with the boundary (R4).

use super::{
    pieces::Pieces,
    verb::{AtRoot, Verb, verbs},
};
use crate::{
    engine::{
        Combine, Item, Needs, Outbox, Payload, Pending, Step, Value, damaged, decode, encode, flags, fold, fold_into,
        long_bytes, mix, numbers_len, owned_bytes, unequal,
    },
    error::{Error, ErrorKind, Result},
};
use fabric::Circle;
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
    /// Whether it may be combined in pieces; then its contribution ends with a word about that.
    is_cut: bool,
    /// My share in that, if the value is long.
    pieces: Option<Pieces<T>>,
    op: C,
    _verb: PhantomData<V>,
}

impl<V: Verb, T: Value, C: Combine<T>> Fold<V, T, C> {
    fn new(needs: Needs, value: T, op: C) -> Self {
        let (none, pieces) = (None, None);
        let (adds_own, wants, is_cut) = (false, true, false);
        Self { needs, value: Some(value), none, adds_own, wants, is_cut, pieces, op, _verb: PhantomData }
    }

    /// Lets a long value be combined in pieces, if that can be, and sends everybody its part. The item is placed next.
    /// `root` gets the result, if it is one alone.
    fn cut(&mut self, step: &Step, root: Option<usize>) {
        let is_vector = |value: &T| numbers_len(value).is_some();
        self.is_cut = self.op.is_by_element() && self.value.as_ref().is_some_and(is_vector) && step.size() > 1;
        // Threads lend each other what processes send, but a further meeting costs them too, and fresh vectors.
        let is_apart = |rank: usize| rank != step.rank() && !step.core.wire.circle().shares(rank);
        let is_any_apart = self.is_cut && (0..step.size()).any(is_apart);
        let long = if is_any_apart { long_bytes() } else { long_bytes().saturating_mul(FOR_THREADS) };
        let is_long = |value: &mut T| owned_bytes(value, long) >= long;
        if self.is_cut
            && let Some(value) = self.value.take_if(is_long)
        {
            let pieces = Pieces::new(value, step.rank(), &**step.core.wire.circle(), root);
            step.core.raise_flag(flags::FORWARDS);
            let sent = pieces.send_parts(step.core.next_item(), &mut step.outbox());
            sent.expect("numbers can always be encoded");
            self.pieces = Some(pieces);
        }
    }

    /// Makes one contribution of two that end with a word.
    fn meld_cut(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        let [(left, is_apart), (right, other)] = [read_word(left)?, read_word(right)?];
        if is_apart && other && left == right {
            out.extend_from_slice(left);
            out.push(APART);
            return Ok(());
        }
        if is_apart || other {
            let len = |bytes: &[u8], is_apart: bool| -> Result<usize> {
                match bytes.first_chunk() {
                    Some(&len) if is_apart => Ok(u64::from_le_bytes(len) as usize),
                    _ => Ok(numbers_len(&decode::<T>(bytes)?).unwrap_or_default()),
                }
            };
            let message = unequal(len(left, is_apart)?, len(right, other)?);
            return Err(Error::new(ErrorKind::CombineMismatch, message));
        }
        self.meld_whole(left, right, out)?;
        out.push(HERE);
        Ok(())
    }

    fn meld_whole(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        fold(self.op.rule(), |acc, with| self.op.combine(acc, with), &|| self.describe(), (left, right), out)
    }
}

/// Among threads a value is long that is so many times as long as between processes: 8 MiB, from where on pieces were
/// seen to be faster.
const FOR_THREADS: usize = 128;

/// What a contribution ends with that may be one of pieces: before it stands the value, or its length.
const HERE: u8 = 1;
const APART: u8 = 2;

/// Takes the word off a contribution; says whether its value is apart.
fn read_word(contribution: &[u8]) -> Result<(&[u8], bool)> {
    match contribution.split_last() {
        Some((&HERE, value)) => Ok((value, false)),
        Some((&APART, len)) => Ok((len, true)),
        _ => Err(damaged()),
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
        if let Some(pieces) = &self.pieces {
            out.extend_from_slice(&(pieces.len() as u64).to_le_bytes());
            out.push(APART);
            return Ok(());
        }
        encode(self.value.as_ref().expect("a verb gives its value"), out)?;
        if self.is_cut {
            out.push(HERE);
        }
        Ok(())
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        if self.is_cut { self.meld_cut(left, right, out) } else { self.meld_whole(left, right, out) }
    }

    fn conclude(&mut self, mut found: Option<&[u8]>) -> Result {
        if self.is_cut {
            let (value, is_apart) = read_word(found.unwrap_or_default())?;
            if is_apart {
                // The pieces are still to come.
                return Ok(());
            }
            found = Some(value);
        }
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

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        self.pieces.as_mut().ok_or_else(damaged)?.take(from, payload)
    }

    fn forward(&mut self, number: u32, outbox: &mut Outbox, _: &dyn Circle, left: &[usize]) -> Result {
        match &mut self.pieces {
            Some(pieces) => pieces.pass_on(&self.op, number, outbox, left),
            None => Ok(()),
        }
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        if let Some(pieces) = self.pieces.take().filter(|_| self.wants) {
            self.value = Some(pieces.whole(&self.op, left)?);
        }
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
    /// Nothing beyond the boundary for small values: they travel with it. n g log p for n words. For a long vector of
    /// numbers, with [`Each`](crate::Each) and an operator of the library that cannot refuse, 2 n g + l: each member
    /// combines a piece.
    pub fn reduce<T: Value, C: Combine<T>>(&self, value: T, op: C) -> Pending<T> {
        let mut fold = Fold::<Reduce, _, _>::new(Needs::Total, value, op);
        fold.cut(self, None);
        self.core.place(fold, op.mark())
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
        fold.cut(self, Some(root));
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
