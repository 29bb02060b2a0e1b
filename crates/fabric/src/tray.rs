//! What one processor hands another at a meeting.

use crate::memory;
use std::any::Any;

/// A buffer of bytes, and objects that move as they are.
///
/// Buffers are never copied on the way: where processors share memory the vectors themselves change hands, and the room
/// in them comes back with the trays that flow the other way.
#[derive(Default)]
pub struct Tray {
    /// Bytes, in a form that sender and receiver agree on.
    pub bytes: Vec<u8>,
    /// Objects that change hands by moving a pointer; only between processors that share an address space.
    pub moved: Vec<Box<dyn Any + Send>>,
}

impl Tray {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.moved.is_empty()
    }

    /// Makes room for so many more bytes, on huge pages where they are many.
    pub fn make_room(&mut self, more: usize) {
        memory::make_room(&mut self.bytes, more);
    }

    /// Empties it and keeps the room.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.moved.clear();
    }
}

/// A tray of bytes alone.
impl From<Vec<u8>> for Tray {
    #[inline]
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, moved: Vec::new() }
    }
}

impl std::fmt::Debug for Tray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tray({} bytes, {} moved)", self.bytes.len(), self.moved.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_was_made_stays_when_a_tray_is_emptied() {
        let mut tray = Tray::default();
        tray.make_room(100);
        tray.bytes.push(7);
        tray.clear();
        assert!(tray.is_empty() && tray.bytes.capacity() >= 100);
    }
}
