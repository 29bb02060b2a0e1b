//! What a request does, and how that is named where it runs.
//!
//! Either it is a function of the program, which travels as a pointer: a function or a closure that captures nothing
//! becomes one, and no other closure does. Or it is the function of a type: the program names the type, and needs no
//! value of it. The first is shorter to write. The second is compiled into the loop that works requests off, where a
//! pointer is called for each of them.

use super::state::Epoch;
use crate::engine::Value;
use fabric::code::{Pointer, Shape, Three};
use std::{any::type_name, marker::PhantomData};

/// A remote method that is sent by its type, to [`send_by`](Epoch::send_by), [`ask_by`](Epoch::ask_by) and
/// [`call_by`](Epoch::call_by).
///
/// It does what a function handed to [`send`](Epoch::send) would do. But its code is compiled into the loop that works
/// requests off, so none of them costs a call. That pays where a method is a few instructions. Errors call it by its
/// name, and a function by its signature.
///
/// ```
/// use superstep::{Config, Epoch, Method};
///
/// struct Count;
/// impl Method for Count {
///     type On = Vec<u32>;
///     type Args = usize;
///     type Answer = ();
///     fn run(counts: &mut Vec<u32>, _: &Epoch, at: usize) { counts[at] += 1 }
/// }
///
/// let counts = Config::new().procs(2).run_all(|g| {
///     let counts = g.object(vec![0; 3]);
///     g.epoch(|e| for x in 0..12 { e.send_by::<Count>(x % 2, &counts, x % 3) });
///     counts.with(|counts| counts.clone())
/// });
/// assert_eq!(counts.unwrap(), [[4, 4, 4], [4, 4, 4]]);
/// ```
pub trait Method: 'static {
    /// What it runs on: the type of an [`Object`](crate::Object).
    type On: 'static;
    /// What it is sent.
    type Args: Value;
    /// What it returns.
    type Answer: Value;

    /// Does it.
    fn run(on: &mut Self::On, e: &Epoch, args: Self::Args) -> Self::Answer;
}

/// What a request does where it runs.
pub(crate) trait Deed: 'static {
    type On: 'static;
    type Args: Value;
    type Answer;
    /// The function of the program that it calls, if there is one.
    type Pointer: Pointer;

    /// What errors call it.
    fn name() -> &'static str;

    /// Asks for the memory that it will need with these arguments soon.
    #[inline]
    fn ask_ahead(_on: &Self::On, _args: &Self::Args) {}

    /// Asks for the memory that what was asked for has led to, a few requests before they run.
    #[inline]
    fn ask_nearer(_on: &Self::On, _args: &Self::Args) {}

    fn run(function: Self::Pointer, on: &mut Self::On, e: &Epoch, args: Self::Args) -> Self::Answer;
}

/// A function of the program, called as it is.
pub(crate) struct Plain<T, A, R>(PhantomData<fn(T, A) -> R>);

impl<T: 'static, A: 'static, R: 'static> Shape for Plain<T, A, R> {
    type On<'a> = &'a mut T;
    type With<'a> = &'a Epoch;
    type Args = A;
    type Answer = R;
}

impl<T: 'static, A: Value, R: 'static> Deed for Plain<T, A, R> {
    type On = T;
    type Args = A;
    type Answer = R;
    type Pointer = Three<Self>;

    fn name() -> &'static str {
        type_name::<fn(&mut T, &Epoch, A) -> R>()
    }

    #[inline]
    fn run(function: Three<Self>, on: &mut T, e: &Epoch, args: A) -> R {
        (function.0)(on, e, args)
    }
}

/// A method that is named by its type.
pub(crate) struct By<M>(PhantomData<fn() -> M>);

impl<M: Method> Deed for By<M> {
    type On = M::On;
    type Args = M::Args;
    type Answer = M::Answer;
    type Pointer = ();

    fn name() -> &'static str {
        type_name::<M>()
    }

    #[inline]
    fn run((): (), on: &mut M::On, e: &Epoch, args: M::Args) -> M::Answer {
        M::run(on, e, args)
    }
}
