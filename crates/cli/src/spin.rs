//! A foreign process that keeps one core busy.
//!
//! Benchmarks under load need one, because a library can count its own threads and make room for them; a foreign
//! process it can only endure. The command starts itself as that process. It ends when it is killed or when its
//! standard input ends, so it outlives nobody.

use crate::failure::Failure;
use std::{
    any::Any,
    env, hint, io,
    process::{Child, Command, Stdio, exit},
    thread,
    time::Duration,
};

/// Spins until standard input ends.
pub(crate) fn run() -> Result<(), Failure> {
    thread::spawn(|| {
        // An error is as good an end as any.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        exit(0);
    });
    loop {
        hint::spin_loop();
    }
}

/// A process that spins as long as this lives.
struct Spinner(Child);

impl Drop for Spinner {
    fn drop(&mut self) {
        // It fails only if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How long a process needs to come up and to be moved to a core of its own.
const COMING_UP: Duration = Duration::from_millis(100);

/// Starts a process that spins until what is returned is dropped.
pub(crate) fn start() -> io::Result<Box<dyn Any>> {
    let child = Command::new(env::current_exe()?)
        .arg("spin")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let spinner = Spinner(child);
    thread::sleep(COMING_UP);
    Ok(Box::new(spinner))
}
