//! What a contender reports of one round.

use crate::digest::digest_of_part;
use bytemuck::NoUninit;

/// What one round of one contender took.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How long it took.
    pub seconds: f64,
    /// Whether the answer was right.
    pub verified: bool,
    /// What the answer comes to, if it is held against others.
    pub digest: u64,
}

impl superstep::Plain for Sample {}

impl Sample {
    /// A sample whose answer is judged by what it comes to.
    pub fn of_answer(seconds: f64, digest: u64) -> Self {
        Self { seconds, verified: true, digest }
    }

    /// A sample of one part of an answer, the first element of which has place `first` in the whole.
    pub fn of_part<T: NoUninit>(seconds: f64, first: usize, part: &[T]) -> Self {
        Self::of_answer(seconds, digest_of_part(first, part.iter().copied()))
    }

    /// A sample of hand-written code, whose answer is held against no other fabric's.
    pub(crate) fn by_hand(seconds: f64, verified: bool) -> Self {
        Self { seconds, verified, digest: 0 }
    }

    /// What all members of a team together took: as long as the slowest, and right if all are. The digests of parts add
    /// up.
    pub fn of_all(samples: impl IntoIterator<Item = Self>) -> Self {
        samples.into_iter().fold(Self::by_hand(0.0, true), |all, one| Self {
            seconds: all.seconds.max(one.seconds),
            verified: all.verified && one.verified,
            digest: all.digest.wrapping_add(one.digest),
        })
    }
}
