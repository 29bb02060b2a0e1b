//! Bytes that travel: one checked reader, one writer, and tags that are enums.
//!
//! Whatever leaves a process is written with a [`Writer`] and read with a [`Reader`], here and in the layers above.
//! Numbers are little-endian, and a length is a `u64`. A reader believes nothing: it checks every length against the
//! bytes that are there, and every tag against those that exist. Each layer makes an error of its own of [`Damaged`].
//!
//! ```
//! use fabric::wire::{Damaged, Reader, Writer};
//!
//! let mut bytes = Vec::new();
//! bytes.put([7u32, 8]);
//! bytes.part(b"text");
//! let mut reader = Reader::new(&bytes);
//! assert_eq!(reader.get::<[u32; 2]>(), Ok([7, 8]));
//! assert_eq!(reader.part(), Ok(&b"text"[..]));
//! assert_eq!(reader.get::<u8>(), Err(Damaged));
//! ```

use std::fmt;

/// Bytes that no processor of this library would have sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes that make no sense")
    }
}

impl std::error::Error for Damaged {}

/// Something that always takes the same number of bytes: a number, a tag, an array of them.
pub trait Field: Copy {
    /// Appends it.
    fn write(self, out: &mut impl Writer);

    /// Takes it off the front.
    fn read(reader: &mut Reader<'_>) -> Result<Self, Damaged>;
}

/// Where bytes are written: at the end of a vector, or over the first bytes of a slice, which moves on behind them.
///
/// A slice serves for headers of a fixed size, and for what is known only after what follows it:
///
/// ```
/// use fabric::wire::Writer;
///
/// let mut bytes = vec![0; 4];
/// bytes.bytes(b"abc");
/// let len = bytes.len() as u32;
/// (&mut bytes[..4]).put(len);
/// assert_eq!(bytes, *b"\x07\0\0\0abc");
/// ```
pub trait Writer: Sized {
    /// Writes bytes as they are.
    ///
    /// # Panics
    ///
    /// If a slice has no room for them.
    fn bytes(&mut self, bytes: &[u8]);

    /// Writes a number, a tag, or several.
    #[inline]
    fn put(&mut self, field: impl Field) {
        field.write(self);
    }

    /// Writes bytes behind their length.
    #[inline]
    fn part(&mut self, bytes: &[u8]) {
        self.put(bytes.len());
        self.bytes(bytes);
    }
}

impl Writer for Vec<u8> {
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Writer for &mut [u8] {
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        let (place, rest) = std::mem::take(self).split_at_mut(bytes.len());
        place.copy_from_slice(bytes);
        *self = rest;
    }
}

/// Appends a part whose length is known only once `write` has written it.
#[inline]
pub fn write_part<R>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let start = out.len() + LENGTH;
    out.put(0usize);
    let result = write(out);
    let len = out.len() - start;
    (&mut out[start - LENGTH..start]).put(len);
    result
}

/// How many bytes a length takes.
pub const LENGTH: usize = size_of::<u64>();

/// Reads bytes from the front, of which it believes nothing: what is not there, or makes no sense, is [`Damaged`].
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads these bytes.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What was not read yet.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether all was read.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes so many bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (head, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(head)
    }

    /// Takes `count` pieces of `N` bytes each.
    #[inline]
    pub fn chunks<const N: usize>(&mut self, count: usize) -> Result<&'a [[u8; N]], Damaged> {
        Ok(self.bytes(count.checked_mul(N).ok_or(Damaged)?)?.as_chunks().0)
    }

    /// Takes a number, a tag, or several.
    #[inline]
    pub fn get<F: Field>(&mut self) -> Result<F, Damaged> {
        F::read(self)
    }

    /// Takes bytes that stand behind their length.
    #[inline]
    pub fn part(&mut self) -> Result<&'a [u8], Damaged> {
        let len = self.get()?;
        self.bytes(len)
    }

    /// Makes sure that nothing is left.
    #[inline]
    pub fn end(self) -> Result<(), Damaged> {
        if self.is_empty() { Ok(()) } else { Err(Damaged) }
    }
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl Field for $number {
            #[inline]
            fn write(self, out: &mut impl Writer) {
                out.bytes(&self.to_le_bytes());
            }

            #[inline]
            fn read(reader: &mut Reader<'_>) -> Result<Self, Damaged> {
                let (head, rest) = reader.0.split_first_chunk().ok_or(Damaged)?;
                reader.0 = rest;
                Ok(Self::from_le_bytes(*head))
            }
        }
    )* };
}

