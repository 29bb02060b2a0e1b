//! The circle itself: its meetings, in one of three ways, and its mail.

use super::{
    count::Counting,
    packet::{Link, Packet, Tag},
    route::{Route, Terminal},
    stretch::Stretch,
    wave::{self, Outcome},
};
use crate::{
    alarm::Alarm,
    circle::{Circle, Counts, Mail, Meetings, Meld, Melded, Silence},
    failure::Failure,
    nest::Name,
    secret::Secret,
    sight::Pen,
    spares::Spares,
    tray::Tray,
    wire::{Damaged, Reader, Writer as _, write_part},
};
use std::{collections::VecDeque, sync::Arc};

/// A circle of processors that send each other packets.
pub(crate) struct MessageCircle<L> {
    route: Route<L>,
    /// The circle of my station's members, if there are several.
    local: Option<Box<dyn Circle>>,
    entered: u64,
    /// How many trays I have posted to each since then; empty while there are none.
    posted: Vec<u32>,
    /// What came with the last meeting, in the order of the sources, which is also the one in which it is mostly taken.
    inbox: VecDeque<(usize, Tray)>,
    spares: Spares<u8>,
    /// What I say, and what I hear.
    said: Vec<u8>,
    heard: Melded,
    told: Melded,
    is_parted: bool,
    counting: Counting,
}

/// A letter of up to so many bytes is copied; a longer one hands over its vector.
const SHORT_LETTER: usize = 256;

impl<L: Link> MessageCircle<L> {
    /// The circle of all processors, each of which is a process for itself, in the run with this number.
    pub(crate) fn apart(link: L, size: usize, rank: usize, run: u64, secret: Secret) -> Self {
        Self::new(Route::root(Terminal::new(link, None, run, secret), size, rank))
    }

    /// The circle of all processors, of which each of `processes` has as many as `local` has members; `run` is the
    /// number of the run.
    pub(crate) fn mixed(
        link: L,
        local: Box<dyn Circle>,
        [processes, process]: [usize; 2],
        run: u64,
        secret: Secret,
    ) -> Self {
        let (per_process, rank) = (local.size(), process * local.size() + local.rank());
        let local = (per_process > 1).then_some(local);
        Self::new(Route::root(Terminal::new(link, local, run, secret), processes * per_process, rank))
    }

    fn new(route: Route<L>) -> Self {
        let (local, is_parted) = (route.local(), route.is_parted());
        Self {
            route,
            local,
            entered: 0,
            posted: Vec::new(),
            inbox: VecDeque::new(),
            spares: Spares::default(),
            said: Vec::new(),
            heard: Melded::default(),
            told: Melded::default(),
            is_parted,
            counting: Counting::default(),
        }
    }

    /// Fetches the `expected` trays that were sent to me for this meeting.
    fn fill_inbox(&mut self, expected: u32) -> Result<(), Failure> {
        let stamp = self.route.stamp(Tag::Tray, self.entered);
        for _ in 0..expected {
            let (from, tray) = self.route.mailroom().receive(stamp, None)?;
            self.inbox.push_back((self.route.rank_of(from)?, tray));
        }
        // What one source has sent stays in its order.
        self.inbox.make_contiguous().sort_by_key(|&(source, _)| source);
        Ok(())
    }

