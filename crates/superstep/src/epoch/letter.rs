//! What the letters of an epoch hold.
//!
//! A letter says how many letters of the other side were taken in, and holds parcels one after another. Between
//! processors that share memory parcels move as they are, unless they are plain numbers. Those, and everything between
//! other processors, are written; see `written.rs`.

use super::methods::Entrance;
use crate::{
    engine::damaged,
    error::{Error, Result},
};
use std::{any::Any, ops::Range, rc::Rc};

/// Values that move: a vector of arguments, a vector of options of answers, or what a note says.
pub(super) type Moved = Box<dyn Any + Send>;

/// What a parcel holds where it has come.
pub(super) enum Content {
    Moved(Moved),
    Written(Excerpt),
}

/// Bytes of a letter, which is kept as long as somebody needs some of it.
pub(super) struct Excerpt {
    pub(super) letter: Rc<Vec<u8>>,
    pub(super) at: Range<usize>,
}

impl Excerpt {
    pub(super) fn bytes(&self) -> Result<&[u8]> {
        self.letter.get(self.at.clone()).ok_or_else(damaged)
    }
}

/// Requests that follow each other with the same method and object: a series.
pub(super) struct Requests<C> {
    pub(super) method: Entrance,
    pub(super) object: u64,
    /// The number of the first, if answers are asked for.
    pub(super) ticket: Option<u64>,
    /// How many questions there are. Requests without an answer are counted where they are written.
    pub(super) count: u64,
    pub(super) arguments: C,
    /// Whether the sender hears that its letter was taken in when this series begins.
    pub(super) is_last: bool,
}

/// One thing in a letter.
pub(super) enum Parcel<C> {
    Requests(Requests<C>),
    /// Answers with consecutive numbers, or why there is none.
    Answers {
        first: u64,
        count: u64,
        answers: Result<C>,
    },
    /// What a member tells another in the collective with this number.
    Note {
        number: u64,
        about: u64,
        note: C,
    },
    /// The sender's part of the epoch has failed.
    Fault(Error),
}

/// What a letter that moves has in it.
pub(super) enum Enclosure {
    Parcel(Parcel<Moved>),
    /// Parcels that are written, as a letter of their own.
    Written(Vec<u8>),
}

/// A letter between processors that share memory.
#[derive(Default)]
pub(super) struct MovedLetter {
    pub(super) taken: u64,
    pub(super) parcels: Vec<Enclosure>,
}

impl Parcel<Moved> {
    /// The parcel where it has come.
    pub(super) fn arrive(self) -> Parcel<Content> {
        match self {
            Self::Requests(Requests { method, object, ticket, count, arguments, is_last }) => {
                let arguments = Content::Moved(arguments);
                Parcel::Requests(Requests { method, object, ticket, count, arguments, is_last })
            }
            Self::Answers { first, count, answers } => {
                Parcel::Answers { first, count, answers: answers.map(Content::Moved) }
            }
            Self::Note { number, about, note } => Parcel::Note { number, about, note: Content::Moved(note) },
            Self::Fault(error) => Parcel::Fault(error),
        }
    }
}
