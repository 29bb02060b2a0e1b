//! What the translator says where a program cannot be one: each program of the folder, with its text beside it.
//! `TRYBUILD=overwrite cargo test -p neststep --test messages` writes the texts anew.

#![forbid(unsafe_code)]

#[test]
fn the_translator_points_at_the_program() {
    trybuild::TestCases::new().compile_fail("tests/messages/*.rs");
}
