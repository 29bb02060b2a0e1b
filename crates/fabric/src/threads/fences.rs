//! The two halves of an asymmetric fence, for a flag that is raised seldom and looked at in every step.
//!
//! One side stores A and then loads B, the other stores B and then loads A; at least one of them must see the other's
//! store. The side that runs in every step calls [`light`], which costs nothing; the side that runs before it goes to
//! sleep calls [`heavy`], which makes the kernel run a full fence on every core that runs a thread of this process.
//! Where the kernel offers no such thing, both are full fences.

#[cfg(not(any(loom, shuttle)))]
mod imp {
    use crate::system;
    use std::sync::{
        OnceLock,
        atomic::{Ordering, compiler_fence, fence},
    };

    /// Whether the cheap form is to be had here. Ask once and keep the answer beside the data.
    pub(crate) fn expedited() -> bool {
        static OFFERED: OnceLock<bool> = OnceLock::new();
        *OFFERED.get_or_init(system::offers_fence)
    }

    #[inline]
    pub(crate) fn light(expedited: bool) {
        if expedited {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    pub(crate) fn heavy(expedited: bool) {
        fence(Ordering::SeqCst);
        if expedited {
            system::fence_all();
        }
    }
}

/// Loom and Shuttle know only the symmetric form, of which the asymmetric one is a cheaper equal.
#[cfg(any(loom, shuttle))]
mod imp {
    use super::super::sync::{Ordering, fence};

    pub(crate) fn expedited() -> bool {
        false
    }

    pub(crate) fn light(_: bool) {
        fence(Ordering::SeqCst);
    }

    pub(crate) fn heavy(_: bool) {
        fence(Ordering::SeqCst);
    }
}

pub(crate) use imp::{expedited, heavy, light};
