//! What a program tells a processor.

use crate::value::Value;

/// One thing that a processor is told. What each is told, in order, is all that two runs are compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Where it is.
    Place {
        /// The way from the root group.
        path: String,
        /// Its number in the group.
        rank: usize,
        /// How many there are.
        size: usize,
        /// How many steps the group has closed.
        steps: u64,
    },
    /// Elements of an area or array, as their bits.
    Elements(Vec<u64>),
    /// What came in a queue.
    Messages(Vec<(u8, String)>),
    /// What a variable holds, or a collective comes to.
    Value(Value),
    /// What a collective comes to that has a value for each rank.
    Values(Vec<Value>),
    /// A collective has nothing for this rank.
    Nothing,
    /// The call, or the step, failed with an error of this kind. Where either of two may be said, the model says both,
    /// with `or` between.
    Failed(String),
    /// What a representative has seen of remote methods: a count and a sum for each level.
    Seen(Vec<(u64, u64)>),
    /// What of a paged array is there.
    Sights(Vec<Sight>),
}

/// An element of a paged array, as one processor sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It is there.
    Present(u64),
    /// It is not.
    Absent,
    /// It may have been dropped by itself; else it is this. Only the model says so.
    Either(u64),
}

impl Sight {
    fn agrees(self, found: Self) -> bool {
        match self {
            Self::Either(value) => found == Self::Absent || found == Self::Present(value),
            _ => self == found,
        }
    }
}

impl Told {
    /// Whether a run that says `found` does what the model says here.
    ///
    /// ```
    /// use superstep_model::{Sight, Told};
    ///
    /// let expected = Told::Sights(vec![Sight::Either(5)]);
    /// assert!(expected.agrees(&Told::Sights(vec![Sight::Absent])));
    /// assert!(!expected.agrees(&Told::Sights(vec![Sight::Present(6)])));
    /// ```
    pub fn agrees(&self, found: &Self) -> bool {
        match (self, found) {
            (Self::Sights(mine), Self::Sights(theirs)) => {
                mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(mine, theirs)| mine.agrees(*theirs))
            }
            (Self::Failed(mine), Self::Failed(found)) => mine.split(" or ").any(|kind| kind == found),
            _ => self == found,
        }
    }
}

/// The first thing in which what a processor was told differs from what the model says, in words.
///
/// ```
/// use superstep_model::{Told, difference};
///
/// assert_eq!(difference(&[Told::Nothing], &[Told::Nothing]), None);
/// let words = difference(&[Told::Nothing], &[]).unwrap();
/// assert_eq!(words, "told 0 is missing, and the model says Nothing");
/// ```
pub fn difference(expected: &[Told], found: &[Told]) -> Option<String> {
    let at = (0..expected.len().max(found.len())).find(|&at| match (expected.get(at), found.get(at)) {
        (Some(expected), Some(found)) => !expected.agrees(found),
        _ => true,
    })?;
    let words = |told: Option<&Told>| told.map_or("is missing".to_owned(), |told| format!("is {told:?}"));
    let last = expected[..at.min(expected.len())].iter().rev().find(|told| matches!(told, Told::Place { .. }));
    let place = last.map_or(String::new(), |place| format!(", after {place:?}"));
    let expected = expected.get(at).map_or("nothing".to_owned(), |told| format!("{told:?}"));
    Some(format!("told {at} {}, and the model says {expected}{place}", words(found.get(at))))
}
