//! NestStep, the language: a macro that translates it into Rust.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod aliases;
mod changed;
mod combining;
mod declare;
mod differing;
mod elements;
mod forall;
mod forms;
mod inspect;
mod jumps;
mod known;
mod lower;
mod names;
mod plan;
mod private;
mod program;
mod reader;
mod rounds;
mod steady;
mod steps;
mod sugar;
mod taint;
mod tokens;
mod wants;

/// Translates functions of NestStep into Rust.
///
/// ```
/// use neststep::neststep;
///
/// neststep! {
///     fn total() -> u64 {
///         sh<+> sum: u64;
///         step { sum = $ as u64 + 1; }
///         sum
///     }
/// }
///
/// assert_eq!(superstep::Config::new().procs(3).run(total).unwrap(), 6);
/// ```
#[proc_macro]
pub fn neststep(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    program::translate(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
