//! Sparse matrices and graphs in compressed rows, for programs that work on all of them in every step.
//!
//! A matrix lies like two arrays: each row with the owner of the element of one array, and columns stand for the
//! elements of another. What a processor needs of others is the same in every product, so the matrix keeps a
//! [plan](crate::arrays::Plan) of it. Columns are not numbered as in the whole matrix, but by what the plan gathers: a
//! product is one gather, and a loop over plain slices.
//!
//! The entries of a row stand by rising column. So what a row adds up is the same, bit for bit, on any number of
//! processors; what is added across rows, as in a transposed product, is the same in every run on the same number.

mod balance;
mod entries;
mod graph;
mod matrix;
mod pattern;
mod product;

pub use graph::Graph;
pub use matrix::Sparse;
