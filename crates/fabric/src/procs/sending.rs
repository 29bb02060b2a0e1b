//! How packets leave a process: at once where there is room, or else when there is.

use super::{
    header::Header,
    link::{Outgoing, ProcsLink, Waiting},
    reach,
    ring::UNIT,
};
use crate::failure::Failure;

impl ProcsLink {
    /// Sends at once if nothing waits and there is room.
    #[inline]
    pub(super) fn send_now(&mut self, to: usize, header: &Header, bytes: &[u8]) -> Result<bool, Failure> {
        let Outgoing { writer, waiting, .. } = &mut self.outgoing[to];
        let (shared, total) = (&*self.alarm.shared, (Header::BYTES + bytes.len()).next_multiple_of(UNIT));
        if !waiting.is_empty() || total > writer.room() / 4 || !writer.has_room(shared, total)? {
            return Ok(false);
        }
        writer.write(shared, &header.write());
        writer.write(shared, bytes);
        writer.end();
        writer.hand_over(&self.layout, shared);
        self.alarm.bell(to).ring();
        Ok(true)
    }

    /// Sends when there is room.
    pub(super) fn send_later(&mut self, to: usize, header: Header, bytes: Vec<u8>) -> Result<(), Failure> {
        let waiting = &mut self.outgoing[to].waiting;
        if waiting.is_empty() {
            self.blocked.push(to);
        }
        waiting.push_back(Waiting { header, bytes, gone: None });
        self.send_waiting()
    }

    /// Sends now if there is room, or else when there is.
    pub(super) fn send_any(&mut self, to: usize, header: Header, bytes: Vec<u8>) -> Result<(), Failure> {
        if self.send_now(to, &header, &bytes)? {
            self.spares.keep(bytes);
            return Ok(());
        }
        self.send_later(to, header, bytes)
    }

    /// Whether the process `to` can read what stays here. What the system lets this one do it lets the other do.
    pub(super) fn can_lend(&mut self, to: usize) -> bool {
        let pid = self.alarm.pid(to);
        *self.outgoing[to].can_reach.get_or_insert_with(|| reach::is_allowed(pid))
    }

    /// Sends as much of what waits as there is room for.
    pub(super) fn send_waiting(&mut self) -> Result<(), Failure> {
        let mut outcome = Ok(());
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.retain(|&to| match self.send_waiting_to(to) {
            Ok(is_blocked) => is_blocked,
            Err(failure) => {
                outcome = Err(failure);
                true
            }
        });
        self.blocked = blocked;
        outcome
    }

    /// Sends as much as there is room for to one process; says whether anything is left.
    fn send_waiting_to(&mut self, to: usize) -> Result<bool, Failure> {
        let Outgoing { writer, waiting, .. } = &mut self.outgoing[to];
        let shared = &*self.alarm.shared;
        let portion = writer.room() / 4;
        while let Some(Waiting { header, bytes, gone }) = waiting.front_mut() {
            let left = bytes.len() - gone.unwrap_or(0);
            let head = if gone.is_none() { Header::BYTES } else { 0 };
            if !writer.has_room(shared, (head + left).next_multiple_of(UNIT).min(portion))? {
                return Ok(true);
            }
            if gone.is_none() {
                writer.write(shared, &header.write());
            }
            // Each piece but the last fills whole lines.
            let (start, len) = (gone.unwrap_or(0), left.min(portion - head));
            writer.write(shared, &bytes[start..start + len]);
            *gone = Some(start + len);
            if len == left {
                writer.end();
                let bytes = waiting.pop_front().map_or_else(Vec::new, |done| done.bytes);
                self.spares.keep(bytes);
            }
            writer.hand_over(&self.layout, shared);
            self.alarm.bell(to).ring();
        }
        Ok(false)
    }
}
