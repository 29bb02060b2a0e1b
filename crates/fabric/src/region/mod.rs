//! Memory that one processor owns and peers may read at agreed times.
//!
//! Arrays and areas live in a [`Region`]. Its owner works on it as a slice; a peer that shares the address space holds
//! a [`Reach`] and reads a range of it while the owner has it open. Every access by a peer, and every transfer into an
//! open region, first takes a borrow on its range, so two of them that would race cannot both be granted: the layers
//! above keep the phases of a boundary apart, and a mistake there is an error here and never a data race.
//!
//! # Invariants
//!
//! - **M1** is that of [`memory`](crate::memory): all elements are there, and every pattern of bytes is a value.
//! - **M2** Only the owner writes, and only through `&mut Region`: either by the slice of `as_mut_slice`, after which
//!   the region is closed, or by `pull`, under a write borrow.
//! - **M3** A peer reads only under a read borrow. Read borrows are granted only while the region is open and never
//!   overlap a write borrow; a region is closed, and a write borrow granted, only where no borrow stands in the way.
//! - **M4** The memory under a region changes only in `swap`, through `&mut Region` and while the region is closed, so
//!   no borrow stands and no slice is lent; a borrow is granted on what opening the region has published.

mod borrows;
mod owner;
mod reach;
#[cfg(test)]
mod tests;

pub use borrows::Refused;
pub use owner::Region;
pub use reach::{Flat, Loan, Reach};
