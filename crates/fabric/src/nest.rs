//! Where those who make something together find it: whoever comes first makes it.
//!
//! What is found here is named exactly, by numbers of which all of its makers know that nobody else has used them.
//! Nothing depends on a hash, so no choice of a program's lets two groups find each other's.

use crate::lock::lock;
use std::{collections::HashMap, sync::Mutex};

/// The name of a circle, or of something that members have in common, among all that is made from one circle.
///
/// ```
/// use fabric::Name;
///
/// assert_eq!(Name::new(7), Name { serial: 7, purpose: 0, part: 0 });
/// assert_ne!(Name::new(7), Name { part: 1, ..Name::new(7) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// A number that all members count alike, such as the step in which it is made.
    pub serial: u64,
    /// What it is made for.
    pub purpose: u32,
    /// Which of several that are made for one purpose.
    pub part: u64,
}

impl Name {
    /// The circle in which a run ends.
    pub(crate) const END: Self = Self { serial: u64::MAX, purpose: u32::MAX, part: 0 };

    /// The name of something that is made alone.
    pub fn new(serial: u64) -> Self {
        Self { serial, purpose: 0, part: 0 }
    }
}

/// Things by their names, each with how many have found it.
pub(crate) struct Nest<V>(Mutex<HashMap<Name, (V, usize)>>);

impl<V> Default for Nest<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V: Clone> Nest<V> {
    /// What has this name: made by whoever asks first, and forgotten here once `owners` have asked.
    pub(crate) fn find(&self, name: Name, owners: usize, make: impl FnOnce() -> V) -> V {
        let mut kept = lock(&self.0);
        let (found, asked) = kept.entry(name).or_insert_with(|| (make(), 0));
        *asked += 1;
        let (found, is_last) = (found.clone(), *asked >= owners);
        if is_last {
            kept.remove(&name);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_have_found_is_forgotten() {
        let (nest, name) = (Nest::default(), Name::new(1));
        assert_eq!((nest.find(name, 2, || 'a'), nest.find(name, 2, || 'b')), ('a', 'a'));
        assert_eq!(nest.find(name, 2, || 'c'), 'c');
        assert_eq!(nest.find(Name { part: 1, ..name }, 2, || 'd'), 'd');
    }
}
