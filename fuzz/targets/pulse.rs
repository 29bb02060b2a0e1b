//! What processes tell each other through the heartbeat's sockets.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fabric::fuzzing::pulse(bytes));
