//! The group that a container belongs to.

use crate::{
    engine::{Core, Group},
    error::{Error, ErrorKind, Result, place},
};
use std::{any::type_name, panic::Location, rc::Rc};

/// Where a container was made, and by how many.
pub(super) struct Home {
    core: Rc<Core>,
    /// What it is, with its type.
    what: String,
    site: &'static Location<'static>,
    /// How many processors have a part of it, and which of the parts is here.
    pub(super) size: usize,
    pub(super) rank: usize,
}

impl Home {
    pub(super) fn new<C>(g: &Group, site: &'static Location<'static>) -> Self {
        Self { core: Rc::clone(g.core()), what: short_name(type_name::<C>()), site, size: g.size(), rank: g.rank() }
    }

    /// Notes a length that must be the same on all members; the next boundary sees to it.
    pub(super) fn declare_len(&self, len: usize) {
        self.core.declare(len as u64);
        self.core.registry().describe(format!("{} elements of the {}", len, self.describe()));
    }

    /// The container in words.
    pub(super) fn describe(&self) -> String {
        format!("{} made at {}", self.what, place(self.site))
    }

    /// Refuses another group than the one that made it, or one that some have left and their parts with them.
    #[inline]
    pub(super) fn check(&self, core: &Core, site: &Location<'_>) {
        self.try_check(core, site).unwrap_or_else(|error| error.raise());
    }

    /// The same, as an error.
    #[inline]
    pub(super) fn try_check(&self, core: &Core, site: &Location<'_>) -> Result {
        let is_ours = std::ptr::eq(core, &raw const *self.core) && core.size() == self.size;
        if is_ours { Ok(()) } else { Err(self.refuse(core, site)) }
    }

    #[cold]
    fn refuse(&self, core: &Core, site: &Location<'_>) -> Error {
        if let Err(error) = core.check_member(&self.core, &self.describe(), site) {
            return error;
        }
        let (now, then) = (core.size(), self.size);
        let what = format!(
            "the {} had parts on {then} processors, and {now} are left in the group; make a new one",
            self.describe()
        );
        core.error(ErrorKind::Departed, what, site)
    }

    /// The error of one that names something that is not there.
    #[cold]
    pub(super) fn missing(&self, core: &Core, index: usize, len: usize, site: &Location<'_>) -> Error {
        let rank = core.rank();
        let what = format!("index {index} of the {}, which has {len}; rank {rank} names it", self.describe());
        core.error(ErrorKind::IndexOutOfRange, what, site)
    }
}

/// The name of a type without the modules of its outermost part.
fn short_name(name: &str) -> String {
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    name[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_named_without_its_modules() {
        assert_eq!(short_name("a::b::Vector<std::string::String>"), "Vector<std::string::String>");
        assert_eq!(short_name("u8"), "u8");
    }
}
