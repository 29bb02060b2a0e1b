//! What is built from steps and epochs: containers, sparse matrices, and the collectives, verbs on a step in which
//! every member takes part (R5).
//!
//! | verb | who gives | who gets | cost for n words each |
//! |---|---|---|---|
//! | `broadcast` | one | all | small: with the boundary; long: n g, in two phases 2 n g + l |
//! | `reduce`, `reduce_to` | all | all, one | small: with the boundary; n g log p; long vectors between processes 2 n g + l |
//! | `prefix`, `prefix_inclusive` | all | all | small: with the boundary; n g log p |
//! | `collect` | all | all | p n g |
//! | `collect_to` | all | one | p n g there, n g elsewhere |
//! | `deal` | one | each its part | p n g there, n g elsewhere |
//! | `exchange` | all | each its part | p n g |
//!
//! Small values travel with the boundary. Long ones travel apart: between processors that share memory a
//! vector changes hands without a copy. Every verb has a form for values and one for slices of plain elements, whose
//! lengths may differ from processor to processor.

mod broadcast;
mod collect;
pub mod containers;
mod deal;
mod exchange;
mod pieces;
mod reduce;
pub mod sparse;
mod verb;
