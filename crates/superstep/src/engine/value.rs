//! Values, and how they become bytes.
//!
//! Numbers and vectors of numbers travel as they lie in memory; everything else goes through postcard. Which of the two
//! a type takes is known when the program is compiled. Bytes that come back are never trusted: whatever they say, the
//! result is a value or an error.

use crate::error::{Error, ErrorKind, Result};
use fabric::Plain;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    any::{Any, type_name},
    mem::needs_drop,
    ops::Range,
    sync::Arc,
};

/// What shared variables, messages and arguments may be: anything that can be cloned, sent and encoded.
///
/// Inside a process values move; between processes they are encoded.
///
/// ```
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Best { name: String, score: u32 }
///
/// let best = superstep::Config::new().procs(2).run(|g| {
///     let mine = Best { name: format!("rank {}", g.rank()), score: g.rank() as u32 };
///     g.step(|s| s.reduce(mine, |best: &mut Best, x: &Best| if x.score > best.score { *best = x.clone() })).name
/// });
/// assert_eq!(best.unwrap(), "rank 1");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel between processors",
    label = "this cannot be cloned, sent and encoded",
    note = "a value is `Clone + Send + 'static` and knows serde: write \
            `#[derive(Clone, serde::Serialize, serde::Deserialize)]`",
    note = "or, for a struct of numbers, `#[derive(superstep::Element)] #[repr(C)]`"
)]
pub trait Value: Clone + Send + Serialize + DeserializeOwned + 'static {}
#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Serialize + DeserializeOwned + 'static> Value for T {}

/// What arrays and areas hold: plain data, any pattern of bytes of which is a value. `#[derive(superstep::Element)]`
/// and `#[repr(C)]` make a struct one, and so do `bytemuck`'s `Pod` and `Zeroable`.
///
/// ```
/// let point = superstep::Config::new().procs(2).run(|g| {
///     let points = g.area::<[f32; 2]>(1);
///     g.step(|s| s.put(0, &[[s.rank() as f32, 0.5]], &points, 0));
///     points.local()[0]
/// });
/// assert_eq!(point.unwrap(), [1.0, 0.5]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of an array or an area",
    label = "this is not plain data",
    note = "elements are numbers, arrays of them, and structs of them: write \
            `#[derive(superstep::Element)] #[repr(C)]`"
)]
pub trait Element: Plain {}
#[diagnostic::do_not_recommend]
impl<T: Plain> Element for T {}

macro_rules! for_numbers {
    ($number:ident => $each:block) => {
        for_numbers!(@ $number $each u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
    };
    (@ $number:ident $each:block $($type:ty)*) => {
        $({ type $number = $type; $each })*
    };
}

/// Whether a `T` can be a `U`. Where it is clear that it cannot, nothing is compiled for the case that it is: there are
/// many numbers, and every type that travels is asked about each.
const fn can_be<T, U>() -> bool {
    size_of::<T>() == size_of::<U>() && align_of::<T>() == align_of::<U>() && needs_drop::<T>() == needs_drop::<U>()
}

fn append<T: Plain>(values: &[T], out: &mut Vec<u8>) {
    out.extend_from_slice(bytemuck::cast_slice(values));
}

#[inline]
pub(crate) fn encode<T: Value>(value: &T, out: &mut Vec<u8>) -> Result {
    let any: &dyn Any = value;
    for_numbers!(Number => {
        if const { can_be::<T, Number>() }
            && let Some(number) = any.downcast_ref::<Number>()
        {
            append(std::slice::from_ref(number), out);
            return Ok(());
        }
        if const { can_be::<T, Vec<Number>>() }
            && let Some(numbers) = any.downcast_ref::<Vec<Number>>()
        {
            append(numbers, out);
            return Ok(());
        }
    });
    let start = out.len();
    let outcome = postcard::to_extend(value, Appending(out)).map(|_| ());
    outcome.map_err(|cause| {
        out.truncate(start);
        Error::new(ErrorKind::Encode, format!("a value of type {} cannot be encoded: {cause}", type_name::<T>()))
    })
}

/// Appends to bytes that outlive a failure.
struct Appending<'a>(&'a mut Vec<u8>);

impl Extend<u8> for Appending<'_> {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        self.0.extend(bytes);
    }
}

/// The number and the small array types that lie in memory as they are written: with no length, one after another.
macro_rules! for_fixed {
    ($fixed:ident => $each:block) => {
        for_numbers!(One => {
            { type $fixed = One; $each }
            { type $fixed = [One; 2]; $each }
            { type $fixed = [One; 3]; $each }
            { type $fixed = [One; 4]; $each }
        });
    };
}

