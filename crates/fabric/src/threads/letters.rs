//! Letters and counts between the members of a table: what passes between them without a meeting.
//!
//! A member has one letter box, into which all others put their letters; a lock guards it, and a number apart from it
//! says how many have ever come, so that whoever looks into an empty box touches nothing else. Most letters are bundles
//! of many requests: there are few of them, and a lock is cheap against what they hold.
//!
//! A few bytes, such as a question or its answer, go a shorter way if the table is small: each pair of members has a
//! ring of *cards*, each a pair of cache lines that hold the bytes themselves. Only the sender writes to a card; the
//! receiver says elsewhere how many it has read, and the sender looks there only when the ring seems full.
//!
//! Letters of one sender are numbered, whichever way they go, and each is taken in its turn. That never means waiting:
//! whoever sees one finds all earlier ones in the box or in the ring.
//!
//! A count is written into one of two places by turns. Nobody enters count `k + 2` before everybody has entered
//! `k + 1`, and so has read the sum of `k`, whose places are then free.

use super::sync::{AtomicU64, Mutex, Ordering};
use crate::{circle::Counts, memory::Padded, tray::Tray};
use std::collections::VecDeque;

/// A letter, with its sender and its number among the letters of that one.
pub(super) type Numbered = (usize, u64, Tray);

/// Up to so many members send each other cards: each looks at all rings that lead to it.
pub(super) const CARDS_UP_TO: usize = 16;
/// What a card holds.
const CARD: usize = 120;
const RING: u64 = 4;
const WORD: usize = size_of::<u64>();

/// Where a member finds its letters, and where it counts.
pub(super) struct LetterBox {
    /// How many have ever come; a letter may be found in the box before it is counted here.
    came: Padded<AtomicU64>,
    mail: Padded<Mutex<VecDeque<Numbered>>>,
    /// By sender; none if the table is large.
    rings: Box<[Ring]>,
    counts: [Entered; 2],
}

/// A few bytes in their cache lines.
#[repr(align(128))]
struct Card {
    /// The number of the letter plus one, and in the lowest byte its length.
    head: AtomicU64,
    words: [AtomicU64; CARD / WORD],
}

/// The cards of one sender.
struct Ring {
    cards: [Card; RING as usize],
    /// How many the receiver has read.
    read: Padded<AtomicU64>,
}

/// What a member has entered in a count.
#[repr(align(64))]
struct Entered {
    count: AtomicU64,
    mine: [AtomicU64; 5],
}

fn zeros<const N: usize>() -> [AtomicU64; N] {
    [(); N].map(|()| AtomicU64::new(0))
}

impl Ring {
    fn new() -> Self {
        let card = |()| Card { head: AtomicU64::new(0), words: zeros() };
        Self { cards: [(); RING as usize].map(card), read: Padded(AtomicU64::new(0)) }
    }
}

impl Entered {
    fn new() -> Self {
        Self { count: AtomicU64::new(0), mine: zeros() }
    }
}

impl LetterBox {
    /// The box of one of `size` members.
    pub(super) fn new(size: usize) -> Self {
        // Loom limits the number of atomics, and only models with two members use rings.
        let most = if cfg!(loom) { 2 } else { CARDS_UP_TO };
        let rings = if size > most { 0 } else { size };
        Self {
            came: Padded(AtomicU64::new(0)),
            mail: Padded(Mutex::new(VecDeque::new())),
            rings: (0..rings).map(|_| Ring::new()).collect(),
            counts: [Entered::new(), Entered::new()],
        }
    }

    pub(super) fn put(&self, letter: Numbered) {
        self.mail.0.lock().expect("nothing panics under this lock").push_back(letter);
        // When the lock is free again, so that whoever sees it need not wait.
        self.came.0.fetch_add(1, Ordering::Release);
    }

    /// Whether more letters have been put into the box than so many.
    #[inline]
    pub(super) fn has_more_than(&self, taken: u64) -> bool {
        self.came.0.load(Ordering::Acquire) > taken
    }

    /// Empties the box into `mail`, which is empty.
    pub(super) fn empty_into(&self, into: &mut VecDeque<Numbered>) {
        std::mem::swap(&mut *self.mail.0.lock().expect("nothing panics under this lock"), into);
    }

