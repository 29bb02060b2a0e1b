//! What can be seen of a processor from outside: where it is, and for whom it waits.
//!
//! A program that stands still does not say why. So a processor writes down where it is as it goes along, and for whom
//! it waits once it has waited for more than a moment: a few stores into cache lines of its own, which nobody else
//! looks at until somebody has waited long. A lookout looks at all of them now and then, and says in one line who
//! waits where, for whom, and where that one was last seen.
//!
//! Who looks: a thread of the process for threads and the simulator, the watch of a team of forked
//! processes, and under MPI the heartbeat of process 0, to which the others tell what they see.

mod limits;
mod lookout;
pub(crate) mod monitor;
mod pen;
mod sighting;
mod stint;

pub use limits::Limits;
pub(crate) use lookout::{Lookout, Report, Verdict};
#[cfg(target_os = "linux")]
pub(crate) use pen::TeamSightings;
pub use pen::{Pen, Waiting};
pub use sighting::Sighting;
pub(crate) use sighting::{hold_sightings, sightings};
pub(crate) use stint::{Stint, UNWINDING, own_task, remember_task};
