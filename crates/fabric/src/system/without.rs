//! What a system does that has no huge pages to ask for, no fence for all cores, no cores to choose
//! from, and no threads that come after others.

pub(crate) fn advise_huge(_: *mut u8, _: usize) {}

pub(crate) fn offers_fence() -> bool {
    false
}

/// Nobody calls it, because none is offered.
pub(crate) fn fence_all() {
    unreachable!("no fence is offered");
}

pub(crate) fn bind(_: Option<usize>) {}

pub(crate) fn step_aside() {}

/// Does nothing: nobody can say that of one thread.
pub fn give_way() {}
