//! Those who can go on.

/// A set of processors, of which any one is found at once.
pub(super) struct Roster {
    listed: Vec<usize>,
    /// Where each stands in the list.
    places: Vec<Option<usize>>,
}

impl Roster {
    /// Nobody, of so many processors.
    pub(super) fn new(processors: usize) -> Self {
        Self { listed: Vec::with_capacity(processors), places: vec![None; processors] }
    }

    pub(super) fn len(&self) -> usize {
        self.listed.len()
    }

    pub(super) fn get(&self, at: usize) -> usize {
        self.listed[at]
    }

    pub(super) fn add(&mut self, rank: usize) {
        if self.places[rank].is_none() {
            self.places[rank] = Some(self.listed.len());
            self.listed.push(rank);
        }
    }

    pub(super) fn remove(&mut self, rank: usize) {
        if let Some(at) = self.places[rank].take() {
            self.listed.swap_remove(at);
            if let Some(&moved) = self.listed.get(at) {
                self.places[moved] = Some(at);
            }
        }
    }
}
