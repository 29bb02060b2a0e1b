//! Making a tenant together, also where a processor cannot make its part.

use crate::{
    engine::{Core, Lease, Occasion, Outbox, Phase, Sends, Tenant, hooks},
    error::{Error, Result},
};
use fabric::Circle;
use std::{panic::Location, rc::Rc};

/// In the place of a part that could not be made.
struct Missing(Error);

impl Tenant for Missing {
    fn describe(&self) -> String {
        self.0.to_string()
    }

    hooks!(sends);
}

impl Sends for Missing {
    fn send(&self, _: u32, _: &mut Outbox, _: &dyn Circle) -> Result {
        Err(self.0.clone())
    }
}

/// Makes a tenant together with all other members, in a boundary of its own. `also` makes the calls that go with it,
/// and `handle` makes the handle of the part.
///
/// A processor that has no part brings the reason in its place. That is the error of all members then, and the group
/// goes on.
pub(super) fn make<P: Tenant, H, R>(
    core: &Rc<Core>,
    (making, mark, site): (&'static Occasion, u64, &'static Location<'static>),
    part: Result<P>,
    also: impl FnOnce() -> R,
    handle: impl FnOnce(Rc<P>, Lease) -> H,
) -> Result<(H, R)> {
    core.begin(site, Phase::Step);
    match part {
        Ok(part) => {
            let part = Rc::new(part);
            let lease = core.add_tenant(Rc::clone(&part) as Rc<dyn Tenant>, mark);
            let made = (handle(part, lease), also());
            core.boundary(making)?;
            Ok(made)
        }
        Err(error) => {
            let lease = core.add_tenant(Rc::new(Missing(error.clone())), mark);
            also();
            core.registry().announce(lease.number);
            let outcome = core.boundary(making);
            Err(outcome.err().unwrap_or(error))
        }
    }
}
