//! What it was measured on, and with.

use std::{env, fs, process::Command};

/// The lock file says which version of each crate is in the program.
const LOCK: &str = include_str!("../Cargo.lock");

/// The first value of a key in a file of `key : value` lines.
fn value_of(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

/// The processor, its cores and the memory.
pub(crate) fn hardware() -> String {
    let model = value_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kibibytes = value_of("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let memory =
        kibibytes.map_or("unknown".to_owned(), |kibibytes| format!("{:.0} GiB", kibibytes / f64::from(1 << 20)));
    format!("{model}, {cores} cores, {memory} of memory")
}

/// Whether the system gives huge pages, and to whom.
pub(crate) fn huge_pages() -> String {
    let modes = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = modes.split(['[', ']']).nth(1).unwrap_or("unknown");
    format!("transparent huge pages: {chosen}")
}

/// The version of a crate that this program was built with.
pub(crate) fn version_of(name: &str) -> &'static str {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = LOCK.split_once(entry.as_str()).unwrap_or_default();
    rest.split('"').next().filter(|version| !version.is_empty()).unwrap_or("unknown")
}

/// The compiler that made this program.
pub(crate) fn rustc() -> &'static str {
    env!("PEERS_RUSTC")
}

/// What a command prints, if it can be run and ends well.
fn said(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Today, in universal time.
pub(crate) fn date() -> String {
    said("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(|| "on an unknown day".to_owned())
}

/// Which state of the repository was measured.
pub(crate) fn commit() -> String {
    said("git", &["describe", "--always", "--dirty"]).unwrap_or_else(|| "unknown".to_owned())
}

/// The command that was given.
pub(crate) fn command() -> String {
    let args: Vec<String> = env::args().skip(1).collect();
    let base = "cargo run --release --manifest-path bench/peers/Cargo.toml";
    if args.is_empty() { base.to_owned() } else { format!("{base} -- {}", args.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_knows_the_peers() {
        assert!(version_of("lamellar").starts_with("0.8"));
        assert!(version_of("rayon").starts_with("1."));
        assert_eq!(version_of("no-such-crate"), "unknown");
    }
}
