//! What has come for one processor, and has not been taken.

use super::agenda::Sent;
use std::collections::{HashMap, VecDeque};

/// Packets in the order in which each source has sent them; any of the sources is found at once.
#[derive(Default)]
pub(super) struct Pile {
    /// Those of whom there is something, in the order of their numbers.
    sources: Vec<usize>,
    packets: HashMap<usize, VecDeque<Sent>>,
}

impl Pile {
    /// Of how many sources there is something.
    pub(super) fn sources(&self) -> usize {
        self.sources.len()
    }

    pub(super) fn add(&mut self, from: usize, sent: Sent) {
        let queue = self.packets.entry(from).or_default();
        if queue.is_empty() {
            let place = self.sources.partition_point(|&source| source < from);
            self.sources.insert(place, from);
        }
        queue.push_back(sent);
    }

    /// Takes the first packet of one of the sources, by its place among them.
    pub(super) fn take(&mut self, place: usize) -> Option<(usize, Sent)> {
        let source = *self.sources.get(place)?;
        let queue = self.packets.get_mut(&source)?;
        let first = queue.pop_front()?;
        if queue.is_empty() {
            self.sources.remove(place);
            // A queue for everybody who has ever sent something would be much where there are thousands.
            self.packets.remove(&source);
        }
        Some((source, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Packet, Stamp, Tag};

    #[test]
    fn sources_are_in_order_and_so_are_the_packets_of_each() {
        let mut pile = Pile::default();
        for (meeting, from) in [(1, 5), (2, 3), (3, 5), (4, 9), (5, 4), (6, 3)] {
            let stamp = Stamp { circle: 0, meeting, tag: Tag::Letter };
            let packet = Packet { stamp, tray: crate::Tray::default() };
            pile.add(from, Sent { packet, arrives: 0.0, spoiled: None });
        }
        assert_eq!((pile.sources(), pile.sources.clone()), (4, vec![3, 4, 5, 9]));
        assert!(pile.take(4).is_none());
        let mut take = |place| pile.take(place).map(|(from, sent)| (from, sent.packet.stamp.meeting));
        assert_eq!([2, 0, 1, 1, 0, 0].map(&mut take), [(5, 1), (3, 2), (4, 5), (5, 3), (3, 6), (9, 4)].map(Some));
        assert_eq!(pile.sources(), 0);
    }
}
