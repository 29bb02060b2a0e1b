//! What the library's own operators do to numbers and to what has an order.

use super::operators::{And, Checked, Combine, Max, Min, Or, Product, Sum, Way, Xor, refuse};
use crate::error::ErrorKind;
use std::any::TypeId;

macro_rules! orders {
    ($($op:ident $is_better:tt $worst:tt;)*) => { $(
        impl<T: PartialOrd + Clone + 'static> Combine<T> for $op {
            const WAY: Way<Self, T> = Way::Made($op);
            fn combine(&self, acc: &mut T, with: &T) {
                if with $is_better acc {
                    acc.clone_from(with);
                }
            }
            fn identity(&self) -> Option<T> {
                bounds().$worst
            }
            fn may_fail(&self) -> bool {
                // Comparing numbers cannot; comparing what the program has made may.
                bounds::<T>().0.is_none()
            }
            fn is_exact(&self) -> bool {
                // What is no number is neither more nor less than others.
                let is_float = [TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>());
                bounds::<T>().0.is_some() && !is_float
            }
        }
    )* };
}
orders! { Min < 1; Max > 0; }

/// The ends of `T`, lowest and highest, where it is a number.
fn bounds<T: 'static>() -> (Option<T>, Option<T>) {
    let mut ends: (Option<T>, Option<T>) = (None, None);
    macro_rules! ends_of {
        ($($type:ty: $lowest:expr, $highest:expr;)*) => { $(
            if let Some(ends) = (&mut ends as &mut dyn std::any::Any).downcast_mut::<(Option<$type>, Option<$type>)>() {
                *ends = (Some($lowest), Some($highest));
            }
        )* };
    }
    macro_rules! ends_of_integers {
        ($($type:ty)*) => { ends_of!($($type: <$type>::MIN, <$type>::MAX;)*) };
    }
    ends_of_integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize char);
    ends_of!(f32: f32::NEG_INFINITY, f32::INFINITY; f64: f64::NEG_INFINITY, f64::INFINITY; bool: false, true;);
    ends
}

/// An operator that cannot fail on a type of numbers, with the value that changes nothing, and whether it is exact.
macro_rules! certain {
    ($op:ident $type:ty, $identity:expr, $exact:literal, |$acc:ident, $with:ident| $combine:expr) => {
        impl Combine<$type> for $op {
            const WAY: Way<Self, $type> = Way::Made($op);
            fn combine(&self, $acc: &mut $type, $with: &$type) {
                $combine;
            }
            fn identity(&self) -> Option<$type> {
                Some($identity)
            }
            fn may_fail(&self) -> bool {
                false
            }
            fn is_exact(&self) -> bool {
                $exact
            }
            fn commutes(&self) -> bool {
                true
            }
        }
    };
}

/// An operator on integers that refuses to overflow.
macro_rules! checked {
    ($op:ident $sign:literal $type:ty, $identity:expr, $combine:ident) => {
        impl Combine<$type> for Checked<$op> {
            const WAY: Way<Self, $type> = Way::Made(Checked($op));
            fn combine(&self, acc: &mut $type, with: &$type) {
                *acc = acc.$combine(*with).unwrap_or_else(|| {
                    let what = concat!(" ", $sign, " ");
                    refuse(ErrorKind::Overflow, format!("{acc}{what}{with} overflows {}", stringify!($type)))
                });
            }
            fn identity(&self) -> Option<$type> {
                Some($identity)
            }
        }
    };
}

macro_rules! bitwise {
    ($type:ty, $zeros:expr, $ones:expr) => {
        certain!(And $type, $ones, true, |acc, with| *acc &= *with);
        certain!(Or $type, $zeros, true, |acc, with| *acc |= *with);
        certain!(Xor $type, $zeros, true, |acc, with| *acc ^= *with);
    };
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        certain!(Sum $type, 0, true, |acc, with| *acc = acc.wrapping_add(*with));
        certain!(Product $type, 1, true, |acc, with| *acc = acc.wrapping_mul(*with));
        checked!(Sum "+" $type, 0, checked_add);
        checked!(Product "*" $type, 1, checked_mul);
        bitwise!($type, 0, !0);
    )* };
}

macro_rules! floats {
    ($($type:ty)*) => { $(
        certain!(Sum $type, 0.0, false, |acc, with| *acc += *with);
        certain!(Product $type, 1.0, false, |acc, with| *acc *= *with);
    )* };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
floats!(f32 f64);
bitwise!(bool, false, true);
