//! What went wrong, in one line.

mod kind;

pub use kind::ErrorKind;

use fabric::Failure;
use serde::Serialize;
use std::{
    fmt,
    panic::Location,
    sync::{Arc, Mutex, PoisonError},
};

/// What went wrong: where, what, with its numbers, and what to do.
///
/// There is one error type for everything. [`Error::kind`] says which of the known mistakes it is, and four predicates
/// say how it was seen: by the processor that made it ([`is_misuse`](Self::is_misuse)), by the whole group at a
/// boundary ([`is_divergence`](Self::is_divergence)), because a processor could not go on
/// ([`is_loss`](Self::is_loss)), or because the program said so ([`is_program`](Self::is_program)).
///
/// It is the same on all processors. A text that ends with "…" was too long for that: where processes have to be told
/// that the run cannot go on, one of about 900 bytes gets through under MPI, and one of 65,000 among forked processes.
///
/// ```
/// use superstep::{Config, ErrorKind};
///
/// let error = Config::new().procs(0).run(|_| ()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::BadProcs);
/// assert_eq!(error.to_string(), "procs is 0; a run needs at least 1 processor");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Arc<Inner>);

/// An error of the program, of whatever type: what a body returns as `Err` becomes one.
///
/// ```
/// let source = superstep::BoxError::from("no such file");
/// assert_eq!(source.to_string(), "no such file");
/// ```
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The result of everything that can fail; `fn main() -> superstep::Result` is a whole program's.
///
/// ```
/// fn size() -> superstep::Result<usize> {
///     let size = superstep::Config::new().procs(2).run(|g| g.size())?;
///     Ok(size)
/// }
/// assert_eq!(size(), Ok(2));
/// ```
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The text comes last: of a long one the end may be missing where it has come to another process.
#[derive(Clone, Serialize)]
struct Inner {
    kind: ErrorKind,
    /// Whether its text says in which step of which group it happened.
    is_placed: bool,
    /// The error of the program that it stands for: the processor that returned it, and its number there.
    origin: Option<(usize, usize)>,
    message: String,
    /// That error itself, if its processor shares memory with this one.
    #[serde(skip)]
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// Errors are the same where they say the same.
impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.message) == (other.kind, &other.message)
    }
}

impl Eq for Inner {}

/// The program's own errors in a run, for those processors that share memory with whoever returned them.
#[derive(Clone, Default)]
pub(crate) struct Causes(Arc<Mutex<Vec<Kept>>>);

/// An error with its origin.
type Kept = ((usize, usize), Arc<dyn std::error::Error + Send + Sync>);

impl Causes {
    /// Keeps what processor `rank` of the run has returned, and says under which number.
    fn keep(&self, rank: usize, source: Arc<dyn std::error::Error + Send + Sync>) -> (usize, usize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = (rank, kept.len());
        kept.push((origin, source));
        origin
    }

    /// Adds the source to an error that came as text, if the source is in this process.
    pub(crate) fn complete(&self, error: Error) -> Error {
        let Some(origin) = error.0.origin.filter(|_| error.0.source.is_none()) else { return error };
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let source = kept.iter().find(|(of, _)| *of == origin).map(|(_, source)| Arc::clone(source));
        Error(Arc::new(Inner { source, ..(*error.0).clone() }))
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::with(kind, message.into(), false)
    }

    /// An error whose text says in which step of which group it happened.
    pub(crate) fn placed(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::with(kind, message.into(), true)
    }

    fn with(kind: ErrorKind, message: String, is_placed: bool) -> Self {
        Self(Arc::new(Inner { kind, message, is_placed, origin: None, source: None }))
    }

