//! The corpus of a target, what is near it, and whether a panic was met.

use std::{
    fs,
    panic::{self, PanicHookInfo},
    path::Path,
    sync::{Mutex, Once},
};

/// The panics so far, wherever they were caught.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The files of a target's corpus, by name.
pub fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no corpus");
    let read = |path: &Path| fs::read(path).expect("a file of the corpus can be read");
    files.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// Hands bytes to a target. A panic in there is a finding, even if somebody has caught it.
#[track_caller]
pub fn hand(target: fn(&[u8]), bytes: &[u8]) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            PANICS.lock().unwrap().push(info.to_string());
            before(info);
        }));
    });
    let caught = panic::catch_unwind(|| target(bytes));
    let panics = PANICS.lock().unwrap().split_off(0);
    assert!(caught.is_ok() && panics.is_empty(), "bytes that panic: {bytes:?}: {panics:?}");
}

/// Everything that is one change away: each byte flipped in each bit and set to its extremes, each shorter and one
/// longer.
#[allow(dead_code, reason = "runs are damaged by a plan of their own")]
pub fn near(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = byte;
        bytes
    };
    let flipped = (0..bytes.len()).flat_map(move |at| {
        let bits = (0..8).map(move |bit| bytes[at] ^ 1 << bit);
        bits.chain([0, 1, 0x7F, 0xFF]).map(move |byte| with(at, byte))
    });
    let cut = (0..bytes.len()).map(|len| bytes[..len].to_vec());
    flipped.chain(cut).chain([[bytes, &[0xFF]].concat()])
}
