//! Collectives: verbs on a step in which every member takes part (R5).
//!
//! | verb | who gives | who gets | cost for n words each |
//! |---|---|---|---|
//! | `broadcast` | one | all | small: with the boundary; long: n g, in two phases 2 n g + l |
//! | `reduce`, `reduce_to` | all | all, one | small: with the boundary; n g log p |
//! | `prefix`, `prefix_with` | all | all | the same |
//! | `collect` | all | all | p n g |
//! | `collect_at` | all | one | p n g there, n g elsewhere |
//! | `deal` | one | each its part | p n g there, n g elsewhere |
//! | `exchange` | all | each its part | p n g |
//!
//! Small values travel in the messages of the boundary. Long ones travel apart: between processors that share memory a
//! vector changes hands without a copy. Every verb has a form for values and one for slices of plain elements, whose
//! lengths may differ from processor to processor.

use super::{
    broadcast::{APART, Broadcast, HERE, pieces, push_piece},
    verbs::{
        BroadcastSlice, BroadcastValue, CollectSlices, CollectSlicesAt, CollectValues, CollectValuesAt, DealSlices,
        DealValues, ExchangeSlices, ExchangeValues, Verb,
    },
};
use crate::{
    engine::{
        Address, AsRun, AsValue, Codec, Element, Item, Needs, Payload, Pending, Record, Step, Value, damaged, flags,
    },
    error::{Error, ErrorKind, Result},
};
use std::{
    any::{Any, type_name},
    marker::PhantomData,
    panic::Location,
    sync::Arc,
};

/// Up to this many bytes a value travels in the messages of the boundary.
const SMALL_BYTES: usize = 1 << 10;

/// Sends `value` to `to` for item `number`: by moving it where that can be done and pays, else encoded.
fn send<T: Send + 'static, K: Codec<T>>(step: &Step, to: usize, number: u32, value: T) -> Result {
    let address = Address::Item(number);
    if !K::is_small() && step.core.circle.borrow().shares(to) {
        step.outbox().push_moved(to, address, Box::new(value));
        return Ok(());
    }
    step.outbox().push(to, address, Record::Data, |out| K::encode(&value, out))
}

/// Receives what [`send`] sent.
fn receive<T: 'static, K: Codec<T>>(payload: Payload<'_>) -> Result<T> {
    match payload {
        Payload::Bytes(bytes) => K::decode(bytes),
        Payload::Moved(value) => value.downcast().map(|value| *value).map_err(|_| damaged()),
    }
}

/// One value from each member of which something is expected, by the verb `V`.
struct FromEach<V, T, K> {
    /// By rank; `None` until it has come.
    values: Vec<Option<T>>,
    all: Option<Vec<T>>,
    /// Whether this processor expects anything.
    expects: bool,
    _verb: PhantomData<(V, K)>,
}

impl<V: Verb, T: 'static, K: Codec<T>> FromEach<V, T, K> {
    fn new(size: usize, expects: bool) -> Self {
        let values = if expects { (0..size).map(|_| None).collect() } else { Vec::new() };
        Self { values, all: None, expects, _verb: PhantomData }
    }

    fn collect(&mut self, left: &[usize]) -> Result {
        if self.expects {
            let stayed = self.values.drain(..).enumerate().filter(|(rank, _)| !left.contains(rank));
            self.all = Some(stayed.map(|(_, value)| value).collect::<Option<_>>().ok_or_else(damaged)?);
        }
        Ok(())
    }
}

impl<V: Verb, T: 'static, K: Codec<T>> Item for FromEach<V, T, K> {
    fn describe(&self) -> String {
        format!("{} of {}", V::NAME, type_name::<T>())
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        *self.values.get_mut(from).ok_or_else(damaged)? = Some(receive::<T, K>(payload)?);
        Ok(())
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        self.collect(left)
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.all
    }
}

/// The same for one processor alone: the others get `None`.
struct FromEachAt<V, T, K> {
    root: usize,
    inner: FromEach<V, T, K>,
    #[expect(clippy::option_option, reason = "an outcome is an Option of the pending type, which is one itself")]
    value: Option<Option<Vec<T>>>,
}

