//! The functions that programs call.
//!
//! Those of C with `int` are the standard's, those with `size_t` have the same names behind a macro of `bsp.h`, and
//! those of Fortran take everything by address. All of them come down to the functions in [`calls`].

mod abort;
mod calls;
mod fortran;
mod int;
mod size;
