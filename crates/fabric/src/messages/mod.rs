//! A circle for processors that can only send each other messages.
//!
//! A meeting is one wave up and one down the [tree](crate::tree): each rank hears from the ranks that hang off it,
//! melds, and passes the result towards rank 0; the outcome comes back the same way, with what lies before each
//! subtree. How many trays each member has been sent is summed on the way up with everything else, so that each knows
//! how many to wait for, and no round is spent on counts. Trays leave when they are posted, while the step still
//! computes.
//!
//! What carries the packets is a [`Link`]; this module does not care which.

mod mailroom;
mod wave;

pub(crate) use mailroom::{Kind, Link, Mailroom, Packet, Stamp};

use crate::{
    circle::{Alarm, Circle, Meld, Melded, Silence},
    failure::Failure,
    tray::Tray,
    tree::Scratch,
};
use std::{cell::RefCell, rc::Rc, sync::Arc};

pub(crate) struct MessageCircle<L> {
    mailroom: Rc<RefCell<Mailroom<L>>>,
    /// The members, by their numbers in the whole run.
    members: Rc<[usize]>,
    rank: usize,
    key: u64,
    /// The last meeting I entered.
    entered: u64,
    /// How many trays I have posted to each since then; empty while there are none.
    posted: Vec<u32>,
    /// What came with the last meeting, by source.
    inbox: Vec<(usize, Tray)>,
    scratch: Scratch,
    nothing: Melded,
}

/// The key of the circle of all; no other circle may have it.
pub(crate) const ROOT: u64 = 0;

impl<L: Link> MessageCircle<L> {
    pub(crate) fn root(link: L, size: usize, rank: usize) -> Self {
        Self::new(Rc::new(RefCell::new(Mailroom::new(link))), (0..size).collect(), rank, ROOT)
    }

    fn new(mailroom: Rc<RefCell<Mailroom<L>>>, members: Rc<[usize]>, rank: usize, key: u64) -> Self {
        Self {
            mailroom,
            members,
            rank,
            key,
            entered: 0,
            posted: Vec::new(),
            inbox: Vec::new(),
            scratch: Scratch::default(),
            nothing: Melded::default(),
        }
    }

    fn stamp(&self, kind: Kind, meeting: u64) -> Stamp {
        Stamp { circle: self.key, meeting, kind }
    }

    fn send(&self, to: usize, kind: Kind, meeting: u64, tray: Tray) -> Result<(), Failure> {
        self.mailroom.borrow_mut().send(self.members[to], Packet { stamp: self.stamp(kind, meeting), tray })
    }

    /// The next packet of this kind and meeting from member `from`.
    fn receive_from(&self, from: usize, kind: Kind) -> Result<Vec<u8>, Failure> {
        let stamp = self.stamp(kind, self.entered);
        let (_, tray) = self.mailroom.borrow_mut().receive(stamp, Some(self.members[from]))?;
        Ok(tray.bytes)
    }

    /// Fetches the `expected` trays that were posted to me for this meeting.
    fn fill_inbox(&mut self, expected: u32) -> Result<(), Failure> {
        let stamp = self.stamp(Kind::Tray, self.entered);
        for _ in 0..expected {
            let (from, tray) = self.mailroom.borrow_mut().receive(stamp, None)?;
            let from = self.members.iter().position(|&m| m == from).ok_or(Failure::Damaged { rank: from })?;
            self.inbox.push((from, tray));
        }
        Ok(())
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
            self.mailroom.borrow_mut().pause()?;
        }
        self.entered += 1;
        let expected = self.wave(mine, how, outcome)?;
        self.fill_inbox(expected)
    }

    fn leave(&mut self, mine: &[u8], how: &mut dyn Meld) -> Result<(), Failure> {
        // Others hang off me in the tree, so I stay until the outcome has passed.
        let mut outcome = std::mem::take(&mut self.nothing);
        self.meet(mine, how, &mut outcome)
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let mut nothing = std::mem::take(&mut self.nothing);
        let result = self.meet(&[], &mut Silence, &mut nothing);
        self.nothing = nothing;
        result
    }

    fn post(&mut self, to: usize, tray: &mut Tray) -> Result<(), Failure> {
        self.posted.resize(self.members.len(), 0);
        self.posted[to] += 1;
        self.send(to, Kind::Tray, self.entered + 1, std::mem::take(tray))
    }

    fn take(&mut self, from: usize, into: &mut Tray) -> bool {
        let Some(at) = self.inbox.iter().position(|&(source, _)| source == from) else {
            return false;
        };
        *into = self.inbox.swap_remove(at).1;
        !into.is_empty()
    }

    fn shares(&self, other: usize) -> bool {
        self.mailroom.borrow().shares(self.members[other])
    }

    fn join(&self, key: u64, members: &[usize], rank: usize) -> Box<dyn Circle> {
        let members = members.iter().map(|&m| self.members[m]).collect();
        Box::new(Self::new(Rc::clone(&self.mailroom), members, rank, key))
    }

    fn alarm(&self) -> Arc<dyn Alarm> {
        self.mailroom.borrow().alarm()
    }
}
