//! What collectives have in common: how a verb is told from others, and values that travel apart from the boundary.
//!
//! Members that call different verbs differ in the types of the items that these place. Verbs whose items work alike,
//! such as a reduction and a prefix, have a type of their own each.

use crate::{
    engine::{Address, Codec, Item, Needs, Outbox, Payload, Pending, Step, Tag, damaged},
    error::{Error, ErrorKind, Result, place},
};
use fabric::Circle;
use std::{any::Any, panic::Location, sync::Arc};

/// A verb, and how errors name it.
pub(super) trait Verb: 'static {
    const NAME: &'static str;
}

/// Declares verbs with their names.
macro_rules! verbs {
    ($($verb:ident $name:literal)*) => { $(
        enum $verb {}

        impl $crate::algo::verb::Verb for $verb {
            const NAME: &'static str = $name;
        }
    )* };
}
pub(super) use verbs;

/// Up to this many bytes a value travels with the boundary.
pub(super) const SMALL_BYTES: usize = 1 << 10;

/// Sends `value` to `to` for item `number`: moved where memory is shared and that pays, else encoded.
fn send<T: Send + 'static, K: Codec<T>>(step: &Step, to: usize, number: u32, value: T) -> Result {
    let address = Address::Item(number);
    if !K::is_small() && step.core.wire.circle().shares(to) {
        step.outbox().push_moved(to, address, Box::new(value));
        return Ok(());
    }
    step.outbox().push(to, address, Tag::Data, |out| K::encode(&value, out))
}

/// Receives what [`send`] sent.
pub(super) fn receive<T: 'static, K: Codec<T>>(payload: Payload<'_>) -> Result<T> {
    match payload {
        Payload::Bytes(bytes) => K::decode(bytes),
        Payload::Moved(value) => value.downcast().map(|value| *value).map_err(|_| damaged()),
    }
}

/// Receives bytes that [`Step::send_copy`] sent, or a sender of bytes alone.
pub(super) fn receive_copy<T, K: Codec<T>>(payload: Payload<'_>) -> Result<T> {
    match payload {
        Payload::Bytes(bytes) => K::decode(bytes),
        Payload::Moved(bytes) => K::decode(&bytes.downcast::<Arc<Vec<u8>>>().map_err(|_| damaged())?),
    }
}

pub(super) fn root_left(root: usize, site: &Location<'_>) -> Error {
    let message = format!("rank {root} left the group before it gave the others their part ({})", place(site));
    Error::new(ErrorKind::Departed, message)
}

/// An item whose value one processor alone gets: the others get `None`.
pub(super) struct AtRoot<I, T> {
    root: usize,
    inner: I,
    #[expect(clippy::option_option, reason = "an outcome is an Option of the pending type, which is one itself")]
    value: Option<Option<T>>,
}

impl<I: Item, T: 'static> AtRoot<I, T> {
    pub(super) fn new(root: usize, inner: I) -> Self {
        Self { root, inner, value: None }
    }
}

impl<I: Item, T: 'static> Item for AtRoot<I, T> {
    fn describe(&self) -> String {
        format!("{} at root {}", self.inner.describe(), self.root)
    }

    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn contribute(&self, out: &mut Vec<u8>) -> Result {
        self.inner.contribute(out)
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        self.inner.meld(left, right, out)
    }

    fn conclude(&mut self, found: Option<&[u8]>) -> Result {
        self.inner.conclude(found)
    }

    fn deliver(&mut self, from: usize, payload: Payload<'_>) -> Result {
        self.inner.deliver(from, payload)
    }

    fn forward(&mut self, number: u32, outbox: &mut Outbox, circle: &dyn Circle, left: &[usize]) -> Result {
        self.inner.forward(number, outbox, circle, left)
    }

    fn finish(&mut self, left: &[usize]) -> Result {
        self.inner.finish(left)
    }

    fn outcome(&mut self) -> &mut dyn Any {
        self.value = Some(self.inner.outcome().downcast_mut::<Option<T>>().and_then(Option::take));
        &mut self.value
    }
}

impl Step {
    pub(super) fn check_root(&self, root: usize, site: &Location<'_>) {
        self.core.check_rank(root, site).unwrap_or_else(|error| error.raise());
    }

    pub(super) fn refuse(&self, kind: ErrorKind, what: &str, site: &Location<'_>) -> ! {
        self.core.error(kind, what, site).raise()
    }

    /// Unwinds with an error of a verb that could not encode its value.
    pub(super) fn must(&self, outcome: Result, site: &Location<'_>) {
        if let Err(error) = outcome {
            self.core.error(error.kind(), error, site).raise();
        }
    }

    /// Places an item about `argument`, and sends its parts. If one cannot be encoded, the verb was never called.
    pub(super) fn place_and_send<I: Item, R, T: Send + 'static, K: Codec<T>>(
        &self,
        item: I,
        argument: u64,
        parts: impl IntoIterator<Item = (usize, T)>,
        site: &Location<'_>,
    ) -> Pending<R> {
        let attempt = self.core.attempt();
        let pending = self.core.place(item, argument);
        for (to, part) in parts {
            self.must(send::<T, K>(self, to, pending.item, part), site);
        }
        attempt.done();
        pending
    }

    /// Hands the same bytes to `to` as others get, for item `number`: they are not copied where memory is shared.
    pub(super) fn send_copy(&self, to: usize, number: u32, bytes: &Arc<Vec<u8>>) {
        let address = Address::Item(number);
        if self.core.wire.circle().shares(to) {
            self.outbox().push_moved(to, address, Box::new(Arc::clone(bytes)));
        } else {
            self.outbox().push(to, address, Tag::Data, |out| out.extend_from_slice(bytes));
        }
    }
}
