//! Containers that lie spread over the processors of a group and are worked on in epochs.
//!
//! A container has a part on every processor. Every element, entry or vertex lies in one of them, and that processor is
//! its owner. A processor can go through what it owns in a plain loop, at any time. It reaches what may lie elsewhere
//! in an [epoch](crate::Group::epoch), by methods that take the epoch as their first argument and send a request to the
//! owner:
//!
//! - those that need nothing back return at once (`set`, `insert`, `update`, `add_edge`, `visit`);
//! - those that do wait for it (`get`, `remove`), and `ask` gives the same as an [`Answer`](crate::Answer) that can be
//!   taken later.
//!
//! What changes the shape of a container as a whole takes the group, and every processor calls it.
//!
//! # Contract
//!
//! 1. Requests of one processor to one owner run in the order in which they were made; so a processor reads what it
//!    has written, at once.
//! 2. Each request runs as a whole: no other one runs on that part meanwhile.
//! 3. When an epoch has ended, everything that was asked for in it has happened.
//! 4. Who owns what depends on the container and the number of processors alone, not on the fabric.

mod blocks;
mod graph;
mod hash_map;
mod home;
mod packing;
mod table;
mod update;
mod vector;
mod vertex;
mod walk;

pub use graph::Graph;
pub use hash_map::HashMap;
pub(crate) use packing::Packed;
pub use vector::Vector;
pub use vertex::{Edge, Vertex};
pub use walk::Walk;
