//! A processor's end of the fabric in one group, and what goes through it.

use super::{
    exchange::{Inbox, Outbox},
    fingerprint::Occasion,
    membership::{Joint, Membership},
    tenant::SideChannel,
};
use crate::error::Result;
use fabric::{Circle, Melded};
use std::{
    cell::{Cell, Ref, RefCell, RefMut},
    rc::Rc,
};

/// The buffers of a meeting: what this processor brings, and what comes of it.
#[derive(Default)]
pub(super) struct Meeting {
    pub(super) mine: Vec<u8>,
    pub(super) melded: Melded,
}

/// The circle of the group, the trays and buffers that go through it, and the ways besides it.
pub(crate) struct Wire {
    circle: RefCell<Box<dyn Circle>>,
    /// The ways besides the meetings on which members wait for each other.
    channels: RefCell<Vec<Rc<dyn SideChannel>>>,
    has_channels: Cell<bool>,
    pub(super) outbox: RefCell<Outbox>,
    pub(super) inbox: RefCell<Inbox>,
    /// The trays of further exchanges inside a boundary; kept for its room.
    pub(super) further: RefCell<Inbox>,
    pub(super) meeting: RefCell<Meeting>,
}

impl Wire {
    pub(super) fn new(circle: Box<dyn Circle>) -> Self {
        Self {
            circle: RefCell::new(circle),
            channels: RefCell::default(),
            has_channels: Cell::new(false),
            outbox: RefCell::default(),
            inbox: RefCell::default(),
            further: RefCell::default(),
            meeting: RefCell::default(),
        }
    }

    #[inline]
    pub(crate) fn circle(&self) -> Ref<'_, Box<dyn Circle>> {
        self.circle.borrow()
    }

    #[inline]
    pub(crate) fn circle_mut(&self) -> RefMut<'_, Box<dyn Circle>> {
        self.circle.borrow_mut()
    }

    /// Lets trays that are full leave, if they have to travel. Verbs that may have filled one call it.
    pub(crate) fn post_full(&self) {
        self.outbox.borrow_mut().post_full(&mut **self.circle.borrow_mut());
    }

    /// One more exchange of trays inside a boundary, among those who stayed.
    pub(super) fn exchange(&self, stayed: &[usize]) -> Result<RefMut<'_, Inbox>> {
        let (mut circle, mut inbox) = (self.circle.borrow_mut(), self.further.borrow_mut());
        self.outbox.borrow_mut().post(&mut **circle, stayed)?;
        circle.wait()?;
        inbox.fill(&mut **circle, stayed);
        Ok(inbox)
    }

    /// Adds a way besides the meetings on which members wait for each other.
    pub(crate) fn add_channel(&self, channel: Rc<dyn SideChannel>) {
        self.channels.borrow_mut().push(channel);
        self.has_channels.set(true);
    }

    /// Whether members may wait for each other elsewhere than at meetings.
    #[inline]
    pub(super) fn has_channels(&self) -> bool {
        self.has_channels.get()
    }

    /// Lets the side channels look before a boundary, or before the last meeting where `occasion` is none.
    pub(super) fn look_aside(&self, me: &Membership, occasion: Option<&Occasion>) -> Result {
        self.channels.borrow().iter().try_for_each(|channel| channel.before_meeting(me, occasion))
    }

    /// Goes on among those who stay when others leave: `stayed` lists their old ranks, and `rank` is the new one here.
    pub(super) fn regroup(&self, me: &Membership, stayed: &[usize], rank: usize) {
        let circle = self.circle.borrow().join(me.name(Joint::Rest, 0), stayed, rank);
        *self.circle.borrow_mut() = circle;
        self.channels.borrow().iter().for_each(|channel| channel.regroup(me, stayed, rank));
    }
}
