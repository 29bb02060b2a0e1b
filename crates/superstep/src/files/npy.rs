//! Arrays in the format of `NumPy`.

use super::{
    arrays::{self, Placed},
    disk::File,
    header::{self, Header},
    together::{Trouble, by_leader, named, same_path, together},
};
use crate::{
    engine::{Element, Group},
    error::Result,
    memory::{Array, Distribution},
};
use std::path::Path;

/// What an `.npy` file can hold: numbers, and pairs of `f32` or `f64` as complex ones.
///
/// ```
/// use superstep::files::Number;
///
/// assert_eq!((<f64 as Number>::DESCR, <u8 as Number>::DESCR), ("<f8", "|u1"));
/// ```
#[diagnostic::on_unimplemented(
    message = "an .npy file cannot hold `{Self}`",
    note = "it holds integers of up to 64 bits, `f32`, `f64`, and pairs of these; `write_raw` takes any element"
)]
pub trait Number: Element {
    /// What `NumPy` calls it.
    const DESCR: &str;
    /// How many bytes change places where the order of bytes is the other one.
    #[doc(hidden)]
    const WORD: usize = size_of::<Self>();
}

macro_rules! numbers {
    ($($number:ty: $descr:literal)*) => { $(impl Number for $number { const DESCR: &str = $descr; })* };
}

numbers! {
    u8: "|u1" i8: "|i1" u16: "<u2" i16: "<i2" u32: "<u4" i32: "<i4" u64: "<u8" i64: "<i8" f32: "<f4" f64: "<f8"
}

#[cfg(target_pointer_width = "64")]
numbers! { usize: "<u8" isize: "<i8" }

impl Number for [f32; 2] {
    const DESCR: &str = "<c8";
    const WORD: usize = 4;
}

impl Number for [f64; 2] {
    const DESCR: &str = "<c16";
    const WORD: usize = 8;
}

/// What a type of the format is called here: it counts bytes, and Rust bits.
fn in_bits(kind: &str) -> String {
    let bits =
        kind.get(1..).and_then(|bytes| bytes.parse::<u8>().ok()).filter(|&bytes| bytes <= 16).map(|bytes| 8 * bytes);
    match (kind.chars().next(), bits) {
        (Some(letter @ ('i' | 'u' | 'f')), Some(bits)) => format!("{letter}{bits}"),
        _ => kind.to_owned(),
    }
}

/// Reads the header of a file and checks the length of the file by it.
fn look<T: Number>(path: &Path) -> Result<Header, Trouble> {
    let file = named(File::open(path), "read", path)?;
    let start = &mut [0; 12];
    let read = named(file.read_some(start, 0), "read", path)?;
    let refuse = |what: String| format!("{} {what}", path.display());
    let mut bytes = vec![0; header::needed(&start[..read]).map_err(refuse)?];
    named(file.read(&mut bytes, 0), "read", path)?;
    let found = Header::parse(&bytes).map_err(refuse)?;
    let kind = &T::DESCR[1..];
    if found.kind != kind {
        let [found, kind] = [found.kind.as_str(), kind].map(in_bits);
        return Err(refuse(format!("holds elements of type {found}, and {kind} was asked for")));
    }
    let len = named(file.len(), "read", path)?;
    let asked = found.elements().and_then(|n| n.checked_mul(size_of::<T>() as u64)?.checked_add(found.begin));
    match asked {
        Some(asked) if asked == len => Ok(found),
        Some(asked) => {
            Err(refuse(format!("has {len} bytes, and {asked} by its header, which says shape {:?}", found.shape)))
        }
        None => Err(refuse(format!("has a header that says shape {:?}, which is more than there can be", found.shape))),
    }
}

impl Group {
    /// Reads an array from an `.npy` file, as `numpy.save` writes it. Collective.
    ///
    /// The type of the elements, the number of dimensions and the distribution are part of the array's type, so they
    /// are said at the call; what the file has must agree.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-npy-{}.npy", std::process::id()));
    /// let shape = Config::new().procs(2).run(|g| {
    ///     let a = g.array_with::<i32, _, 2>([3, 5], Block::new());
    ///     g.write_npy(&path, &a)?;
    ///     Ok::<_, superstep::Error>(g.read_npy::<i32, Block, 2>(&path)?.shape())
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(shape.unwrap(), [3, 5]);
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads its part. Four boundaries; where parts lie in short pieces, n / p g more for n words.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read, is shorter or longer than its
    /// header says, or holds something else.
    #[track_caller]
    pub fn read_npy<T: Number, D: Distribution + Default, const N: usize>(
        &mut self,
        path: impl AsRef<Path>,
    ) -> Result<Array<T, D, N>> {
        self.read_npy_with(path, D::default())
    }

