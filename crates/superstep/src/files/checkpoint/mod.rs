//! Checkpoints: what a program needs to go on, on the disk, whole or not at all.
//!
//! Between two steps nothing is under way, so what all processors have then fits together. A [`Checkpoint`] has names
//! for what is to be kept. A save makes a *generation*, a folder with a file for each name and a manifest. A generation
//! counts when its manifest is in place, and that is put there last, by one rename, when everything else is on the
//! disk. Every byte has a checksum. Two generations at least are kept, so one is whole whatever happens to the other.
//!
//! [`save`] says what can be kept and how it becomes pieces of bytes; [`memory`], [`containers`] and [`values`] are the
//! things themselves. [`writer`] writes pieces, [`reader`] checks them, [`manifest`] says what lies where,
//! [`generations`] has the folders and [`occasions`] when to save. [`handle`] and [`restoring`] are what a program
//! calls.

mod containers;
mod generations;
mod handle;
mod json;
mod manifest;
mod memory;
mod occasions;
mod reader;
mod restoring;
mod save;
mod tempo;
mod values;
mod writer;

pub use handle::Checkpoint;
pub use save::Save;
pub use values::{Each, One};

pub use generations::Folder;
pub use manifest::{Flaw, Manifest, Part, Piece, What};
pub(super) use reader::flaw_of;
pub use save::{Copied, Stored};
