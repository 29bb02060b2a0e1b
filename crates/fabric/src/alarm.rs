//! What ends every wait of a run.

use crate::failure::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Ends every wait of a run once it was raised.
pub trait Alarm: Send + Sync {
    /// Makes every wait of the run fail with `failure`, unless another failure was first.
    fn raise(&self, failure: Failure);

    /// What was raised first, if anything was.
    fn raised(&self) -> Option<Failure>;
}

/// Does the work of processor `rank`. If it panics, the alarm is raised before the panic goes on.
pub(crate) fn or_raise<R>(alarm: &dyn Alarm, rank: usize, work: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic that is not a text");
        alarm.raise(Failure::GaveUp { rank, report: text.as_bytes().into() });
        resume_unwind(payload)
    })
}
