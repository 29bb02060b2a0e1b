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

use super::{header::Body, link::ProcsLink, reach};
use crate::{
    failure::Failure,
    memory::try_make_room,
    messages::{Link as _, Packet, Stamp, Tag},
    tray::Tray,
    wire::{Damaged, Reader, Writer as _},
};

/// Up to so many bytes come with the offer.
const FEW: usize = 16 << 10;

/// All packets with this tag are this module's.
const STAMP: Stamp = Stamp { circle: 0, meeting: 0, tag: Tag::Piece };

/// The pieces for one process, or from one, by where they stand among all.
struct Partner {
    other: usize,
    places: Vec<usize>,
}

/// Sorts pieces by the other process, in the order in which they come first.
fn partners(others: impl Iterator<Item = usize>) -> Vec<Partner> {
    let mut partners: Vec<Partner> = Vec::new();
    for (at, other) in others.enumerate() {
        match partners.iter_mut().find(|partner| partner.other == other) {
            Some(partner) => partner.places.push(at),
            None => partners.push(Partner { other, places: vec![at] }),
        }
    }
    partners
}

impl ProcsLink {
    /// As [`Meetings::carry`](crate::Meetings::carry) says.
    pub(super) fn carry_all(&mut self, out: &[(usize, &[u8])], into: &mut [(usize, &mut [u8])]) -> Result<(), Failure> {
        let (to, from) = (partners(out.iter().map(|piece| piece.0)), partners(into.iter().map(|place| place.0)));
        let mut offered = Vec::new();
        for partner in &to {
            if self.offer(partner, out)? {
                offered.push(partner);
            }
        }
        let mut missing = Vec::new();
        for partner in &from {
            if self.accept(partner, into)? {
                missing.push(partner);
            }
        }
        for partner in offered {
            if self.next_piece(partner.other)? == [Body::Here as u8] {
                for &at in &partner.places {
                    self.send_piece(partner.other, out[at].1.to_vec())?;
                }
            }
        }
        for partner in missing {
            for &at in &partner.places {
                let piece = self.next_piece(partner.other)?;
                fill(into[at].1, &piece).map_err(Failure::damaged_by(partner.other))?;
            }
        }
        Ok(())
    }

    /// Offers pieces; says whether there will be an answer.
    fn offer(&mut self, partner: &Partner, out: &[(usize, &[u8])]) -> Result<bool, Failure> {
        let pieces = || partner.places.iter().map(|&at| out[at].1);
        let is_here = partner.other == self.rank || pieces().map(<[u8]>::len).sum::<usize>() <= FEW;
        let mut offer = Vec::new();
        offer.put(if is_here { Body::Here } else { Body::There });
        for piece in pieces() {
            if is_here {
                offer.part(piece);
            } else {
                offer.put([piece.len(), piece.as_ptr().expose_provenance()]);
            }
        }
        self.send_piece(partner.other, offer)?;
        Ok(!is_here)
    }

    /// Waits for an offer and fetches what was offered; says whether it has to come as packets.
    fn accept(&mut self, partner: &Partner, into: &mut [(usize, &mut [u8])]) -> Result<bool, Failure> {
        let (from, offer) = (partner.other, self.next_piece(partner.other)?);
        let (body, is_done) = self.fill_from(&offer, partner, into).map_err(Failure::damaged_by(from))?;
        if body != Body::Here {
            // What could not be read is to be sent.
            self.send_piece(from, vec![if is_done { Body::Read } else { Body::Here } as u8])?;
        }
        Ok(!is_done)
    }

    /// Fills places from an offer; says what it was, and whether all could be read.
    fn fill_from(
        &self,
        offer: &[u8],
        partner: &Partner,
        into: &mut [(usize, &mut [u8])],
    ) -> Result<(Body, bool), Damaged> {
        let mut reader = Reader::new(offer);
        let (body, mut is_done) = (reader.get()?, true);
        for &at in &partner.places {
            let place = &mut *into[at].1;
            if body == Body::Here {
                fill(place, reader.part()?)?;
                continue;
            }
            let [len, address] = reader.get()?;
            if len != place.len() {
                return Err(Damaged);
            }
            is_done = is_done && self.read_from(partner.other, address, place);
        }
        Ok((body, is_done))
    }

    fn send_piece(&mut self, to: usize, bytes: Vec<u8>) -> Result<(), Failure> {
        self.send(to, Packet { stamp: STAMP, tray: Tray::from(bytes) })
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
fn fill(place: &mut [u8], piece: &[u8]) -> Result<(), Damaged> {
    if piece.len() != place.len() {
        return Err(Damaged);
    }
    place.copy_from_slice(piece);
    Ok(())
}

/// A door for fuzzing: takes a piece for an offer of two.
#[cfg(fuzzing)]
pub(super) fn fuzz_offer(link: &ProcsLink, from: usize, piece: &[u8]) {
    let (mut first, mut second) = ([0; 5], [0; 40]);
    let mut into = [(from, &mut first[..]), (from, &mut second[..])];
    let _ = link.fill_from(piece, &Partner { other: from, places: vec![0, 1] }, &mut into);
}
