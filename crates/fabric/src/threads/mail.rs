//! A member's letters and counts at a table: what it does without a meeting.

use super::{
    letters::{CARDS_UP_TO, PairCounts},
    seat::Seat,
    table::ANYBODY,
};
use crate::{
    circle::{Counts, Mail},
    failure::Failure,
    tray::Tray,
};

impl Seat {
    /// Whether everybody has entered the count that I have entered.
    #[inline]
    fn is_counted(&mut self) -> bool {
        let members = &self.table.members;
        while self.mail.entered_count < members.len()
            && members[self.mail.entered_count].letters.has_entered(self.mail.count)
        {
            self.mail.entered_count += 1;
        }
        self.mail.entered_count == members.len()
    }
}

impl Mail for Seat {
    #[inline]
    fn send_letter(&mut self, to: usize, letter: &mut Tray) -> Result<(), Failure> {
        self.heed()?;
        let (letters, pair) = (&self.table.members[to].letters, &mut self.mail.pairs[to]);
        let PairCounts { sent: number, cards_sent, cards_read, .. } = pair;
        if letter.moved.is_empty() && letters.write_card(self.rank, *cards_sent, cards_read, *number, &letter.bytes) {
            *cards_sent += 1;
            letter.bytes.clear();
        } else {
            letters.put((self.rank, *number, std::mem::take(letter)));
        }
        pair.sent += 1;
        self.table.wake_one(to);
        Ok(())
    }

    #[inline]
    fn next_letter(&mut self, letter: &mut Tray) -> Result<Option<usize>, Failure> {
        self.heed()?;
        let letters = &self.table.members[self.rank].letters;
        for (from, pair) in self.mail.pairs.iter_mut().enumerate().take(CARDS_UP_TO) {
            if let Some(len) = letters.card(from, pair.cards_taken, pair.taken) {
                letters.take_card(from, pair.cards_taken, len, &mut letter.bytes);
                pair.cards_taken += 1;
                pair.taken += 1;
                return Ok(Some(from));
            }
        }
        if self.mail.mail.is_empty() {
            if !letters.has_more_than(self.mail.found) {
                return Ok(None);
            }
            letters.empty_into(&mut self.mail.mail);
            self.mail.found += self.mail.mail.len() as u64;
        }
        let Some((from, number, next)) = self.mail.mail.pop_front() else { return Ok(None) };
        let pair = &mut self.mail.pairs[from];
        if number != pair.taken {
            // A card that was sent before it has come since I looked.
            self.mail.mail.push_front((from, number, next));
            return self.next_letter(letter);
        }
        pair.taken += 1;
        *letter = next;
        Ok(Some(from))
    }

    #[inline]
    fn enter_count(&mut self, mine: Counts) -> Result<(), Failure> {
        self.heed()?;
        assert!(self.mail.has_sum, "a member entered a count before it had the sum of the last");
        self.mail.count += 1;
        (self.mail.entered_count, self.mail.has_sum) = (0, false);
        self.table.members[self.rank].letters.enter(self.mail.count, mine);
        self.table.wake_all();
        Ok(())
    }

    #[inline]
    fn counted(&mut self) -> Result<Option<Counts>, Failure> {
        self.heed()?;
        if self.mail.has_sum || !self.is_counted() {
            return Ok(None);
        }
        self.mail.has_sum = true;
        let mut sum = Counts::default();
        for member in &self.table.members {
            member.letters.add_to(self.mail.count, &mut sum);
        }
        Ok(Some(sum))
    }

    fn rest(&mut self) -> Result<(), Failure> {
        self.heed()?;
        let (table, count, seen, has_sum) = (&self.table, self.mail.count, self.mail.entered_count, self.mail.has_sum);
        let (mine, found, pairs) = (&table.members[self.rank].letters, self.mail.found, &self.mail.pairs);
        let is_there = |(from, pair): (usize, &PairCounts)| mine.card(from, pair.cards_taken, pair.taken).is_some();
        let has_card = || pairs.iter().enumerate().take(CARDS_UP_TO).any(is_there);
        let is_counted = || !has_sum && table.members[seen..].iter().all(|member| member.letters.has_entered(count));
        self.await_one(ANYBODY, || has_card() || mine.has_more_than(found) || is_counted())
    }
}
