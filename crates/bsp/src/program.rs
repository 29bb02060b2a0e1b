//! The program's memory, which it names by addresses.
//!
//! # Invariants
//!
//! - **M1** An address and a length that the program hands over name memory of its own that is there: for the time of
//!   the call, or, if it registered them, as long as they are registered; and for a get or a high-performance transfer,
//!   until the boundary. The standard asks that of programs, and nothing can check it.
//! - **M2** The library never runs while the program does, and keeps no reference into its memory across a call.

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// Copies bytes of the program.
///
/// # Safety
///
/// M1 for `len` bytes at `address`, and they outlive the borrow.
pub(crate) unsafe fn bytes<'a>(address: usize, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: M1, M2.
    unsafe { std::slice::from_raw_parts(with_exposed_provenance(address), len) }
}

/// The same, to write to.
///
/// # Safety
///
/// As [`bytes`], and nobody else uses them meanwhile.
pub(crate) unsafe fn bytes_mut<'a>(address: usize, len: usize) -> &'a mut [u8] {
    if len == 0 {
        return &mut [];
    }
    // SAFETY: M1, M2.
    unsafe { std::slice::from_raw_parts_mut(with_exposed_provenance_mut(address), len) }
}

/// Writes bytes to the program's memory, which may overlap with them.
///
/// # Safety
///
/// M1 for as many bytes at `address`.
#[inline]
pub(crate) unsafe fn write(address: usize, bytes: &[u8]) {
    // Eight bytes at once, which is what most are.
    if let Ok(&word) = <&[u8; 8]>::try_from(bytes) {
        // SAFETY: M1.
        return unsafe { with_exposed_provenance_mut::<[u8; 8]>(address).write(word) };
    }
    // SAFETY: M1.
    unsafe { std::ptr::copy(bytes.as_ptr(), with_exposed_provenance_mut(address), bytes.len()) };
}
