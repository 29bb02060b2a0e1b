//! Files: arrays, lines, records, matrices and graphs in, arrays and lines out, and [checkpoints](Checkpoint).
//!
//! Every call is collective. Each processor reads or writes its own part at its place in the file, so no processor ever
//! holds all of it; every process must see the file under the same path. A file that is written has another name until
//! it is whole and on the disk, so nobody ever finds half a file under the name that was asked for. It has the rights
//! of the file that it replaces; a link is replaced as well, and not what it leads to. A program that is killed while
//! it writes leaves a file behind whose name begins with a dot and ends with `.part`.
//!
//! What goes wrong (no such file, a header that makes no sense, a line that is no number, a full disk) is one error of
//! kind [`File`](crate::ErrorKind::File), the same on all processors, which names the file. The group goes on after it.
//! Members that name different files have an error of kind [`DeclMismatch`](crate::ErrorKind::DeclMismatch). What has
//! no length before it is read, such as a pipe, is refused.
//!
//! | | in | out |
//! |---|---|---|
//! | numbers, little-endian, nothing else | [`read_raw`]; into an array that is there, [`load_raw`] | [`write_raw`] |
//! | arrays of `NumPy`, `.npy` | [`read_npy`], [`read_npy_with`], [`load_npy`] | [`write_npy`] |
//! | lines | [`read_lines`], [`each_line`] | [`write_lines`] |
//! | records of a fixed size | [`read_records`] | |
//! | matrices of `MatrixMarket`, `.mtx` | [`read_matrix`] | |
//! | graphs, `.el`, and with weights, `.wel` | [`read_edges`], [`read_weighted_edges`] | |
//! | what a program needs to go on | [`restore`](Checkpoint::restore) | [`save`](Checkpoint::save) |
//!
//! ```
//! use superstep::{Block, Config, Cyclic};
//!
//! # let path = std::env::temp_dir().join(format!("superstep-doc-files-{}.npy", std::process::id()));
//! let sums = Config::new().procs(3).run(|g| {
//!     let a = g.array::<f64, Cyclic>(1000);
//!     a.forall_mut(|i, x| *x = i as f64);
//!     g.write_npy(&path, &a)?;
//!     let b = g.read_npy::<f64, Block, 1>(&path)?;                  // it lies in another way now
//!     let sum = b.local().iter().sum::<f64>();
//!     Ok::<_, superstep::Error>(g.step(|s| s.reduce(sum, superstep::Sum)))
//! });
//! # std::fs::remove_file(&path).unwrap();
//! assert_eq!(sums.unwrap(), 499_500.0);
//! ```
//!
//! [`read_raw`]: crate::Group::read_raw
//! [`load_raw`]: crate::Group::load_raw
//! [`write_raw`]: crate::Group::write_raw
//! [`read_npy`]: crate::Group::read_npy
//! [`read_npy_with`]: crate::Group::read_npy_with
//! [`load_npy`]: crate::Group::load_npy
//! [`write_npy`]: crate::Group::write_npy
//! [`read_lines`]: crate::Group::read_lines
//! [`each_line`]: crate::Group::each_line
//! [`write_lines`]: crate::Group::write_lines
//! [`read_records`]: crate::Group::read_records
//! [`read_matrix`]: crate::Group::read_matrix
//! [`read_edges`]: crate::Group::read_edges
//! [`read_weighted_edges`]: crate::Group::read_weighted_edges

mod arrays;
mod aside;
mod checkpoint;
mod disk;
mod edges;
mod header;
#[doc(hidden)]
pub mod inspect;
mod lines;
mod market;
mod npy;
mod raw;
mod records;
mod share;
mod together;
mod words;

pub use checkpoint::{Checkpoint, Each, One, Save};
#[doc(hidden)]
pub use disk::{Fault, plan_fault};
pub use lines::Lines;
pub use npy::Number;
pub use records::Records;
