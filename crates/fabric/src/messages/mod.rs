//! A circle for processors that send each other messages, and those of one process share memory besides.
//!
//! A meeting is one wave up and one down the [tree](crate::tree): each station hears from the stations that hang off
//! it, melds, and passes the result towards the first; the outcome comes back the same way, with what lies before each.
//! How many trays each member has been sent is summed on the way up with everything else, so that each knows how many
//! to wait for, and no round is spent on counts. Trays leave when they are posted, while the step still computes.
//!
//! The members that live in one process are one station. They meet among themselves first, one of them speaks to the
//! others, and then tells its own.
//!
//! What carries the packets is a [`Link`]; this module does not care which.

mod count;
mod mailroom;
mod secret;
mod stretch;
mod wave;

pub(crate) use mailroom::{Kind, Link, Mailroom, Packet, Stamp};
pub(crate) use secret::Secret;

use crate::{
    circle::{Alarm, Circle, Counts, Meld, Melded, Silence},
    failure::Failure,
    memory::fitting,
    nest::{Name, Nest},
    sight::Pen,
    tray::Tray,
    tree::Scratch,
};
use count::Counting;
use std::{
    cell::RefCell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use stretch::Stretch;
use wave::{Outcome, Reader};

/// Members that follow each other and live in one process.
#[derive(Debug)]
struct Station {
    /// The first of them, by its number in the whole run.
    speaker: usize,
    /// Its rank.
    first: usize,
}

/// What the circles of one processor have in common.
pub(crate) struct Home<L> {
    mailroom: RefCell<Mailroom<L>>,
    /// How many processors a process has; they have consecutive numbers.
    per_process: usize,
    /// The circle of all processors of this process, if it has several.
    local: Option<Box<dyn Circle>>,
    /// Tells the circles of this run from those of earlier ones.
    run: u64,
    /// Tells the circles of this run from each other.
    secret: Secret,
    /// Vectors that have been read, kept for their room: as many come as go.
    spare: RefCell<Vec<Vec<u8>>>,
}

/// What those members of a circle have in common that live in one process.
struct House {
    /// No other house of the process has it.
    number: u64,
    /// Those of the circles that are made from this one, until all who live there have found them.
    further: Nest<Arc<House>>,
}

impl House {
    fn build() -> Arc<Self> {
        static BUILT: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { number: BUILT.fetch_add(1, Ordering::Relaxed), further: Nest::default() })
    }
}

pub(crate) struct MessageCircle<L> {
    home: Rc<Home<L>>,
    /// The members, by their numbers in the whole run.
    members: Rc<[usize]>,
    rank: usize,
    /// In the stamps of its packets.
    number: u64,
    /// If the process has several processors.
    house: Option<Arc<House>>,
    stations: Vec<Station>,
    /// Which of them is mine.
    station: usize,
    /// The circle of my station's members, if there are several.
    local: Option<Box<dyn Circle>>,
    /// The last meeting I entered.
    entered: u64,
    /// How many trays I have posted to each since then; empty while there are none.
    posted: Vec<u32>,
    /// What came with the last meeting, by source.
    inbox: Vec<(usize, Tray)>,
    scratch: Scratch,
    nothing: Melded,
    /// What I say, and what I hear.
    said: Vec<u8>,
    heard: Melded,
    /// Whether no two members share memory.
    carries: bool,
    counting: Counting,
}

/// Up to so many bytes of a letter are copied on their way rather than handed over with their vector.
const SHORT_LETTER: usize = 256;

/// The number of the circle of all.
const ROOT: u64 = 0;

impl<L: Link> MessageCircle<L> {
    /// The circle of all processors, each of which is a process for itself.
    pub(crate) fn root(link: L, size: usize, rank: usize, secret: Secret) -> Self {
        Self::apart(link, size, rank, 0, secret)
    }