/// About how many heap bytes a value owns; counting stops beyond `most`.
#[inline]
pub(crate) fn owned_bytes<T: Value>(value: &T, most: usize) -> usize {
    let any: &dyn Any = value;
    for_numbers!(Number => {
        if const { can_be::<T, Vec<Number>>() }
            && let Some(numbers) = any.downcast_ref::<Vec<Number>>()
        {
            return size_of_val(numbers.as_slice());
        }
    });
    any.downcast_ref::<String>().map_or_else(|| super::scale::weigh(value, most), String::len)
}

/// So many zeros, of which none is written before somebody touches its page; `None` if a `T` is no number.
pub(crate) fn zeros<T: 'static>(len: usize) -> Option<Vec<T>> {
    let mut made = None::<Vec<T>>;
    let room: &mut dyn Any = &mut made;
    for_numbers!(Number => {
        if const { can_be::<T, Number>() }
            && let Some(room) = room.downcast_mut::<Option<Vec<Number>>>()
        {
            *room = Some(fabric::zeros(len));
        }
    });
    made
}

/// How many elements a vector of numbers has; `None` if the value is something else.
pub(crate) fn numbers_len<T: Value>(value: &T) -> Option<usize> {
    let any: &dyn Any = value;
    for_numbers!(Number => {
        if const { can_be::<T, Vec<Number>>() }
            && let Some(numbers) = any.downcast_ref::<Vec<Number>>()
        {
            return Some(numbers.len());
        }
    });
    None
}

/// A vector of numbers that processors of one process read at the same time.
#[derive(Clone)]
pub(crate) struct Numbers(Arc<dyn Any + Send + Sync>);

impl Numbers {
    /// What a vector of numbers holds; `None` if the value is something else.
    pub(crate) fn of<T: Value>(value: T) -> Option<Self> {
        let mut value = Some(value);
        let any: &mut dyn Any = &mut value;
        for_numbers!(Number => {
            if const { can_be::<T, Vec<Number>>() }
                && let Some(numbers) = any.downcast_mut::<Option<Vec<Number>>>()
            {
                return Some(Self(Arc::new(numbers.take()?)));
            }
        });
        None
    }

    /// Appends some of them to a vector of such numbers; false if there are none in these places.
    pub(crate) fn append_to<T: Value>(&self, range: Range<usize>, whole: &mut T) -> bool {
        let any: &mut dyn Any = whole;
        for_numbers!(Number => {
            if const { can_be::<T, Vec<Number>>() }
                && let Some(whole) = any.downcast_mut::<Vec<Number>>()
            {
                let numbers = self.0.downcast_ref::<Vec<Number>>().and_then(|numbers| numbers.get(range));
                return numbers.map(|numbers| whole.extend_from_slice(numbers)).is_some();
            }
        });
        false
    }
}

/// An empty vector of numbers with room for so many; `None` if a `T` is something else.
pub(crate) fn numbers_room<T: Value>(len: usize) -> Option<T> {
    let mut made = None::<T>;
    let room: &mut dyn Any = &mut made;
    for_numbers!(Number => {
        if const { can_be::<T, Vec<Number>>() }
            && let Some(room) = room.downcast_mut::<Option<Vec<Number>>>()
        {
            let mut numbers = Vec::new();
            fabric::make_room(&mut numbers, len);
            *room = Some(numbers);
        }
    });
    made
}

/// Moves the numbers of one vector behind those of another.
pub(crate) fn move_numbers<T: Value>(from: &mut T, to: &mut T) {
    let (from, to): (&mut dyn Any, &mut dyn Any) = (from, to);
    for_numbers!(Number => {
        if const { can_be::<T, Vec<Number>>() }
            && let (Some(from), Some(to)) = (from.downcast_mut::<Vec<Number>>(), to.downcast_mut::<Vec<Number>>())
        {
            to.append(from);
        }
    });
}

/// Whether values of a type all have the same length, and travel as they lie in memory.
#[inline]
pub(crate) fn is_fixed<T: 'static>() -> bool {
    let mut is_fixed = false;
    for_fixed!(Fixed => {
        if const { can_be::<T, Fixed>() } {
            is_fixed |= std::any::TypeId::of::<T>() == std::any::TypeId::of::<Fixed>();
        }
    });
    is_fixed
}

