//! What contenders share: the job, made when the first of them needs it, and the names of its sizes.

use std::{cell::LazyCell, rc::Rc};

/// What a contest works on, with the answer. Large, so it is made late and dropped with the contest.
pub(crate) type Job<T> = Rc<LazyCell<T, Box<dyn FnOnce() -> T>>>;

/// A job that `make` makes when it is first needed.
pub(crate) fn job<T>(make: impl FnOnce() -> T + 'static) -> Job<T> {
    Rc::new(LazyCell::new(Box::new(make)))
}

/// How a number of elements is called: `80k`, `10M`.
pub(crate) fn count_name(count: usize) -> String {
    match count {
        _ if count >= 1_000_000 && count.is_multiple_of(1_000_000) => format!("{}M", count / 1_000_000),
        _ if count >= 1_000 && count.is_multiple_of(1_000) => format!("{}k", count / 1_000),
        _ => count.to_string(),
    }
}

/// How a number of bytes is called: `8MiB`.
pub(crate) fn bytes_name(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{}MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{}KiB", bytes >> 10),
        _ => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_short_names() {
        assert_eq!([80_000, 10_000_000, 1_234, 7].map(count_name), ["80k", "10M", "1234", "7"]);
        assert_eq!([8 << 20, 64 << 10, 100].map(bytes_name), ["8MiB", "64KiB", "100B"]);
    }

    #[test]
    fn a_job_is_made_once_and_only_if_it_is_needed() {
        let _unused: Job<u8> = job(|| panic!("nobody needs it"));
        let made = job(|| vec![7; 3]);
        let shared = Rc::clone(&made);
        assert!(std::ptr::eq(made.as_slice(), shared.as_slice()));
    }
}
