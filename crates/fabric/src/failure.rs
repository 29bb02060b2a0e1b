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
    /// A process has died, was stopped, or can no longer be reached.
    Lost {
        /// Its number.
        process: usize,
        /// The machine it was on.
        host: String,
        /// For how long nothing was heard from it.
        seconds: u64,
    },
    /// A process has ended before its time, or cannot begin.
    Died {
        /// Its number.
        process: usize,
        /// How it ended.
        how: String,
    },
    /// Every processor waits for another one; only a simulated fabric can see this.
    Deadlock,
    /// A processor has waited for longer than the program allows.
    Stalled {
        /// Who waits where, for whom, and where that one was last seen.
        words: String,
    },
    /// A message that no processor of this library would have sent.
    Damaged {
        /// Who it came from.
        rank: usize,
    },
}

impl Failure {
    /// As bytes, for another process.
    pub(crate) fn write(&self) -> Vec<u8> {
        let (kind, number, more, text): (u8, usize, u64, &[u8]) = match self {
            Self::GaveUp { rank, report } => (0, *rank, 0, report),
            Self::Lost { process, host, seconds } => (1, *process, *seconds, host.as_bytes()),
            Self::Deadlock => (2, 0, 0, &[]),
            Self::Damaged { rank } => (3, *rank, 0, &[]),
            Self::Died { process, how } => (4, *process, 0, how.as_bytes()),
            Self::Stalled { words } => (5, 0, 0, words.as_bytes()),
        };
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&(number as u64).to_le_bytes());
        bytes.extend_from_slice(&more.to_le_bytes());
        bytes.extend_from_slice(text);
        bytes
    }

    /// What another process has written, if it makes sense.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (more, text) = rest.split_first_chunk()?;
        let (number, seconds) = (usize::try_from(u64::from_le_bytes(*number)).ok()?, u64::from_le_bytes(*more));
        match kind {
            0 => Some(Self::GaveUp { rank: number, report: text.into() }),
            1 => Some(Self::Lost { process: number, host: String::from_utf8_lossy(text).into_owned(), seconds }),
            2 => Some(Self::Deadlock),
            3 => Some(Self::Damaged { rank: number }),
            5 => Some(Self::Stalled { words: String::from_utf8_lossy(text).into_owned() }),
            4 => Some(Self::Died { process: number, how: String::from_utf8_lossy(text).into_owned() }),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp { rank, .. } => write!(f, "processor {rank} gave up"),
            Self::Lost { process, host, seconds } => write!(
                f,
                "process {process} on {host} is lost: it has died, or nothing was heard from it for {seconds} s"
            ),
            Self::Died { process, how } => write!(f, "process {process} {how}"),
            Self::Stalled { words } => write!(f, "{words}, which is longer than a wait may take"),
            Self::Deadlock => write!(f, "every processor waits for another one"),
            Self::Damaged { rank } => write!(f, "a damaged message came from processor {rank}"),
        }
    }
}

impl std::error::Error for Failure {}
