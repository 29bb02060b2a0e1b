//! Where a processor stands among the members of a circle, and how it reaches them.

use super::{
    mailroom::Mailroom,
    packet::{Link, Packet, Stamp, Tag},
};
use crate::{
    circle::Circle,
    failure::Failure,
    nest::{Name, Nest},
    secret::Secret,
    spares::Spares,
    tray::Tray,
};
use std::{
    cell::{RefCell, RefMut},
    ops::Range,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// A processor's end of all its circles.
pub(super) struct Terminal<L> {
    pub(super) mailroom: RefCell<Mailroom<L>>,
    /// How many processors a process has; they have consecutive numbers.
    per_process: usize,
    /// The circle of all processors of this process, if it has several.
    local: Option<Box<dyn Circle>>,
    /// Tells the circles of this run from those of earlier ones.
    run: u64,
    /// Tells the circles of this run from each other.
    secret: Secret,
    /// Vectors that have been read: as many come as go.
    pub(super) spares: RefCell<Spares<u8>>,
}

/// Members of a circle in one process.
pub(super) struct Neighbours {
    /// No others of the process have it.
    number: u64,
    /// Those of the circles that are made from this one, until all of them have found each other.
    further: Nest<Arc<Neighbours>>,
}

impl Neighbours {
    fn make() -> Arc<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { number: MADE.fetch_add(1, Ordering::Relaxed), further: Nest::default() })
    }
}

impl<L: Link> Terminal<L> {
    /// Of a run with this number; `local` is the circle of this process, if it has several processors.
    pub(super) fn new(link: L, local: Option<Box<dyn Circle>>, run: u64, secret: Secret) -> Self {
        let per_process = local.as_ref().map_or(1, |local| local.size());
        let mailroom = RefCell::new(Mailroom::new(link));
        Self { mailroom, per_process, local, run, secret, spares: RefCell::default() }
    }
}

/// Members that follow each other and live in one process.
#[derive(Debug)]
pub(super) struct Station {
    /// The first of them, by its number in the whole run.
    pub(super) speaker: usize,
    /// Its rank.
    pub(super) first: usize,
}

/// My place in a circle.
pub(super) struct Route<L> {
    pub(super) terminal: Rc<Terminal<L>>,
    /// The members, by their numbers in the whole run.
    pub(super) members: Rc<[usize]>,
    pub(super) rank: usize,
    /// In the stamps of its packets.
    number: u64,
    /// If the process has several processors.
    neighbours: Option<Arc<Neighbours>>,
    pub(super) stations: Vec<Station>,
    /// Which of them is mine.
    pub(super) station: usize,
}

/// The number of the circle of all.
const ROOT: u64 = 0;

impl<L: Link> Route<L> {
    /// The route in the circle of all, of which there are `size`.
    pub(super) fn root(terminal: Terminal<L>, size: usize, rank: usize) -> Self {
        let neighbours = terminal.local.as_ref().map(|local| {
            let common = local.common(Name::new(0), &mut || Neighbours::make());
            let found = common.and_then(|common| common.downcast::<Neighbours>().ok());
            found.expect("the processors of a process have things in common")
        });
        Self::new(Rc::new(terminal), (0..size).collect(), rank, ROOT, neighbours)
    }

    /// The route in a further circle, as [`Circle::join`] says.
    pub(super) fn join(&self, name: Name, members: &[usize], rank: usize) -> Self {
        let members: Rc<[usize]> = members.iter().map(|&member| self.members[member]).collect();
        let neighbours = self.neighbours.as_ref().map(|neighbours| {
            let mine = self.process(self.members[self.rank]);
            let owners = members.iter().filter(|&&member| self.process(member) == mine).count();
            neighbours.further.find(name, owners, Neighbours::make)
        });
        let number = self.terminal.secret.number((self.number, name));
        Self::new(Rc::clone(&self.terminal), members, rank, number, neighbours)
    }

    fn new(
        terminal: Rc<Terminal<L>>,
        members: Rc<[usize]>,
        rank: usize,
        number: u64,
        neighbours: Option<Arc<Neighbours>>,
    ) -> Self {
        let process = |rank: usize| members[rank] / terminal.per_process;
        let is_first = |&rank: &usize| rank == 0 || process(rank - 1) != process(rank);
        let firsts = (0..members.len()).filter(is_first);
        let stations: Vec<_> = firsts.map(|first| Station { speaker: members[first], first }).collect();
        let station = stations.partition_point(|station| station.first <= rank) - 1;
        Self { terminal, members, rank, number, neighbours, stations, station }
    }

    /// The circle of my station's members, if there are several.
    pub(super) fn local(&self) -> Option<Box<dyn Circle>> {
        let (local, neighbours) = (self.terminal.local.as_ref()?, self.neighbours.as_ref()?);
        let ranks = self.ranks(&(self.station..self.station + 1));
        // If members are not in the order of the run, one process may have two stations.
        let name = Name { part: self.station as u64, ..Name::new(neighbours.number) };
        let first = ranks.start;
        let members: Vec<usize> = self.members[ranks].iter().map(|number| number % self.terminal.per_process).collect();
        (members.len() > 1).then(|| local.join(name, &members, self.rank - first))
    }

    /// Whether two members share no memory. Then there is such a one for every member, so all of them agree.
    pub(super) fn is_parted(&self) -> bool {
        (0..self.members.len()).any(|other| other != self.rank && !self.shares(other))
    }

    /// Whether processes have several processors each.
    pub(super) fn is_mixed(&self) -> bool {
        self.terminal.per_process > 1
    }

    pub(super) fn shares(&self, other: usize) -> bool {
        let [mine, theirs] = [self.rank, other].map(|rank| self.process(self.members[rank]));
        (self.terminal.local.is_some() && mine == theirs) || self.mailroom().link.shares(self.members[other])
    }

    fn process(&self, number: usize) -> usize {
        number / self.terminal.per_process
    }

    /// The rank of a processor with this number in the run. Most circles have their members in the order of the run.
    pub(super) fn rank_of(&self, number: usize) -> Result<usize, Failure> {
        let is_usual = self.members.get(number) == Some(&number);
        let found = if is_usual { Some(number) } else { self.members.iter().position(|&member| member == number) };
        found.ok_or(Failure::Damaged { rank: number })
    }

    pub(super) fn ranks(&self, stations: &Range<usize>) -> Range<usize> {
        let end = self.stations.get(stations.end).map_or(self.members.len(), |behind| behind.first);
        self.stations[stations.start].first..end
    }

    pub(super) fn mailroom(&self) -> RefMut<'_, Mailroom<L>> {
        self.terminal.mailroom.borrow_mut()
    }

    pub(super) fn stamp(&self, tag: Tag, meeting: u64) -> Stamp {
        Stamp { circle: self.number ^ self.terminal.run.rotate_right(8), meeting, tag }
    }

    /// Sends to a member, by its number in the whole run.
    pub(super) fn send(&self, to: usize, tag: Tag, meeting: u64, tray: Tray) -> Result<(), Failure> {
        self.mailroom().link.send(to, Packet { stamp: self.stamp(tag, meeting), tray })
    }
}
