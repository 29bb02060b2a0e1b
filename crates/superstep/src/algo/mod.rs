//! What is built from steps: the collectives.

mod collectives;
