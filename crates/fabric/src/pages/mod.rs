//! Pages of plain memory: one processor reads and writes elements by page and offset, and lends runs of them to peers.
//!
//! A table has an entry for each page that there could be. An entry says where the page's memory is, if there is any,
//! which run of it can be read and written without a further question, and which run was written. So an access is one
//! look into the table, one comparison and one load; along a line of which the page holds all, what a loop does in each
//! turn is no more than that ([`Pages::get_line`], [`Pages::set_line`]). Everything else (pages of which scattered
//! elements are there, writes that do not follow each other) is kept above and asks the slow way, by [`Pages::peek`]
//! and [`Pages::poke`].
//!
//! Pages that were there from the start lie one behind the other; the rest have memory of their own and may go again.
//!
//! # Invariants
//!
//! - **M1** is that of [`memory`](crate::memory): all elements are there, and every pattern of bytes is a value.
//! - **G1** The start of an entry is null, or valid for [`Pages::room`] elements, for as long as the page is not taken
//!   away; that happens only while nothing of it is lent. The run that can be read lies in the room.
//! - **G2** All access by this processor is through a `Pages`, which stays on its thread. Each is over before the next
//!   begins, except that of a [`Slice`], which only reads, and of a [`SliceMut`]. While a page has a slice of either
//!   kind, nothing else writes to it; while it has one for writing, nothing else reads it.
//! - **G3** Peers only read, and only what a [`Lent`] names, from where they have noted in its state that they read it
//!   until they drop it, which is noted there too. This processor writes to none of the runs that are lent before it
//!   has seen the end of the loan, or has noted itself that it took the loan back; then no peer begins to read it any
//!   more. A loan keeps the memory.
//! - **G4** The table has one entry more than there are pages, of a page that never has any memory.
//! - **G5** A page is in its row if it was there from the start, as one of pages that are lines and whose numbers
//!   follow each other. Then it starts at `row`, as many times `stride` on as its number says.

mod entry;
mod lending;
mod lent;
mod slice;
mod table;
#[cfg(test)]
mod tests;

pub use lent::Lent;
pub use slice::{Slice, SliceMut};
pub use table::{Lines, Pages};
