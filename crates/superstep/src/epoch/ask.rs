//! The verbs of an epoch that have an answer.

use super::{
    book::Book,
    deed::{By, Deed, Method, Plain},
    methods::Entrance,
    object::Target,
    running::Running,
    state::Epoch,
    work::Asked,
};
use crate::{
    engine::{Core, Value},
    error::{ErrorKind, Result, place},
};
use fabric::code::Three;
use std::{any::type_name, marker::PhantomData, panic::Location, rc::Rc};

/// The answer to a question that was [asked](Epoch::ask): a value that is there when the other processor has run the
/// method, and at the latest when the epoch has ended.
///
/// ```
/// let squares = superstep::Config::new().procs(2).run_all(|g| {
///     let none = g.object(());
///     let answers = g.epoch(|e| {
///         (0..3u32).map(|x| e.ask(1 - e.rank(), &none, x, |_, _, x| x * x)).collect::<Vec<_>>()
///     });
///     answers.into_iter().map(|answer| answer.value()).collect::<Vec<_>>()
/// });
/// assert_eq!(squares.unwrap(), [[0, 1, 4], [0, 1, 4]]);
/// ```
#[must_use = "an answer that is not taken was asked for in vain; `send` asks for none"]
pub struct Answer<R> {
    core: Rc<Core>,
    book: Rc<Book>,
    from: usize,
    ticket: u64,
    _of: PhantomData<R>,
}

impl<R: Value> Answer<R> {
    /// Whether it has come.
    ///
    /// ```
    /// let is_there = superstep::Config::new().procs(2).run(|g| {
    ///     let none = g.object(());
    ///     let answer = g.epoch(|e| e.ask(1, &none, (), |_, e, ()| e.rank()));
    ///     answer.is_ready()
    /// });
    /// assert_eq!(is_there.unwrap(), true);
    /// ```
    pub fn is_ready(&self) -> bool {
        self.book.has(self.from, self.ticket)
    }

    /// The answer, after the epoch; inside it [`Epoch::take`] waits for it.
    ///
    /// ```
    /// let rank = superstep::Config::new().procs(2).run(|g| {
    ///     let none = g.object(());
    ///     g.epoch(|e| e.ask(1, &none, (), |_, e, ()| e.rank())).value()
    /// });
    /// assert_eq!(rank.unwrap(), 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If it has not come.
    #[track_caller]
    pub fn value(self) -> R {
        self.take(Location::caller()).unwrap_or_else(|error| error.raise())
    }

    fn take(&self, site: &Location<'_>) -> Result<R> {
        self.book.take(self.from, self.ticket).unwrap_or_else(|| {
            let what = format!("rank {} has not answered; use `take`, or wait for the epoch's end", self.from);
            Err(self.core.error(ErrorKind::NotAnswered, what, site))
        })
    }
}

impl<R> std::fmt::Debug for Answer<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Answer<{}>(from rank {})", type_name::<R>(), self.from)
    }
}

