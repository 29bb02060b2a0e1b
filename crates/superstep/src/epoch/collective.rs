//! Verbs that every processor of an epoch calls.
//!
//! They travel as notes in the letters of the epoch, on the tree that steps use. So values are combined in the order of
//! ranks and in the grouping of every other reduction, and the result is the same, bit for bit.

use super::{letter::Content, object::Target, state::Epoch};
use crate::{
    engine::{Combine, Value, damaged, decode_next, fold_into, hash_numbers, mix, type_hash},
    error::{Error, ErrorKind, Result, place},
};
use fabric::tree::{children, parent};
use std::{any::type_name, panic::Location};

/// The verbs, each with its method and operator: only their types are used, to tell them apart.
struct Broadcast<M>(M);
struct Reduce<M, C>(M, C);

/// Marks what a member says where the operator has refused: an error instead of a value.
enum Refused {}

fn refused(about: u64) -> u64 {
    mix(about, type_hash::<Refused>())
}

impl Epoch {
    /// Tells another member something in the collective with this number: a value, or why there is none.
    fn tell<V: Value>(&self, to: usize, number: u64, about: u64, value: Result<V>) -> Result {
        let mut lanes = self.state.outgoing.lanes.borrow_mut();
        match value {
            Ok(value) => lanes[to].note(number, about, value)?,
            Err(error) => lanes[to].note(number, refused(about), error.report().to_vec())?,
        };
        drop(lanes);
        self.post(to)
    }

    /// Waits for what another member says in the collective with this number.
    fn hear<V: Value>(
        &self,
        from: usize,
        number: u64,
        about: u64,
        site: &'static Location<'static>,
    ) -> Result<Result<V>> {
        let why = || format!("for rank {from} in a collective ({})", place(site));
        let find = || self.notes.take(number, from);
        let (theirs, note) = self.wait_until(&why, find)?;
        if theirs == refused(about) {
            return Ok(Err(Error::read(self.core.processor, &open::<Vec<u8>>(note)?)));
        }
        if theirs != about {
            let what = format!("rank {} and rank {from} are in different collectives of this epoch", self.rank());
            let error = self.core.error(ErrorKind::StepMismatch, what, site);
            self.trouble.note(&error);
            return Err(error);
        }
        open(note).map(Ok)
    }

    /// Hands a value of member `root` to everybody.
    fn spread<V: Value>(
        &self,
        root: usize,
        number: u64,
        value: Option<Result<V>>,
        about: u64,
        site: &'static Location<'static>,
    ) -> Result<Result<V>> {
        let (size, place) = (self.size(), (self.rank() + self.size() - root) % self.size());
        let whom = |place: usize| (place + root) % size;
        let value = match value {
            Some(value) => value,
            None => self.hear(whom(parent(place).unwrap_or_default()), number, about, site)?,
        };
        for child in children(place, size).rev() {
            self.tell(whom(child), number, about, value.clone())?;
        }
        Ok(value)
    }

    /// Runs `method` on every processor, with the arguments of processor `root`. Collective: every processor calls it,
    /// and it returns when the method has run here. The method does not travel, so it may capture what it likes.
    ///
    /// ```
    /// let words = superstep::Config::new().procs(3).run_all(|g| {
    ///     let word = g.object(String::new());
    ///     g.epoch(|e| {
    ///         let args = (e.rank() == 1).then(|| "resize".to_owned());
    ///         e.broadcast(1, &word, args, |word, _, new| *word = new);
    ///     });
    ///     word.with(|word| word.clone())
    /// });
    /// assert_eq!(words.unwrap(), ["resize", "resize", "resize"]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no rank `root`, or if it gives no arguments.
    #[track_caller]
    pub fn broadcast<T: 'static, A: Value, M: Fn(&mut T, &Epoch, A) + 'static>(
        &self,
        root: usize,
        on: &impl Target<T>,
        args: Option<A>,
        method: M,
    ) {
        let site = Location::caller();
        let mine = self.core.check_rank(root, site).and_then(|()| {
            let object = on.refer().name_in(&self.core, site)?;
            let about = hash_numbers([type_hash::<Broadcast<M>>(), object, root as u64]);
            let args = args.filter(|_| self.rank() == root);
            if self.rank() == root && args.is_none() {
                let what = format!("rank {root} broadcasts and gives no arguments");
                return Err(self.core.error(ErrorKind::NoValue, what, site));
            }
            self.spread(root, self.notes.next_number(), args.map(Ok), about, site)?
        });
        match mine {
            Ok(args) => self.run_here(on, args, method, site),
            Err(error) => error.raise(),
        }
    }

