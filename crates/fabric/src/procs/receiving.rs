//! How packets come into a process: it takes in everything that has come, wanted or not.

use super::{
    carry,
    header::{Body, Header},
    link::{Incoming, Next, ProcsLink},
    ring::Reader,
};
use crate::{
    failure::Failure,
    mapping::Mapping,
    memory::try_make_room,
    messages::{Packet, Stamp, Tag},
    spares::Spares,
    tray::Tray,
    wire::{self, Damaged},
};

impl ProcsLink {
    /// Takes in what has come from everybody but `except`.
    #[inline]
    pub(super) fn take_in(&mut self, except: Option<usize>) -> Result<(), Failure> {
        for word in 0..self.layout.words() {
            let mut callers = self.layout.announced(&self.alarm.shared, self.rank, word);
            while callers != 0 {
                let from = 64 * word + callers.trailing_zeros() as usize;
                callers &= callers - 1;
                let is_there = |incoming: &Incoming| incoming.reader.has_some(&self.alarm.shared);
                if Some(from) != except && self.incoming.get(from).is_some_and(is_there) {
                    self.take_from(from)?;
                }
            }
        }
        Ok(())
    }

    fn take_from(&mut self, from: usize) -> Result<(), Failure> {
        loop {
            let Incoming { reader, begun } = &mut self.incoming[from];
            let (shared, portion) = (&*self.alarm.shared, reader.portion());
            if reader.available(shared)? == 0 {
                return Ok(());
            }
            let (header, mut bytes) = match begun.take() {
                Some(begun) => begun,
                None => begin(reader, shared, &mut self.spares).map_err(Failure::damaged_by(from))?,
            };
            reader.read(shared, (header.behind() - bytes.len()).min(reader.left()).min(portion), &mut bytes);
            let is_whole = bytes.len() == header.behind();
            if is_whole {
                reader.end();
            } else {
                *begun = Some((header, std::mem::take(&mut bytes)));
            }
            if reader.hand_back(shared) {
                self.alarm.bell(from).ring();
            }
            if is_whole {
                self.take_whole(from, header, bytes)?;
            }
        }
    }

    /// Takes in a packet of which all has come.
    fn take_whole(&mut self, from: usize, header: Header, bytes: Vec<u8>) -> Result<(), Failure> {
        let bytes = match header.body {
            Body::Here => bytes,
            Body::There => self.fetch(from, header, bytes)?,
            Body::Read => {
                let read = self.outgoing[from].lent.pop_front().ok_or(Failure::Damaged { rank: from })?;
                self.spares.keep(read);
                return Ok(());
            }
        };
        if header.stamp.tag == Tag::Piece {
            self.pieces.push_back((from, bytes));
        } else {
            let tray = Tray::from(bytes);
            self.mail.push_back((from, Packet { stamp: header.stamp, tray }));
        }
        Ok(())
    }

    /// Fetches a packet that has stayed with its sender, and says so.
    fn fetch(&mut self, from: usize, header: Header, address: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let damaged = Failure::Damaged { rank: from };
        let place = wire::Reader::new(&address).get().map_err(Failure::damaged_by(from))?;
        self.spares.keep(address);
        let mut bytes = self.spares.take(header.len);
        if !carry::fetch(self.alarm.pid(from), place, header.len, &mut bytes) {
            // It may be gone, and then that is the failure.
            self.alarm.await_death_of(from);
            return Err(self.alarm.check().err().unwrap_or(damaged));
        }
        self.send_any(from, Header { body: Body::Read, len: 0, ..header }, Vec::new())?;
        Ok(bytes)
    }

    /// Takes the bytes of the next packet of one process, if it is there whole and has this stamp.
    #[inline]
    pub(super) fn take_short(&mut self, stamp: Stamp, from: usize, into: &mut Vec<u8>) -> Result<Next, Failure> {
        let Incoming { reader, begun } = &mut self.incoming[from];
        let shared = &*self.alarm.shared;
        let available = reader.available(shared)?;
        if available == 0 {
            return Ok(Next::Nothing);
        }
        if begun.is_some() || available < Header::BYTES {
            return Ok(Next::Another);
        }
        match peek_header(reader, shared) {
            Ok(header)
                if header.stamp == stamp && header.body == Body::Here && header.len <= available - Header::BYTES =>
            {
                reader.skip(Header::BYTES);
                reader.read(shared, header.len, into);
                reader.end();
                if reader.hand_back(shared) {
                    self.alarm.bell(from).ring();
                }
                Ok(Next::Taken)
            }
            _ => Ok(Next::Another),
        }
    }
}

/// Reads a header, and makes room for what follows it.
fn begin(reader: &mut Reader, shared: &Mapping, spares: &mut Spares<u8>) -> Result<(Header, Vec<u8>), Damaged> {
    if reader.left() < Header::BYTES {
        return Err(Damaged);
    }
    let header = peek_header(reader, shared)?;
    reader.skip(Header::BYTES);
    let mut bytes = if header.behind() == 0 { Vec::new() } else { spares.take(header.behind()) };
    if try_make_room(&mut bytes, header.behind()) { Ok((header, bytes)) } else { Err(Damaged) }
}

/// The header that comes next; all of it has come.
#[inline]
fn peek_header(reader: &Reader, shared: &Mapping) -> Result<Header, Damaged> {
    reader.peek(shared, Header::BYTES).0.first_chunk().ok_or(Damaged).and_then(Header::read)
}
