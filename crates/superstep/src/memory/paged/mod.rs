//! Arrays in logical pages, of which sections are made coherent among some processors (seed: Cidre).
//!
//! [`layout`] says who owns what and on which page it lies; [`part`] is what a processor has of it; [`access`] and
//! [`slices`] are the handle. [`cohere`] makes a section the same on a set of processors, with letters that [`letter`]
//! writes and reads; [`limit`] says what of
//! them is lent, and [`flight`] what calls that are under way at the same time know of each other.

mod access;
mod cohere;
mod flight;
mod layout;
mod letter;
mod limit;
mod marks;
mod part;
mod slices;

pub use access::Paged;
pub use cohere::Cohering;
pub use slices::{Run, RunMut};
