//! Exchange: each member hands each one a part.

use super::{
    collect::FromEach,
    verb::{Verb, verbs},
};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Pending, Step, Value},
    error::ErrorKind,
};
use std::panic::Location;

verbs! {
    ExchangeValues "exchange"
    ExchangeSlices "exchange_slices"
    ExchangeLists "exchange of an algorithm"
}

impl Step {
    fn exchange_as<V: Verb, T: Send + 'static, K: Codec<T>>(
        &self,
        parts: Vec<T>,
        site: &Location<'_>,
    ) -> Pending<Vec<T>> {
        let (rank, size) = (self.rank(), self.size());
        if parts.len() != size {
            let what = format!("{} parts to exchange in a group of {size}; give one per rank", parts.len());
            self.refuse(ErrorKind::BadLength, &what, site);
        }
        let mut item = FromEach::<V, T, K>::new(size, true);
        let mut parts: Vec<(usize, T)> = parts.into_iter().enumerate().collect();
        item.values[rank] = Some(parts.remove(rank).1);
        self.place_and_send::<_, _, T, K>(item, 0, parts, site)
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
        self.exchange_as::<ExchangeSlices, Vec<T>, AsElements>(parts, Location::caller())
    }

    /// Hands each member one list of mine, as the codec says how lists travel.
    pub(crate) fn exchange_lists<T: Send + 'static, K: Codec<Vec<T>>>(
        &self,
        per_target: Vec<Vec<T>>,
        site: &Location<'_>,
    ) -> Pending<Vec<Vec<T>>> {
        self.exchange_as::<ExchangeLists, Vec<T>, K>(per_target, site)
    }
}