    /// The same, in the run with this number.
    pub(crate) fn apart(link: L, size: usize, rank: usize, run: u64, secret: Secret) -> Self {
        let home = Home {
            mailroom: RefCell::new(Mailroom::new(link)),
            per_process: 1,
            local: None,
            run,
            secret,
            spare: RefCell::default(),
        };
        Self::new(Rc::new(home), (0..size).collect(), rank, ROOT, None)
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
        let house = local.as_ref().map(|local| {
            let common = local.common(Name::new(0), &mut || House::build());
            let house = common.and_then(|common| common.downcast::<House>().ok());
            house.expect("the processors of a process have things in common")
        });
        let mailroom = RefCell::new(Mailroom::new(link));
        let home = Home { mailroom, per_process, local, run, secret, spare: RefCell::default() };
        Self::new(Rc::new(home), (0..processes * per_process).collect(), rank, ROOT, house)
    }

    fn new(home: Rc<Home<L>>, members: Rc<[usize]>, rank: usize, number: u64, house: Option<Arc<House>>) -> Self {
        let process = |rank: usize| members[rank] / home.per_process;
        let mut stations: Vec<Station> = Vec::new();
        for first in (0..members.len()).filter(|&rank| rank == 0 || process(rank - 1) != process(rank)) {
            stations.push(Station { speaker: members[first], first });
        }
        let station = stations.partition_point(|station| station.first <= rank) - 1;
        let end = stations.get(station + 1).map_or(members.len(), |behind| behind.first);
        let neighbours: Vec<usize> =
            members[stations[station].first..end].iter().map(|number| number % home.per_process).collect();
        let local = match (&home.local, &house) {
            (Some(local), Some(house)) if neighbours.len() > 1 => {
                // Members in another order than that of the run may make two stations of one process.
                let name = Name { part: station as u64, ..Name::new(house.number) };
                Some(local.join(name, &neighbours, rank - stations[station].first))
            }
            _ => None,
        };
        // Of this all members must think alike, so it is about any two of them.
        let mut processes: Vec<usize> = (0..members.len()).map(process).collect();
        processes.sort_unstable();
        let is_apart = |&member: &usize| member == members[rank] || !home.mailroom.borrow().shares(member);
        let carries = processes.windows(2).all(|two| two[0] != two[1]) && members.iter().all(is_apart);
        Self {
            home,
            members,
            rank,
            number,
            house,
            stations,
            station,
            local,
            entered: 0,
            posted: Vec::new(),
            inbox: Vec::new(),
            scratch: Scratch::default(),
            nothing: Melded::default(),
            said: Vec::new(),
            heard: Melded::default(),
            carries,
            counting: Counting::default(),
        }
    }

    fn stamp(&self, kind: Kind, meeting: u64) -> Stamp {
        Stamp { circle: self.number ^ self.home.run.rotate_right(8), meeting, kind }
    }

    fn send(&self, to: usize, kind: Kind, meeting: u64, tray: Tray) -> Result<(), Failure> {
        self.home.mailroom.borrow_mut().send(to, Packet { stamp: self.stamp(kind, meeting), tray })
    }

    /// Sends to the speaker of a station.
    fn send_to(&self, station: usize, kind: Kind, bytes: Vec<u8>) -> Result<(), Failure> {
        self.send(self.stations[station].speaker, kind, self.entered, wave::tray(bytes))
    }

    /// The next packet of this kind and meeting from the speaker of a station.
    fn receive_from(&self, station: usize, kind: Kind) -> Result<Vec<u8>, Failure> {
        let stamp = self.stamp(kind, self.entered);
        let (_, tray) = self.home.mailroom.borrow_mut().receive(stamp, Some(self.stations[station].speaker))?;
        Ok(tray.bytes)
    }

    /// Fetches the `expected` trays that were sent to me for this meeting.
    fn fill_inbox(&mut self, expected: u32) -> Result<(), Failure> {
        let stamp = self.stamp(Kind::Tray, self.entered);
        for _ in 0..expected {
            let (from, tray) = self.home.mailroom.borrow_mut().receive(stamp, None)?;
            let from = self.members.iter().position(|&m| m == from).ok_or(Failure::Damaged { rank: from })?;
            self.inbox.push((from, tray));
        }
        Ok(())
    }

    /// My rank among my station's members, if `rank` is one of them.
    fn neighbour(&self, rank: usize) -> Option<usize> {
        let end = self.stations.get(self.station + 1).map_or(self.members.len(), |behind| behind.first);
        (self.local.is_some() && (self.stations[self.station].first..end).contains(&rank))
            .then(|| rank - self.stations[self.station].first)
    }

