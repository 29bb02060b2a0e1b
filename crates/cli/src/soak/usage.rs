//! What this process has of the system.

use crate::failure::Failure;
use std::fs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Memory that lies in the machine, in bytes.
    pub(super) memory: u64,
    pub(super) descriptors: u64,
    pub(super) threads: u64,
}

impl Usage {
    pub(super) fn now() -> Result<Self, Failure> {
        let descriptors = fs::read_dir("/proc/self/fd").map_err(|error| unknown(&error))?.count() as u64;
        // Page by page: what the status says of memory is only about right.
        let memory = number_in("/proc/self/smaps_rollup", "Rss:")? << 10;
        Ok(Self { memory, descriptors, threads: number_in("/proc/self/status", "Threads:")? })
    }
}

/// The number that a file of the system has behind a name.
fn number_in(file: &str, name: &str) -> Result<u64, Failure> {
    let text = fs::read_to_string(file).map_err(|error| unknown(&format!("{file}: {error}")))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| unknown(&format!("{file} has no {name}")))
}

fn unknown(why: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("the system does not say what this process uses: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_open_is_seen() {
        let before = Usage::now().expect("the system says it");
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/proc/self/status").expect("it is there")).collect();
        let after = Usage::now().expect("the system says it");
        assert!(after.descriptors >= before.descriptors + 25, "{} files are open", files.len());
        assert!(after.memory > 0 && after.threads > 0);
    }
}
