//! The kernels of the GAP suite find what plain serial code finds, on every fabric.

#[path = "../support/mod.rs"]
mod support;

mod command;
mod kernels;
mod serial;