    /// A meeting in two stages: my station's members hear each other, its speaker hears from the other stations, and
    /// then it tells us.
    fn meet_in_stages(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let (size, first) = (self.members.len(), self.stations[self.station].first);
        let mut local = self.local.take().expect("only called where there are neighbours");
        let mut heard = std::mem::take(&mut self.heard);
        let mut said = wave::write_counts(&std::mem::take(&mut self.posted));
        said.extend_from_slice(mine);
        let mut framed = (said.len() as u64).to_le_bytes().to_vec();
        framed.append(&mut said);
        local.meet(&framed, &mut Listing, &mut heard)?;
        for neighbour in 0..local.size() {
            let mut tray = Tray::default();
            if local.take(neighbour, &mut tray) {
                self.inbox.push((first + neighbour, tray));
            }
        }
        let mut counts = Vec::new();
        let mut contributions = Vec::with_capacity(local.size());
        let mut frames = Reader { bytes: &heard.total, rank: self.members[self.rank] };
        for _ in 0..local.size() {
            let mut frame = Reader { bytes: frames.part()?, rank: self.members[self.rank] };
            wave::add(&mut counts, &frame.counts(size)?);
            contributions.push(frame.rest());
        }
        let mut stretch = Stretch::new(size);
        let mut report = Vec::new();
        if self.rank == first {
            for (more, contribution) in contributions.iter().enumerate() {
                stretch.push(first + more, contribution, how);
            }
            report = self.wave(stretch, counts, how)?.write();
        }
        let mut told = std::mem::take(&mut self.nothing);
        local.meet(&report, &mut Telling, &mut told)?;
        let mut reader = Reader { bytes: &told.total, rank: self.stations[self.station].speaker };
        let mut found = Outcome::read(&mut reader, size, first)?;
        outcome.before.clear();
        if how.wants_before() {
            for (more, contribution) in contributions[..self.rank - first].iter().enumerate() {
                found.before.push(first + more, contribution, how);
            }
            found.before.fold(how, &mut self.scratch, &mut outcome.before);
        }
        outcome.total = found.total;
        self.nothing = told;
        self.heard = heard;
        self.local = Some(local);
        Ok(found.counts.get(self.rank).copied().unwrap_or(0))
    }

