//! The verbs of an epoch that do not wait, and those that look for what came.

use super::{
    Epoch,
    object::Target,
    work::{Sent, Serving},
};
use crate::{
    engine::Value,
    error::{Error, ErrorKind, Result},
};
use fabric::code;
use std::{marker::PhantomData, panic::Location};

impl Epoch {
    /// This processor's number in the group.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).run_all(|g| g.epoch(|e| e.rank()));
    /// assert_eq!(ranks.unwrap(), [0, 1]);
    /// ```
    #[inline]
    pub fn rank(&self) -> usize {
        self.state.rank
    }

    /// How many processors the group has.
    ///
    /// ```
    /// let sizes = superstep::Config::new().procs(2).run_all(|g| g.epoch(|e| e.size()));
    /// assert_eq!(sizes.unwrap(), [2, 2]);
    /// ```
    #[inline]
    pub fn size(&self) -> usize {
        self.state.size
    }

    /// Sends a request: `method` runs on processor `to`, with its representative of `on` and with `args`, before the
    /// epoch ends. Returns at once.
    ///
    /// The method is a function or a closure that captures nothing; what it needs travels in `args`. Inside a process
    /// arguments move; between processes numbers, short arrays and vectors of numbers travel as they lie in memory, and
    /// everything else through postcard. A request to this processor itself waits its turn like any other: many of them
    /// in one loop are faster than one by one.
    ///
    /// ```
    /// let words = superstep::Config::new().procs(2).run_all(|g| {
    ///     let words = g.object(Vec::new());
    ///     g.epoch(|e| e.send(1 - e.rank(), &words, format!("from {}", e.rank()), |words, _, word| words.push(word)));
    ///     words.with(|words| words.join(", "))
    /// });
    /// assert_eq!(words.unwrap(), ["from 1", "from 0"]);
    /// ```
    ///
    /// A closure that captures something cannot be sent:
    ///
    /// ```compile_fail,E0080
    /// let offset = 3;
    /// superstep::run(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| e.send(0, &sum, 1, move |sum, _, x| *sum += x + offset));
    /// });
    /// ```
    ///
    /// Nor can one that stands for its thread:
    ///
    /// ```compile_fail,E0277
    /// #[derive(Clone, Copy)]
    /// struct OnThisThread(std::marker::PhantomData<*const ()>);
    /// superstep::run(|g| {
    ///     let (sum, token) = (g.object(0), OnThisThread(std::marker::PhantomData));
    ///     g.epoch(|e| e.send(0, &sum, 1, move |sum, _, x| { let _ = &token; *sum += x }));
    /// });
    /// ```
    ///
    /// # Cost
    ///
    /// A few nanoseconds, and g for the arguments; requests that follow each other with the same method and object have
    /// one header.
    ///
    /// # Panics
    ///
    /// If there is no rank `to`, or if the object is not one of this group.
    #[track_caller]
    #[inline]
    pub fn send<T: 'static, A: Value, M: Fn(&mut T, &Epoch, A) + Copy + Send + 'static>(
        &self,
        to: usize,
        on: &impl Target<T>,
        args: A,
        method: M,
    ) {
        if let Err(error) = self.try_send(to, on, args, method, Location::caller()) {
            error.raise();
        }
    }

    #[inline]
    fn try_send<T: 'static, A: Value, M: Fn(&mut T, &Epoch, A) + Copy + Send + 'static>(
        &self,
        to: usize,
        on: &impl Target<T>,
        args: A,
        method: M,
        site: &'static Location<'static>,
    ) -> Result {
        let state = &*self.state;
        let entry = code::entry::<Serving, Sent<T, A, M>>(Sent(method, PhantomData));
        let name = on.refer().name_in(&self.core, site)?;
        let mut lanes = state.lanes.borrow_mut();
        let Some(lane) = lanes.get_mut(to) else { return self.core.check_rank(to, site) };
        if lane.request(entry, name, args, &state.pool).map_err(|error| self.placed(&error, site))? {
            drop(lanes);
            return self.post_held_back(to);
        }
        drop(lanes);
        self.tick()
    }