    /// The circle of my station's members, and the rank there of one who is `rank` here, if it is one of them.
    fn neighbour(&mut self, rank: usize) -> Option<(usize, &mut (dyn Circle + 'static))> {
        let local = self.local.as_deref_mut()?;
        let ranks = self.route.ranks(&(self.route.station..self.route.station + 1));
        ranks.contains(&rank).then(|| (rank - ranks.start, local))
    }

    /// A meeting in two stages: my station's members hear each other, its speaker hears from the other stations, and
    /// then it tells us.
    fn meet_in_stages(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let Self { route, local, entered, posted, inbox, spares, said, heard, told, .. } = self;
        let local = local.as_mut().expect("only called where there are neighbours");
        let (size, me, first) = (route.members.len(), route.rank, route.stations[route.station].first);
        said.clear();
        write_part(said, |out| {
            wave::write_counts(posted, out);
            out.bytes(mine);
        });
        posted.clear();
        local.meet(said, &mut Listing, heard)?;
        for neighbour in 0..local.size() {
            let mut tray = Tray::default();
            if local.take(neighbour, &mut tray) {
                inbox.push_back((first + neighbour, tray));
            }
        }
        let (mut counts, mut contributions) = (Vec::new(), Vec::with_capacity(local.size()));
        let mut parts = Reader::new(&heard.total);
        let mut read_next = || -> Result<(), Damaged> {
            let mut part = Reader::new(parts.part()?);
            wave::add(&mut counts, wave::read_counts(&mut part, size)?)?;
            contributions.push(part.rest());
            Ok(())
        };
        for _ in 0..local.size() {
            read_next().map_err(Failure::damaged_by(route.members[me]))?;
        }
        let mut report = Vec::new();
        if me == first {
            let mut stretch = Stretch::new(size);
            for (more, contribution) in contributions.iter().enumerate() {
                stretch.push(first + more, contribution, how);
            }
            report = route.wave(*entered, stretch, counts, how)?.write();
        }
        local.meet(&report, &mut Telling, told)?;
        let speaker = route.stations[route.station].speaker;
        let mut found = Outcome::read(&told.total, size, first).map_err(Failure::damaged_by(speaker))?;
        outcome.before.clear();
        if how.wants_before() {
            for (more, contribution) in contributions[..me - first].iter().enumerate() {
                found.before.push(first + more, contribution, how);
            }
            found.before.fold(how, spares, &mut outcome.before);
        }
        outcome.total = found.total;
        Ok(found.counts.get(me).copied().unwrap_or(0))
    }

    /// A meeting in which I speak for myself alone.
    fn meet_alone(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let counts = std::mem::take(&mut self.posted);
        let mut stretch = Stretch::new(self.size());
        stretch.push(self.route.rank, mine, how);
        let found = self.route.wave(self.entered, stretch, counts, how)?;
        found.before.fold(how, &mut self.spares, &mut outcome.before);
        outcome.total = found.total;
        Ok(found.counts.get(self.route.rank).copied().unwrap_or(0))
    }

    /// A meeting of two processes with one member each: the two tell each other what they have to say.
    fn meet_pair(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let Self { route, posted, said, heard, entered, .. } = self;
        let (me, other, stamp) = (route.rank, route.members[1 - route.rank], route.stamp(Tag::Up, *entered));
        said.clear();
        wave::write_counts(posted, said);
        said.bytes(mine);
        let mut mailroom = route.mailroom();
        mailroom.link.send_short(other, stamp, said)?;
        mailroom.receive_short(stamp, other, &mut heard.total)?;
        drop(mailroom);
        let to_myself = posted.get(me).copied().unwrap_or(0);
        posted.clear();
        let mut reader = Reader::new(&heard.total);
        let mut counts = wave::read_counts(&mut reader, 2).map_err(Failure::damaged_by(other))?;
        let expected = to_myself.checked_add(counts.nth(me).unwrap_or(0));
        let expected = expected.ok_or(Failure::Damaged { rank: other })?;
        let theirs = reader.rest();
        outcome.before.clear();
        outcome.total.clear();
        if theirs == mine && how.alike() {
            outcome.total.extend_from_slice(mine);
        } else if me == 0 {
            how.meld(mine, theirs, &mut outcome.total);
        } else {
            how.meld(theirs, mine, &mut outcome.total);
        }
        if me == 1 && how.wants_before() {
            outcome.before.extend_from_slice(theirs);
        }
        Ok(expected)
    }

    fn size(&self) -> usize {
        self.route.members.len()
    }

    /// Makes a failure that only this member has seen everybody's: bytes that make no sense end the run.
    #[inline]
    fn tell<R>(&self, outcome: Result<R, Failure>) -> Result<R, Failure> {
        outcome.map_err(|failure| self.raise(failure))
    }

    #[cold]
    fn raise(&self, failure: Failure) -> Failure {
        let alarm = self.route.mailroom().link.alarm();
        alarm.raise(failure.clone());
        alarm.raised().unwrap_or(failure)
    }

    /// A meeting, of which those who keep time hear.
    fn meet_timed(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure> {
        let meeting = self.route.stamp(Tag::Up, self.entered + 1);
        self.route.mailroom().link.enter(meeting, self.size(), mine.len());
        self.meet_untimed(mine, how, outcome)?;
        self.route.mailroom().link.come_out(meeting, outcome.total.len());
        Ok(())
    }

    fn meet_untimed(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure> {
        self.inbox.clear();
        if self.size() == 1 {
            // Alone I send nothing: this hears the alarm, and lets others go first where processors take turns.
            self.route.mailroom().link.pause()?;
        }
        self.entered += 1;
        let expected = if self.local.is_some() {
            self.meet_in_stages(mine, how, outcome)?
        } else if self.size() == 2 {
            self.meet_pair(mine, how, outcome)?
        } else {
            self.meet_alone(mine, how, outcome)?
        };
        self.fill_inbox(expected)
    }
}

/// Lists what everybody said.
struct Listing;

impl Meld for Listing {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
    }
}

/// Passes on what the first one said.
struct Telling;

impl Meld for Telling {
    fn meld(&mut self, left: &[u8], _: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
    }
}

impl<L: Link> Meetings for MessageCircle<L> {
    fn meet(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure> {
        let met =
            if L::KEEPS_TIME { self.meet_timed(mine, how, outcome) } else { self.meet_untimed(mine, how, outcome) };
        self.tell(met)
    }

    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure> {
        // My children in the tree hear the outcome from me, so I stay until it has passed.
        self.meet(mine, how, &mut Melded::default())
    }

    fn wait(&mut self) -> Result<(), Failure> {
        self.meet(&[], &mut Silence, &mut Melded::default())
    }

    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure> {
        if let Some((neighbour, local)) = self.neighbour(to) {
            return local.post(neighbour, tray);
        }
        self.posted.resize(self.size(), 0);
        self.posted[to] += 1;
        // The next tray will be about as long.
        let spare = self.route.terminal.spares.borrow_mut().take(tray.bytes.len());
        let full = std::mem::replace(tray, spare.into());
        self.route.send(self.route.members[to], Tag::Tray, self.entered + 1, full)
    }

    fn take(&mut self, from: usize, into: &mut Tray) -> bool {
        let at = self.inbox.partition_point(|&(source, _)| source < from);
        if self.inbox.get(at).is_none_or(|&(source, _)| source != from) {
            return false;
        }
        let Some((_, tray)) = self.inbox.remove(at) else { return false };
        let read = std::mem::replace(into, tray);
        self.route.terminal.spares.borrow_mut().keep(read.bytes);
        !into.is_empty()
    }

    fn carries(&self) -> bool {
        self.is_parted
    }

    fn is_mixed(&self) -> bool {
        self.route.is_mixed()
    }

    fn carry(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Result<(), Failure> {
        let (stamp, members) = (self.route.stamp(Tag::Piece, self.entered), &self.route.members);
        let out: Vec<(usize, &[u8])> = out.iter().map(|&(to, bytes)| (members[to], bytes)).collect();
        let mut into: Vec<(usize, &mut [u8])> =
            into.iter_mut().map(|(from, place)| (members[*from], &mut **place)).collect();
        let carried = self.route.mailroom().carry(stamp, &out, &mut into);
        self.tell(carried)
    }
}

impl<L: Link> Mail for MessageCircle<L> {
    fn send_letter(&mut self, to: usize, letter: &mut Tray) -> Result<(), Failure> {
        if let Some((neighbour, local)) = self.neighbour(to) {
            return local.send_letter(neighbour, letter);
        }
        let (stamp, to) = (self.route.stamp(Tag::Letter, 0), self.route.members[to]);
        let mut mailroom = self.route.mailroom();
        if letter.moved.is_empty() && letter.bytes.len() <= SHORT_LETTER {
            mailroom.link.send_short(to, stamp, &letter.bytes)?;
            letter.bytes.clear();
            return Ok(());
        }
        mailroom.link.send(to, Packet { stamp, tray: std::mem::take(letter) })
    }

    fn next_letter(&mut self, letter: &mut Tray) -> Result<Option<usize>, Failure> {
        if let Some(local) = &mut self.local
            && let Some(neighbour) = local.next_letter(letter)?
        {
            return Ok(Some(self.route.stations[self.route.station].first + neighbour));
        }
        let stamp = self.route.stamp(Tag::Letter, 0);
        let received = self.route.mailroom().try_receive(stamp);
        let Some((from, tray)) = self.tell(received)? else {
            self.counting.has_looked = true;
            return Ok(None);
        };
        *letter = tray;
        self.tell(self.route.rank_of(from)).map(Some)
    }

    fn enter_count(&mut self, mine: Counts) -> Result<(), Failure> {
        self.counting.begin(&self.route, mine)
    }

    fn counted(&mut self) -> Result<Option<Counts>, Failure> {
        let counted = self.counting.take(&self.route);
        self.tell(counted)
    }

    fn rest(&mut self) -> Result<(), Failure> {
        if self.size() == 1 || self.local.is_some() {
            // There is nobody to wait for, or nothing that wakes me for neighbours and other processes alike.
            std::thread::yield_now();
            return self.route.mailroom().link.pause();
        }
        let [count, sum] = self.counting.stamps(&self.route);
        let rested = self.route.mailroom().rest(&[self.route.stamp(Tag::Letter, 0), count, sum]);
        self.tell(rested)
    }
}

impl<L: Link + 'static> Circle for MessageCircle<L> {
    fn rank(&self) -> usize {
        self.route.rank
    }

    fn size(&self) -> usize {
        self.route.members.len()
    }

    fn number(&self, rank: usize) -> usize {
        self.route.members[rank]
    }

    fn shares(&self, other: usize) -> bool {
        self.route.shares(other)
    }

    fn join(&self, name: Name, members: &[usize], rank: usize) -> Box<dyn Circle> {
        Box::new(Self::new(self.route.join(name, members, rank)))
    }

    fn work(&self, operations: u64) {
        self.route.mailroom().link.work(operations);
    }

    fn pen(&self) -> Pen {
        self.route.mailroom().pen.clone()
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        self.route.mailroom().link.alarm()
    }
}