    /// A meeting in which I speak for myself alone.
    fn meet_alone(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<u32, Failure> {
        let counts = std::mem::take(&mut self.posted);
        let mut stretch = Stretch::new(self.members.len());
        stretch.push(self.rank, mine, how);
        let found = self.wave(stretch, counts, how)?;
        found.before.fold(how, &mut self.scratch, &mut outcome.before);
        outcome.total = found.total;
        Ok(found.counts.get(self.rank).copied().unwrap_or(0))
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

impl<L: Link + 'static> Circle for MessageCircle<L> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn meet(&mut self, mine: &[u8], how: &mut dyn Meld, outcome: &mut Melded) -> Result<(), Failure> {
        self.inbox.clear();
        if self.members.len() == 1 {
            // With nobody to send to I would not hear of the alarm, nor let anybody raise it.
            self.home.mailroom.borrow_mut().pause()?;
        }
        self.entered += 1;
        let expected = if self.local.is_some() {
            self.meet_in_stages(mine, how, outcome)?
        } else if self.members.len() == 2 {
            self.meet_pair(mine, how, outcome)?
        } else {
            self.meet_alone(mine, how, outcome)?
        };
        self.fill_inbox(expected)
    }

    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure> {
        // Others hang off me in the tree, so I stay until the outcome has passed.
        let mut outcome = Melded::default();
        self.meet(mine, how, &mut outcome)
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let mut nothing = Melded::default();
        self.meet(&[], &mut Silence, &mut nothing)
    }

    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure> {
        if let (Some(neighbour), Some(local)) = (self.neighbour(to), &mut self.local) {
            return local.post(neighbour, tray);
        }
        self.posted.resize(self.members.len(), 0);
        self.posted[to] += 1;
        // The next one will have about as much.
        let spare = fitting(&mut self.home.spare.borrow_mut(), tray.bytes.len());
        let full = std::mem::replace(tray, wave::tray(spare));
        self.send(self.members[to], Kind::Tray, self.entered + 1, full)
    }

    fn take(&mut self, from: usize, into: &mut Tray) -> bool {
        let Some(at) = self.inbox.iter().position(|&(source, _)| source == from) else {
            return false;
        };
        // What one member posted stays in order.
        let mut read = std::mem::replace(into, self.inbox.remove(at).1);
        let mut spare = self.home.spare.borrow_mut();
        if read.bytes.capacity() > 0 && spare.len() < self.members.len() {
            read.bytes.clear();
            spare.push(read.bytes);
        }
        !into.is_empty()
    }

    fn send_letter(&mut self, to: usize, letter: &mut Tray) -> Result<(), Failure> {
        if let (Some(neighbour), Some(local)) = (self.neighbour(to), &mut self.local) {
            return local.send_letter(neighbour, letter);
        }
        let stamp = self.stamp(Kind::Letter, 0);
        let mut mailroom = self.home.mailroom.borrow_mut();
        if letter.moved.is_empty() && letter.bytes.len() <= SHORT_LETTER {
            mailroom.send_short(self.members[to], stamp, &letter.bytes)?;
            letter.bytes.clear();
            return Ok(());
        }
        mailroom.send(self.members[to], Packet { stamp, tray: std::mem::take(letter) })
    }

    fn next_letter(&mut self, letter: &mut Tray) -> Result<Option<usize>, Failure> {
        if let Some(local) = &mut self.local
            && let Some(neighbour) = local.next_letter(letter)?
        {
            return Ok(Some(self.stations[self.station].first + neighbour));
        }
        let stamp = self.stamp(Kind::Letter, 0);
        let Some((from, tray)) = self.home.mailroom.borrow_mut().try_receive(stamp, None)? else {
            self.counting.has_looked = true;
            return Ok(None);
        };
        *letter = tray;
        // Most circles have their members in the order of the run.
        let is_usual = self.members.get(from) == Some(&from);
        let found = if is_usual { Some(from) } else { self.members.iter().position(|&member| member == from) };
        found.map(Some).ok_or(Failure::Damaged { rank: from })
    }

    fn enter_count(&mut self, mine: Counts) -> Result<(), Failure> {
        self.begin_count(mine)
    }

    fn counted(&mut self) -> Result<Option<Counts>, Failure> {
        self.take_count()
    }

    fn rest(&mut self) -> Result<(), Failure> {
        if self.members.len() == 1 || self.local.is_some() {
            // There is nobody to wait for, or nothing that wakes both for what comes from this process and from others.
            std::thread::yield_now();
            return self.home.mailroom.borrow_mut().pause();
        }
        let [count, sum] = self.count_stamps();
        self.home.mailroom.borrow_mut().rest(&[self.stamp(Kind::Letter, 0), count, sum])
    }

    fn shares(&self, other: usize) -> bool {
        let process = |rank: usize| self.members[rank] / self.home.per_process;
        (self.home.local.is_some() && process(other) == process(self.rank))
            || self.home.mailroom.borrow().shares(self.members[other])
    }

    fn carries(&self) -> bool {
        self.carries
    }

    fn carry(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Result<(), Failure> {
        let stamp = self.stamp(Kind::Piece, self.entered);
        let out: Vec<(usize, &[u8])> = out.iter().map(|&(to, bytes)| (self.members[to], bytes)).collect();
        let mut into: Vec<(usize, &mut [u8])> =
            into.iter_mut().map(|(from, place)| (self.members[*from], &mut **place)).collect();
        self.home.mailroom.borrow_mut().carry(stamp, &out, &mut into)
    }

    fn join(&self, name: Name, members: &[usize], rank: usize) -> Box<dyn Circle> {
        let members: Rc<[usize]> = members.iter().map(|&m| self.members[m]).collect();
        let process = |member: usize| member / self.home.per_process;
        let house = self.house.as_ref().map(|house| {
            let mine = process(self.members[self.rank]);
            let owners = members.iter().filter(|&&member| process(member) == mine).count();
            house.further.find(name, owners, House::build)
        });
        let number = self.home.secret.number(self.number, name);
        Box::new(Self::new(Rc::clone(&self.home), members, rank, number, house))
    }

    fn number(&self, rank: usize) -> usize {
        self.members[rank]
    }

    fn pen(&self) -> Pen {
        self.home.mailroom.borrow().pen()
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        self.home.mailroom.borrow().alarm()
    }
}
