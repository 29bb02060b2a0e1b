//! Circles of processors that send each other packets; those of one process also share memory.
//!
//! A meeting is one wave up and one down the [tree](crate::tree): each station hears from the stations that hang off
//! it, melds, and passes the result towards the first; the outcome comes back the same way, with what lies before each.
//! How many trays each member has been sent is summed on the way up with everything else, so that each knows how many
//! to wait for, and no round is spent on counts. Trays leave when they are posted, while the step still computes.
//!
//! The members that live in one process are one station. They meet among themselves first, one of them speaks to the
//! others, and then tells its own.
//!
//! What carries the packets is a [`Link`]; this module does not care which.

mod circle;
mod count;
mod mailroom;
mod packet;
mod route;
mod stretch;
mod wave;

#[cfg(fuzzing)]
pub(crate) use wave::fuzz;

pub(crate) use circle::MessageCircle;
pub(crate) use packet::{Link, Packet, Stamp, Tag};
