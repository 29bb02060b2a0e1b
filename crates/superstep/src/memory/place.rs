//! Places in an array.

/// A place in an array of `N` dimensions: `[usize; N]`, and in one dimension also a plain `usize`.
///
/// ```
/// use superstep::{Array, Block, Config, Cyclic};
///
/// let owners = Config::new().procs(2).run(|g| {
///     let line = g.array::<u8, Cyclic>(4);
///     let sheet: Array<u8, Block, 2> = g.array_with([4, 3], Block);
///     (line.owner(3), line.owner([3]), sheet.owner([3, 0]))
/// });
/// assert_eq!(owners.unwrap(), (1, 1, 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no place in an array of {N} dimensions",
    label = "not a place",
    note = "a place is a `usize` in one dimension, and `[usize; {N}]` in any"
)]
pub trait Place<const N: usize>: Copy {
    /// Its index in each dimension.
    #[doc(hidden)]
    fn indices(self) -> [usize; N];
}

impl Place<1> for usize {
    #[inline]
    fn indices(self) -> [usize; 1] {
        [self]
    }
}

impl<const N: usize> Place<N> for [usize; N] {
    #[inline]
    fn indices(self) -> [usize; N] {
        self
    }
}

/// The number of an element in row-major order; the first dimension in which it does not exist, if there is one.
#[inline]
pub(crate) fn linear<const N: usize>(at: [usize; N], shape: &[usize; N]) -> Result<usize, usize> {
    let mut index = 0;
    for dimension in 0..N {
        if at[dimension] >= shape[dimension] {
            return Err(dimension);
        }
        index = index * shape[dimension] + at[dimension];
    }
    Ok(index)
}

pub(crate) fn place<const N: usize>(mut index: usize, shape: &[usize; N]) -> [usize; N] {
    let mut at = [0; N];
    for dimension in (0..N).rev() {
        at[dimension] = index % shape[dimension];
        index /= shape[dimension];
    }
    at
}
