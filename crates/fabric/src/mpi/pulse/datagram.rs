//! What processes tell each other through the heartbeat's sockets.

use crate::wire::{Reader, Writer as _};
use std::net::{SocketAddr, UdpSocket};

crate::wire::tags! {
    /// What a datagram says.
    pub(super) enum Word {
        /// The sender is there.
        Here,
        /// The sender is going, and is not lost.
        Goodbye,
        /// A run has failed: its number and the failure follow.
        Alarm,
        /// The sender has ended in the middle of a run.
        Dying,
        /// The number of a run and a [`Report`](crate::sight::Report) of one of its processors follow.
        Seen,
        /// The number of a run that has failed and the failure that counts follow; from process 0 alone.
        Verdict,
    }
}

/// A datagram: the token of all processes, who sends it, what it says, and what follows.
pub(super) fn write(token: u64, from: usize, word: Word, more: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put([token, from as u64]);
    bytes.put(word);
    bytes.bytes(more);
    bytes
}

/// Sends a datagram to addresses. Nobody is waited for: what is lost is said again, or found out in another way.
pub(super) fn send(socket: &UdpSocket, addresses: &[SocketAddr], bytes: &[u8]) {
    for address in addresses {
        let _ = socket.send_to(bytes, address);
    }
}

/// Who sent a datagram and what it says, if it is one of ours.
pub(super) fn read(bytes: &[u8], token: u64) -> Option<(usize, Word, &[u8])> {
    let mut reader = Reader::new(bytes);
    let is_ours = reader.get() == Ok(token);
    let (from, word) = (reader.get().ok()?, reader.get().ok()?);
    let more = reader.rest();
    (is_ours && (matches!(word, Word::Alarm | Word::Seen | Word::Verdict) || more.is_empty()))
        .then_some((from, word, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_with_the_token_are_looked_at() {
        let bytes = write(77, 3, Word::Here, &[]);
        assert_eq!(read(&bytes, 77), Some((3, Word::Here, &[][..])));
        assert_eq!(read(&bytes, 78), None);
        assert_eq!(read(&bytes[..bytes.len() - 1], 77), None);
        assert_eq!(read(&[&bytes[..], &[0]].concat(), 77), None);
        assert_eq!(read(&write(77, 3, Word::Alarm, b"why"), 77), Some((3, Word::Alarm, &b"why"[..])));
    }
}
