//! What is built from steps and epochs: the collectives, and containers.

mod broadcast;
mod collectives;
pub mod containers;
mod reduce;
mod verbs;
