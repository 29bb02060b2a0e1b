//! Functions that another process of the same build can be told to call.
//!
//! A function lies at a fixed place of the *image* that it was linked into, the executable or a shared library. So it
//! has a name that every process understands which has loaded that image in the same build: which image, and where in
//! it. An [`Entry`] is two functions: one of this library, compiled for a task, and one that a program has handed over,
//! which the first calls. Nothing but functions is named, and no value is made in one process because another has it: a
//! closure becomes a function pointer only if it captures nothing.
//!
//! The first letter that names an entry describes it: a name of 64 bits, and the places of its functions. The name is a
//! keyed hash of all that and of the task, and the key is a secret of the run. Whoever reads a description checks it
//! and notes the entry in a table; from then on the name is enough. So damaged bytes name nothing, or something that
//! was named before for the same task.
//!
//! # Invariants
//!
//! - **N1** The first function of an entry is `thunk::<K, X>` for some `X`, and the second one is the raw form of an
//!   `X::Pointer` that some process of the run has handed to [`Entry::new`].
//! - **N2** A name is the hash of a description, a task and the secret. Only [`Entry::describe`] gives one away, so a
//!   description with the right name was made there, for that task, by a process of the run.
//! - **N3** Two loaded images with the same number are the same build: what lies at a place of the one lies at the
//!   same place of the other. Who unloads an image has promised that nothing in it is called any more.

mod directory;
mod entry;
mod images;
mod pointer;

pub use directory::{Description, Refusal, place_of};
pub(crate) use directory::{adopt, hold, secret};
pub use entry::{Act, Entry, Task};
pub use images::program;
pub use pointer::{Pointer, Shape, Three, Two};
