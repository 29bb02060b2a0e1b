//! What is fuzzed, by name: each takes any bytes and returns. A panic is a finding.
//!
//! The doors of the library are there under `--cfg fuzzing` alone. The folder `targets` hands them to libFuzzer, which
//! needs a nightly compiler; `tests` hands them the corpus and what is near it, with any compiler.

/// All that the reader of hosts needs of the command's own.
mod failure {
    pub(crate) enum Failure {
        Failed(String),
    }
}

pub mod files;
mod hosts;
mod packets;
pub mod runs;
mod variables;

pub use fabric::fuzzing::pulse;
pub use files::files;
pub use hosts::hosts;
pub use packets::packets;
pub use runs::run;
pub use variables::variables;

/// A target: its name, which its corpus has as well, and what it hands the bytes to.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 6] = [
    ("packets", packets),
    ("pulse", pulse),
    ("hosts", hosts),
    ("variables", variables),
    ("runs", run),
    ("files", files),
];
