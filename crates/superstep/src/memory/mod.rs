//! What a group shares: replicated variables, areas, queues and arrays.

mod area;
mod array;
mod copy;
mod making;
mod owned;
mod paged;
mod place;
mod queue;
mod section;
mod shared;
mod whole;

pub use area::{Area, Source};
pub use array::{
    Array, Block, BlockCyclic, Cyclic, Distribution, Edge, Gatherer, Halo, Irregular, OneScatterer, PendingHalo, Plan,
    Scatterer, Tiles,
};
pub(crate) use array::{Divisor, Loose};
pub use paged::{Cohering, Paged, Run, RunMut};
pub use place::Place;
pub use queue::Queue;
pub(crate) use section::Span;
pub use section::{Ends, Section, Strided, strided};
pub use shared::Shared;
pub use whole::Whole;
