//! Deal: one member hands each its part.

use super::verb::{Verb, receive, root_left, verbs};
use crate::{
    engine::{AsElements, AsValue, Codec, Element, Item, Payload, Pending, Step, Value},
    error::{ErrorKind, Result},
};
use std::{
    any::{Any, type_name},
    marker::PhantomData,
    panic::Location,
};

verbs! {
    DealValues "deal"
    DealSlices "deal_slices"
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

impl Step {
    fn deal_as<V: Verb, T: Send + 'static, K: Codec<T>>(
        &self,
        root: usize,
        parts: Option<Vec<T>>,
        site: &'static Location<'static>,
    ) -> Pending<T> {
        self.check_root(root, site);
        let (rank, size) = (self.rank(), self.size());
        let parts = parts.filter(|_| rank == root);
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
        let item = FromOne::<V, T, K> { value: None, root, site, _verb: PhantomData };
        let parts = parts.into_iter().flatten().enumerate();
        self.place_and_send::<_, _, T, K>(item, root as u64, parts, site)
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
        self.deal_as::<DealSlices, Vec<T>, AsElements>(root, parts, Location::caller())
    }
}
