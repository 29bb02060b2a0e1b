//! What hand-written code on bare threads reaches.

pub(crate) mod barrier;
pub(crate) mod team;
