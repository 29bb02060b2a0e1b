//! Virtual time: each processor has its own, and it passes by the model.
//!
//! Work that a program charges takes w/r. What is sent between two meetings of a circle is an h-relation: h is the most
//! that any member sends or receives, in words, and a meeting ends g·h + l after the last member has entered it. Only
//! that, and what goes wrong, makes time pass. Nobody looks at the clock of the machine, so a run takes the same time
//! whenever it is repeated. A packet that is late holds up the meeting that it belongs to.
//!
//! A contribution to a meeting counts as sent, and what all contributions amount to as received, unless they fit into
//! the cache line or packet that a meeting moves anyway: those are in l.

use super::cost::Cost;
use crate::messages::{Stamp, Tag};
use std::collections::BTreeMap;

/// Contributions of up to so many bytes cost nothing beyond the meeting.
const FREE: usize = 64;

/// What is known of a meeting that has not ended for all.
#[derive(Default)]
struct Meeting {
    /// Bytes sent and received, by processor.
    traffic: BTreeMap<usize, [u64; 2]>,
    /// The longest contribution.
    said: usize,
    /// The most work that one of them has done since its last meeting.
    work: u64,
    entered: usize,
    left: usize,
    /// When the last of them entered.
    latest: f64,
}

/// How long a meeting and what went before it took, by the model.
pub(super) struct Bill {
    pub(super) members: usize,
    pub(super) work: u64,
    pub(super) words: u64,
    pub(super) nanoseconds: f64,
}

/// The clocks of all processors, in nanoseconds.
pub(super) struct Clock {
    cost: Cost,
    times: Vec<f64>,
    /// What each has worked since its last meeting.
    worked: Vec<u64>,
    meetings: BTreeMap<(u64, u64), Meeting>,
}

impl Clock {
    pub(super) fn new(processors: usize, cost: Cost) -> Self {
        Self { cost, times: vec![0.0; processors], worked: vec![0; processors], meetings: BTreeMap::new() }
    }

    pub(super) fn now(&self, rank: usize) -> f64 {
        self.times[rank]
    }

    /// The time of the one that is furthest ahead.
    pub(super) fn latest(&self) -> f64 {
        self.times.iter().copied().fold(0.0, f64::max)
    }

    pub(super) fn work(&mut self, rank: usize, operations: u64) {
        self.times[rank] += self.cost.of_work(operations);
        self.worked[rank] = self.worked[rank].saturating_add(operations);
    }

    /// It is no longer before `time` for this processor.
    pub(super) fn reach(&mut self, rank: usize, time: f64) {
        self.times[rank] = self.times[rank].max(time);
    }

    /// Notes what is sent, which takes the sender its time if it is a letter.
    pub(super) fn send(&mut self, from: usize, to: usize, stamp: Stamp, bytes: usize) {
        if stamp.tag == Tag::Letter {
            self.times[from] += self.cost.of_bytes(bytes as u64);
        }
        if let Some(key) = meeting_of(stamp).filter(|_| from != to && matches!(stamp.tag, Tag::Tray | Tag::Piece)) {
            let traffic = &mut self.meetings.entry(key).or_default().traffic;
            traffic.entry(from).or_default()[0] += bytes as u64;
            traffic.entry(to).or_default()[1] += bytes as u64;
        }
    }

    /// A packet arrives at this time, when it was not expected so late.
    pub(super) fn hold_up(&mut self, stamp: Stamp, time: f64) {
        if let Some(key) = meeting_of(stamp) {
            let meeting = self.meetings.entry(key).or_default();
            meeting.latest = meeting.latest.max(time);
        }
    }

    /// Somebody takes a packet that arrived at this time. One that belongs to a meeting may have come before it was
    /// wanted, and the meeting knows its time.
    pub(super) fn take(&mut self, rank: usize, stamp: Stamp, time: f64) {
        if meeting_of(stamp).is_none() {
            self.reach(rank, time);
        }
    }

    /// A processor enters a meeting with a contribution of so many bytes.
    pub(super) fn enter(&mut self, rank: usize, stamp: Stamp, said: usize) {
        let (now, worked) = (self.times[rank], std::mem::take(&mut self.worked[rank]));
        let meeting = self.meetings.entry((stamp.circle, stamp.meeting)).or_default();
        meeting.entered += 1;
        meeting.latest = meeting.latest.max(now);
        meeting.work = meeting.work.max(worked);
        meeting.said = meeting.said.max(said);
    }