    /// An error of the program on processor `rank` of the run; one of this library stays as it is. `words` says it and
    /// its place, in one line.
    pub(crate) fn of_program(
        source: BoxError,
        rank: usize,
        causes: &Causes,
        words: impl FnOnce(&(dyn std::error::Error + 'static)) -> String,
    ) -> Self {
        let source = match source.downcast::<Self>() {
            Ok(error) => return *error,
            Err(source) => Arc::<dyn std::error::Error + Send + Sync>::from(source),
        };
        let (message, origin) = (words(&*source), causes.keep(rank, Arc::clone(&source)));
        let (kind, origin, source) = (ErrorKind::Failed, Some(origin), Some(source));
        Self(Arc::new(Inner { kind, message, is_placed: true, origin, source }))
    }

    pub(crate) fn is_placed(&self) -> bool {
        self.0.is_placed
    }

    /// Which of the known mistakes it is.
    ///
    /// ```
    /// use superstep::{Config, ErrorKind};
    ///
    /// let error = Config::new().procs(2).run(|g| assert!(g.is_leader())).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Panicked);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether one processor could see alone that the call was wrong. It had no effect.
    ///
    /// ```
    /// let error = superstep::Config::new().procs(0).run(|_| ()).unwrap_err();
    /// assert!(error.is_misuse());
    /// ```
    pub fn is_misuse(&self) -> bool {
        matches!(
            self.kind(),
            ErrorKind::BadConfig
                | ErrorKind::BadProcs
                | ErrorKind::NestedRun
                | ErrorKind::NoMpi
                | ErrorKind::WrongLauncher
                | ErrorKind::OutOfMemory
                | ErrorKind::BadDistribution
                | ErrorKind::RankOutOfRange
                | ErrorKind::OutOfBounds
                | ErrorKind::BadSection
                | ErrorKind::IndexOutOfRange
                | ErrorKind::BadLength
                | ErrorKind::NoValue
                | ErrorKind::NotMirrored
                | ErrorKind::NotOwned
                | ErrorKind::NotPresent
                | ErrorKind::OwnerNotInGroup
                | ErrorKind::NotInSet
                | ErrorKind::NotMember
                | ErrorKind::OutsideStep
                | ErrorKind::StillBorrowed
                | ErrorKind::StalePending
                | ErrorKind::HandleMismatch
                | ErrorKind::Poisoned
                | ErrorKind::NotAnswered
        )
    }

    /// Whether only the group together could see it. Every member has the same error.
    ///
    /// ```
    /// use superstep::{Config, Same};
    ///
    /// let error = Config::new().procs(2).run(|g| g.step(|s| s.reduce(s.rank(), Same))).unwrap_err();
    /// assert!(error.is_divergence());
    /// ```
    pub fn is_divergence(&self) -> bool {
        !self.is_misuse() && !self.is_loss() && !self.is_program()
    }

    /// Whether it is the program's own: a body returned it, or a processor brought it to [`agree`](crate::Step::agree).
    ///
    /// Its [`source`](std::error::Error::source) is the program's value, on processors that share memory with the one
    /// that had it.
    ///
    /// ```
    /// use std::{error::Error, num::ParseIntError};
    /// use superstep::Config;
    ///
    /// let error = Config::new().procs(2).run(|_| "x".parse::<u8>()).unwrap_err();
    /// assert!(error.is_program());
    /// assert!(error.source().unwrap().is::<ParseIntError>());
    /// ```
    pub fn is_program(&self) -> bool {
        self.kind() == ErrorKind::Failed
    }

    /// Whether a processor could not go on, and with it the run.
    ///
    /// ```
    /// let error = superstep::Config::new().procs(2).run(|g| assert!(g.is_leader())).unwrap_err();
    /// assert!(error.is_loss());
    /// ```
    pub fn is_loss(&self) -> bool {
        use ErrorKind::{Damaged, Deadlock, Panicked, PeerLost, RemotePanic, Stalled};
        matches!(self.kind(), Panicked | RemotePanic | PeerLost | Damaged | Deadlock | Stalled)
    }

    /// What the processor that gives up tells the others.
    pub(crate) fn report(&self) -> Arc<[u8]> {
        postcard::to_stdvec(&*self.0).expect("a kind and a text can be encoded").into()
    }

    /// The error that a [`report`](Self::report) of processor `rank` tells of.
    pub(crate) fn read(rank: usize, report: &[u8]) -> Self {
        // The length of the text is what it was before the text was shortened, if it was.
        match postcard::take_from_bytes::<(ErrorKind, bool, Option<(usize, usize)>, usize)>(report) {
            // No error is without words.
            Ok(((kind, is_placed, origin, len @ 1..), rest @ [_, ..])) => {
                let message = String::from_utf8_lossy(&rest[..len.min(rest.len())]).into_owned();
                Self(Arc::new(Inner { kind, is_placed, origin, message, source: None }))
            }
            _ => Self::new(ErrorKind::Damaged, format!("what processor {rank} said when it ended makes no sense")),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match &failure {
            Failure::GaveUp { rank, report } => Self::read(*rank, report),
            Failure::Deadlock => Self::new(ErrorKind::Deadlock, failure.to_string()),
            Failure::Lost { .. } | Failure::Died { .. } => Self::new(ErrorKind::PeerLost, failure.to_string()),
            Failure::Stalled { .. } => Self::new(ErrorKind::Stalled, failure.to_string()),
            Failure::Damaged { .. } => Self::new(ErrorKind::Damaged, failure.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

/// The same line as `Display`, because that is what `main` prints when it returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// A place in the user's program, as errors show it.
pub(crate) fn place(site: &Location<'_>) -> String {
    format!("{}:{}", site.file(), site.line())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// X5: an error always says something.
    #[test]
    fn a_report_without_words_is_damage() {
        let read = |message: &str| Error::read(3, &Error::new(ErrorKind::Overflow, message).report());
        assert_eq!((read("why").kind(), read("why").to_string()), (ErrorKind::Overflow, "why".to_owned()));
        assert_eq!(read("").kind(), ErrorKind::Damaged);
        assert!(read("").to_string().contains("processor 3"));
    }
}
