//! Where the processors of a process find what came for them in the run that is under way.

use crate::{alarm::Alarm, lock::lock, messages::Packet};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What came for a processor: the sender, and the packet.
type Mail = VecDeque<(usize, Packet)>;

/// The run that is under way.
#[derive(Clone)]
pub(super) struct Current {
    pub(super) number: u64,
    pub(super) slots: Arc<[MailSlot]>,
    pub(super) alarm: Arc<dyn Alarm>,
}

/// Where one processor finds what came for it.
#[derive(Default)]
pub(super) struct MailSlot {
    mail: Mutex<Mail>,
    count: AtomicUsize,
}

impl MailSlot {
    fn put(&self, from: usize, packet: Packet) {
        lock(&self.mail).push_back((from, packet));
        self.count.fetch_add(1, Ordering::Release);
    }

    pub(super) fn take(&self) -> Option<(usize, Packet)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mail = lock(&self.mail).pop_front()?;
        self.count.fetch_sub(1, Ordering::Relaxed);
        Some(mail)
    }
}

impl Current {
    pub(super) fn put(&self, to: u32, from: usize, packet: Packet) {
        // Numbers are dealt out process by process.
        if let Some(slot) = self.slots.get(to as usize % self.slots.len()) {
            slot.put(from, packet);
        }
    }
}
