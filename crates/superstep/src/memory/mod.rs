//! What a group shares: replicated variables, areas and queues.

mod area;
mod array;
mod owned;
mod queue;
mod section;
mod shared;

pub use area::{Area, Source};
pub use array::{
    Array, Block, BlockCyclic, Cyclic, Distribution, Gatherer, Irregular, OneScatterer, Place, Scatterer, Tiles,
};
pub use queue::Queue;
pub use section::{Ends, Section, Strided, strided};
pub use shared::Shared;
