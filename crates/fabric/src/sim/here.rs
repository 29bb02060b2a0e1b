//! Whether a thread is a simulated processor.

use std::cell::Cell;

thread_local! {
    static IS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a simulated processor: then nothing may depend on how fast this machine is.
///
/// ```
/// assert!(!fabric::sim::is_here());
/// ```
pub fn is_here() -> bool {
    IS_HERE.get()
}

/// The calling thread is a simulated processor while this lives.
pub(super) struct Here(());

impl Here {
    pub(super) fn enter() -> Self {
        IS_HERE.set(true);
        Self(())
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        IS_HERE.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_a_simulated_processor_for_as_long_as_it_says() {
        let here = Here::enter();
        assert!(is_here());
        drop(here);
        assert!(!is_here());
    }
}
