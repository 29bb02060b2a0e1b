//! What hand-written code on bare threads reaches.

pub(crate) mod barrier;
pub(crate) mod buckets;
pub(crate) mod memory;
pub(crate) mod ring;
pub(crate) mod team;
