//! Arrays that lie spread over the processors of a group.
//!
//! [`layout`] and [`distributions`] say who owns what, [`access`] is the handle and everything local. Writes go from
//! the verbs of [`scatter`] and [`update`] into [`lanes`], from there as batches to their owners, and are committed by
//! [`writes`]; reads go through [`gather`] and [`reads`]. [`wire`], [`carried`], [`remote`] and [`answers`] are for
//! owners that share no memory with the caller. [`whole`] and [`import`] stand on these.
//! [`conflicts`] looks at what several members write. A [`plan`] keeps the [`routes`] of a list of indices, and
//! [`served`] what others have planned; [`plan_gather`] and [`plan_scatter`] follow them.

mod access;
mod answers;
mod builders;
mod carried;
mod conflicts;
mod distributions;
mod divisor;
mod forall;
mod gather;
mod halo;
mod import;
mod lanes;
mod layout;
mod loose;
mod making;
mod operator;
mod part;
mod pieces;
mod plan;
mod plan_gather;
mod plan_scatter;
mod reads;
mod remote;
mod routes;
mod scatter;
mod served;
mod tiles;
mod update;
mod whole;
mod wire;
mod writes;

pub use access::Array;
pub use distributions::{Block, BlockCyclic, Cyclic, Irregular};
pub(crate) use divisor::Divisor;
pub use gather::Gatherer;
pub use halo::{Edge, Halo, PendingHalo};
pub use layout::Distribution;
pub(crate) use loose::Loose;
pub use plan::Plan;
pub use scatter::{OneScatterer, Scatterer};
pub use tiles::Tiles;
