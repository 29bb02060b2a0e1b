//! The verbs of an epoch that do not wait, and those that look for what came.

use super::{
    deed::{By, Deed, Method, Plain},
    lane::Lane,
    methods::Entrance,
    object::{Handle, Target},
    pool::Pool,
    state::Epoch,
    work::Sent,
};
use crate::{
    engine::Value,
    error::{Result, place},
};
use fabric::code::Three;
use std::{cell::RefCell, panic::Location};

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
    /// ```compile_fail,E0308
    /// let offset = 3;
    /// superstep::run(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| e.send(0, &sum, 1, move |sum, _, x| *sum += x + offset));
    /// });
    /// ```
    ///
    /// Nor one that borrows:
    ///
    /// ```compile_fail,E0308
    /// superstep::run(|g| {
    ///     let (sum, offset) = (g.object(0), 3);
    ///     g.epoch(|e| e.send(0, &sum, 1, |sum, _, x| *sum += x + offset));
    /// });
    /// ```
    ///
    /// Nor one that captures what has no size. It may prove something, such as that a library was started, that is not
    /// so where the method runs:
    ///
    /// ```compile_fail,E0308
    /// #[derive(Clone, Copy)]
    /// struct Started(());
    /// superstep::run(|g| {
    ///     let (sum, proof) = (g.object(0), Started(()));
    ///     g.epoch(|e| e.send(0, &sum, 1, move |sum, _, x| { let _proof = proof; *sum += x }));
    /// });
    /// ```
    ///
    /// # Cost
    ///
    /// A few nanoseconds, and g for the arguments; requests that follow each other with the same method and object have
    /// one header. [`send_by`](Self::send_by) saves a call for each where it runs.
    ///
    /// # Panics
    ///
    /// If there is no rank `to`, or if the object is not one of this group.
    #[track_caller]
    #[inline]
    pub fn send<T: 'static, A: Value>(&self, to: usize, on: &impl Target<T>, args: A, method: fn(&mut T, &Epoch, A)) {
        self.send_deed::<Plain<T, A, ()>>(to, on, args, Three::<Plain<T, A, ()>>(method));
    }

    /// Sends a request like [`send`](Self::send), with a [method](Method) that is named by its type.
    ///
    /// ```
    /// use superstep::{Config, Epoch, Method};
    ///
    /// struct Add;
    /// impl Method for Add {
    ///     type On = u64;
    ///     type Args = u64;
    ///     type Answer = ();
    ///     fn run(sum: &mut u64, _: &Epoch, x: u64) { *sum += x }
    /// }
    ///
    /// let sums = Config::new().procs(2).run_all(|g| {
    ///     let sum = g.object(0);
    ///     g.epoch(|e| e.send_by::<Add>(1 - e.rank(), &sum, 5));
    ///     sum.with(|sum| *sum)
    /// });
    /// assert_eq!(sums.unwrap(), [5, 5]);
    /// ```
    #[track_caller]
    #[inline]
    pub fn send_by<M: Method<Answer = ()>>(&self, to: usize, on: &impl Target<M::On>, args: M::Args) {
        self.send_deed::<By<M>>(to, on, args, ());
    }

    #[track_caller]
    #[inline]
    pub(crate) fn send_deed<D: Deed<Answer = ()>>(
        &self,
        to: usize,
        on: &impl Target<D::On>,
        args: D::Args,
        function: D::Pointer,
    ) {
        if let Err(error) = self.try_send::<D>(to, on, args, function, Location::caller()) {
            error.raise();
        }
    }

    /// Sends like [`send_deed`](Self::send_deed), to an object that a method runs on: it is one of this group.
    #[track_caller]
    #[inline]
    pub(crate) fn send_on<D: Deed<Answer = ()>>(
        &self,
        to: usize,
        on: Handle<D::On>,
        args: D::Args,
        function: D::Pointer,
    ) {
        if let Err(error) = self.send_named::<D>(to, on.name(), args, function, Location::caller()) {
            error.raise();
        }
    }

    /// Sends a request for each of `items`, in their order; `place` says where to and with which arguments.
    #[track_caller]
    #[inline]
    pub(crate) fn send_each_on<D: Deed<Answer = ()>, X>(
        &self,
        on: Handle<D::On>,
        items: &[X],
        place: impl Fn(&X) -> (usize, D::Args),
        function: D::Pointer,
    ) {
        let (outgoing, site) = (&self.state.outgoing, Location::caller());
        let key = (Entrance::new::<Sent<D>>(function), on.name());
        let mut rest = items;
        while !rest.is_empty() {
            let mut lanes = outgoing.lanes.borrow_mut();
            let added = match &mut lanes[..] {
                [only] => {
                    let added = only.requests(key, rest, |item| place(item).1, &outgoing.pool);
                    added.map(|(count, is_full)| (count, is_full.then_some(0)))
                }
                lanes => add_until_full(lanes, key, rest, &place, &outgoing.pool),
            };
            drop(lanes);
            let sent = added.map_err(|error| self.placed(&error, site)).and_then(|(count, full)| {
                rest = &rest[count..];
                full.map_or_else(|| self.tick(count as u32), |to| self.post_held_back(to))
            });
            if let Err(error) = sent {
                error.raise();
            }
        }
    }

    #[inline]
    fn try_send<D: Deed<Answer = ()>>(
        &self,
        to: usize,
        on: &impl Target<D::On>,
        args: D::Args,
        function: D::Pointer,
        site: &'static Location<'static>,
    ) -> Result {
        let name = on.refer().name_in(&self.core, site)?;
        self.send_named::<D>(to, name, args, function, site)
    }

    #[inline]
    fn send_named<D: Deed<Answer = ()>>(
        &self,
        to: usize,
        name: u64,
        args: D::Args,
        function: D::Pointer,
        site: &'static Location<'static>,
    ) -> Result {
        let outgoing = &self.state.outgoing;
        let method = Entrance::new::<Sent<D>>(function);
        let mut lanes = outgoing.lanes.borrow_mut();
        let Some(lane) = lanes.get_mut(to) else { return self.core.check_rank(to, site) };
        if lane.request((method, name), None, args, false, &outgoing.pool).map_err(|error| self.placed(&error, site))? {
            drop(lanes);
            return self.post_held_back(to);
        }
        drop(lanes);
        self.tick(1)
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
    pub fn send_all<T: 'static, A: Value>(&self, on: &impl Target<T>, args: A, method: fn(&mut T, &Epoch, A)) {
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
        let (activity, site) = (&self.activity, Location::caller());
        let why = || format!("for a request ({})", place(site));
        let waited = self.wait_until(&why, || (activity.done != activity.seen).then_some(()));
        activity.seen.set(activity.done.get());
        waited.unwrap_or_else(|error| error.raise());
    }
}

