//! Counts: sums in which nobody waits.
//!
//! Up to four members tell each other what they enter, and each adds for itself. More of them form a tree like that of
//! a [wave](super::wave): each adds what it hears from those that hang off it and passes it on, and the sum comes back
//! the same way. Nothing here waits: whoever asks for the sum takes the count as far as it will go.

use super::{Kind, Link, MessageCircle, Stamp};
use crate::{circle::Counts, failure::Failure};

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

impl<L: Link> MessageCircle<L> {
    /// Those that hang off me in the tree, and whom I hang off.
    fn relatives(&self) -> (Vec<usize>, Option<usize>) {
        let (me, size) = (self.rank, self.members.len());
        let (mut children, mut distance) = (Vec::new(), 1);
        while distance < size && me.is_multiple_of(2 * distance) {
            children.extend(Some(me + distance).filter(|&child| child < size));
            distance *= 2;
        }
        (children, (me > 0).then(|| me - distance))
    }

    pub(super) fn count_stamps(&self) -> [Stamp; 2] {
        [Kind::Count, Kind::Sum].map(|kind| self.stamp(kind, self.counting.number))
    }

    fn tell(&self, to: usize, kind: Kind) -> Result<(), Failure> {
        let mut bytes = [0; size_of::<Counts>()];
        for (place, number) in bytes.as_chunks_mut().0.iter_mut().zip(self.counting.sum) {
            *place = number.to_le_bytes();
        }
        let stamp = self.stamp(kind, self.counting.number);
        self.home.mailroom.borrow_mut().send_short(self.members[to], stamp, &bytes)
    }

    pub(super) fn begin_count(&mut self, mine: Counts) -> Result<(), Failure> {
        assert!(self.counting.stage == Stage::Done, "a member entered a count before it had the sum of the last");
        let size = self.members.len();
        let number = self.counting.number + 1;
        self.counting = Counting { number, sum: mine, missing: 0, stage: Stage::Adding, has_looked: false };
        if size <= FLAT {
            for other in (0..size).filter(|&other| other != self.rank) {
                self.tell(other, Kind::Count)?;
            }
            self.counting.missing = size - 1;
        } else {
            let (children, parent) = self.relatives();
            self.counting.missing = children.len();
            // Who has nobody to hear from passes on at once what it knows.
            if let Some(parent) = parent.filter(|_| children.is_empty()) {
                self.tell(parent, Kind::Count)?;
                self.counting.stage = Stage::Told;
            }
        }
        Ok(())
    }

    fn hear(&mut self, kind: Kind) -> Result<Option<Counts>, Failure> {
        let stamp = self.stamp(kind, self.counting.number);
        // Who has just looked for a letter has seen all that came; a second look would only find that letter first.
        let found = if std::mem::take(&mut self.counting.has_looked) {
            self.home.mailroom.borrow_mut().take_kept(stamp)
        } else {
            self.home.mailroom.borrow_mut().try_receive(stamp, None)?
        };
        let Some((from, tray)) = found else { return Ok(None) };
        let (words, rest) = tray.bytes.as_chunks();
        match <&[[u8; 8]; 5]>::try_from(words) {
            Ok(words) if rest.is_empty() => Ok(Some(words.map(u64::from_le_bytes))),
            _ => Err(Failure::Damaged { rank: from }),
        }
    }

    /// Takes the count as far as it will go; returns the sum when it is there.
    fn go_on_counting(&mut self) -> Result<Option<Counts>, Failure> {
        if self.counting.stage == Stage::Done {
            return Ok(None);
        }
        while self.counting.missing > 0 {
            let Some(theirs) = self.hear(Kind::Count)? else { return Ok(None) };
            for (sum, theirs) in self.counting.sum.iter_mut().zip(theirs) {
                *sum = sum.wrapping_add(theirs);
            }
            self.counting.missing -= 1;
        }
        if self.members.len() > FLAT {
            let (children, parent) = self.relatives();
            if let Some(parent) = parent {
                if self.counting.stage == Stage::Adding {
                    self.tell(parent, Kind::Count)?;
                    self.counting.stage = Stage::Told;
                }
                let Some(sum) = self.hear(Kind::Sum)? else { return Ok(None) };
                self.counting.sum = sum;
            }
            for child in children {
                self.tell(child, Kind::Sum)?;
            }
        }
        Ok(Some(self.counting.sum))
    }

    /// The sum, once.
    pub(super) fn take_count(&mut self) -> Result<Option<Counts>, Failure> {
        let sum = self.go_on_counting()?;
        if sum.is_some() {
            self.counting.stage = Stage::Done;
        }
        Ok(sum)
    }
}