    /// Writes a card, which is the sender's `sent`-th, if there are any and one is free. `read` is how many the sender
    /// knows to have been read.
    #[inline]
    pub(super) fn write_card(&self, from: usize, sent: u64, read: &mut u64, number: u64, bytes: &[u8]) -> bool {
        let Some(ring) = self.rings.get(from) else { return false };
        if bytes.len() > CARD {
            return false;
        }
        if sent - *read >= RING {
            // The acquire pairs with `take_card`: the card is written again only after it was read.
            *read = ring.read.0.load(Ordering::Acquire);
            if sent - *read >= RING {
                return false;
            }
        }
        let card = &ring.cards[(sent % RING) as usize];
        let (words, rest) = bytes.as_chunks();
        for (place, word) in card.words.iter().zip(words) {
            place.store(u64::from_le_bytes(*word), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let mut last = [0; WORD];
            last[..rest.len()].copy_from_slice(rest);
            card.words[words.len()].store(u64::from_le_bytes(last), Ordering::Relaxed);
        }
        card.head.store((number + 1) << 8 | bytes.len() as u64, Ordering::Release);
        true
    }

    /// The number of the letter on the `read`-th card of a sender, and its length, if it is there.
    #[inline]
    pub(super) fn card(&self, from: usize, read: u64, number: u64) -> Option<usize> {
        let head = self.rings.get(from)?.cards[(read % RING) as usize].head.load(Ordering::Acquire);
        (head >> 8 == number + 1).then_some((head & 0xFF) as usize)
    }

    /// Copies the `read`-th card of a sender, of `len` bytes, and gives it back.
    #[inline]
    pub(super) fn take_card(&self, from: usize, read: u64, len: usize, into: &mut Vec<u8>) {
        let ring = &self.rings[from];
        for word in &ring.cards[(read % RING) as usize].words[..len.div_ceil(WORD)] {
            into.extend_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        into.truncate(len);
        ring.read.0.store(read + 1, Ordering::Release);
    }

    /// Enters its owner in a count.
    #[inline]
    pub(super) fn enter(&self, count: u64, mine: Counts) {
        let place = &self.counts[(count % 2) as usize];
        for (place, mine) in place.mine.iter().zip(mine) {
            place.store(mine, Ordering::Relaxed);
        }
        place.count.store(count, Ordering::Release);
    }

    #[inline]
    pub(super) fn has_entered(&self, count: u64) -> bool {
        self.counts[(count % 2) as usize].count.load(Ordering::Acquire) == count
    }

    /// Adds what its owner has entered.
    #[inline]
    pub(super) fn add_to(&self, count: u64, sum: &mut Counts) {
        for (sum, mine) in sum.iter_mut().zip(&self.counts[(count % 2) as usize].mine) {
            *sum = sum.wrapping_add(mine.load(Ordering::Relaxed));
        }
    }
}

/// What a member knows of the letters between it and one other.
#[derive(Clone, Copy, Default)]
pub(super) struct PairCounts {
    /// Letters sent to it, and how many of them as cards; how many of those are known to be read.
    pub(super) sent: u64,
    pub(super) cards_sent: u64,
    pub(super) cards_read: u64,
    /// Letters taken from it, and how many of them were cards.
    pub(super) taken: u64,
    pub(super) cards_taken: u64,
}

/// What a member knows of its mail.
pub(super) struct MailState {
    /// Letters that were in my box and have not been taken, and how many I have ever found there.
    pub(super) mail: VecDeque<Numbered>,
    pub(super) found: u64,
    /// What passes between me and each.
    pub(super) pairs: Vec<PairCounts>,
    /// The last count I entered, how many members are known to have entered it, and whether I have its sum.
    pub(super) count: u64,
    pub(super) entered_count: usize,
    pub(super) has_sum: bool,
}

impl MailState {
    pub(super) fn new(size: usize) -> Self {
        let (mail, pairs) = (VecDeque::new(), vec![PairCounts::default(); size]);
        Self { mail, found: 0, pairs, count: 0, entered_count: 0, has_sum: true }
    }
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn cards_come_in_order_and_are_written_again_when_they_were_read() {
        let (all, mut read) = (LetterBox::new(2), 0);
        let bytes = |number: u64, len: usize| (0..len).map(|at| (number as usize * 31 + at) as u8).collect::<Vec<_>>();
        let (mut sent, mut taken) = (0, 0);
        for round in 0..10 {
            while all.write_card(1, sent, &mut read, 5 + sent, &bytes(sent, 3 * sent as usize % (CARD + 1))) {
                sent += 1;
            }
            assert_eq!(sent, taken + RING, "round {round}");
            assert_eq!(all.card(1, taken, 6 + taken), None, "another letter comes first");
            for _ in 0..=round % RING {
                let len = all.card(1, taken, 5 + taken).expect("it was written");
                let mut into = vec![9; 2];
                into.clear();
                all.take_card(1, taken, len, &mut into);
                assert_eq!(into, bytes(taken, 3 * taken as usize % (CARD + 1)));
                taken += 1;
            }
        }
        assert_eq!(all.card(0, 0, 5), None, "the other has written none");
    }

    #[test]
    fn what_is_too_long_for_a_card_or_comes_from_too_many_goes_into_the_box() {
        let (few, many) = (LetterBox::new(CARDS_UP_TO), LetterBox::new(CARDS_UP_TO + 1));
        assert!(!few.write_card(0, 0, &mut 0, 1, &[7; CARD + 1]));
        assert!(few.write_card(CARDS_UP_TO - 1, 0, &mut 0, 1, &[7; CARD]));
        assert_eq!(few.card(CARDS_UP_TO - 1, 0, 1), Some(CARD));
        assert!(!many.write_card(0, 0, &mut 0, 1, &[]));
        assert_eq!(many.card(0, 0, 1), None);
        assert!(!few.has_more_than(0));
        few.put((3, 1, Tray::default()));
        assert!(few.has_more_than(0) && !few.has_more_than(1));
        let mut into = VecDeque::new();
        few.empty_into(&mut into);
        assert_eq!(into.iter().map(|(from, number, _)| (*from, *number)).collect::<Vec<_>>(), [(3, 1)]);
    }
}
