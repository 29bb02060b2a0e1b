//! Writing to sections of arrays, and how such writes combine.

use super::{
    Array,
    layout::Distribution,
    operator::Operator,
    pieces::{self, Piece},
    writes::{Batch, Writes},
};
use crate::{
    engine::{Combine, Element, Rule, Step, Tenant as _, hash_numbers, mix},
    error::{ErrorKind, Result},
    memory::section::{Section, Span},
};
use std::{any::type_name, convert::Infallible, panic::Location, rc::Rc};

/// From so many bytes on, memory that takes the place of a whole part is cheaper than a second copy.
const LARGE: usize = 64 << 10;
/// Rows of at least so many elements travel as stretches.
const LONG: usize = 16;

impl Step {
    /// Combines `values` into a section, in row-major order, at the boundary.
    ///
    /// They combine with the array's operator, which is [`Any`](crate::Any) unless it was [declared](Array::combining);
    /// [`scatter`](Self::scatter) says how. They are read now: what `values` hold later makes no difference.
    ///
    /// ```
    /// use superstep::{Block, Config, strided};
    ///
    /// let values = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(6);
    ///     g.step(|s| if s.rank() == 0 { s.update(&a, strided(1.., 2), &[1, 3, 5]) });
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(values.unwrap(), [0, 1, 0, 3, 0, 5]);
    /// ```
    ///
    /// # Cost
    ///
    /// n g for n words, sent and received; two copies, and one where a whole part is replaced.
    ///
    /// # Panics
    ///
    /// If there is no such section, if it has another length, or if another group made the array. Nothing is queued
    /// then; [`try_update`](Self::try_update) returns the error.
    #[track_caller]
    pub fn update<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
        values: &[T],
    ) {
        self.try_update(a, at, values).unwrap_or_else(|error| error.raise());
    }

    /// Updates like [`update`](Self::update), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(6);
    ///     g.step(|s| Local(s.try_update(&a, 4..7, &[1, 2, 3]).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::OutOfBounds);
    /// ```
    #[track_caller]
    pub fn try_update<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
        values: &[T],
    ) -> Result {
        self.check_update(a, &at, values, a.part.operator.get(), Location::caller())
    }

    /// Updates like [`update`](Self::update), with another operator than the array's.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// let values = Config::new().procs(3).run(|g| {
    ///     let a = g.array::<u8, Block>(3);
    ///     g.step(|s| s.update_with(&a, ..2, &[1, 10], Sum));
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(values.unwrap(), [3, 30, 0]);
    /// ```
    #[track_caller]
    pub fn update_with<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
        values: &[T],
        op: impl Combine<T>,
    ) {
        self.try_update_with(a, at, values, op).unwrap_or_else(|error| error.raise());
    }

    /// Updates like [`update_with`](Self::update_with), or returns why that cannot be done.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind, Local, Min};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(6);
    ///     g.step(|s| Local(s.try_update_with(&a, 4..6, &[1, 2, 3], Min).unwrap_err().kind()))
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::BadLength);
    /// ```
    #[track_caller]
    pub fn try_update_with<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Section<N>,
        values: &[T],
        op: impl Combine<T>,
    ) -> Result {
        let operator = Operator::new(op);
        self.check_update(a, &at, values, operator, Location::caller())?;
        a.agree_on(operator);
        Ok(())
    }

    fn check_update<T: Element, D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: &impl Section<N>,
        values: &[T],
        operator: Operator<T>,
        site: &'static Location<'static>,
    ) -> Result {
        a.check_whole(&self.core, site)?;
        let spans = a.check_section(at, site)?;
        let count = pieces::count(&spans);
        if count != values.len() {
            let what = format!("{} values for section {at:?}, which has {count} elements", values.len());
            return Err(self.core.error(ErrorKind::BadLength, what, site));
        }
        a.update_spans((&a.shape, &spans), values, operator, a.note(operator, site));
        Ok(())
    }
}

impl<T: Element, D: Distribution, const N: usize> Array<T, D, N> {
    /// Declares how updates combine that name no operator of their own; without this it is [`Any`](crate::Any).
    /// Collective.
    ///
    /// A combining operator adds to what an element holds: `a[i] = a[i] + x + y` where two processors update it by `x`
    /// and `y`, in the order of their ranks.
    ///
    /// ```
    /// use superstep::{Block, Config, Max};
    ///
    /// let highest = Config::new().procs(3).run(|g| {
    ///     let a = g.array::<usize, Block>(2).combining(Max);
    ///     g.step(|s| s.update(&a, .., &[s.rank(), 7]));
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(highest.unwrap(), [2, 7]);
    /// ```
    ///
    /// The owner calls the operator, so it must not capture anything:
    ///
    /// ```compile_fail,E0080
    /// superstep::run(|g| {
    ///     let factor = 2;
    ///     let scale = move |x: &mut u64, y: &u64| *x += factor * y;
    ///     let _ = g.array::<u64, superstep::Block>(2).combining(scale);
    /// });
    /// ```
    #[must_use = "the array comes back with its operator"]
    pub fn combining<C: Combine<T>>(self, op: C) -> Self {
        let operator = Operator::new(op);
        let (part, before) = (Rc::clone(&self.part), self.part.operator.get());
        let what = hash_numbers([operator.key, u64::from(self.core.number)]);
        self.core.declare_until(what, move || part.operator.set(before));
        self.core.registry().describe(format!("{} combining {}", self.part.describe(), type_name::<C>()));
        self.part.operator.set(operator);
        self
    }

