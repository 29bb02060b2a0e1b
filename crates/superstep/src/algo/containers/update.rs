//! A change of one element where it is.

use crate::{
    engine::Value,
    epoch::{Deed, Epoch},
};
use fabric::code::{Shape, Two};
use std::{any::type_name, marker::PhantomData};

/// A part whose elements are found by a key.
pub(super) trait Keyed: 'static {
    type Key: Value;
    type Element: 'static;

    fn element(&mut self, key: Self::Key) -> &mut Self::Element;
}

/// Calls a function of the program with an element of a part and an argument.
pub(super) struct Update<P, A>(PhantomData<fn(P, A)>);

impl<P: Keyed, A: 'static> Shape for Update<P, A> {
    type On<'a> = &'a mut P::Element;
    type With<'a> = A;
    type Args = ();
    type Answer = ();
}

impl<P: Keyed, A: Value> Deed for Update<P, A> {
    type On = P;
    type Args = (P::Key, A);
    type Answer = ();
    type Pointer = Two<Self>;

    fn name() -> &'static str {
        type_name::<fn(&mut P::Element, A)>()
    }

    #[inline]
    fn run(method: Two<Self>, part: &mut P, _: &Epoch, (key, args): (P::Key, A)) {
        (method.0)(part.element(key), args);
    }
}