impl Epoch {
    /// Runs `method` on processor `to`, as [`send`](Self::send) does, and waits for what it returns. Others are served
    /// meanwhile; a method that calls gives way to them here and only here, and its own object waits for it.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(3).run_all(|g| {
    ///     let rank = g.rank();
    ///     let table = g.object(vec![rank; 10]);
    ///     g.epoch(|e| {
    ///         let next = (e.rank() + 1) % e.size();
    ///         e.call(next, &table, 2..5, |table, _, range| table[range].iter().sum::<usize>())
    ///     })
    /// });
    /// assert_eq!(sums.unwrap(), [3, 6, 0]);
    /// ```
    ///
    /// # Cost
    ///
    /// The way there and back; what waits to be sent goes along. [`ask`](Self::ask) many questions before the first
    /// answer is needed, and they travel together.
    ///
    /// # Panics
    ///
    /// As `send`; with the group's error if methods wait for each other; and with what the method has panicked with.
    #[track_caller]
    #[inline]
    pub fn call<T: 'static, A: Value, R: Value>(
        &self,
        to: usize,
        on: &impl Target<T>,
        args: A,
        method: fn(&mut T, &Epoch, A) -> R,
    ) -> R {
        self.call_deed::<Plain<T, A, R>>(to, on, args, Three::<Plain<T, A, R>>(method))
    }

    /// Asks a question and waits for its answer like [`call`](Self::call), with a [method](Method) that is named by its
    /// type.
    ///
    /// ```
    /// use superstep::{Config, Epoch, Method};
    ///
    /// struct At;
    /// impl Method for At {
    ///     type On = Vec<char>;
    ///     type Args = usize;
    ///     type Answer = char;
    ///     fn run(table: &mut Vec<char>, _: &Epoch, at: usize) -> char { table[at] }
    /// }
    ///
    /// let found = Config::new().procs(2).run_all(|g| {
    ///     let table = g.object(vec![['a', 'b'], ['x', 'y']][g.rank()].to_vec());
    ///     g.epoch(|e| e.call_by::<At>(1 - e.rank(), &table, 1))
    /// });
    /// assert_eq!(found.unwrap(), ['y', 'b']);
    /// ```
    #[track_caller]
    #[inline]
    pub fn call_by<M: Method>(&self, to: usize, on: &impl Target<M::On>, args: M::Args) -> M::Answer {
        self.call_deed::<By<M>>(to, on, args, ())
    }

    #[track_caller]
    #[inline]
    pub(crate) fn call_deed<D: Deed<Answer: Value>>(
        &self,
        to: usize,
        on: &impl Target<D::On>,
        args: D::Args,
        function: D::Pointer,
    ) -> D::Answer {
        let site = Location::caller();
        let answer = if to == self.rank() {
            self.call_here(on, D::name(), |object| D::run(function, object, self, args), site)
        } else {
            self.try_ask::<D>(to, on, args, function, true, site).and_then(|answer| self.await_answer(&answer, site))
        };
        answer.unwrap_or_else(|error| error.raise())
    }

    /// Runs a method on this processor's representative.
    #[inline]
    pub(super) fn call_here<T: 'static, R>(
        &self,
        on: &impl Target<T>,
        name: &'static str,
        method: impl FnOnce(&mut T) -> R,
        site: &'static Location<'static>,
    ) -> Result<R> {
        let state = &*self.state;
        if self.is_deep() {
            return Err(self.too_deep(site));
        }
        let has_sent_none = state.outgoing.lanes.borrow()[state.rank].is_empty();
        if !has_sent_none || !state.incoming.backlogs[state.rank].is_empty() {
            // What was sent here before comes first.
            self.post(state.rank)?;
            self.serve()?;
        }
        let object = on.refer().find(&self.core, site)?;
        let Ok(mut value) = object.value.try_borrow_mut() else {
            let why = "it is lent, or one of its methods waits for this one";
            let what = format!("a method of the {} was called here, but {why}", object.describe());
            return Err(self.core.error(ErrorKind::StillBorrowed, what, site));
        };
        if object.is_poisoned.get() {
            return Err(object.refusal(&self.core, "a method was called of", site));
        }
        let running = Running::begin(self, &object, state.rank, name);
        let answer = running.run(|| method(&mut value));
        running.end();
        Ok(answer)
    }

    /// Asks a question: like [`call`](Self::call), but does not wait for the answer.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| {
    ///     let rank = g.rank();
    ///     let table = g.object((0..100).map(|x| x * (1 + rank)).collect::<Vec<usize>>());
    ///     g.epoch(|e| {
    ///         let asked: Vec<_> =
    ///             (0..100).map(|at| e.ask(1 - e.rank(), &table, at, |table, _, at| table[at])).collect();
    ///         asked.into_iter().map(|answer| e.take(answer)).sum::<usize>()
    ///     })
    /// });
    /// assert_eq!(sums.unwrap(), [9900, 4950]);
    /// ```
    ///
    /// # Cost
    ///
    /// That of a request there and an answer back, in as few letters as there can be.
    #[track_caller]
    #[inline]
    pub fn ask<T: 'static, A: Value, R: Value>(
        &self,
        to: usize,
        on: &impl Target<T>,
        args: A,
        method: fn(&mut T, &Epoch, A) -> R,
    ) -> Answer<R> {
        self.ask_deed::<Plain<T, A, R>>(to, on, args, Three::<Plain<T, A, R>>(method))
    }

    /// Asks a question like [`ask`](Self::ask), with a [method](Method) that is named by its type.
    ///
    /// ```
    /// use superstep::{Config, Epoch, Method};
    ///
    /// struct Square;
    /// impl Method for Square {
    ///     type On = ();
    ///     type Args = u32;
    ///     type Answer = u32;
    ///     fn run((): &mut (), _: &Epoch, x: u32) -> u32 { x * x }
    /// }
    ///
    /// let sums = Config::new().procs(2).run_all(|g| {
    ///     let none = g.object(());
    ///     let asked = g.epoch(|e| [1, 2, 3].map(|x| e.ask_by::<Square>(1 - e.rank(), &none, x)));
    ///     asked.map(|answer| answer.value()).iter().sum::<u32>()
    /// });
    /// assert_eq!(sums.unwrap(), [14, 14]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn ask_by<M: Method>(&self, to: usize, on: &impl Target<M::On>, args: M::Args) -> Answer<M::Answer> {
        self.ask_deed::<By<M>>(to, on, args, ())
    }

    #[track_caller]
    #[inline]
    pub(crate) fn ask_deed<D: Deed<Answer: Value>>(
        &self,
        to: usize,
        on: &impl Target<D::On>,
        args: D::Args,
        function: D::Pointer,
    ) -> Answer<D::Answer> {
        let answer = self.try_ask::<D>(to, on, args, function, false, Location::caller());
        answer.unwrap_or_else(|error| error.raise())
    }

    #[inline]
    fn try_ask<D: Deed<Answer: Value>>(
        &self,
        to: usize,
        on: &impl Target<D::On>,
        args: D::Args,
        function: D::Pointer,
        is_alone: bool,
        site: &'static Location<'static>,
    ) -> Result<Answer<D::Answer>> {
        let state = &*self.state;
        let method = Entrance::new::<Asked<D>>(function);
        let name = on.refer().name_in(&self.core, site)?;
        self.core.check_rank(to, site)?;
        let mut lanes = state.outgoing.lanes.borrow_mut();
        let ticket = lanes[to].next_ticket();
        let asked = lanes[to].request((method, name), Some(ticket), args, is_alone, &state.outgoing.pool);
        drop(lanes);
        let is_full = asked.map_err(|error| self.placed(&error, site))?;
        if is_full {
            self.post_held_back(to)?;
        }
        self.tick(1)?;
        let book = Rc::clone(&state.book.borrow());
        Ok(Answer { core: Rc::clone(&self.core), book, from: to, ticket, _of: PhantomData })
    }

    /// Waits for the answer to a question, and serves others meanwhile.
    ///
    /// ```
    /// let rank = superstep::Config::new().procs(2).run(|g| {
    ///     let none = g.object(());
    ///     g.epoch(|e| {
    ///         let answer = e.ask(1, &none, (), |_, e, ()| e.rank());
    ///         e.take(answer)
    ///     })
    /// });
    /// assert_eq!(rank.unwrap(), 1);
    /// ```
    #[track_caller]
    #[inline]
    pub fn take<R: Value>(&self, answer: Answer<R>) -> R {
        self.await_answer(&answer, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    fn await_answer<R: Value>(&self, answer: &Answer<R>, site: &'static Location<'static>) -> Result<R> {
        if !Rc::ptr_eq(&answer.book, &self.state.book.borrow()) {
            // What an epoch has not answered nobody will, and its failure is not that of this one.
            return answer.take(site);
        }
        let why = || format!("for an answer of rank {} ({})", answer.from, place(site));
        let taken = self.wait_until(&why, || answer.book.take(answer.from, answer.ticket))?;
        if let Err(error) = &taken {
            // Who has failed tells everybody.
            self.trouble.hear(error);
        }
        taken
    }

    /// Runs `method` on every processor of the group, this one as well, and returns the answers in the order of ranks.
    ///
    /// ```
    /// let all = superstep::Config::new().procs(3).run_all(|g| {
    ///     let rank = g.rank();
    ///     let square = g.object(rank * rank);
    ///     g.epoch(|e| e.call_all(&square, (), |square, _, ()| *square))
    /// });
    /// assert_eq!(all.unwrap(), [[0, 1, 4], [0, 1, 4], [0, 1, 4]]);
    /// ```
    #[track_caller]
    pub fn call_all<T: 'static, A: Value, R: Value>(
        &self,
        on: &impl Target<T>,
        args: A,
        method: fn(&mut T, &Epoch, A) -> R,
    ) -> Vec<R> {
        let asked: Vec<Answer<R>> = (0..self.size()).map(|to| self.ask(to, on, args.clone(), method)).collect();
        asked.into_iter().map(|answer| self.take(answer)).collect()
    }
}
