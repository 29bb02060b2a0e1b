//! How many processes a launcher finds room for on this machine.

use std::{collections::BTreeSet, fs};

/// Open MPI counts cores, and two threads of hardware in a core as one.
pub(super) fn here() -> usize {
    let cores = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| cores(&text));
    cores.unwrap_or(usize::MAX).min(superstep::cores())
}

/// How many cores `/proc/cpuinfo` lists, if it says which thread of hardware is in which.
fn cores(text: &str) -> Option<usize> {
    let value = |line: &str, name: &str| line.strip_prefix(name)?.trim_start().strip_prefix(':')?.trim().parse().ok();
    let (mut socket, mut found) = (0u32, BTreeSet::new());
    for line in text.lines() {
        if let Some(number) = value(line, "physical id") {
            socket = number;
        } else if let Some(core) = value(line, "core id") {
            found.insert((socket, core));
        }
    }
    Some(found.len()).filter(|&count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_one_core_are_counted_once() {
        let thread =
            |socket: u32, core: u32| format!("processor\t: 0\nphysical id\t: {socket}\ncore id\t\t: {core}\n\n");
        let two_by_two = [(0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (1, 1)].map(|(socket, core)| thread(socket, core));
        assert_eq!(cores(&two_by_two.concat()), Some(4));
        assert_eq!(cores("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
        assert!(here() >= 1);
    }
}
