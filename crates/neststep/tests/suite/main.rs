//! NestStep's constructs as claims, on threads and on both simulated fabrics.

#![forbid(unsafe_code)]
#![allow(clippy::comparison_chain, clippy::bool_to_int_with_if, reason = "programs stand as in the papers")]
#![allow(clippy::never_loop, clippy::needless_continue, clippy::redundant_else, reason = "jumps are what is tried")]
#![allow(clippy::while_immutable_condition, reason = "a loop may end by what it reads")]
#![allow(
    clippy::float_cmp,
    clippy::redundant_closure,
    clippy::useless_vec,
    reason = "a claim has its cases in one place"
)]

mod ahead;
mod corners;
mod elements;
mod elsewhere;
mod figure3;
mod mixing;
mod nesting;
mod papers;
mod parts;
mod sharing;
mod steady;
mod users;
mod whole;
