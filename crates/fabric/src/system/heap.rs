//! Zeros from the heap, where nothing is mapped.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
};

/// So many zeros, on a border; nothing where there is no such memory.
pub(crate) fn map(len: usize, border: usize) -> Option<NonNull<u8>> {
    let layout = Layout::from_size_align(len, border).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout's size is not zero.
    NonNull::new(unsafe { alloc_zeroed(layout) })
}

/// Gives memory back.
///
/// # Safety
///
/// It came from `map` with this length and border, and nobody uses it any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, len: usize, border: usize) {
    // SAFETY: the caller's promise: there is such a layout.
    let layout = unsafe { Layout::from_size_align_unchecked(len, border) };
    // SAFETY: the caller's promise.
    unsafe { dealloc(start.as_ptr(), layout) };
}
