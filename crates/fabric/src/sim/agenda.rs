//! What will happen in a later turn.

use super::fate::Spoiled;
use crate::messages::Packet;
use std::collections::BTreeMap;

/// A packet that was sent.
pub(super) struct Sent {
    pub(super) packet: Packet,
    /// The virtual time at which it is there.
    pub(super) arrives: f64,
    pub(super) spoiled: Option<Spoiled>,
}

/// Something that is held back.
pub(super) enum Event {
    Arrival {
        from: usize,
        to: usize,
        sent: Sent,
    },
    /// A processor that stood still goes on.
    Wake(usize),
    /// The others notice who is lost; at this time.
    Notice(f64),
}

/// What is held back, by the turn in which it happens.
#[derive(Default)]
pub(super) struct Agenda {
    events: BTreeMap<(u64, u64), Event>,
    added: u64,
    /// For each pair with packets that are held back, the turn of the last, and how many there are.
    pairs: BTreeMap<(usize, usize), (u64, usize)>,
}

impl Agenda {
    pub(super) fn add(&mut self, turn: u64, event: Event) {
        self.added += 1;
        self.events.insert((turn, self.added), event);
    }

    /// Adds a packet that arrives in this turn, or together with one of the same pair that was sent before.
    pub(super) fn add_packet(&mut self, turn: u64, from: usize, to: usize, sent: Sent) {
        let (last, count) = self.pairs.entry((from, to)).or_default();
        *last = turn.max(*last);
        *count += 1;
        let turn = *last;
        self.add(turn, Event::Arrival { from, to, sent });
    }

    /// Whether packets of this pair are held back, so that later ones have to be as well.
    pub(super) fn holds(&self, from: usize, to: usize) -> bool {
        self.pairs.contains_key(&(from, to))
    }

    /// The turn in which something happens next.
    pub(super) fn next(&self) -> Option<u64> {
        self.events.first_key_value().map(|((turn, _), _)| *turn)
    }

    /// Takes what happens until this turn, one after the other.
    pub(super) fn take(&mut self, turn: u64) -> Option<Event> {
        let event = self.events.first_entry().filter(|first| first.key().0 <= turn)?.remove();
        if let Event::Arrival { from, to, .. } = &event
            && let Some((_, count)) = self.pairs.get_mut(&(*from, *to))
        {
            *count -= 1;
            if *count == 0 {
                self.pairs.remove(&(*from, *to));
            }
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Packet, Stamp, Tag};

    fn sent(meeting: u64) -> Sent {
        let stamp = Stamp { circle: 0, meeting, tag: Tag::Tray };
        Sent { packet: Packet { stamp, tray: crate::Tray::default() }, arrives: 0.0, spoiled: None }
    }

    /// What happens until this turn, by the numbers of packets.
    fn taken(agenda: &mut Agenda, turn: u64) -> Vec<u64> {
        let number = |event| match event {
            Event::Arrival { sent, .. } => sent.packet.stamp.meeting,
            Event::Wake(_) | Event::Notice(_) => 99,
        };
        std::iter::from_fn(|| agenda.take(turn)).map(number).collect()
    }

    #[test]
    fn packets_of_a_pair_arrive_in_the_order_in_which_they_were_sent() {
        let mut agenda = Agenda::default();
        assert_eq!((agenda.next(), agenda.holds(0, 1)), (None, false));
        agenda.add_packet(5, 0, 1, sent(1));
        agenda.add_packet(3, 0, 1, sent(2));
        agenda.add_packet(4, 1, 0, sent(3));
        agenda.add(5, Event::Wake(0));
        assert_eq!(agenda.next(), Some(4));
        assert_eq!(taken(&mut agenda, 3), []);
        assert_eq!(taken(&mut agenda, 4), [3]);
        assert!(agenda.holds(0, 1) && !agenda.holds(1, 0));
        assert_eq!(taken(&mut agenda, 6), [1, 2, 99]);
        assert_eq!((agenda.next(), agenda.holds(0, 1)), (None, false));
    }

    #[test]
    fn a_pair_is_held_until_its_last_packet_has_arrived() {
        let mut agenda = Agenda::default();
        agenda.add_packet(1, 0, 1, sent(1));
        agenda.add_packet(2, 0, 1, sent(2));
        assert_eq!(taken(&mut agenda, 1), [1]);
        assert!(agenda.holds(0, 1));
        assert_eq!(taken(&mut agenda, 2), [2]);
        assert!(!agenda.holds(0, 1));
        // The next one need not wait for what is long there.
        agenda.add_packet(1, 0, 1, sent(3));
        assert_eq!(agenda.next(), Some(1));
    }
}
