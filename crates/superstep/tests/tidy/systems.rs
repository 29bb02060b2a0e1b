//! What differs between systems stands in one folder of the fabric.

use crate::{code, has_word, none, source::sources};

/// Where a system may be called or named: the folder, what runs on some of them alone, and where such a part is taken
/// or left.
const PLACES: [&str; 9] = [
    "crates/bsp/",
    "crates/fabric/src/code/images.rs",
    "crates/fabric/src/lib.rs",
    "crates/fabric/src/mpi/",
    "crates/fabric/src/processes.rs",
    "crates/fabric/src/procs/",
    "crates/fabric/src/sight/",
    "crates/fabric/src/system/",
    "crates/cli/src/",
];

/// The words by which code calls or names a system.
const WORDS: [&str; 6] = ["libc", "target_os", "target_env", "windows", "unix", "linux"];

#[test]
fn systems_differ_in_one_folder() {
    let mut found = Vec::new();
    for source in sources() {
        let is_library = source.path.starts_with("crates/") && source.path.contains("/src/");
        if !is_library || PLACES.iter().any(|place| source.path.starts_with(place)) {
            continue;
        }
        for (number, line) in source.lines() {
            let is_attribute = line.contains("cfg") || line.contains("std::os::") || line.contains("libc::");
            if is_attribute && WORDS.iter().any(|word| has_word(code(line), word)) {
                found.push(format!("{}:{number} knows a system: {}", source.path, line.trim()));
            }
        }
    }
    none(&found, "what differs between systems stands in `crates/fabric/src/system`");
}

#[test]
fn the_places_that_may_know_a_system_still_do() {
    let sources = sources();
    let knows = |place: &&str| {
        let mut of_it = sources.iter().filter(|source| source.path.starts_with(*place));
        of_it.any(|source| WORDS.iter().any(|word| has_word(&source.text, word)))
    };
    let found: Vec<String> = PLACES.iter().filter(|place| !knows(place)).map(|place| (*place).to_owned()).collect();
    none(&found, "a place that knows no system any more is not listed");
}
