//! What the derive of [`Element`](crate::Element) needs; nobody else does.

pub use bytemuck::{Pod, Zeroable};
pub use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::values::Element;
use serde::de::{Error, SeqAccess, Visitor};
use std::{fmt, marker::PhantomData};

/// Says of a struct whether its fields, which are elements, fill all of it.
pub trait Filled {
    /// Whether they do.
    const IS_FILLED: bool;
}

/// Compiles where `T` is an element.
pub const fn is_element<T: Element>() {}

/// Writes an element as its bytes.
pub fn write<T: Pod, S: Serializer>(element: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytemuck::bytes_of(element))
}

/// Reads an element from its bytes.
pub fn read<'de, T: Pod, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_bytes(Bytes(PhantomData))
}

/// Takes bytes in whichever form there are.
struct Bytes<T>(PhantomData<T>);

impl<'de, T: Pod> Visitor<'de> for Bytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} bytes of an element", size_of::<T>())
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<T, E> {
        bytemuck::try_pod_read_unaligned(bytes).map_err(|_| E::invalid_length(bytes.len(), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<T, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = all.next_element()? {
            // Whatever the list says, no more is kept than an element has.
            if bytes.len() == size_of::<T>() {
                return Err(A::Error::invalid_length(bytes.len() + 1, &self));
            }
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
