//! Vectors that are kept for their room: the one pool of spare buffers.
//!
//! The system clears all memory that it hands out, which costs more than using it. So whoever is done with a vector
//! keeps it, and whoever needs one takes the one whose room fits best. Each layer has pools of its own, for the
//! elements that it moves; all of them are bounded in the same way.

/// Some vectors, kept for their room.
///
/// ```
/// let mut spares = fabric::Spares::<u8>::default();
/// [10, 100, 50].map(|room| spares.keep(Vec::with_capacity(room)));
/// assert_eq!(spares.bytes(), 160);
/// assert!((50..100).contains(&spares.take(40).capacity()));
/// assert!(spares.take(1000).capacity() >= 100);
/// ```
#[derive(Debug)]
pub struct Spares<T>(Vec<Vec<T>>);

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Spares<T> {
    /// So many are kept at most: the largest.
    pub const MOST: usize = 64;

    /// Takes an empty vector, as [`fitting`] says.
    #[inline]
    pub fn take(&mut self, len: usize) -> Vec<T> {
        fitting(&mut self.0, len)
    }

    /// Takes an empty vector, with whatever room it has.
    #[inline]
    pub fn any(&mut self) -> Vec<T> {
        self.0.pop().unwrap_or_default()
    }

    /// Empties a vector and keeps it, in the place of a smaller one if there are enough.
    #[inline]
    pub fn keep(&mut self, mut vector: Vec<T>) {
        vector.clear();
        if vector.capacity() == 0 {
            return;
        }
        if self.0.len() < Self::MOST {
            self.0.push(vector);
        } else if let Some(least) = self.0.iter_mut().min_by_key(|spare| spare.capacity())
            && least.capacity() < vector.capacity()
        {
            *least = vector;
        }
    }

    /// How many bytes of room are kept.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|spare| spare.capacity() * size_of::<T>()).sum()
    }
}

/// Takes the vector whose room fits best out of some that are kept for theirs: the smallest in which `len` elements
/// have room, or else the largest. A large one that is replaced because a small one happened to come first is dear.
#[inline]
pub fn fitting<T>(spares: &mut Vec<Vec<T>>, len: usize) -> Vec<T> {
    let rooms = spares.iter().map(Vec::capacity).enumerate();
    let best = rooms.min_by_key(|&(_, room)| if room >= len { (false, room) } else { (true, usize::MAX - room) });
    best.map_or_else(Vec::new, |(at, _)| spares.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_kept_and_no_more_than_the_bound() {
        let mut spares = Spares::<u8>::default();
        for room in 0..2 * Spares::<u8>::MOST {
            spares.keep(Vec::with_capacity(room));
        }
        assert_eq!(spares.0.len(), Spares::<u8>::MOST);
        assert!(spares.0.iter().all(|spare| spare.capacity() >= Spares::<u8>::MOST));
    }

    #[test]
    fn the_smallest_in_which_there_is_room_is_taken_or_else_the_largest() {
        let mut spares: Vec<Vec<u8>> = [10, 0, 100, 50].map(Vec::with_capacity).into();
        let taken = [40, 200, 5, 5].map(|len| fitting(&mut spares, len).capacity());
        assert_eq!(taken, [50, 100, 10, 0]);
        assert_eq!(fitting(&mut spares, 5).capacity(), 0, "none is left");
    }
}
