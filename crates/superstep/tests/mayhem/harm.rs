//! What a processor does to its own process.

use crate::case::Fault;
use std::{fs, os::unix::process::CommandExt as _, process, process::Command, thread, time::Duration};

/// The code that a process ends with which ends itself.
pub(crate) const CODE: i32 = 7;

/// Does it. Most never return.
pub(crate) fn harm(fault: Fault) {
    match fault {
        Fault::Panic => panic!("boom"),
        Fault::Exit => process::exit(CODE),
        Fault::Replace => {
            let why = Command::new("sh").args(["-c", &format!("exit {CODE}")]).exec();
            panic!("there is no shell: {why}");
        }
        Fault::Abort => process::abort(),
        Fault::Close => crate::closing::close_files(),
        Fault::Starve => starve(),
        other => panic!("{other:?} comes from outside"),
    }
}

/// Lowers what this process may have to a little more than it has, and asks for more.
fn starve() {
    const MORE: usize = 64 << 20;
    let status = fs::read_to_string("/proc/self/statm").expect("the system says how much there is");
    let pages: usize = status.split(' ').next().and_then(|word| word.parse().ok()).expect("a number of pages");
    let limit = format!("--as={}", pages * 4096 + MORE);
    let lowered = Command::new("prlimit").args(["--pid", &process::id().to_string(), &limit]).status();
    assert!(lowered.expect("prlimit is there").success(), "the limit can be lowered");
    let mut kept = Vec::new();
    loop {
        // A `Vec` that cannot be had aborts, as everywhere.
        kept.push(vec![1u8; MORE / 16]);
        thread::sleep(Duration::from_micros(100));
    }
}
