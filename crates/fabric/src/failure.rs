//! Why a run cannot go on.

use std::{fmt, sync::Arc};

/// The first thing that went wrong in a run, as every processor gets to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A processor gave up. `report` is what it had to say, in the words of the layer above.
    GaveUp {
        /// Its number in the whole run.
        rank: usize,
        /// What it had to say.
        report: Arc<[u8]>,
    },
    /// Every processor waits for another one; only a simulated fabric can see this.
    Deadlock,
    /// A message that no processor of this library would have sent.
    Damaged {
        /// Who it came from.
        rank: usize,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp { rank, .. } => write!(f, "processor {rank} gave up"),
            Self::Deadlock => write!(f, "every processor waits for another one"),
            Self::Damaged { rank } => write!(f, "a damaged message came from processor {rank}"),
        }
    }
}

impl std::error::Error for Failure {}