numbers!(u8 u16 u32 u64 i32);

/// Lengths, ranks and places travel as 64 bits.
impl Field for usize {
    #[inline]
    fn write(self, out: &mut impl Writer) {
        out.put(self as u64);
    }

    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self, Damaged> {
        Self::try_from(reader.get::<u64>()?).map_err(|_| Damaged)
    }
}

impl<F: Field, const N: usize> Field for [F; N] {
    #[inline]
    fn write(self, out: &mut impl Writer) {
        for field in self {
            out.put(field);
        }
    }

    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self, Damaged> {
        const { assert!(N > 0, "an array of nothing is not written") }
        let mut fields = [reader.get()?; N];
        for field in fields.iter_mut().skip(1) {
            *field = reader.get()?;
        }
        Ok(fields)
    }
}

#[doc(inline)]
pub use crate::tags;

/// Declares an enum that travels as one byte.
///
/// ```
/// use fabric::wire::{Damaged, Reader};
///
/// fabric::wire::tags! {
///     /// What a message asks for.
///     enum Ask {
///         /// To begin.
///         Begin = 1,
///         /// To end.
///         End,
///     }
/// }
///
/// assert_eq!(Ask::End as u8, 2);
/// assert_eq!(Reader::new(&[1]).get(), Ok(Ask::Begin));
/// assert_eq!(Reader::new(&[3]).get::<Ask>(), Err(Damaged));
/// ```
#[macro_export]
macro_rules! tags {
    ($(#[$about:meta])* $seen:vis enum $name:ident {
        $($(#[$what:meta])* $tag:ident $(= $number:literal)?),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        $seen enum $name {
            $($(#[$what])* $tag $(= $number)?),*
        }

        impl TryFrom<u8> for $name {
            type Error = $crate::wire::Damaged;

            #[inline]
            fn try_from(number: u8) -> Result<Self, Self::Error> {
                match number {
                    $(number if number == Self::$tag as u8 => Ok(Self::$tag),)*
                    _ => Err($crate::wire::Damaged),
                }
            }
        }

        impl $crate::wire::Field for $name {
            #[inline]
            fn write(self, out: &mut impl $crate::wire::Writer) {
                out.put(self as u8);
            }

            #[inline]
            fn read(reader: &mut $crate::wire::Reader<'_>) -> Result<Self, $crate::wire::Damaged> {
                Self::try_from(reader.get::<u8>()?)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortened_message_is_damaged() {
        let mut bytes = Vec::new();
        bytes.put([1u16, 2]);
        write_part(&mut bytes, |out| out.bytes(b"abc"));
        bytes.put(u64::MAX);
        let read = |bytes: &[u8]| -> Result<(), Damaged> {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.get::<[u16; 2]>()?, [1, 2]);
            assert_eq!(reader.part()?, b"abc");
            assert_eq!(reader.chunks::<4>(2)?, [[0xFF; 4]; 2]);
            reader.end()
        };
        assert_eq!(read(&bytes), Ok(()));
        for cut in 0..bytes.len() {
            assert_eq!(read(&bytes[..cut]), Err(Damaged), "cut at {cut}");
        }
        bytes.push(0);
        assert_eq!(read(&bytes), Err(Damaged));
    }

    #[test]
    fn no_length_is_believed() {
        for len in [4u64, u64::MAX] {
            let mut bytes = Vec::new();
            bytes.put(len);
            bytes.bytes(b"abc");
            assert_eq!(Reader::new(&bytes).part(), Err(Damaged));
            assert_eq!(Reader::new(&bytes).chunks::<8>(len as usize), Err(Damaged));
        }
    }
}
