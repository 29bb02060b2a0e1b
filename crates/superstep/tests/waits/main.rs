//! Nobody waits for ever, and who waits long says so (X3, X8).

#![forbid(unsafe_code)]

mod payloads;
