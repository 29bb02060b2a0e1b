//! Areas: memory of each processor that the others of its group may put to and get from.

mod access;
mod hp;
mod part;
mod put_get;
mod puts;
mod transfer;

pub use access::Area;
pub use hp::Source;
