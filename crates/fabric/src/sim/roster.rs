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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roster_is_a_set_of_which_each_is_found() {
        let mut roster = Roster::new(5);
        let listed = |roster: &Roster| {
            let mut all: Vec<usize> = (0..roster.len()).map(|at| roster.get(at)).collect();
            all.sort_unstable();
            all
        };
        for rank in [3, 1, 3, 4, 0] {
            roster.add(rank);
        }
        assert_eq!(listed(&roster), [0, 1, 3, 4]);
        for (gone, left) in [(3, vec![0, 1, 4]), (3, vec![0, 1, 4]), (0, vec![1, 4]), (2, vec![1, 4]), (4, vec![1])] {
            roster.remove(gone);
            assert_eq!(listed(&roster), left);
        }
        roster.add(3);
        roster.remove(1);
        roster.remove(3);
        assert_eq!(roster.len(), 0);
    }
}
