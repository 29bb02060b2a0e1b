//! NestStep's constructs as claims, on threads and on both simulated fabrics.

#![forbid(unsafe_code)]

mod elements;
mod elsewhere;
mod mixing;
mod nesting;
mod papers;
mod sharing;