    /// Runs `method` on every processor, each with its own arguments, and combines what they return, in the order of
    /// ranks. Collective: every processor calls it, and all get the result. The method does not travel, so it may
    /// capture what it likes.
    ///
    /// ```
    /// use superstep::{Config, Max};
    ///
    /// let found = Config::new().procs(3).run_all(|g| {
    ///     let rank = g.rank();
    ///     let part = g.object(vec![3 * rank, 7 - rank]);
    ///     g.epoch(|e| e.reduce(&part, (), |part, _, ()| part.iter().max().copied(), Max))
    /// });
    /// assert_eq!(found.unwrap(), [Some(7); 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// The way up and down a tree of all processors.
    ///
    /// # Panics
    ///
    /// If the operator refuses or panics, or finds that values differ which should be the same. All members have the
    /// same error then, and it is the error of the epoch.
    #[track_caller]
    pub fn reduce<T: 'static, A: Value, R: Value, M: Fn(&mut T, &Epoch, A) -> R + 'static>(
        &self,
        on: &impl Target<T>,
        args: A,
        method: M,
        op: impl Combine<R>,
    ) -> R {
        let site = Location::caller();
        let mine = self.run_here(on, args, method, site);
        let combined = on.refer().name_in(&self.core, site).and_then(|object| {
            let about = hash_numbers([verb::<M, R>(&op), object]);
            self.combine(mine, &op, about, site)
        });
        let combined = combined.unwrap_or_else(|error| error.raise());
        combined.unwrap_or_else(|error| {
            self.trouble.note(&error);
            error.raise()
        })
    }

    /// Runs the method of a collective. It does not travel: every processor has its own.
    fn run_here<T: 'static, A, R, M: Fn(&mut T, &Epoch, A) -> R>(
        &self,
        on: &impl Target<T>,
        args: A,
        method: M,
        site: &'static Location<'static>,
    ) -> R {
        let done = self.call_here(on, type_name::<M>(), |object| method(object, self, args), site);
        done.unwrap_or_else(|error| error.raise())
    }

    /// Combines everybody's value. The inner error is everybody's.
    fn combine<R: Value>(
        &self,
        mine: R,
        op: &impl Combine<R>,
        about: u64,
        site: &'static Location<'static>,
    ) -> Result<Result<R>> {
        let (me, size, number) = (self.rank(), self.size(), self.notes.next_number());
        let name = || format!("a {} in a reduce of this epoch", type_name::<R>());
        let mut mine = Ok(mine);
        for child in children(me, size) {
            let theirs: Result<R> = self.hear(child, number, about, site)?;
            mine = match (mine, theirs) {
                (Ok(mut mine), Ok(theirs)) => fold_into(op, &mut mine, &theirs, &name)
                    .map(|()| mine)
                    .map_err(|error| self.core.error(error.kind(), error, site)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        }
        let all = match parent(me) {
            None => Some(mine),
            Some(parent) => {
                self.tell(parent, number, about, mine)?;
                None
            }
        };
        self.spread(0, self.notes.next_number(), all, about, site)
    }
}

/// A reduce by its method and operator, as a number.
fn verb<M: 'static, R: Value>(op: &impl Combine<R>) -> u64 {
    fn of<M: 'static, C: 'static>(_: &C) -> u64 {
        type_hash::<Reduce<M, C>>()
    }
    mix(of::<M, _>(op), op.mark())
}

fn open<V: Value>(note: Content) -> Result<V> {
    match note {
        Content::Moved(moved) => Ok(*moved.downcast::<V>().map_err(|_| damaged())?),
        Content::Written(excerpt) => decode_next(&mut excerpt.bytes()?),
    }
}
