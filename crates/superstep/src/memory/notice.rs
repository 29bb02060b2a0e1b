//! What a processor does that cannot make its part of something: the others are at the boundary already.

use crate::{
    engine::{Core, Kind, Object, Outbox, Phase},
    error::{Error, Result},
};
use fabric::Circle;
use std::{panic::Location, rc::Rc};

/// In the place of a part that could not be made.
struct Missing(Error);

impl Object for Missing {
    fn describe(&self) -> String {
        self.0.to_string()
    }

    fn flush(&self, _number: u32, _outbox: &mut Outbox, _circle: &dyn Circle) -> Result {
        Err(self.0.clone())
    }
}

/// Takes part in the boundary of a making with nothing but an error, which then is that of all members. The group goes
/// on. `also` makes the calls that the others make besides.
pub(super) fn give_notice(
    core: &Rc<Core>,
    boundary: Kind,
    kind: u64,
    also: impl FnOnce(),
    error: Error,
    site: &'static Location<'static>,
) -> Error {
    core.begin(site, Phase::Step);
    let number = core.add_object(Rc::new(Missing(error.clone())), kind);
    also();
    core.registry().outgoing.push(number);
    let outcome = core.boundary(boundary);
    core.registry().drop_object(number);
    outcome.err().unwrap_or(error)
}
