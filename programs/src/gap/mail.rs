//! News for vertices of other processors, collected while a superstep computes and handed over at its end.

use super::graph::Home;
use superstep::{
    Group, Step,
    values::{Element, Settle, Value},
};

/// What is to be told to the owners of vertices: a value for the vertex at a place.
pub(super) struct Mail<T> {
    /// By owner.
    places: Vec<Vec<u32>>,
    values: Vec<Vec<T>>,
}

impl<T: Element + Value> Mail<T> {
    pub(super) fn new(g: &Group) -> Self {
        Self { places: vec![Vec::new(); g.size()], values: vec![Vec::new(); g.size()] }
    }

    #[inline]
    pub(super) fn put(&mut self, home: Home, value: T) {
        self.places[home.owner as usize].push(home.place);
        self.values[home.owner as usize].push(value);
    }

    /// Hands everything over, and takes what the others have for the vertices here: by rising rank of who told it, and
    /// of each in the order in which it was told. One superstep.
    pub(super) fn hand_over(&mut self, g: &mut Group, take: impl FnMut(usize, T)) {
        self.hand_over_with(g, |_| (), take);
    }

    /// The same, with something else in that superstep. Returns what comes of it.
    pub(super) fn hand_over_with<S: Settle>(
        &mut self,
        g: &mut Group,
        also: impl FnOnce(&Step) -> S,
        mut take: impl FnMut(usize, T),
    ) -> S::Out {
        let empty = Self::new(g);
        let Self { places, values } = std::mem::replace(self, empty);
        let (places, values, also) = g.step(|s| (s.exchange(places), s.exchange(values), also(s)));
        for (places, values) in places.iter().zip(&values) {
            for (&place, &value) in places.iter().zip(values) {
                take(place as usize, value);
            }
        }
        also
    }
}
