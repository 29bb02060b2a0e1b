//! What a group shares: replicated variables, areas and queues.

mod area;
mod queue;
mod section;
mod shared;

pub use area::{Area, Source};
pub use queue::Queue;
pub use section::{Ends, Section, Strided, strided};
pub use shared::Shared;
