//! Memory that goes straight from one process to another.
//!
//! A sender offers its pieces by their addresses, and the receiver has the system copy them from there to where they
//! belong; then it says that it is done, and the sender goes on. Where the system does not let it, it says so, and the
//! pieces come as packets. A few bytes come with the offer.
//!
//! Between two processes each call is offer, answer, pieces, in this order on both sides, so they need no numbers.
//!
//! # Invariant
//!
//! - **C1** [`reach::read`] has written all of the bytes it was given if it says so, and reads none of them.

use super::{link::ProcsLink, reach};
use crate::{
    failure::Failure,
    memory::try_make_room,
    messages::{Kind, Link as _, Packet, Stamp},
    tray::Tray,
};

/// Up to so many bytes come with the offer.
const FEW: usize = 16 << 10;

/// All packets of this kind are this module's.
const STAMP: Stamp = Stamp { circle: 0, meeting: 0, kind: Kind::Piece };

/// What an offer begins with.
const HERE: u8 = 0;
const THERE: u8 = 1;

/// What it is answered with.
const DONE: u8 = 0;
const SEND: u8 = 1;

/// The pieces for one process, or from one, by where they stand among all.
struct Part {
    other: usize,
    places: Vec<usize>,
}

/// Sorts pieces by the other process, in the order in which they come first.
fn parts(others: impl Iterator<Item = usize>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (at, other) in others.enumerate() {
        match parts.iter_mut().find(|part| part.other == other) {
            Some(part) => part.places.push(at),
            None => parts.push(Part { other, places: vec![at] }),
        }
    }
    parts
}

impl ProcsLink {
    /// As [`Circle::carry`](crate::Circle::carry) says.
    pub(super) fn carry_all(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Result<(), Failure> {
        let (to, from) = (parts(out.iter().map(|piece| piece.0)), parts(into.iter().map(|place| place.0)));
        let mut offered = Vec::new();
        for part in &to {
            if self.offer(part, out)? {
                offered.push(part);
            }
        }
        let mut missing = Vec::new();
        for part in &from {
            if self.accept(part, into)? {
                missing.push(part);
            }
        }
        for part in offered {
            if self.next_piece(part.other)? == [SEND] {
                for &at in &part.places {
                    self.send_piece(part.other, out[at].1.to_vec())?;
                }
            }
        }
        for part in missing {
            for &at in &part.places {
                fill(into[at].1, &self.next_piece(part.other)?, part.other)?;
            }
        }
        Ok(())
    }

    /// Offers pieces; says whether there will be an answer.
    fn offer(&mut self, part: &Part, out: &[(usize, &[u8])]) -> Result<bool, Failure> {
        let pieces = || part.places.iter().map(|&at| out[at].1);
        let is_here = part.other == self.rank() || pieces().map(<[u8]>::len).sum::<usize>() <= FEW;
        let mut offer = vec![if is_here { HERE } else { THERE }];
        for piece in pieces() {
            offer.extend_from_slice(&(piece.len() as u64).to_le_bytes());
            if is_here {
                offer.extend_from_slice(piece);
            } else {
                offer.extend_from_slice(&(piece.as_ptr().expose_provenance() as u64).to_le_bytes());
            }
        }
        self.send_piece(part.other, offer)?;
        Ok(!is_here)
    }

    /// Waits for an offer and fetches what was offered; says whether it has to come as packets.
    fn accept(&mut self, part: &Part, into: &mut [(usize, &mut [u8])]) -> Result<bool, Failure> {
        let (from, offer) = (part.other, self.next_piece(part.other)?);
        let damaged = Failure::Damaged { rank: from };
        let (&kind, mut rest) = offer.split_first().ok_or_else(|| damaged.clone())?;
        let number = |rest: &mut &[u8]| {
            let (head, behind) = rest.split_first_chunk().ok_or_else(|| damaged.clone())?;
            *rest = behind;
            usize::try_from(u64::from_le_bytes(*head)).map_err(|_| damaged.clone())
        };
        let mut is_done = true;
        for &at in &part.places {
            let place = &mut *into[at].1;
            if number(&mut rest)? != place.len() {
                return Err(damaged);
            }
            if kind == HERE {
                let (piece, behind) = rest.split_at_checked(place.len()).ok_or_else(|| damaged.clone())?;
                place.copy_from_slice(piece);
                rest = behind;
            } else {
                let address = number(&mut rest)?;
                is_done = is_done && self.read_from(from, address, place);
            }
        }
        if kind != HERE {
            self.send_piece(from, vec![if is_done { DONE } else { SEND }])?;
        }
        Ok(!is_done)
    }

    fn send_piece(&mut self, to: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        self.send(to, Packet { stamp: STAMP, tray: Tray { bytes, moved: Vec::new() } })
    }
}

/// Fetches so many bytes from the memory of another process into an empty vector; false if that cannot be done.
pub(super) fn fetch(pid: i32, address: usize, len: usize, into: &mut Vec<u8>) -> bool {
    if !try_make_room(into, len) {
        return false;
    }
    let room = into.spare_capacity_mut()[..len].as_mut_ptr().cast::<u8>();
    // SAFETY: C1: nothing of it is read before it was written.
    let place = unsafe { std::slice::from_raw_parts_mut(room, len) };
    let is_read = reach::read(pid, address, place);
    if is_read {
        // SAFETY: C1: as many bytes were written.
        unsafe { into.set_len(len) };
    }
    is_read
}

/// Copies a piece to its place.
fn fill(place: &mut [u8], piece: &[u8], from: usize) -> Result<(), Failure> {
    if piece.len() != place.len() {
        return Err(Failure::Damaged { rank: from });
    }
    place.copy_from_slice(piece);
    Ok(())
}