impl<V: Verb, T: 'static, K: Codec<T>> Item for FromEachAt<V, T, K> {
    fn describe(&self) -> String {
        format!("{} at root {}", self.inner.describe(), self.root)
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        self.inner.deliver(from, payload)
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        self.inner.collect(left)?;
        self.value = Some(self.inner.all.take());
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.value
    }
}

/// One value from one member.
struct FromOne<V, T, K> {
    value: Option<T>,
    root: usize,
    site: &'static Location<'static>,
    _verb: PhantomData<(V, K)>,
}

impl<V: Verb, T: 'static, K: Codec<T>> Item for FromOne<V, T, K> {
    fn describe(&self) -> String {
        format!("{} from {} of {}", V::NAME, self.root, type_name::<T>())
    }

    fn deliver(&mut self, _: usize, payload: Payload<'_>) -> Result {
        self.value = Some(receive::<T, K>(payload)?);
        Ok(())
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        if left.contains(&self.root) { Err(root_left(self.root, self.site)) } else { Ok(()) }
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.value
    }
}

pub(super) fn root_left(root: usize, site: &Location<'_>) -> Error {
    let message =
        format!("rank {root} left the group before it gave the others their part ({}:{})", site.file(), site.line());
    Error::new(ErrorKind::Departed, message)
}

/// One value from each member for all of them.
struct Collect<V, T, K> {
    /// Mine, encoded, where it is small; with my rank and its length in front.
    small: Vec<u8>,
    inner: FromEach<V, T, K>,
}

impl<V: Verb, T: 'static, K: Codec<T>> Item for Collect<V, T, K> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn needs(&self) -> Needs {
        Needs::Total
    }

    fn contribute(&self, out: &mut Vec<u8>) -> Result {
        out.extend_from_slice(&self.small);
        Ok(())
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
        Ok(())
    }

    fn conclude(&mut self, found: Option<&[u8]>) -> Result {
        let mut bytes = found.unwrap_or_default();
        while let Some((header, rest)) = bytes.split_first_chunk::<8>() {
            let [rank, len] = [&header[..4], &header[4..]]
                .map(|word| u32::from_le_bytes(word.try_into().expect("half of eight bytes")) as usize);
            let (value, rest) = rest.split_at_checked(len).ok_or_else(damaged)?;
            let slot = self.inner.values.get_mut(rank).ok_or_else(damaged)?;
            if slot.is_none() {
                *slot = Some(K::decode(value)?);
            }
            bytes = rest;
        }
        if bytes.is_empty() { Ok(()) } else { Err(damaged()) }
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        let value = match payload {
            Payload::Bytes(bytes) => K::decode(bytes)?,
            Payload::Moved(bytes) => K::decode(&bytes.downcast::<Arc<Vec<u8>>>().map_err(|_| damaged())?)?,
        };
        *self.inner.values.get_mut(from).ok_or_else(damaged)? = Some(value);
        Ok(())
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        self.inner.collect(left)
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.inner.all
    }
}

impl Step {
    fn check_root(&self, root: usize, site: &Location<'_>) {
        self.core.check_rank(root, site).unwrap_or_else(|error| error.raise());
    }

    fn refuse(&self, kind: ErrorKind, what: &str, site: &Location<'_>) -> ! {
        self.core.error(kind, what, site).raise()
    }

    /// Unwinds with an error of a verb that could not encode its value.
    fn must(&self, outcome: Result, site: &Location<'_>) {
        if let Err(error) = outcome {
            self.core.error(error.kind(), error, site).raise();
        }
    }

