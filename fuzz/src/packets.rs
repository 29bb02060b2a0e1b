//! Packets and what stands before them, what meetings send, and failures, as another process may have written them.

use fabric::fuzzing;

/// Reads these bytes as one of these; the first byte says as which.
pub fn packets(bytes: &[u8]) {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    match which % 4 {
        0 => fuzzing::wave(bytes),
        1 => fuzzing::headers(bytes),
        3 => fuzzing::link(bytes),
        _ => fuzzing::failure(bytes),
    }
}
