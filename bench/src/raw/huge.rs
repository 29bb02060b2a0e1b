//! Vectors on huge pages, every page of which is in place.

/// So many elements, each made from its index.
pub fn made<T>(len: usize, element: impl FnMut(usize) -> T) -> Vec<T> {
    let mut vector = Vec::new();
    fabric::make_room(&mut vector, len);
    vector.extend((0..len).map(element));
    vector
}

/// So many default elements.
pub fn zeroed<T: Default>(len: usize) -> Vec<T> {
    made(len, |_| T::default())
}

/// A copy of a slice.
pub fn copied<T: Copy>(slice: &[T]) -> Vec<T> {
    made(slice.len(), |at| slice[at])
}

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
