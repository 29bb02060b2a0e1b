//! What is known of an image: an executable or a shared library that is loaded into this process.

use std::ops::Range;

/// An image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// A number for its build: a hash of what its linker has left for that, or else of all its code.
    pub(crate) id: u64,
    /// The address that its places count from.
    pub(crate) base: usize,
    /// Where code can be run.
    pub(crate) code: Vec<Range<usize>>,
}

/// What tells whether images were loaded or unloaded since they were listed; nothing before that.
pub(crate) type Stamp = Option<[u64; 2]>;

/// Goes on with a hash.
#[cfg_attr(miri, allow(dead_code, reason = "all code is one image there"))]
pub(super) fn mix(start: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(start ^ bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_have_another_number() {
        assert_ne!(mix(0, b"a"), mix(0, b"b"));
        assert_ne!(mix(0, b"a"), mix(1, b"a"));
        assert_ne!(mix(!0, b"a"), mix(!0, b"b"));
        assert_ne!(mix(0, b"a"), mix(0, b"a\0"));
    }
}
