//! What the compiler says where a type does not fit: each program of the folder, with its text beside it.
//! `TRYBUILD=overwrite cargo test --test messages` writes the texts anew.

#![forbid(unsafe_code)]

#[test]
fn the_compiler_says_what_helps() {
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
