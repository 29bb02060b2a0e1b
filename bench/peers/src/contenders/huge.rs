//! Vectors on huge pages, every page of which is in place.
//!
//! - **H1** Advice about memory changes how fast it is, never what is in it.

/// The system's page; advice is about whole ones.
const PAGE: usize = 4096;

/// So many elements, each made from its index.
pub(crate) fn made<T>(len: usize, element: impl FnMut(usize) -> T) -> Vec<T> {
    let mut vector = Vec::<T>::with_capacity(len);
    advise(&mut vector);
    vector.extend((0..len).map(element));
    vector
}

/// So many default elements.
pub(crate) fn zeroed<T: Default>(len: usize) -> Vec<T> {
    made(len, |_| T::default())
}

/// A copy of a slice.
pub(crate) fn copied<T: Copy>(slice: &[T]) -> Vec<T> {
    made(slice.len(), |at| slice[at])
}

/// Asks for huge pages under a vector's capacity. Small ones have no whole page, and a system that has none to give
/// says so; both are as good as before.
#[cfg(target_os = "linux")]
fn advise<T>(vector: &mut Vec<T>) {
    let spare = vector.spare_capacity_mut();
    let bytes = size_of_val(spare);
    let start = spare.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    if skipped < bytes {
        let whole = (bytes - skipped) / PAGE * PAGE;
        // SAFETY: the range lies in the vector's own memory, which nobody else uses meanwhile, and H1.
        unsafe { libc::madvise(start.wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &mut Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_vectors_hold_what_they_should() {
        assert!(zeroed::<u64>(0).is_empty());
        assert_eq!(made(3, |at| at), [0, 1, 2]);
        let large: Vec<u32> = (0..3_000_000).collect();
        assert_eq!(copied(&large), large);
    }
}
