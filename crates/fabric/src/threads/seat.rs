//! One member's place at a table: what it does to meet the others.
//!
//! The numbers in the safety notes are those of the invariants of [`table`](super::table).

use super::{
    alarm::Cord,
    fences,
    letters::{CARDS_UP_TO, Numbered, Post},
    sync::{Arc, Ordering, Shelf, thread},
    table::{ANYBODY, BARE, INLINE, Piece, Posted, Table},
    wait::{Habit, Patience, Turn},
};
use crate::{
    circle::{Counts, Meld, Melded},
    failure::Failure,
    sight::Pen,
    tray::Tray,
    tree::{self, Scratch},
};
use std::collections::VecDeque;

/// A node on the way from a leaf to the root, with what comes together there.
struct Rung {
    node: usize,
    left: Piece,
    right: Piece,
}

/// The way up from `rank`, lowest first.
fn ladder(rank: usize, size: usize) -> Vec<Rung> {
    let mut rungs = Vec::new();
    let (mut low, mut size) = (0, size);
    while size > 1 {
        let left_size = tree::cut(size);
        let (middle, right_size) = (low + left_size, size - left_size);
        rungs.push(Rung { node: middle, left: Piece::of(low, left_size), right: Piece::of(middle, right_size) });
        if rank < middle {
            size = left_size;
        } else {
            (low, size) = (middle, right_size);
        }
    }
    rungs.reverse();
    rungs
}

/// Up to this size a tray travels in the slot, so that its target need not fetch it from elsewhere.
const RIDER: usize = 64;

/// One member's place at a table.
pub(crate) struct Seat {
    table: Arc<Table>,
    rank: usize,
    /// A small tray that will travel in my slot, and whom it is for.
    rider: Option<(usize, u8, [u8; RIDER])>,
    /// The last meeting of which I took each member's rider, 0 before the first.
    riders_taken: Vec<u64>,
    /// The last meeting I entered.
    entered: u64,
    /// The last meeting that was held for me; behind `entered` only once I may not go on (T5).
    held: u64,
    posted: u64,
    /// Letters that were in my box and have not been taken, and how many I have ever found there.
    mail: VecDeque<Numbered>,
    found: u64,
    /// What passes between me and each.
    posts: Vec<Post>,
    /// The last count I entered, how many members are known to have entered it, and whether I have its sum.
    count: u64,
    entered_count: usize,
    has_sum: bool,
    ladder: Vec<Rung>,
    habit: Habit,
    scratch: Scratch,
    /// My number among the threads of the run, and with what I write down that I wait.
    number: usize,
    pen: Pen,
}