    /// A processor comes out of a meeting, which came to so many bytes. The first of the members to do so gets the
    /// bill.
    pub(super) fn come_out(&mut self, rank: usize, stamp: Stamp, heard: usize) -> Option<Bill> {
        let key = (stamp.circle, stamp.meeting);
        let meeting = self.meetings.get_mut(&key)?;
        meeting.left += 1;
        let (is_first, is_last) = (meeting.left == 1, meeting.left == meeting.entered);
        let spoken = meeting.said.max(heard);
        let most = meeting.traffic.values().flatten().copied().max().unwrap_or(0);
        let bytes = most + if spoken > FREE { spoken as u64 } else { 0 };
        let (latest, work, members) = (meeting.latest, meeting.work, meeting.entered);
        if is_last {
            self.meetings.remove(&key);
        }
        let takes = self.cost.of_bytes(bytes) + self.cost.of_meeting();
        self.times[rank] = self.times[rank].max(latest) + takes;
        let nanoseconds = self.cost.of_work(work) + takes;
        is_first.then(|| Bill { members, work, words: bytes.div_ceil(8), nanoseconds })
    }
}

/// The meeting that a packet belongs to: its circle, and its number there.
fn meeting_of(stamp: Stamp) -> Option<(u64, u64)> {
    match stamp.tag {
        Tag::Up | Tag::Down | Tag::Tray => Some((stamp.circle, stamp.meeting)),
        // It moves when a meeting has ended, and counts in the next.
        Tag::Piece => Some((stamp.circle, stamp.meeting + 1)),
        Tag::Letter | Tag::Count | Tag::Sum | Tag::Alarm | Tag::Ended => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Cost = Cost { r_mflops: 100.0, g_ns: 3.0, l_us: 2.0 };

    fn is(time: f64, nanoseconds: u64) -> bool {
        (time - nanoseconds as f64).abs() < 1e-9
    }

    fn stamp(tag: Tag, meeting: u64) -> Stamp {
        Stamp { circle: 7, meeting, tag }
    }

    #[test]
    fn what_moves_when_a_meeting_has_ended_counts_in_the_next() {
        assert_eq!(meeting_of(stamp(Tag::Tray, 4)), Some((7, 4)));
        assert_eq!(meeting_of(stamp(Tag::Piece, 4)), Some((7, 5)));
        assert_eq!(meeting_of(stamp(Tag::Letter, 4)), None);
    }

    #[test]
    fn a_meeting_ends_g_h_and_l_after_the_last_has_come() {
        let mut clock = Clock::new(3, COST);
        clock.work(1, 50); // 500 ns
        clock.send(0, 2, stamp(Tag::Tray, 1), 80); // 10 words each from two, so 2 receives 20
        clock.send(1, 2, stamp(Tag::Tray, 1), 80);
        clock.send(0, 0, stamp(Tag::Tray, 1), 8000);
        for rank in 0..3 {
            clock.enter(rank, stamp(Tag::Up, 1), 16);
        }
        let bills: Vec<bool> = (0..3).map(|rank| clock.come_out(rank, stamp(Tag::Up, 1), FREE).is_some()).collect();
        assert_eq!(bills, [true, false, false]);
        assert!(clock.times.iter().all(|time| is(*time, 500 + 20 * 3 + 2000)));
        assert!(clock.meetings.is_empty());
    }

    #[test]
    fn long_contributions_count_and_letters_take_their_sender_its_time() {
        let mut clock = Clock::new(2, COST);
        clock.send(0, 1, stamp(Tag::Letter, 0), 9);
        assert!(is(clock.now(0), 6));
        for rank in 0..2 {
            clock.enter(rank, stamp(Tag::Up, 1), 80);
        }
        let bill = clock.come_out(0, stamp(Tag::Up, 1), 80).unwrap();
        assert_eq!((bill.members, bill.words), (2, 10));
        assert!(is(bill.nanoseconds, 2030) && is(clock.now(0), 2036) && is(clock.latest(), 2036));
    }

    #[test]
    fn what_one_sends_to_several_counts_together() {
        let mut clock = Clock::new(3, COST);
        (1..3).for_each(|to| clock.send(0, to, stamp(Tag::Tray, 1), 80));
        (0..3).for_each(|rank| clock.enter(rank, stamp(Tag::Up, 1), 0));
        let bill = clock.come_out(2, stamp(Tag::Up, 1), 0).unwrap();
        assert_eq!(bill.words, 20);
    }
}
