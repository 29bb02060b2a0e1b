//! Arrays in logical pages, of which sections are made coherent among some processors (seed: Cidre).
//!
//! [`layout`] says who owns what and on which page it lies; [`part`] is what a processor has of it; [`access`],
//! [`copies`], [`slices`], [`sections`] and [`whole`] are the handle. [`cohere`] makes a section the same on a set of
//! processors: they tell each other [`news`] through the [`channel`] of their group, and [`merge`] what they have
//! heard. [`limit`] says what is lent, and [`flight`] what calls that are under way at the same time know of each
//! other.

mod access;
mod channel;
mod cohere;
mod copies;
mod flight;
mod layout;
mod limit;
mod making;
mod marks;
mod merge;
mod news;
mod part;
mod sections;
mod slices;
mod whole;

pub use access::Paged;
pub use cohere::Cohering;
pub use slices::{Run, RunMut};
