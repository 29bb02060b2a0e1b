//! Collect: one value from each member, for all of them or for one.

use super::verb::{AtRoot, SMALL_BYTES, Verb, receive, receive_copy, verbs};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Item, Needs, Payload, Pending, Step, Value, damaged},
    error::Result,
};
use std::{
    any::{Any, type_name},
    marker::PhantomData,
    panic::Location,
    sync::Arc,
};

verbs! {
    CollectValues "collect"
    CollectSlices "collect_slice"
    CollectValuesTo "collect_to"
    CollectSlicesTo "collect_slice_to"
    CollectLists "collection of an algorithm"
}

/// One value from each member of which something is expected, by the verb `V`.
pub(super) struct FromEach<V, T, K> {
    /// By rank; `None` until it has come.
    pub(super) values: Vec<Option<T>>,
    all: Option<Vec<T>>,
    /// Whether this processor expects anything.
    expects: bool,
    _verb: PhantomData<(V, K)>,
}

impl<V: Verb, T: 'static, K: Codec<T>> FromEach<V, T, K> {
    pub(super) fn new(size: usize, expects: bool) -> Self {
        let values = if expects { (0..size).map(|_| None).collect() } else { Vec::new() };
        Self { values, all: None, expects, _verb: PhantomData }
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
        if self.expects {
            let stayed = self.values.drain(..).enumerate().filter(|(rank, _)| !left.contains(rank));
            self.all = Some(stayed.map(|(_, value)| value).collect::<Option<_>>().ok_or_else(damaged)?);
        }
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.all
    }
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
        *self.inner.values.get_mut(from).ok_or_else(damaged)? = Some(receive_copy::<T, K>(payload)?);
        Ok(())
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        self.inner.finish(left)
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.inner.all
    }
}

impl Step {
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
                self.send_copy(to, pending.item, &bytes);
            }
        }
        pending
    }

    fn collect_to_as<V: Verb, T: Send + 'static, K: Codec<T>>(
        &self,
        root: usize,
        value: T,
        site: &Location<'_>,
    ) -> Pending<Option<Vec<T>>> {
        self.check_root(root, site);
        let is_root = self.rank() == root;
        let mut inner = FromEach::<V, T, K>::new(self.size(), is_root);
        let mut away = Some(value);
        if is_root {
            inner.values[root] = away.take();
        }
        let away = away.map(|value| (root, value));
        self.place_and_send::<_, _, T, K>(AtRoot::<_, Vec<T>>::new(root, inner), root as u64, away, site)
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
        self.collect_as::<CollectSlices, Vec<T>, AsElements>(slice.to_vec(), Location::caller())
    }

    /// Gives everybody's value to `root`, in rank order; everybody else gets `None`. Collective.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).run_all(|g| g.step(|s| s.collect_to(1, s.rank())));
    /// assert_eq!(ranks.unwrap(), [None, Some(vec![0, 1])]);
    /// ```
    ///
    /// # Cost
    ///
    /// p n g at the root and n g elsewhere, for n words each.
    #[track_caller]
    pub fn collect_to<T: Value>(&self, root: usize, value: T) -> Pending<Option<Vec<T>>> {
        self.collect_to_as::<CollectValuesTo, T, AsValue>(root, value, Location::caller())
    }

    /// Gives everybody's slice to `root`, in rank order; lengths may differ. See [`collect_to`](Self::collect_to).
    ///
    /// ```
    /// let lists = superstep::Config::new().procs(2).run(|g| g.step(|s| s.collect_slice_to(0, &[7, 8][s.rank()..])));
    /// assert_eq!(lists.unwrap(), Some(vec![vec![7, 8], vec![8]]));
    /// ```
    #[track_caller]
    pub fn collect_slice_to<T: Element>(&self, root: usize, slice: &[T]) -> Pending<Option<Vec<Vec<T>>>> {
        self.collect_to_as::<CollectSlicesTo, Vec<T>, AsElements>(root, slice.to_vec(), Location::caller())
    }

    /// Gives everybody's list to all, as the codec says how lists travel.
    pub(crate) fn collect_lists<T: Clone + Send + 'static, K: Codec<Vec<T>>>(
        &self,
        list: Vec<T>,
        site: &Location<'_>,
    ) -> Pending<Vec<Vec<T>>> {
        self.collect_as::<CollectLists, Vec<T>, K>(list, site)
    }

    /// The older name of [`collect_to`](Self::collect_to).
    #[doc(hidden)]
    #[track_caller]
    pub fn collect_at<T: Value>(&self, root: usize, value: T) -> Pending<Option<Vec<T>>> {
        self.collect_to(root, value)
    }
}
