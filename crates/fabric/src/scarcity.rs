//! Memory that is refused on purpose, so that tests can see what becomes of a processor that has none.

use std::cell::RefCell;

thread_local! {
    /// Says of each piece of memory that this thread asks for whether it is refused.
    static JUDGE: RefCell<Option<Box<dyn FnMut() -> bool>>> = const { RefCell::new(None) };
}

/// The judge of this thread, until this is dropped.
pub(crate) struct Judged(());

/// Lets `judge` say of each piece of memory that this thread asks for whether it is refused.
pub(crate) fn judge(judge: impl FnMut() -> bool + 'static) -> Judged {
    JUDGE.set(Some(Box::new(judge)));
    Judged(())
}

impl Drop for Judged {
    fn drop(&mut self) {
        JUDGE.set(None);
    }
}

/// Whether memory that this thread asks for is refused.
#[inline]
pub(crate) fn is_refused() -> bool {
    JUDGE.with_borrow_mut(|judge| judge.as_mut().is_some_and(|judge| judge()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_refused_until_its_judge_goes() {
        assert!(!is_refused());
        let judged = judge(|| true);
        assert!(is_refused());
        drop(judged);
        assert!(!is_refused());
    }
}
