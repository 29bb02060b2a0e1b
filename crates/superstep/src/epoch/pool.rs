//! What letters were made of that have been worked off, kept for its room.

use super::letter::{Moved, MovedLetter};
use fabric::Tray;

/// Spare vectors of arguments, and spare letters: as many come as go.
#[derive(Default)]
pub(super) struct Pool {
    /// Each with the bytes that it takes up, and how many they are together.
    arguments: Vec<(usize, Moved)>,
    bytes: usize,
    letters: Vec<(Box<MovedLetter>, Tray)>,
}

impl Pool {
    /// How many bytes of arguments are kept, and among how many vectors one of the right type is looked for.
    const MOST: usize = 4 << 20;
    const LOOKED_AT: usize = 4;
    const LETTERS: usize = 8;
    /// What a vector takes up besides its elements.
    const OVERHEAD: usize = 64;

    /// Keeps an empty vector that has room for so many bytes.
    pub(super) fn keep(&mut self, room: usize, vector: Moved) {
        let bytes = Self::OVERHEAD + room;
        if self.bytes + bytes <= Self::MOST {
            self.bytes += bytes;
            self.arguments.push((bytes, vector));
        }
    }

    pub(super) fn take<A: Send + 'static>(&mut self) -> Moved {
        let from = self.arguments.len().saturating_sub(Self::LOOKED_AT);
        let found = self.arguments[from..].iter().rposition(|(_, vector)| vector.is::<Vec<A>>());
        // One that is not wanted makes place.
        let Some((bytes, vector)) =
            found.map(|at| self.arguments.swap_remove(from + at)).or_else(|| self.arguments.pop())
        else {
            return Box::new(Vec::<A>::new());
        };
        self.bytes -= bytes;
        if found.is_some() { vector } else { Box::new(Vec::<A>::new()) }
    }

    /// Keeps what a letter was in, which is empty.
    pub(super) fn keep_letter(&mut self, letter: Box<MovedLetter>, tray: Tray) {
        if self.letters.len() < Self::LETTERS {
            self.letters.push((letter, tray));
        }
    }

    pub(super) fn take_letter(&mut self) -> (Box<MovedLetter>, Tray) {
        self.letters.pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_letters_are_kept_as_there_may_be() {
        let mut pool = Pool::default();
        for taken in 1..=9 {
            pool.keep_letter(Box::new(MovedLetter { taken, parcels: Vec::new() }), Tray::default());
        }
        assert_eq!([0; 9].map(|_| pool.take_letter().0.taken), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    }
}