/// Appends `value` so that [`decode_next`] finds its end: what is fixed in length has no length before it.
#[inline]
pub(crate) fn encode_next<T: Value>(value: &T, out: &mut Vec<u8>) -> Result {
    let any: &dyn Any = value;
    for_fixed!(Fixed => {
        if const { can_be::<T, Fixed>() }
            && let Some(fixed) = any.downcast_ref::<Fixed>()
        {
            append(std::slice::from_ref(fixed), out);
            return Ok(());
        }
    });
    for_numbers!(Number => {
        if const { can_be::<T, Vec<Number>>() }
            && let Some(numbers) = any.downcast_ref::<Vec<Number>>()
        {
            fabric::make_room(out, 8 + size_of_val(numbers.as_slice()));
            append(&[numbers.len() as u64], out);
            append(numbers, out);
            return Ok(());
        }
    });
    encode(value, out)
}

/// Reads the next value that [`encode_next`] has appended.
#[inline]
pub(crate) fn decode_next<T: Value>(bytes: &mut &[u8]) -> Result<T> {
    let mut value = None::<T>;
    let any: &mut dyn Any = &mut value;
    for_fixed!(Fixed => {
        if const { can_be::<T, Fixed>() }
            && let Some(fixed) = any.downcast_mut::<Option<Fixed>>()
        {
            let (head, rest) = bytes.split_at_checked(size_of::<Fixed>()).ok_or_else(|| damaged::<T>(bytes))?;
            *fixed = Some(bytemuck::pod_read_unaligned(head));
            *bytes = rest;
            return value.ok_or_else(|| damaged::<T>(bytes));
        }
    });
    for_numbers!(Number => {
        if const { can_be::<T, Vec<Number>>() }
            && let Some(numbers) = any.downcast_mut::<Option<Vec<Number>>>()
        {
            let len = decode_next::<u64>(bytes)?;
            let len = usize::try_from(len).ok().and_then(|len| len.checked_mul(size_of::<Number>()));
            let split = len.and_then(|len| bytes.split_at_checked(len));
            let (head, rest) = split.ok_or_else(|| damaged::<T>(bytes))?;
            *numbers = Some(decode_plain(head)?);
            *bytes = rest;
            return value.ok_or_else(|| damaged::<T>(bytes));
        }
    });
    match postcard::take_from_bytes(bytes) {
        Ok((value, rest)) => {
            *bytes = rest;
            Ok(value)
        }
        Err(_) => Err(damaged::<T>(bytes)),
    }
}

/// Reads the value that `bytes` hold, all of them.
#[inline]
pub(crate) fn decode<T: Value>(bytes: &[u8]) -> Result<T> {
    let mut value = None::<T>;
    let any: &mut dyn Any = &mut value;
    for_numbers!(Number => {
        if const { can_be::<T, Number>() }
            && let Some(number) = any.downcast_mut::<Option<Number>>()
        {
            *number = Some(bytemuck::try_pod_read_unaligned(bytes).map_err(|_| damaged::<T>(bytes))?);
            return value.ok_or_else(|| damaged::<T>(bytes));
        }
        if const { can_be::<T, Vec<Number>>() }
            && let Some(numbers) = any.downcast_mut::<Option<Vec<Number>>>()
        {
            *numbers = Some(decode_plain(bytes)?);
            return value.ok_or_else(|| damaged::<T>(bytes));
        }
    });
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(damaged::<T>(bytes)),
    }
}

pub(crate) fn decode_plain<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    decode_into(bytes, &mut elements)?;
    Ok(elements)
}

/// Appends elements that came in bytes to a vector.
pub(crate) fn decode_into<T: Element>(bytes: &[u8], elements: &mut Vec<T>) -> Result {
    if size_of::<T>() == 0 || !bytes.len().is_multiple_of(size_of::<T>()) {
        return if bytes.is_empty() { Ok(()) } else { Err(damaged::<T>(bytes)) };
    }
    fabric::make_room(elements, bytes.len() / size_of::<T>());
    match bytemuck::try_cast_slice(bytes) {
        Ok(aligned) => elements.extend_from_slice(aligned),
        Err(_) => elements.extend(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>)),
    }
    Ok(())
}

fn damaged<T>(bytes: &[u8]) -> Error {
    let message = format!("{} bytes that should be a value of type {} are not one", bytes.len(), type_name::<T>());
    Error::new(ErrorKind::Damaged, message)
}

