//! What stands before packets, what meetings send, and failures, as another process may have written them.
#![no_main]

use fabric::fuzzing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    match which % 3 {
        0 => fuzzing::wave(bytes),
        1 => fuzzing::headers(bytes),
        _ => fuzzing::failure(bytes),
    }
});
