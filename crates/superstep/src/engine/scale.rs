//! How much a value holds, whatever its type.
//!
//! A value that moves inside a process is not encoded, so nobody sees how long it is. But every value can be, and what
//! encodes it goes through all that it holds. So it is handed something that writes nothing and counts.

use serde::{Serialize, ser::Serializer};
use std::fmt::{self, Display};

/// About how many bytes `value` holds. It stops where there are more than `most`, and where a value cannot be encoded.
pub(super) fn weigh<T: Serialize>(value: &T, most: usize) -> usize {
    let mut scale = Scale { bytes: 0, most };
    match value.serialize(&mut scale) {
        Ok(()) | Err(Enough) => scale.bytes,
    }
}

struct Scale {
    bytes: usize,
    most: usize,
}

/// Nothing more is counted.
#[derive(Debug)]
struct Enough;

impl Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enough was counted")
    }
}

impl std::error::Error for Enough {}

impl serde::ser::Error for Enough {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

/// What a vector, a text or a table takes up besides what is in it.
const BESIDES: usize = 24;

impl Scale {
    #[inline]
    fn add(&mut self, bytes: usize) -> Result<(), Enough> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.most { Err(Enough) } else { Ok(()) }
    }
}

/// What holds nothing else, with how many bytes it counts for.
macro_rules! leaves {
    ($($name:ident($($type:ty),*) $bytes:expr;)*) => { $(
        #[inline]
        fn $name(self, $(_: $type),*) -> Result<(), Enough> {
            self.add($bytes)
        }
    )* };
}

/// What holds one value, which stands behind these arguments.
macro_rules! wrappers {
    ($($name:ident($($type:ty),*);)*) => { $(
        fn $name<T: Serialize + ?Sized>(self, $(_: $type,)* value: &T) -> Result<(), Enough> {
            value.serialize(self)
        }
    )* };
}

/// What holds several values, with how many bytes it counts for besides.
macro_rules! holders {
    ($($name:ident($($type:ty),*) $bytes:expr;)*) => { $(
        fn $name(self, $(_: $type),*) -> Result<Self, Enough> {
            self.add($bytes)?;
            Ok(self)
        }
    )* };
}

impl Serializer for &mut Scale {
    type Ok = ();
    type Error = Enough;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    leaves! {
        serialize_bool(bool) 1; serialize_char(char) 4; serialize_f32(f32) 4; serialize_f64(f64) 8;
        serialize_i8(i8) 1; serialize_i16(i16) 2; serialize_i32(i32) 4; serialize_i64(i64) 8; serialize_i128(i128) 16;
        serialize_u8(u8) 1; serialize_u16(u16) 2; serialize_u32(u32) 4; serialize_u64(u64) 8; serialize_u128(u128) 16;
        serialize_none() 1; serialize_unit() 0; serialize_unit_struct(&'static str) 0;
        serialize_unit_variant(&'static str, u32, &'static str) 1;
    }
    wrappers! {
        serialize_some(); serialize_newtype_struct(&'static str);
        serialize_newtype_variant(&'static str, u32, &'static str);
    }
    holders! {
        serialize_seq(Option<usize>) BESIDES; serialize_map(Option<usize>) BESIDES; serialize_tuple(usize) 0;
        serialize_tuple_struct(&'static str, usize) 0; serialize_struct(&'static str, usize) 0;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) 0;
        serialize_struct_variant(&'static str, u32, &'static str, usize) 0;
    }

    fn serialize_str(self, text: &str) -> Result<(), Enough> {
        self.add(BESIDES + text.len())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Enough> {
        self.add(BESIDES + bytes.len())
    }

    fn is_human_readable(&self) -> bool {
        // What is written between processes is not, and both should go the same way.
        false
    }
}

macro_rules! parts {
    ($($of:ident $each:ident($($name:ty)?);)*) => { $(
        impl serde::ser::$of for &mut Scale {
            type Ok = ();
            type Error = Enough;

            #[inline]
            fn $each<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), Enough> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Enough> {
                Ok(())
            }
        }
    )* };
}

parts! {
    SerializeSeq serialize_element();
    SerializeTuple serialize_element();
    SerializeTupleStruct serialize_field();
    SerializeTupleVariant serialize_field();
    SerializeStruct serialize_field(&'static str);
    SerializeStructVariant serialize_field(&'static str);
}

impl serde::ser::SerializeMap for &mut Scale {
    type Ok = ();
    type Error = Enough;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Enough> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Enough> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Enough> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    enum Shape {
        Point,
        Line { ends: (f64, f64), name: String },
        Path(Vec<Vec<u16>>),
    }

    #[test]
    fn what_lies_inside_is_counted_wherever_it_is() {
        let text = "x".repeat(1000);
        let mut sums = vec![
            weigh(&(1u8, vec![0u8; 1000]), usize::MAX),
            weigh(&Some(vec![text.clone()]), usize::MAX),
            weigh(&Shape::Line { ends: (0.0, 0.0), name: text.clone() }, usize::MAX),
            weigh(&Shape::Path(vec![vec![0; 250]; 2]), usize::MAX),
            weigh(&BTreeMap::from([(1u8, text.clone())]), usize::MAX),
            weigh(&BTreeMap::from([(text.clone(), 1u8)]), usize::MAX),
            weigh(&[text.clone().into_boxed_str()], usize::MAX),
        ];
        assert!(sums.iter().all(|sum| (1000..1200).contains(sum)), "{sums:?}");
        sums = vec![weigh(&Shape::Point, usize::MAX), weigh(&(), usize::MAX), weigh(&None::<String>, usize::MAX)];
        assert!(sums.iter().all(|&sum| sum <= 1), "{sums:?}");
    }

    #[test]
    fn bytes_count_and_nothing_is_written_for_people() {
        struct Bytes(usize);
        impl Serialize for Bytes {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                assert!(!serializer.is_human_readable());
                serializer.serialize_bytes(&vec![7; self.0])
            }
        }
        assert_eq!(weigh(&Bytes(1000), usize::MAX) - weigh(&Bytes(0), usize::MAX), 1000);
    }

    #[test]
    fn counting_ends_where_there_is_enough() {
        let many = vec![String::from("word"); 1_000_000];
        assert_eq!(weigh(&many, 500), 528, "500 are not more than 500");
        assert_eq!(weigh(&vec![0u64; 1000], 500), 504);
    }
}