    /// Whether this is the operator by which updates combine that name none.
    pub(crate) fn combines_by(&self, op: impl Combine<T>) -> bool {
        self.part.operator.get().key == Operator::new(op).key
    }

    /// Makes members check that all were handed the operator in this step, if it is one of the program.
    pub(super) fn agree_on(&self, operator: Operator<T>) {
        if let Some(name) = operator.handed_name() {
            let words = || format!("operator {name} on the {}", self.part.describe());
            self.core.log.add_term_once(mix(operator.key, u64::from(self.core.number) + 1), words);
        }
    }

    /// Updates a section that exists, of the array or of another shape with as many elements.
    pub(super) fn update_spans(
        &self,
        (shape, spans): (&[usize], &[Span]),
        mut values: &[T],
        operator: Operator<T>,
        note: u32,
    ) {
        if values.is_empty() || operator.rule == Rule::Leader && self.core.rank() != 0 {
            return;
        }
        let is_long = pieces::row_len(shape, spans) >= LONG;
        let share = values.len().div_ceil(self.core.size());
        let Ok(()) = pieces::cut(&self.part, shape, spans, |piece| {
            let (mine, rest) = values.split_at(piece.count);
            values = rest;
            self.update_piece(piece, mine, (operator, note), is_long.then_some(share));
            Ok::<_, Infallible>(())
        });
        self.announce();
    }

    /// Updates a row of a section that exists with values that are given away. Where most of them have one owner, they
    /// go to it as they are.
    pub(super) fn update_giving(&self, span: Span, mut values: Vec<T>, operator: Operator<T>, note: u32) {
        let (shape, len) = (&self.shape, values.len());
        let part = &self.part;
        let here = if len > 0 && span.is_range() { part.stretch(span.first).min(len) } else { 0 };
        let (owner, at) = if here > 0 { part.locate(span.first) } else { (0, 0) };
        let is_skipped = operator.rule == Rule::Leader && self.core.rank() != 0;
        if here < LONG || here < len / 2 || is_skipped || self.is_whole(owner, here, operator) {
            self.update_spans((shape, &[span]), &values, operator, note);
            part.pool.spares().values.keep(values);
            return;
        }
        let rest = Span { first: span.first + here, step: 1, count: len - here };
        self.update_spans((shape, &[rest]), &values[here..], operator, note);
        values.truncate(here);
        let batch = Batch { operator, base: at, writes: Writes::Stretch(values), note };
        part.outgoing.borrow_mut().push_batch(owner, batch);
        self.announce();
    }

    /// Whether these are all elements of a large part, whose memory can take its place.
    fn is_whole(&self, owner: usize, count: usize, operator: Operator<T>) -> bool {
        let is_whole = operator.rule == Rule::Any && count == self.part.lens[owner] && count * size_of::<T>() >= LARGE;
        // Memory can only be handed over inside one process.
        is_whole && self.part.owned.reaches.borrow()[owner].is_some()
    }

    /// Updates what one owner has of a section; if that comes in long rows, `share` is about how much each owner has.
    fn update_piece(&self, piece: Piece, values: &[T], (operator, note): (Operator<T>, u32), share: Option<usize>) {
        let Piece { owner, at, step, count } = piece;
        let part = &self.part;
        let Some(share) = share.filter(|_| step == 1) else {
            let mut lanes = self.open(operator, None, note);
            for (at, &value) in piece.places().zip(values) {
                lanes.push_at(part.windows, owner, at, value);
            }
            self.close(lanes);
            return;
        };
        if self.is_whole(owner, count, operator) {
            let buffer = part.pool.spares().buffer(count);
            if let Some(mut buffer) = buffer {
                buffer.fill(values);
                let batch = Batch { operator, base: 0, writes: Writes::Whole(buffer), note };
                part.outgoing.borrow_mut().push_batch(owner, batch);
                return;
            }
        }
        part.outgoing.borrow_mut().push_stretch(owner, (at, values), (operator, note), share);
    }
}
