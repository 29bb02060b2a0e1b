//! Why a run cannot go on.

use crate::wire::{Damaged, Reader, Writer as _};
use std::{borrow::Cow, fmt, sync::Arc};

/// The first thing that went wrong in a run, as every processor gets to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A processor gave up. `report` is what it had to say, in the words of the layer above. It ends with a text: where
    /// there is no room for all of it, the end of that is missing, and "…" stands there.
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
    /// Bytes that no processor of this library would have sent.
    Damaged {
        /// Who it came from.
        rank: usize,
    },
}

crate::wire::tags! {
    /// Which failure was written.
    enum Cause {
        GaveUp,
        Lost,
        Deadlock,
        Damaged,
        Died,
        Stalled,
    }
}

impl Failure {
    /// The failure that damaged bytes from processor `rank` are.
    pub(crate) fn damaged_by(rank: usize) -> impl Fn(Damaged) -> Self {
        move |Damaged| Self::Damaged { rank }
    }

    /// The same in so many bytes at most, [written](Self::write): a text that is too long ends with "…".
    pub(crate) fn within(self, most: usize) -> Self {
        let room = most.saturating_sub(Self::Deadlock.write().len());
        let short = |text: String| String::from_utf8_lossy(&shortened(text.as_bytes(), room)).into_owned();
        match self {
            Self::GaveUp { rank, report } if report.len() > room => {
                Self::GaveUp { rank, report: shortened(&report, room).into() }
            }
            Self::Lost { process, host, seconds } => Self::Lost { process, host: short(host), seconds },
            Self::Died { process, how } => Self::Died { process, how: short(how) },
            Self::Stalled { words } => Self::Stalled { words: short(words) },
            Self::GaveUp { .. } | Self::Deadlock | Self::Damaged { .. } => self,
        }
    }

    /// As bytes, for another process.
    pub(crate) fn write(&self) -> Vec<u8> {
        let (cause, number, seconds, text): (Cause, usize, u64, &[u8]) = match self {
            Self::GaveUp { rank, report } => (Cause::GaveUp, *rank, 0, report),
            Self::Lost { process, host, seconds } => (Cause::Lost, *process, *seconds, host.as_bytes()),
            Self::Deadlock => (Cause::Deadlock, 0, 0, &[]),
            Self::Damaged { rank } => (Cause::Damaged, *rank, 0, &[]),
            Self::Died { process, how } => (Cause::Died, *process, 0, how.as_bytes()),
            Self::Stalled { words } => (Cause::Stalled, 0, 0, words.as_bytes()),
        };
        let mut bytes = Vec::new();
        bytes.put(cause);
        bytes.put(number);
        bytes.put(seconds);
        bytes.bytes(text);
        bytes
    }

    /// What another process has written; the end of a text may be missing.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes);
        let (cause, number, seconds) = (reader.get()?, reader.get()?, reader.get()?);
        let text = || String::from_utf8_lossy(reader.rest()).into_owned();
        Ok(match cause {
            Cause::GaveUp => Self::GaveUp { rank: number, report: reader.rest().into() },
            Cause::Lost => Self::Lost { process: number, host: text(), seconds },
            Cause::Deadlock => Self::Deadlock,
            Cause::Damaged => Self::Damaged { rank: number },
            Cause::Died => Self::Died { process: number, how: text() },
            Cause::Stalled => Self::Stalled { words: text() },
        })
    }
}

/// A text in so many bytes at most.
fn shortened(text: &[u8], room: usize) -> Cow<'_, [u8]> {
    const MORE: &[u8] = "…".as_bytes();
    if text.len() <= room {
        return text.into();
    }
    let mut end = room.saturating_sub(MORE.len());
    // Not in the middle of a character.
    while end > 0 && text[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    [&text[..end], MORE].concat().into()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_is_too_long_is_shortened_between_characters() {
        let gave_up = |text: &str| Failure::GaveUp { rank: 3, report: text.as_bytes().into() };
        let head = gave_up("").write().len();
        for (text, room, short) in
            [("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…"), ("aäöü", 6, "aä…"), ("aäöü", 5, "a…"), ("aäöü", 7, "aäöü")]
        {
            let failure = gave_up(text).within(head + room);
            assert_eq!(failure, gave_up(short), "{text} in {room}");
            assert!(failure.write().len() <= head + room);
            assert_eq!(Failure::read(&failure.write()), Ok(failure));
            let died = Failure::Died { process: 1, how: text.to_owned() }.within(head + room);
            assert_eq!(died, Failure::Died { process: 1, how: short.to_owned() });
        }
        assert_eq!(Failure::Deadlock.within(0), Failure::Deadlock);
        // These bytes are the middle of a character that never begins.
        let garbage = |bytes: &[u8]| Failure::GaveUp { rank: 3, report: bytes.into() };
        assert_eq!(garbage(&[0x80; 9]).within(head + 5), garbage("…".as_bytes()));
    }
}
