//! What is built from steps: the collectives.

mod broadcast;
mod collectives;
mod reduce;
