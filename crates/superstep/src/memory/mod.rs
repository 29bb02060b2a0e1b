//! What a group shares: replicated variables, areas and queues.

mod area;
mod queue;
mod shared;

pub use area::{Area, Section, Source};
pub use queue::Queue;
pub use shared::Shared;