impl Seat {
    /// Sits down, as the thread of the run with this number. Each rank's seat is taken once, by the thread that will
    /// use it.
    pub(crate) fn take(table: Arc<Table>, rank: usize, number: usize, pen: Pen) -> Self {
        let taken = table.members[rank].thread.set((thread::current(), number));
        assert!(taken.is_ok(), "rank {rank} of a circle was taken twice");
        let size = table.members.len();
        let ladder = if table.nodes.is_empty() { Vec::new() } else { ladder(rank, size) };
        Self {
            table,
            rank,
            entered: 0,
            held: 0,
            posted: 0,
            mail: VecDeque::new(),
            found: 0,
            posts: vec![Post::default(); size],
            count: 0,
            entered_count: 0,
            has_sum: true,
            rider: None,
            riders_taken: vec![0; size],
            ladder,
            habit: Habit::of_rank(rank),
            scratch: Scratch::default(),
            number,
            pen,
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// My number among the threads of the run, and with what I write down where I am.
    pub(crate) fn identity(&self) -> (usize, Pen) {
        (self.number, self.pen.clone())
    }

    /// A member's number among the threads of the run, once it has sat down.
    pub(crate) fn number_of(&self, rank: usize) -> usize {
        self.table.members[rank].thread.get().map_or(rank, |(_, number)| *number)
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.table.members.len()
    }

    /// Enters the next meeting, waits for everybody and melds.
    #[inline]
    pub(crate) fn meet(
        &mut self,
        mine: &[u8],
        how: &mut dyn Meld,
        outcome: &mut Melded,
        cord: &Cord,
    ) -> Result<(), Failure> {
        self.check(cord)?;
        self.enter(mine, how);
        self.await_all(cord)?;
        self.held = self.entered;
        outcome.before.clear();
        let wants_before = how.wants_before();
        if self.ladder.is_empty() {
            if how.alike() && self.all_alike(mine) {
                outcome.total.clear();
                outcome.total.extend_from_slice(mine);
                if wants_before && self.rank > 0 {
                    outcome.before.extend_from_slice(mine);
                }
                return Ok(());
            }
            let (table, copy, me) = (&self.table, self.copy(), self.rank);
            // My own slot may still be on its way out to the others: reading it back would wait for that.
            let leaf = |rank| if rank == me { mine } else { table.contribution(Piece::Rank(rank), copy) };
            tree::fold(0, table.members.len(), &leaf, how, &mut self.scratch, &mut outcome.total);
            if wants_before {
                let size = table.members.len();
                tree::fold_before(self.rank, size, &leaf, how, &mut self.scratch, &mut outcome.before);
            }
        } else {
            outcome.total.clear();
            outcome.total.extend_from_slice(self.table.contribution(Piece::of(0, self.size()), self.copy()));
            if wants_before {
                let (table, copy, size) = (&self.table, self.copy(), self.size());
                let scratch = &mut self.scratch;
                tree::descend(self.rank, size, |low, size| {
                    tree::append(table.contribution(Piece::of(low, size), copy), how, scratch, &mut outcome.before);
                });
            }
        }
        Ok(())
    }

    /// Enters the next meeting and does not stay for the outcome.
    pub(crate) fn leave(&mut self, mine: &[u8], how: &mut dyn Meld, cord: &Cord) -> Result<(), Failure> {
        self.check(cord)?;
        self.enter(mine, how);
        Ok(())
    }

    /// Fails once the alarm was raised, and so for good where one of my waits did (T5).
    #[inline]
    fn check(&self, cord: &Cord) -> Result<(), Failure> {
        self.heed(cord)?;
        assert_eq!(
            self.held, self.entered,
            "a member came back to a circle that it had left, or in which it had panicked"
        );
        Ok(())
    }

    /// Fails once the alarm was raised.
    #[inline]
    fn heed(&self, cord: &Cord) -> Result<(), Failure> {
        cord.check().inspect_err(|_| self.pen.hear())
    }

    fn copy(&self) -> usize {
        (self.entered % 2) as usize
    }

    fn enter(&mut self, mine: &[u8], how: &mut dyn Meld) {
        self.publish(mine);
        if self.ladder.is_empty() {
            self.table.wake_those_who_wait_for(self.rank);
        } else {
            self.climb(mine, how);
        }
    }

    #[inline]
    fn publish(&mut self, mine: &[u8]) {
        let rider = self.rider.take_if(|(_, len, _)| mine.len() + usize::from(*len) <= INLINE);
        if let Some((to, len, bytes)) = self.rider.take() {
            // No room for it beside the contribution.
            self.put_tray(to, &mut Tray { bytes: bytes[..usize::from(len)].to_vec(), moved: Vec::new() });
        }
        self.entered += 1;
        let me = &self.table.members[self.rank];
        let copy = self.copy();
        let is_long = mine.len() > INLINE;
        if is_long {
            me.long[copy].with_mut(|long| {
                // SAFETY: T1, this copy is mine until I publish.
                let long = unsafe { &mut *long };
                long.clear();
                long.extend_from_slice(mine);
            });
        }
        me.copies[copy].note.with_mut(|note| {
            // SAFETY: T1, this copy is mine until I publish.
            let note = unsafe { &mut *note };
            note.len = if is_long { 0 } else { mine.len() as u8 };
            note.is_long = is_long;
            note.posted = std::mem::take(&mut self.posted);
            // A constant length spares the common case, an empty step, a call.
            match mine.first_chunk::<BARE>() {
                Some(bare) if mine.len() == BARE => note.inline[..BARE].copy_from_slice(bare),
                _ if !is_long => note.inline[..mine.len()].copy_from_slice(mine),
                _ => {}
            }
            note.rider_len = 0;
            if let Some((to, len, bytes)) = &rider {
                (note.rider_to, note.rider_len) = (*to as u32, *len);
                let len = usize::from(*len);
                note.inline[mine.len()..mine.len() + len].copy_from_slice(&bytes[..len]);
            }
        });
        me.copies[copy].published.store(self.entered, Ordering::Release);
    }

    /// Takes what came together at each node where I am the second to arrive one node further up.
    fn climb(&mut self, mine: &[u8], how: &mut dyn Meld) {
        let copy = self.copy();
        for rung in &self.ladder {
            let node = &self.table.nodes[rung.node];
            // The release half publishes my side; the acquire half lets me see the other's.
            if node.arrivals.fetch_add(1, Ordering::AcqRel).is_multiple_of(2) {
                return;
            }
            let left = self.table.contribution(rung.left, copy);
            let right = self.table.contribution(rung.right, copy);
            node.melded[copy].with_mut(|melded| {
                // SAFETY: T3, I am the second to arrive.
                let melded = unsafe { &mut *melded };
                melded.clear();
                if how.alike() && left == mine && right == mine {
                    melded.extend_from_slice(mine);
                } else {
                    how.meld(left, right, melded);
                }
            });
        }
        self.table.released.store(self.entered, Ordering::Release);
        self.table.wake_all();
    }

    fn await_all(&mut self, cord: &Cord) -> Result<(), Failure> {
        let (table, meeting, copy) = (&self.table, self.entered, self.copy());
        if !self.ladder.is_empty() {
            return self.await_one(ANYBODY, cord, || table.released.load(Ordering::Acquire) == meeting);
        }
        for (rank, member) in table.members.iter().enumerate() {
            if rank != self.rank {
                let published = &member.copies[copy].published;
                self.await_one(rank as u32, cord, || published.load(Ordering::Acquire) == meeting)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn await_one(&self, whom: u32, cord: &Cord, here: impl Fn() -> bool) -> Result<(), Failure> {
        if here() {
            return Ok(());
        }
        let mut patience = Patience::new(&self.habit);
        loop {
            match patience.next() {
                Turn::Spin => std::hint::spin_loop(),
                Turn::Yield => patience.give_way(),
                Turn::Sleep => return self.sleep_until(whom, cord, &here),
            }
            if here() {
                patience.learn();
                return Ok(());
            }
            self.heed(cord)?;
        }
    }

    /// Sleeps until what I wait for is there, and says meanwhile for whom I wait.
    #[cold]
    fn sleep_until(&self, whom: u32, cord: &Cord, here: &impl Fn() -> bool) -> Result<(), Failure> {
        let rank = || if whom == ANYBODY { self.missing() } else { Some(whom as usize) };
        let is_mine = self.pen.wait(|| rank().map(|rank| cord.number(self.number_of(rank))));
        let outcome = loop {
            self.sleep(whom, cord, here);
            if here() {
                break Ok(());
            }
            if let Err(failure) = self.heed(cord) {
                break Err(failure);
            }
        };
        if is_mine {
            self.pen.go_on();
        }
        outcome
    }

    /// The first member that has not entered the meeting that I am in, if I am in one.
    fn missing(&self) -> Option<usize> {
        let copy = self.copy();
        let has_come = |rank: usize| self.table.members[rank].copies[copy].published.load(Ordering::Relaxed);
        (0..self.size()).find(|&rank| self.held < self.entered && has_come(rank) < self.entered)
    }

    /// Sleeps until somebody wakes me, unless what I wait for is there already.
    #[cold]
    fn sleep(&self, whom: u32, cord: &Cord, here: &impl Fn() -> bool) {
        let asleep = &self.table.members[self.rank].asleep;
        asleep.store(whom.saturating_add(1), Ordering::Relaxed);
        self.table.sleepers.fetch_add(1, Ordering::Relaxed);
        // Pairs with the light fence of whoever publishes: it sees me asleep, or I see what it published.
        fences::heavy(self.table.expedited);
        if !here() && cord.check().is_ok() {
            thread::park();
        }
        asleep.store(0, Ordering::Relaxed);
        self.table.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether everybody said just what I said.
    #[inline]
    fn all_alike(&self, mine: &[u8]) -> bool {
        let copy = self.copy();
        if let Some(bare) = mine.first_chunk::<BARE>().filter(|_| mine.len() == BARE) {
            let says_so = |rank: usize| {
                let theirs = self.table.contribution(Piece::Rank(rank), copy);
                theirs.len() == BARE && theirs.first_chunk::<BARE>() == Some(bare)
            };
            return (0..self.size()).all(|rank| rank == self.rank || says_so(rank));
        }
        (0..self.size()).all(|rank| rank == self.rank || self.table.contribution(Piece::Rank(rank), copy) == mine)
    }

    /// Puts `tray` where `to` finds it after the next meeting.
    pub(crate) fn post(&mut self, to: usize, tray: &mut Tray, cord: &Cord) -> Result<(), Failure> {
        self.check(cord)?;
        self.posted |= 1 << (to % 64);
        if self.rider.is_none() && tray.moved.is_empty() && tray.bytes.len() <= RIDER {
            let mut bytes = [0; RIDER];
            bytes[..tray.bytes.len()].copy_from_slice(&tray.bytes);
            self.rider = Some((to, tray.bytes.len() as u8, bytes));
        } else {
            self.put_tray(to, tray);
        }
        tray.clear();
        Ok(())
    }

    fn put_tray(&self, to: usize, tray: &mut Tray) {
        let meeting = self.entered + 1;
        let (me, size) = (&self.table.members[self.rank], self.size());
        let trays = me.trays.get_or_init(|| {
            (0..size).map(|_| [Shelf::new(Posted::default()), Shelf::new(Posted::default())]).collect()
        });
        trays[to][(meeting % 2) as usize].with_mut(|slot| {
            // SAFETY: T4, the meeting for which I post is the one I enter next.
            let slot = unsafe { &mut *slot };
            slot.meeting = meeting;
            std::mem::swap(&mut slot.tray, tray);
        });
    }

    /// Takes what `from` posted to me before the last meeting.
    pub(crate) fn take_tray(&mut self, from: usize, into: &mut Tray) -> bool {
        if self.held != self.entered {
            return false;
        }
        let (source, copy) = (&self.table.members[from], self.copy());
        // SAFETY: T2, I have entered this meeting, it has been held, and I have not entered the next.
        let note = source.copies[copy].note.with(|note| unsafe { &*note });
        if note.posted & (1 << (self.rank % 64)) == 0 {
            return false;
        }
        if note.rider_len > 0 && note.rider_to as usize == self.rank {
            // It stays in the other's slot, so what says that I have it is here.
            if std::mem::replace(&mut self.riders_taken[from], self.held) == self.held {
                return false;
            }
            let start = usize::from(note.len);
            into.bytes.extend_from_slice(&note.inline[start..start + usize::from(note.rider_len)]);
            return true;
        }
        let Some(trays) = source.trays.get() else { return false };
        trays[self.rank][copy].with_mut(|slot| {
            // SAFETY: T4, as above.
            let slot = unsafe { &mut *slot };
            if slot.meeting == self.held {
                std::mem::swap(&mut slot.tray, into);
            }
        });
        !into.is_empty()
    }

    /// Sends a letter: as a card if it is short, else into the box of `to`.
    #[inline]
    pub(crate) fn send_letter(&mut self, to: usize, letter: &mut Tray, cord: &Cord) -> Result<(), Failure> {
        self.heed(cord)?;
        let (letters, post) = (&self.table.members[to].letters, &mut self.posts[to]);
        let Post { sent: number, cards_sent, cards_read, .. } = post;
        if letter.moved.is_empty() && letters.write_card(self.rank, *cards_sent, cards_read, *number, &letter.bytes) {
            *cards_sent += 1;
            letter.bytes.clear();
        } else {
            letters.put((self.rank, *number, std::mem::take(letter)));
        }
        post.sent += 1;
        self.table.wake_one(to);
        Ok(())
    }

    /// Takes the next letter that has come.
    #[inline]
    pub(crate) fn next_letter(&mut self, letter: &mut Tray, cord: &Cord) -> Result<Option<usize>, Failure> {
        self.heed(cord)?;
        let letters = &self.table.members[self.rank].letters;
        for (from, post) in self.posts.iter_mut().enumerate().take(CARDS_UP_TO) {
            if let Some(len) = letters.card(from, post.cards_taken, post.taken) {
                letters.take_card(from, post.cards_taken, len, &mut letter.bytes);
                post.cards_taken += 1;
                post.taken += 1;
                return Ok(Some(from));
            }
        }
        if self.mail.is_empty() {
            if !letters.has_more_than(self.found) {
                return Ok(None);
            }
            letters.empty_into(&mut self.mail);
            self.found += self.mail.len() as u64;
        }
        let Some((from, number, next)) = self.mail.pop_front() else { return Ok(None) };
        let post = &mut self.posts[from];
        if number != post.taken {
            // A card that was sent before it has come since I looked.
            self.mail.push_front((from, number, next));
            return self.next_letter(letter, cord);
        }
        post.taken += 1;
        *letter = next;
        Ok(Some(from))
    }

    /// Enters the next count.
    #[inline]
    pub(crate) fn enter_count(&mut self, mine: Counts, cord: &Cord) -> Result<(), Failure> {
        self.heed(cord)?;
        assert!(self.has_sum, "a member entered a count before it had the sum of the last");
        self.count += 1;
        (self.entered_count, self.has_sum) = (0, false);
        self.table.members[self.rank].letters.enter(self.count, mine);
        self.table.wake_all();
        Ok(())
    }

    /// Whether everybody has entered the count that I have entered.
    #[inline]
    fn is_counted(&mut self) -> bool {
        let members = &self.table.members;
        while self.entered_count < members.len() && members[self.entered_count].letters.has_entered(self.count) {
            self.entered_count += 1;
        }
        self.entered_count == members.len()
    }

    /// The sum of the count that I have entered.
    #[inline]
    pub(crate) fn counted(&mut self, cord: &Cord) -> Result<Option<Counts>, Failure> {
        self.heed(cord)?;
        if self.has_sum || !self.is_counted() {
            return Ok(None);
        }
        self.has_sum = true;
        let mut sum = Counts::default();
        for member in &self.table.members {
            member.letters.add_to(self.count, &mut sum);
        }
        Ok(Some(sum))
    }

    /// Waits for a letter or a sum.
    pub(crate) fn rest(&mut self, cord: &Cord) -> Result<(), Failure> {
        self.heed(cord)?;
        let (table, count, seen, has_sum) = (&self.table, self.count, self.entered_count, self.has_sum);
        let (mine, found, posts) = (&table.members[self.rank].letters, self.found, &self.posts);
        let is_there = |(from, post): (usize, &Post)| mine.card(from, post.cards_taken, post.taken).is_some();
        let has_card = || posts.iter().enumerate().take(CARDS_UP_TO).any(is_there);
        let is_counted = || !has_sum && table.members[seen..].iter().all(|member| member.letters.has_entered(count));
        self.await_one(ANYBODY, cord, || has_card() || mine.has_more_than(found) || is_counted())
    }
}