    /// Reads like [`read_npy`](Self::read_npy) into an array that lies as `distribution` says. Collective.
    ///
    /// ```
    /// use superstep::{Config, distributions::BlockCyclic};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-npy-with-{}.npy", std::process::id()));
    /// let here = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, superstep::Block>(6);
    ///     a.forall_mut(|i, x| *x = i as u8);
    ///     g.write_npy(&path, &a)?;
    ///     let b = g.read_npy_with::<u8, _, 1>(&path, BlockCyclic::<1>(2))?;
    ///     Ok::<_, superstep::Error>(b.local().to_vec())
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(here.unwrap(), [vec![0, 1, 4, 5], vec![2, 3]]);
    /// ```
    #[track_caller]
    pub fn read_npy_with<T: Number, D: Distribution, const N: usize>(
        &mut self,
        path: impl AsRef<Path>,
        distribution: D,
    ) -> Result<Array<T, D, N>> {
        let path = path.as_ref();
        same_path(self, path);
        let header = by_leader(self, || look::<T>(path))?;
        let shape = <[usize; N]>::try_from(&header.shape[..])
            .map_err(|_| misfit(path, &header, &format!("one of {N} dimensions")));
        let shape = together(self, shape)?;
        let a = self.try_array_with(shape, distribution)?;
        read(self, path, &header, &a)?;
        Ok(a)
    }

    /// Reads like [`read_npy`](Self::read_npy) into an array that is there already. Collective.
    ///
    /// ```
    /// use superstep::{Block, Config, Cyclic};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-npy-into-{}.npy", std::process::id()));
    /// let sum = Config::new().procs(2).run(|g| {
    ///     let (a, b) = (g.array::<u64, Block>(9), g.array::<u64, Cyclic>(9));
    ///     a.forall_mut(|i, x| *x = i as u64);
    ///     g.write_npy(&path, &a)?;
    ///     g.load_npy(&path, &b)?;
    ///     let sum = b.local().iter().sum::<u64>();
    ///     Ok::<_, superstep::Error>(g.step(|s| s.reduce(sum, superstep::Sum)))
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(sum.unwrap(), 36);
    /// ```
    ///
    /// # Errors
    ///
    /// As [`read_npy`](Self::read_npy), and if the shapes differ.
    #[track_caller]
    pub fn load_npy<T: Number, D: Distribution, const N: usize>(
        &mut self,
        path: impl AsRef<Path>,
        a: &Array<T, D, N>,
    ) -> Result {
        let path = path.as_ref();
        same_path(self, path);
        let header = by_leader(self, || look::<T>(path))?;
        let fits = if header.shape == a.shape() {
            Ok(())
        } else {
            Err(misfit(path, &header, &format!("one of {:?}", a.shape())))
        };
        together(self, fits)?;
        read(self, path, &header, a)
    }

    /// Writes an array to an `.npy` file, as `numpy.load` reads it. Collective.
    ///
    /// The file has its name when it is whole and on the disk, and not before.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-write-npy-{}.npy", std::process::id()));
    /// Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(5);
    ///     g.write_npy(&path, &a)
    /// }).unwrap();
    /// assert_eq!(std::fs::read(&path).unwrap().len(), 128 + 5);
    /// # std::fs::remove_file(&path).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// As [`write_raw`](Self::write_raw).
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be written.
    #[track_caller]
    pub fn write_npy<T: Number, D: Distribution, const N: usize>(
        &mut self,
        path: impl AsRef<Path>,
        a: &Array<T, D, N>,
    ) -> Result {
        arrays::write(self, path.as_ref(), &header::write(T::DESCR, &a.shape()), a)
    }
}

fn misfit(path: &Path, header: &Header, asked: &str) -> Trouble {
    format!("{} holds an array of shape {:?}, and {asked} was asked for", path.display(), header.shape)
}

#[track_caller]
fn read<T: Number, D: Distribution, const N: usize>(
    g: &mut Group,
    path: &Path,
    header: &Header,
    a: &Array<T, D, N>,
) -> Result {
    let mine = named(File::open(path), "read", path);
    let file = together(g, mine)?;
    let turned = (header.is_big && T::WORD > 1).then_some(T::WORD);
    arrays::read(g, (path, &file), Placed { begin: header.begin, turned }, a)
}
