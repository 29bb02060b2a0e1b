//! Counts: sums in which nobody waits.
//!
//! Up to four members tell each other what they enter, and each adds for itself. More of them form a tree like that of
//! a [wave](super::wave): each adds what it hears from those that hang off it and passes it on, and the sum comes back
//! the same way. Nothing here waits: whoever asks for the sum takes the count as far as it will go.

use super::{
    packet::{Link, Stamp, Tag},
    route::Route,
};
use crate::{
    circle::Counts,
    failure::Failure,
    tree,
    wire::{Reader, Writer as _},
};

/// Up to so many members tell each other.
const FLAT: usize = 4;

/// The count that was entered last.
#[derive(Debug)]
pub(super) struct Counting {
    number: u64,
    sum: Counts,
    /// How many have not been heard of.
    missing: usize,
    stage: Stage,
    /// Whether a letter was looked for, and none found, since the count was last looked at.
    pub(super) has_looked: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// Others have not been heard of.
    Adding,
    /// What I know was passed on, and the sum has not come back.
    Told,
    /// The sum was handed out.
    Done,
}

impl Default for Counting {
    fn default() -> Self {
        Self { number: 0, sum: Counts::default(), missing: 0, stage: Stage::Done, has_looked: false }
    }
}

impl Counting {
    /// The stamps of what is waited for.
    pub(super) fn stamps<L: Link>(&self, route: &Route<L>) -> [Stamp; 2] {
        [Tag::Count, Tag::Sum].map(|tag| route.stamp(tag, self.number))
    }

    fn tell<L: Link>(&self, route: &Route<L>, to: usize, tag: Tag) -> Result<(), Failure> {
        let mut bytes = [0; size_of::<Counts>()];
        (&mut bytes[..]).put(self.sum);
        let stamp = route.stamp(tag, self.number);
        route.mailroom().link.send_short(route.members[to], stamp, &bytes)
    }

    pub(super) fn begin<L: Link>(&mut self, route: &Route<L>, mine: Counts) -> Result<(), Failure> {
        assert!(self.stage == Stage::Done, "a member entered a count before it had the sum of the last");
        let size = route.members.len();
        let number = self.number + 1;
        *self = Self { number, sum: mine, missing: 0, stage: Stage::Adding, has_looked: false };
        if size <= FLAT {
            for other in (0..size).filter(|&other| other != route.rank) {
                self.tell(route, other, Tag::Count)?;
            }
            self.missing = size - 1;
        } else {
            self.missing = tree::children(route.rank, size).len();
            // Who has nobody to hear from passes on at once what it knows.
            if let Some(parent) = tree::parent(route.rank).filter(|_| self.missing == 0) {
                self.tell(route, parent, Tag::Count)?;
                self.stage = Stage::Told;
            }
        }
        Ok(())
    }

    fn hear<L: Link>(&mut self, route: &Route<L>, tag: Tag) -> Result<Option<Counts>, Failure> {
        let stamp = route.stamp(tag, self.number);
        // A look for letters has just taken in everything, so only what was kept can be the count.
        let found = if std::mem::take(&mut self.has_looked) {
            route.mailroom().kept.take(stamp, None)
        } else {
            route.mailroom().try_receive(stamp)?
        };
        let Some((from, tray)) = found else { return Ok(None) };
        let mut reader = Reader::new(&tray.bytes);
        let sum = reader.get().and_then(|sum| reader.end().map(|()| sum));
        sum.map(Some).map_err(Failure::damaged_by(from))
    }

    /// Takes the count as far as it will go; returns the sum, once, when it is there.
    pub(super) fn take<L: Link>(&mut self, route: &Route<L>) -> Result<Option<Counts>, Failure> {
        if self.stage == Stage::Done {
            return Ok(None);
        }
        while self.missing > 0 {
            let Some(theirs) = self.hear(route, Tag::Count)? else { return Ok(None) };
            for (sum, theirs) in self.sum.iter_mut().zip(theirs) {
                *sum = sum.wrapping_add(theirs);
            }
            self.missing -= 1;
        }
        let size = route.members.len();
        if size > FLAT {
            if let Some(parent) = tree::parent(route.rank) {
                if self.stage == Stage::Adding {
                    self.tell(route, parent, Tag::Count)?;
                    self.stage = Stage::Told;
                }
                let Some(sum) = self.hear(route, Tag::Sum)? else { return Ok(None) };
                self.sum = sum;
            }
            for child in tree::children(route.rank, size) {
                self.tell(route, child, Tag::Sum)?;
            }
        }
        self.stage = Stage::Done;
        Ok(Some(self.sum))
    }
}
