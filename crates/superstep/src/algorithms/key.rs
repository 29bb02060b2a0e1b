//! What can be put in order, and how numbers become digits for it.

use std::cmp::{Ordering, Reverse};

/// What is wrong where values do not come to the places that were counted for them.
pub(super) const OTHER_KEY: &str = "a function that makes keys has made another key of the same value";

/// What values are sorted by: every number, floats among them, texts, and tuples and arrays of keys.
///
/// Floats are in the order of `total_cmp`: from the NaNs with a sign and minus infinity to infinity and the other NaNs,
/// and -0.0 comes before 0.0. Tuples and arrays are compared from the left.
///
/// A program's own type needs [`order`](Self::order) alone:
///
/// ```
/// use std::cmp::Ordering;
/// use superstep::{Config, algorithms::{self, Key}};
///
/// #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
/// enum Size { Small, Large(f64) }
/// use Size::{Large, Small};
///
/// impl Key for Size {
///     fn order(&self, other: &Self) -> Ordering {
///         match (self, other) {
///             (Small, Small) => Ordering::Equal,
///             (Small, Large(_)) => Ordering::Less,
///             (Large(_), Small) => Ordering::Greater,
///             (Large(a), Large(b)) => a.order(b),
///         }
///     }
/// }
/// let sorted = Config::new().procs(2).run(|g| {
///     let mine = if g.is_leader() { vec![Large(2.0), Large(-1.0), Small] } else { vec![Large(0.5)] };
///     algorithms::sort_vec(g, mine)
/// });
/// assert_eq!(sorted.unwrap(), [Small, Large(-1.0)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key to sort by",
    note = "keys are numbers, texts, tuples and arrays of keys, and what implements `algorithms::Key`",
    note = "`sort_by` and its like take a function that compares"
)]
pub trait Key {
    /// Which of two keys comes first. It is a total order, the same on all processors.
    ///
    /// ```
    /// use superstep::algorithms::Key;
    ///
    /// assert!((-0.0f64).order(&0.0).is_lt() && f64::INFINITY.order(&f64::NAN).is_lt());
    /// ```
    fn order(&self, other: &Self) -> Ordering;

    /// What [`digits`](Self::digits) tell.
    #[doc(hidden)]
    const DIGITS: Digits = Digits::None;

    /// A number that never falls while keys rise.
    #[doc(hidden)]
    fn digits(&self) -> u64 {
        0
    }
}

/// What the digits of a key tell.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// Nothing.
    None,
    /// The order of keys whose digits differ.
    Some,
    /// The order of all keys: those with the same digits are the same.
    All,
}

impl Digits {
    /// What they tell of a key that has more behind them.
    const fn with_more(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Some | Self::All => Self::Some,
        }
    }
}

macro_rules! numbers {
    ($($type:ty, $digits:ident, |$key:ident| $number:expr;)*) => { $(
        impl Key for $type {
            const DIGITS: Digits = Digits::$digits;

            #[inline]
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }

            #[inline]
            fn digits(&self) -> u64 {
                let $key = *self;
                $number
            }
        }
    )* };
}
numbers! {
    bool, All, |key| key.into();
    char, All, |key| u32::from(key).into();
    u8, All, |key| key.into();
    u16, All, |key| key.into();
    u32, All, |key| key.into();
    u64, All, |key| key;
    usize, All, |key| key as u64;
    u128, Some, |key| (key >> 64) as u64;
    i8, All, |key| raised(key.into());
    i16, All, |key| raised(key.into());
    i32, All, |key| raised(key.into());
    i64, All, |key| raised(key);
    isize, All, |key| raised(key as i64);
    i128, Some, |key| raised((key >> 64) as i64);
}

/// Where a number with a sign stands among all of them.
#[inline]
const fn raised(number: i64) -> u64 {
    number as u64 ^ 1 << 63
}

macro_rules! floats {
    ($($float:ty as $signed:ty),*) => { $(
        /// Of a number with a sign all other bits are turned, because it is the lower the larger they are.
        impl Key for $float {
            const DIGITS: Digits = Digits::All;

            #[inline]
            fn order(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }

            #[inline]
            fn digits(&self) -> u64 {
                let bits = self.to_bits() as $signed;
                let turned = bits ^ (((bits >> (<$signed>::BITS - 1)) as $signed) & <$signed>::MAX);
                raised(turned.into())
            }
        }
    )* };
}
floats! { f32 as i32, f64 as i64 }

