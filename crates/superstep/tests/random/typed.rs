//! The elements of arrays, and the model's operators on them.

use crate::words::With;
use bytemuck::{Pod, Zeroable};
use superstep::{And, Any, Array, Distribution, Element, Fold, Leader, Max, Min, Or, Pending, Product, Sum, Xor};
use superstep_model::{Kind, Op};

/// What an act in a step will have read: one of these.
pub(crate) type Read = (
    Option<Pending<Vec<u16>>>,
    Option<Pending<Vec<u64>>>,
    Option<Pending<Vec<f64>>>,
    Option<Pending<Vec<i32>>>,
    Option<Pending<Vec<Pair>>>,
);

/// What arrays are made of.
pub(crate) trait Typed: Element {
    const KIND: Kind;
    fn of(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn read(pending: Pending<Vec<Self>>) -> Read;

    /// Does something with the operator that `op` stands for.
    fn by<W: With<Self>>(op: Op, what: W) -> W::Out;

    /// Declares the array's operator.
    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N>;
}

/// The model's operators that the library does not have for this type.
fn add<T: Typed>(low: &mut T, high: &T) {
    *low = T::of(T::KIND.combine(Op::Sum, low.bits(), high.bits()));
}

/// Combines so that every difference in order shows.
pub(crate) fn note<T: Typed>(low: &mut T, high: &T) {
    *low = T::of(T::KIND.combine(Op::Note, low.bits(), high.bits()));
}

impl Typed for u64 {
    const KIND: Kind = Kind::Whole;

    fn of(bits: u64) -> Self {
        bits
    }

    fn bits(self) -> u64 {
        self
    }

    fn read(pending: Pending<Vec<Self>>) -> Read {
        (None, Some(pending), None, None, None)
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Any | Op::Same => what.with(Any),
            Op::Leader => what.with(Leader),
            Op::Sum => what.with(Sum),
            Op::Product => what.with(Product),
            Op::Min => what.with(Min),
            Op::Max => what.with(Max),
            Op::And => what.with(And),
            Op::Or => what.with(Or),
            Op::Xor => what.with(Xor),
            Op::Note => what.with(Fold(note)),
        }
    }

    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a.combining(Sum)
    }
}

impl Typed for f64 {
    const KIND: Kind = Kind::Float;

    fn of(bits: u64) -> Self {
        Self::from_bits(bits)
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }

    fn read(pending: Pending<Vec<Self>>) -> Read {
        (None, None, Some(pending), None, None)
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Any => what.with(Any),
            Op::Leader => what.with(Leader),
            Op::Max => what.with(Max),
            Op::Note => what.with(Fold(note)),
            _ => what.with(Sum),
        }
    }

    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a.combining(Sum)
    }
}

impl Typed for i32 {
    const KIND: Kind = Kind::Short;

    fn of(bits: u64) -> Self {
        bits as Self
    }

    fn bits(self) -> u64 {
        u64::from(self as u32)
    }

    fn read(pending: Pending<Vec<Self>>) -> Read {
        (None, None, None, Some(pending), None)
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Any => what.with(Any),
            Op::Leader => what.with(Leader),
            Op::Note => what.with(Fold(note)),
            _ => what.with(Sum),
        }
    }

    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a.combining(|low: &mut i32, high: &i32| note(low, high))
    }
}

/// A struct as an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct Pair {
    a: u32,
    b: [u16; 2],
}

impl Typed for Pair {
    const KIND: Kind = Kind::Pair;

    fn of(bits: u64) -> Self {
        Self { a: (bits >> 32) as u32, b: [(bits >> 16) as u16, bits as u16] }
    }

    fn bits(self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b[0]) << 16 | u64::from(self.b[1])
    }

    fn read(pending: Pending<Vec<Self>>) -> Read {
        (None, None, None, None, Some(pending))
    }

    fn by<W: With<Self>>(op: Op, what: W) -> W::Out {
        match op {
            Op::Any => what.with(Any),
            Op::Leader => what.with(Leader),
            Op::Note => what.with(Fold(note)),
            _ => what.with(Fold(add)),
        }
    }

    fn declare<D: Distribution, const N: usize>(a: Array<Self, D, N>) -> Array<Self, D, N> {
        a
    }
}
