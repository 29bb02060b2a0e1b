//! How fast something is written behind a program.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// How much longer than it has worked a thread rests.
const REST: u32 = 63;

/// By and by, until somebody waits for it.
#[derive(Default)]
pub(super) struct Tempo {
    is_awaited: Mutex<bool>,
    told: Condvar,
}

impl Tempo {
    /// Somebody waits: nothing rests any more.
    pub(super) fn hurry(&self) {
        *self.is_awaited.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.told.notify_all();
    }

    /// Rests after work that took so long.
    pub(super) fn rest(&self, worked: Duration) {
        let is_awaited = self.is_awaited.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(is_awaited, worked * REST, |is_awaited| !*is_awaited);
        drop(waited);
    }
}

#[cfg(test)]
mod tests {
    use super::Tempo;
    use std::time::Duration;

    #[test]
    fn whoever_is_waited_for_does_not_rest() {
        let tempo = Tempo::default();
        tempo.hurry();
        // Some hundred centuries, otherwise.
        tempo.rest(Duration::from_secs(50_000_000_000));
    }

    #[test]
    fn whoever_rests_hears_of_it() {
        let tempo = Tempo::default();
        std::thread::scope(|scope| {
            scope.spawn(|| tempo.rest(Duration::from_secs(50_000_000_000)));
            tempo.hurry();
        });
    }
}
