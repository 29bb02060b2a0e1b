//! Which variables of the environment must reach processes on other hosts.

use std::ffi::OsString;

/// Those of others that change how a program is found to run.
const OTHERS: [&str; 2] = ["LD_LIBRARY_PATH", "RUST_BACKTRACE"];

/// The names to pass on, of all that are set: superstep's own, with those that this command sets itself, and some more.
/// `may_restart` says whether those that go with that are among them.
pub(super) fn names(set: impl Iterator<Item = OsString>, may_restart: bool) -> Vec<String> {
    let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_passed = |name: &String| name.starts_with("SUPERSTEP_") || OTHERS.contains(&name.as_str());
    let set = set.filter_map(|name| name.into_string().ok()).filter(|name| is_word(name) && is_passed(name));
    let mut names: Vec<String> = set.chain(["SUPERSTEP_FABRIC", "SUPERSTEP_THREADS"].map(str::to_owned)).collect();
    if may_restart {
        names.extend([super::restart::NOTE, "SUPERSTEP_RESTARTS"].map(str::to_owned));
    }
    // A launcher says how many there are.
    names.retain(|name| name != "SUPERSTEP_PROCS");
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_superstep_is_passed_on_and_little_else() {
        let set = ["HOME", "SUPERSTEP_PIN", "SUPERSTEP_PROCS", "RUST_BACKTRACE", "SUPERSTEP_FABRIC", "SUPERSTEP_A,B"];
        assert_eq!(
            names(set.into_iter().map(OsString::from), false),
            ["RUST_BACKTRACE", "SUPERSTEP_FABRIC", "SUPERSTEP_PIN", "SUPERSTEP_THREADS"]
        );
    }
}