/// Adds requests to the lanes they belong to, until one of these is full; says how many, and which.
#[inline]
fn add_until_full<X, A: Value>(
    lanes: &mut [Lane],
    key: (Entrance, u64),
    items: &[X],
    place: impl Fn(&X) -> (usize, A),
    pool: &RefCell<Pool>,
) -> Result<(usize, Option<usize>)> {
    for (at, item) in items.iter().enumerate() {
        let (to, argument) = place(item);
        if lanes[to].request(key, None, argument, false, pool)? {
            return Ok((at + 1, Some(to)));
        }
    }
    Ok((items.len(), None))
}

#[cfg(test)]
mod tests {
    use crate::Config;

    #[test]
    fn a_flush_leaves_nothing_that_waits_to_be_sent() {
        let outcome = Config::new().procs(2).run(|g| {
            let sum = g.object(0);
            g.epoch(|e| {
                let waits = || e.state.outgoing.lanes.borrow().iter().any(|lane| !lane.is_empty());
                (0..2).for_each(|to| e.send(to, &sum, 1, |sum, _, x| *sum += x));
                assert!(waits());
                e.flush();
                assert!(!waits());
            });
            assert_eq!(sum.with(|sum| *sum), 2);
        });
        outcome.expect("the run succeeds");
    }
}