macro_rules! texts {
    ($($text:ty),*) => { $(
        impl Key for $text {
            const DIGITS: Digits = Digits::Some;

            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }

            fn digits(&self) -> u64 {
                let mut first = [0; 8];
                for (byte, next) in first.iter_mut().zip(self.bytes()) {
                    *byte = next;
                }
                u64::from_be_bytes(first)
            }
        }
    )* };
}
texts! { str, String }

impl<K: Key + ?Sized> Key for &K {
    const DIGITS: Digits = K::DIGITS;

    #[inline]
    fn order(&self, other: &Self) -> Ordering {
        K::order(self, other)
    }

    #[inline]
    fn digits(&self) -> u64 {
        K::digits(self)
    }
}

/// The other way round.
impl<K: Key> Key for Reverse<K> {
    const DIGITS: Digits = K::DIGITS;

    #[inline]
    fn order(&self, other: &Self) -> Ordering {
        other.0.order(&self.0)
    }

    #[inline]
    fn digits(&self) -> u64 {
        !self.0.digits()
    }
}

/// Nothing comes before everything.
impl<K: Key> Key for Option<K> {
    const DIGITS: Digits = K::DIGITS.with_more();

    fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Some(key), Some(other)) => key.order(other),
            _ => self.is_some().cmp(&other.is_some()),
        }
    }

    fn digits(&self) -> u64 {
        self.as_ref().map_or(0, |key| 1 << 63 | key.digits() >> 1)
    }
}

impl<K: Key, const N: usize> Key for [K; N] {
    const DIGITS: Digits = K::DIGITS.with_more();

    #[inline]
    fn order(&self, other: &Self) -> Ordering {
        let unequal = self.iter().zip(other).map(|(key, other)| key.order(other)).find(|order| order.is_ne());
        unequal.unwrap_or(Ordering::Equal)
    }

    #[inline]
    fn digits(&self) -> u64 {
        self.first().map_or(0, K::digits)
    }
}

macro_rules! tuples {
    ($($first:ident $($key:ident $at:tt)*;)*) => { $(
        impl<$first: Key, $($key: Key),*> Key for ($first, $($key),*) {
            const DIGITS: Digits = $first::DIGITS.with_more();

            #[inline]
            fn order(&self, other: &Self) -> Ordering {
                self.0.order(&other.0)$(.then_with(|| self.$at.order(&other.$at)))*
            }

            #[inline]
            fn digits(&self) -> u64 {
                self.0.digits()
            }
        }
    )* };
}
tuples! {
    A;
    A B 1;
    A B 1 C 2;
    A B 1 C 2 D 3;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits never contradict the order, and say that keys are the same only where that is so.
    fn check<K: Key + std::fmt::Debug>(rising: &[K]) {
        for (at, low) in rising.iter().enumerate() {
            for (more, high) in rising[at..].iter().enumerate() {
                let expected = if more == 0 { Ordering::Equal } else { Ordering::Less };
                assert_eq!((low.order(high), high.order(low)), (expected, expected.reverse()), "{low:?}, {high:?}");
                let digits = low.digits().cmp(&high.digits());
                match K::DIGITS {
                    Digits::None => {}
                    Digits::Some => assert!(digits.is_le(), "{low:?}, {high:?}"),
                    Digits::All => assert_eq!(digits, expected, "{low:?}, {high:?}"),
                }
            }
        }
    }

    #[test]
    fn digits_agree_with_the_order() {
        check(&[0u8, 1, 200, 255]);
        check(&[u64::MIN, 1, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX]);
        check(&[u128::MIN, 1, 1 << 64, u128::MAX]);
        check(&[i8::MIN, -1, 0, 1, i8::MAX]);
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check(&[i128::MIN, -1 << 64, -1, 0, 1, i128::MAX]);
        check(&[-f64::NAN, f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN]);
        check(&[-f32::NAN, f32::NEG_INFINITY, -1.5, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN]);
        check(&["", "a", "a\0", "ab", "abcdefgh", "abcdefghi", "b"]);
        check(&[(0, 5), (1, 2), (1, 3), (7, 0)]);
        check(&[[0.0, 5.0], [1.0, 2.0], [1.0, 3.0]]);
        check(&[Reverse(3), Reverse(2), Reverse(-1)]);
        check(&[None, Some(0u64), Some(1), Some(u64::MAX)]);
        check(&[(false, 'b', "x", 1), (false, 'c', "", 0), (true, 'a', "", 0)]);
    }
}