    fn broadcast_as<V: Verb, T: Clone + Send + 'static, K: Codec<T>>(
        &self,
        root: usize,
        value: Option<T>,
        site: &'static Location<'static>,
    ) -> Pending<T> {
        self.check_root(root, site);
        let (rank, size) = (self.rank(), self.size());
        let mut small = Vec::new();
        let mut long = None;
        let value = value.filter(|_| rank == root);
        if rank == root {
            let Some(value) = &value else {
                let what = format!("rank {root} is the root of this broadcast and gave no value");
                self.refuse(ErrorKind::NoValue, &what, site);
            };
            let mut bytes = vec![HERE];
            self.must(K::encode(value, &mut bytes), site);
            if bytes.len() <= SMALL_BYTES {
                small = bytes;
            } else {
                small = vec![APART];
                bytes.remove(0);
                long = Some(bytes);
            }
        }
        let pieces = Vec::new();
        let item = Broadcast::<V, T, K> { value, root, rank, size, small, pieces, site, _verb: PhantomData };
        let pending = self.core.place(item, root as u64);
        if let Some(bytes) = long {
            self.send_long(root, pending.item, bytes);
        }
        pending
    }

    /// Hands a long value to all: whole where memory is shared, else a piece to each, who pass it on.
    fn send_long(&self, root: usize, number: u32, bytes: Vec<u8>) {
        let others: Vec<usize> = (0..self.size()).filter(|&to| to != root).collect();
        if others.iter().all(|&to| self.core.circle.borrow().shares(to)) {
            let bytes = Arc::new(bytes);
            for to in others {
                self.outbox().push_moved(to, Address::Item(number), Box::new(Arc::clone(&bytes)));
            }
            return;
        }
        for (to, piece) in pieces(&bytes, root, self.size()) {
            push_piece(&mut self.outbox(), to, number, to, piece);
        }
        self.core.raise_flag(flags::FORWARDS);
    }

    fn collect_as<V: Verb, T: Clone + Send + 'static, K: Codec<T>>(
        &self,
        value: T,
        site: &Location<'_>,
    ) -> Pending<Vec<T>> {
        let (rank, size) = (self.rank(), self.size());
        let mut bytes = Vec::new();
        self.must(K::encode(&value, &mut bytes), site);
        let mut inner = FromEach::<V, T, K>::new(size, true);
        inner.values[rank] = Some(value);
        let mut small = Vec::new();
        let is_small = bytes.len() <= SMALL_BYTES;
        if is_small {
            small.extend_from_slice(&(rank as u32).to_le_bytes());
            small.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            small.extend_from_slice(&bytes);
        }
        let pending = self.core.place(Collect { small, inner }, 0);
        if !is_small {
            let bytes = Arc::new(bytes);
            for to in (0..size).filter(|&to| to != rank) {
                let address = Address::Item(pending.item);
                if self.core.circle.borrow().shares(to) {
                    self.outbox().push_moved(to, address, Box::new(Arc::clone(&bytes)));
                } else {
                    self.outbox().push(to, address, Record::Data, |out| out.extend_from_slice(&bytes));
                }
            }
        }
        pending
    }

    fn collect_at_as<V: Verb, T: Send + 'static, K: Codec<T>>(
        &self,
        root: usize,
        value: T,
        site: &'static Location<'static>,
    ) -> Pending<Option<Vec<T>>> {
        self.check_root(root, site);
        let is_root = self.rank() == root;
        let mut inner = FromEach::<V, T, K>::new(self.size(), is_root);
        let mut away = None;
        if is_root {
            inner.values[root] = Some(value);
        } else {
            away = Some(value);
        }
        let attempt = self.core.attempt();
        let pending = self.core.place(FromEachAt { root, inner, value: None }, root as u64);
        if let Some(value) = away {
            self.must(send::<T, K>(self, root, pending.item, value), site);
        }
        attempt.done();
        pending
    }

    fn deal_as<V: Verb, T: Send + 'static, K: Codec<T>>(
        &self,
        root: usize,
        parts: Option<Vec<T>>,
        site: &'static Location<'static>,
    ) -> Pending<T> {
        self.check_root(root, site);
        let (rank, size) = (self.rank(), self.size());
        let mut parts = parts.filter(|_| rank == root);
        if rank == root {
            match &parts {
                None => {
                    let what = format!("rank {root} is the root of this deal and gave no parts");
                    self.refuse(ErrorKind::NoValue, &what, site);
                }
                Some(parts) if parts.len() != size => {
                    let what = format!("{} parts to deal in a group of {size}; give one per rank", parts.len());
                    self.refuse(ErrorKind::BadLength, &what, site);
                }
                Some(_) => {}
            }
        }
        let attempt = self.core.attempt();
        let pending = self.core.place(FromOne::<V, T, K> { value: None, root, site, _verb: PhantomData }, root as u64);
        for (to, part) in parts.iter_mut().flat_map(|parts| parts.drain(..)).enumerate() {
            self.must(send::<T, K>(self, to, pending.item, part), site);
        }
        attempt.done();
        pending
    }

    fn exchange_as<V: Verb, T: Send + 'static, K: Codec<T>>(
        &self,
        parts: Vec<T>,
        site: &'static Location<'static>,
    ) -> Pending<Vec<T>> {
        let (rank, size) = (self.rank(), self.size());
        if parts.len() != size {
            let what = format!("{} parts to exchange in a group of {size}; give one per rank", parts.len());
            self.refuse(ErrorKind::BadLength, &what, site);
        }
        let mut item = FromEach::<V, T, K>::new(size, true);
        let mut away = Vec::with_capacity(size);
        for (to, part) in parts.into_iter().enumerate() {
            if to == rank {
                item.values[rank] = Some(part);
            } else {
                away.push((to, part));
            }
        }
        let attempt = self.core.attempt();
        let pending = self.core.place(item, 0);
        for (to, part) in away {
            self.must(send::<T, K>(self, to, pending.item, part), site);
        }
        attempt.done();
        pending
    }

    /// Gives `root`'s value to all. `root` passes `Some`; what others pass is not looked at. Collective.
    ///
    /// ```
    /// let word = superstep::Config::new().procs(3).run_all(|g| {
    ///     let word = g.leader(|| "hello".to_owned());
    ///     g.step(|s| s.broadcast(0, word))
    /// });
    /// assert_eq!(word.unwrap(), ["hello"; 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// With the boundary for small values. For n words n g where memory is shared; elsewhere two phases, 2 n g + l:
    /// each member gets a piece and passes it on.
    #[track_caller]
    pub fn broadcast<T: Value>(&self, root: usize, value: Option<T>) -> Pending<T> {
        self.broadcast_as::<BroadcastValue, T, AsValue>(root, value, Location::caller())
    }

    /// Gives `root`'s slice to all; see [`broadcast`](Self::broadcast).
    ///
    /// ```
    /// let primes = superstep::Config::new().procs(2).run_all(|g| {
    ///     let slice = g.is_leader().then_some(&[2, 3, 5][..]);
    ///     g.step(|s| s.broadcast_slice(0, slice))
    /// });
    /// assert_eq!(primes.unwrap(), [[2, 3, 5], [2, 3, 5]]);
    /// ```
    #[track_caller]
    pub fn broadcast_slice<T: Element>(&self, root: usize, slice: Option<&[T]>) -> Pending<Vec<T>> {
        self.broadcast_as::<BroadcastSlice, Vec<T>, AsRun>(root, slice.map(<[T]>::to_vec), Location::caller())
    }

    /// Gives everybody's value to all, in rank order. Collective.
    ///
    /// ```
    /// let squares = superstep::Config::new().procs(3).run(|g| g.step(|s| s.collect(s.rank() * s.rank())));
    /// assert_eq!(squares.unwrap(), [0, 1, 4]);
    /// ```
    ///
    /// # Cost
    ///
    /// p n g for n words each.
    #[track_caller]
    pub fn collect<T: Value>(&self, value: T) -> Pending<Vec<T>> {
        self.collect_as::<CollectValues, T, AsValue>(value, Location::caller())
    }

    /// Gives everybody's slice to all, in rank order; lengths may differ. See [`collect`](Self::collect).
    ///
    /// ```
    /// let lists = superstep::Config::new().procs(3).run(|g| {
    ///     let mine = vec![g.rank() as u8; g.rank()];
    ///     g.step(|s| s.collect_slice(&mine))
    /// });
    /// assert_eq!(lists.unwrap(), [vec![], vec![1], vec![2, 2]]);
    /// ```
    #[track_caller]
    pub fn collect_slice<T: Element>(&self, slice: &[T]) -> Pending<Vec<Vec<T>>> {
        self.collect_as::<CollectSlices, Vec<T>, AsRun>(slice.to_vec(), Location::caller())
    }

    /// Gives everybody's value to `root`, in rank order; everybody else gets `None`. Collective.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).run_all(|g| g.step(|s| s.collect_at(1, s.rank())));
    /// assert_eq!(ranks.unwrap(), [None, Some(vec![0, 1])]);
    /// ```
    ///
    /// # Cost
    ///
    /// p n g at the root and n g elsewhere, for n words each.
    #[track_caller]
    pub fn collect_at<T: Value>(&self, root: usize, value: T) -> Pending<Option<Vec<T>>> {
        self.collect_at_as::<CollectValuesAt, T, AsValue>(root, value, Location::caller())
    }

    /// Gives everybody's slice to `root`, in rank order; lengths may differ. See [`collect_at`](Self::collect_at).
    ///
    /// ```
    /// let lists = superstep::Config::new().procs(2).run(|g| g.step(|s| s.collect_slice_at(0, &[7, 8][s.rank()..])));
    /// assert_eq!(lists.unwrap(), Some(vec![vec![7, 8], vec![8]]));
    /// ```
    #[track_caller]
    pub fn collect_slice_at<T: Element>(&self, root: usize, slice: &[T]) -> Pending<Option<Vec<Vec<T>>>> {
        self.collect_at_as::<CollectSlicesAt, Vec<T>, AsRun>(root, slice.to_vec(), Location::caller())
    }

    /// Hands each member its part of what `root` has, one per rank. What others pass is not looked at. Collective.
    ///
    /// ```
    /// let names = superstep::Config::new().procs(2).run_all(|g| {
    ///     let names = g.leader(|| vec!["left".to_owned(), "right".to_owned()]);
    ///     g.step(|s| s.deal(0, names))
    /// });
    /// assert_eq!(names.unwrap(), ["left", "right"]);
    /// ```
    ///
    /// # Cost
    ///
    /// p n g at the root and n g elsewhere, for n words each.
    #[track_caller]
    pub fn deal<T: Value>(&self, root: usize, parts: Option<Vec<T>>) -> Pending<T> {
        self.deal_as::<DealValues, T, AsValue>(root, parts, Location::caller())
    }

    /// Hands each member its slice of what `root` has; lengths may differ. See [`deal`](Self::deal).
    ///
    /// ```
    /// let parts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let slices: [&[u8]; 2] = [&[1], &[2, 3]];
    ///     g.step(|s| s.deal_slices(0, Some(&slices)))
    /// });
    /// assert_eq!(parts.unwrap(), [vec![1], vec![2, 3]]);
    /// ```
    #[track_caller]
    pub fn deal_slices<T: Element>(&self, root: usize, slices: Option<&[&[T]]>) -> Pending<Vec<T>> {
        let parts = slices.map(|slices| slices.iter().map(|slice| slice.to_vec()).collect());
        self.deal_as::<DealSlices, Vec<T>, AsRun>(root, parts, Location::caller())
    }

    /// Hands each member one value of mine and yields the one that each has for me, in rank order. Collective.
    ///
    /// Between processors that share memory the values move; they are not copied.
    ///
    /// ```
    /// let received = superstep::Config::new().procs(3).run_all(|g| {
    ///     let mine = (0..3).map(|to| (g.rank(), to)).collect();
    ///     g.step(|s| s.exchange(mine))
    /// });
    /// assert_eq!(received.unwrap()[2], [(0, 2), (1, 2), (2, 2)]);
    /// ```
    ///
    /// # Cost
    ///
    /// p n g for n words each.
    #[track_caller]
    pub fn exchange<T: Value>(&self, per_target: Vec<T>) -> Pending<Vec<T>> {
        self.exchange_as::<ExchangeValues, T, AsValue>(per_target, Location::caller())
    }

    /// Hands each member one slice of mine and yields the one that each has for me; lengths may differ. See
    /// [`exchange`](Self::exchange).
    ///
    /// ```
    /// let received = superstep::Config::new().procs(2).run_all(|g| {
    ///     let mine = [g.rank()];
    ///     g.step(|s| s.exchange_slices(&[&[], &mine]))
    /// });
    /// assert_eq!(received.unwrap(), [vec![vec![], vec![]], vec![vec![0], vec![1]]]);
    /// ```
    #[track_caller]
    pub fn exchange_slices<T: Element>(&self, per_target: &[&[T]]) -> Pending<Vec<Vec<T>>> {
        let parts = per_target.iter().map(|slice| slice.to_vec()).collect();
        self.exchange_as::<ExchangeSlices, Vec<T>, AsRun>(parts, Location::caller())
    }
}
