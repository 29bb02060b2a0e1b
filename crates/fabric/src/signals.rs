//! Signals that ask a program for something that it does when it comes to it.

use crate::{
    lock::lock,
    system::{self, Caught},
};
use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

/// How often a signal has asked for a save.
static SAVES: AtomicU64 = AtomicU64::new(0);
/// How often one has asked the process to end.
static ENDS: AtomicU64 = AtomicU64::new(0);
/// How many listen, and what signals did before the first of them.
static LISTENERS: Mutex<(usize, Option<Caught>)> = Mutex::new((0, None));

// What may run at any moment does no more than this.
extern "C" fn note_save(_: i32) {
    SAVES.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn note_end(_: i32) {
    ENDS.fetch_add(1, Ordering::Relaxed);
}

/// As long as somebody listens, `SIGUSR1` and the first `SIGTERM` end nothing and are counted, unless the program makes
/// something else of them.
///
/// ```
/// let listening = fabric::signals::Listening::new();
/// assert_eq!(listening.asked(), [0, 0]);
/// ```
#[derive(Debug)]
pub struct Listening {
    since: [u64; 2],
}

/// Keeps the listeners as they are while the process is forked.
pub(crate) fn hold() -> impl Sized {
    lock(&LISTENERS)
}

fn counts() -> [u64; 2] {
    [&SAVES, &ENDS].map(|count| count.load(Ordering::Relaxed))
}

impl Listening {
    /// Begins to listen.
    #[allow(clippy::new_without_default, reason = "it does something to the process")]
    pub fn new() -> Self {
        let mut listeners = lock(&LISTENERS);
        listeners.0 += 1;
        listeners.1.get_or_insert_with(|| system::catch(note_save, note_end));
        Self { since: counts() }
    }

    /// How many signals have asked for a save that was not [made](Self::saved), and how many to end.
    pub fn asked(&self) -> [u64; 2] {
        let now = counts();
        [0, 1].map(|at| now[at].wrapping_sub(self.since[at]))
    }

    /// A save is made, for whoever has asked until now.
    pub fn saved(&mut self) {
        self.since[0] = counts()[0];
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut listeners = lock(&LISTENERS);
        listeners.0 -= 1;
        if listeners.0 == 0
            && let Some(caught) = listeners.1.take()
        {
            system::release(&caught);
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::{process::Command, thread::yield_now};

    fn send(signal: &str) {
        let sent = Command::new("kill").args([signal, &std::process::id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// No other test of this program sends signals to it.
    #[test]
    fn signals_are_counted_until_a_save_is_made() {
        let mut first = Listening::new();
        assert_eq!(first.asked(), [0, 0]);
        send("-USR1");
        while first.asked() == [0, 0] {
            yield_now();
        }
        assert_eq!(first.asked(), [1, 0]);
        // Whoever begins to listen later was not asked.
        let second = Listening::new();
        assert_eq!(second.asked(), [0, 0]);
        first.saved();
        assert_eq!(first.asked(), [0, 0]);
        send("-TERM");
        while second.asked() == [0, 0] {
            yield_now();
        }
        assert_eq!((first.asked(), second.asked()), ([0, 1], [0, 1]));
        first.saved();
        assert_eq!(first.asked(), [0, 1], "a save is no end");
        drop(second);
        assert!(lock(&LISTENERS).1.is_some(), "the first still listens");
        drop(first);
        assert!(matches!(*lock(&LISTENERS), (0, None)), "signals do again what they did before");
    }
}
