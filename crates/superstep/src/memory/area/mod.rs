//! Areas: memory of each processor that the others of its group may put to and get from.

mod access;
mod put_get;
mod source;
mod transfer;

pub use access::Area;
pub use source::Source;
