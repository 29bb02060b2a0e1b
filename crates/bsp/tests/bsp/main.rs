//! `libbsp` as its users see it: programs in C, C++ and Fortran that are compiled, linked and started here.
//!
//! - `claims`: what the standard says, one claim at a time, from `tests/c`.
//! - `conflicts`: calls of two processes that get in each other's way, where these are looked for.
//! - `misuse`: everything a program can do wrong, and the line it must print.
//! - `sequences`: random calls, right and wrong, against a model of them.
//! - `programs`: the examples, which check themselves.
//! - `life`: how processes begin and end.
//! - `waits`: who waits long says so.
//! - `installed`: the install script, the wrappers, and what they install.
//!
//! Compilers and launchers must be there; where one is missing, tests fail.

mod claims;
mod conflicts;
mod installed;
mod life;
mod misuse;
mod programs;
mod sequences;
mod waits;
mod workshop;