/// How a collective turns its values into bytes: as [`Value`]s, or as [`Element`]s.
pub(crate) trait Codec<T>: 'static {
    fn encode(value: &T, out: &mut Vec<u8>) -> Result;
    fn decode(bytes: &[u8]) -> Result<T>;
    /// Whether a copy is cheaper than a move.
    fn is_small() -> bool;
}

pub(crate) struct AsValue;
/// Plain elements, as they lie in memory.
pub(crate) struct AsElements;

impl<T: Value> Codec<T> for AsValue {
    fn encode(value: &T, out: &mut Vec<u8>) -> Result {
        encode(value, out)
    }

    fn decode(bytes: &[u8]) -> Result<T> {
        decode(bytes)
    }

    fn is_small() -> bool {
        let mut is_number = false;
        for_numbers!(Number => {
            if const { can_be::<T, Number>() } {
                is_number |= std::any::TypeId::of::<T>() == std::any::TypeId::of::<Number>();
            }
        });
        is_number
    }
}

impl<T: Element> Codec<Vec<T>> for AsElements {
    fn encode(value: &Vec<T>, out: &mut Vec<u8>) -> Result {
        const { assert!(size_of::<T>() > 0, "the elements of a slice that travels have a size") }
        append(value, out);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Result<Vec<T>> {
        decode_plain(bytes)
    }

    fn is_small() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Value + PartialEq + std::fmt::Debug>(value: &T) {
        let mut bytes = vec![7];
        encode(value, &mut bytes).unwrap();
        assert_eq!(&decode::<T>(&bytes[1..]).unwrap(), value);
        assert!(bytes.len() == 1 || decode::<T>(&bytes[1..bytes.len() - 1]).ok().as_ref() != Some(value));
    }

    #[test]
    fn values_come_back_as_they_went() {
        there_and_back(&u64::MAX);
        there_and_back(&-0.0f64);
        there_and_back(&vec![1.5f32, f32::INFINITY]);
        there_and_back(&Vec::<i128>::new());
        there_and_back(&("text".to_owned(), Some('x'), [1u8, 2]));
    }

    #[test]
    fn values_one_after_another_find_their_ends() {
        let mut bytes = Vec::new();
        encode_next(&7u64, &mut bytes).unwrap();
        encode_next(&[1u64, 2, 3], &mut bytes).unwrap();
        assert_eq!(bytes.len(), 32);
        encode_next(&vec![1i16, 2], &mut bytes).unwrap();
        encode_next(&("text".to_owned(), vec![3u8]), &mut bytes).unwrap();
        let mut rest = bytes.as_slice();
        assert_eq!(decode_next::<u64>(&mut rest).unwrap(), 7);
        assert_eq!(decode_next::<[u64; 3]>(&mut rest).unwrap(), [1, 2, 3]);
        assert_eq!(decode_next::<Vec<i16>>(&mut rest).unwrap(), [1, 2]);
        assert_eq!(decode_next::<(String, Vec<u8>)>(&mut rest).unwrap(), ("text".to_owned(), vec![3]));
        assert!(rest.is_empty());
        assert_eq!(decode_next::<u8>(&mut rest).unwrap_err().kind(), ErrorKind::Damaged);
        let mut lie = [255u8; 9].as_slice();
        assert_eq!(decode_next::<Vec<u64>>(&mut lie).unwrap_err().kind(), ErrorKind::Damaged);
    }

    #[test]
    fn bytes_that_are_no_value_are_an_error() {
        assert_eq!(decode::<u32>(&[1, 2, 3]).unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(decode::<Vec<u32>>(&[1, 2, 3]).unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(decode::<String>(&[200, 1]).unwrap_err().kind(), ErrorKind::Damaged);
        assert_eq!(decode::<bool>(&[1, 0]).unwrap_err().kind(), ErrorKind::Damaged);
    }

    #[test]
    fn numbers_are_known_from_other_values() {
        assert!(is_fixed::<u64>() && is_fixed::<[f32; 3]>() && !is_fixed::<Vec<u8>>() && !is_fixed::<String>());
        assert!(<AsValue as Codec<f64>>::is_small() && !<AsValue as Codec<String>>::is_small());
        assert!(!<AsElements as Codec<Vec<u8>>>::is_small());
        let text = "text".to_owned();
        assert_eq!([owned_bytes(&vec![0u64; 10], 1000), owned_bytes(&text, 1000)], [80, 4]);
        assert_eq!([numbers_len(&vec![1i16, 2]), numbers_len(&text)], [Some(2), None]);
        assert_eq!((zeros::<i32>(3), zeros::<String>(3)), (Some(vec![0; 3]), None));
    }
}