    /// Looks for what came, every so often.
    #[inline]
    pub(super) fn tick(&self) -> Result {
        let state = &*self.state;
        let left = state.until_poll.get();
        if left > 1 {
            state.until_poll.set(left - 1);
            return Ok(());
        }
        self.look()
    }

    /// Sends the same request to every processor of the group, this one as well: the one-sided broadcast.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(3).run_all(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| e.send_all(&sum, e.rank(), |sum, _, rank| *sum += rank));
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sums.unwrap(), [3; 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// That of p requests; `args` is cloned for each but the last.
    #[track_caller]
    pub fn send_all<T: 'static, A: Value, M: Fn(&mut T, &Epoch, A) + Copy + Send + 'static>(
        &self,
        on: &impl Target<T>,
        args: A,
        method: M,
    ) {
        let (me, size) = (self.rank(), self.size());
        for distance in 1..size {
            self.send((me + distance) % size, on, args.clone(), method);
        }
        self.send(me, on, args, method);
    }

    /// Sends on what waits to be sent, takes in what has come, and runs it.
    ///
    /// Every verb of the epoch does so now and then. A processor that computes for long without any should call this,
    /// because others may wait for its answers.
    ///
    /// ```
    /// let counts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let count = g.object(0);
    ///     g.epoch(|e| {
    ///         e.send(1 - e.rank(), &count, (), |count, _, ()| *count += 1);
    ///         while count.with(|count| *count) == 0 { e.poll() }
    ///     });
    ///     count.with(|count| *count)
    /// });
    /// assert_eq!(counts.unwrap(), [1, 1]);
    /// ```
    ///
    /// # Panics
    ///
    /// With the group's error, if a method has panicked somewhere; and in a method, if a request could run and as many
    /// methods are under way as [may be](crate::Tuning::nesting).
    #[track_caller]
    pub fn poll(&self) {
        let site = Location::caller();
        let polled = self.poll_now().and_then(|()| if self.is_too_deep() { Err(self.too_deep(site)) } else { Ok(()) });
        polled.unwrap_or_else(|error| error.raise());
    }

    /// Sends on what waits to be sent, so that nobody waits until there is enough for a letter.
    ///
    /// ```
    /// let sum = superstep::Config::new().procs(2).run(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| {
    ///         e.send(0, &sum, 1, |sum, _, x| *sum += x);
    ///         e.flush();
    ///     });
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sum.unwrap(), 2);
    /// ```
    pub fn flush(&self) {
        self.post_all().unwrap_or_else(|error| error.raise());
    }

    /// Waits until a request of somebody has run here since the epoch began or this was called last; returns at once if
    /// one has. Requests that follow each other with the same method and object count as one.
    ///
    /// ```
    /// let order = superstep::Config::new().procs(2).run_all(|g| {
    ///     let word = g.object("");
    ///     g.epoch(|e| match e.rank() {
    ///         0 => e.send(1, &word, (), |word, _, ()| *word = "ready"),
    ///         _ => e.wait_one(),
    ///     });
    ///     word.with(|word| *word)
    /// });
    /// assert_eq!(order.unwrap(), ["", "ready"]);
    /// ```
    ///
    /// # Panics
    ///
    /// With the group's error, if nobody can send one any more.
    #[track_caller]
    pub fn wait_one(&self) {
        let (state, site) = (&*self.state, Location::caller());
        let why = || format!("for a request ({}:{})", site.file(), site.line());
        let waited = self.wait_until(&why, || (state.runs.get() != state.waited.get()).then_some(()));
        state.waited.set(state.runs.get());
        waited.unwrap_or_else(|error| error.raise());
    }

    /// An error of an argument, with the place of the call.
    #[cold]
    pub(super) fn placed(&self, error: &Error, site: &Location<'_>) -> Error {
        self.core.error(error.kind(), error, site)
    }

    #[cold]
    pub(super) fn too_deep(&self, site: &Location<'_>) -> Error {
        let bound = self.state.tuning.get().nesting;
        let what = format!("remote methods call each other {bound} deep on this processor, and no more may");
        self.core.error(ErrorKind::TooDeep, what, site)
    }
}
