//! Broadcast: one member's value for all, whole or in pieces.

use super::verb::{SMALL_BYTES, Verb, receive_copy, root_left, verbs};
use crate::{
    engine::{
        Address, AsElements, AsValue, Codec, Element, Item, Needs, Outbox, Payload, Pending, Step, Tag, Value, damaged,
        flags,
    },
    error::{ErrorKind, Result},
};
use fabric::Circle;
use std::{
    any::{Any, type_name},
    marker::PhantomData,
    panic::Location,
    sync::Arc,
};

verbs! {
    BroadcastValue "broadcast"
    BroadcastSlice "broadcast_slice"
}

/// One member's value for all, by the verb `V`.
struct Broadcast<V, T, K> {
    value: Option<T>,
    root: usize,
    rank: usize,
    size: usize,
    /// The root's value, encoded, where it is small.
    small: Vec<u8>,
    /// Pieces of a long value, by the rank they first went to.
    pieces: Vec<Option<Vec<u8>>>,
    site: &'static Location<'static>,
    _verb: PhantomData<(V, K)>,
}

/// A long value in pieces, one for each rank but the root's.
fn pieces(bytes: &[u8], root: usize, size: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let len = bytes.len().div_ceil(size - 1);
    let piece = move |at: usize| bytes.get(at * len..bytes.len().min((at + 1) * len)).unwrap_or_default();
    (0..size).filter(move |&rank| rank != root).enumerate().map(move |(at, rank)| (rank, piece(at)))
}

/// Sends `to` the piece that first went to rank `of`.
fn push_piece(outbox: &mut Outbox, to: usize, number: u32, of: usize, piece: &[u8]) {
    outbox.push(to, Address::Item(number), Tag::Data, |out| {
        out.extend_from_slice(&(of as u32).to_le_bytes());
        out.extend_from_slice(piece);
    });
}

/// What a contribution to a broadcast begins with.
const HERE: u8 = 1;
const APART: u8 = 2;

impl<V: Verb, T: 'static, K: Codec<T>> Item for Broadcast<V, T, K> {
    fn describe(&self) -> String {
        format!("{} from {} of {}", V::NAME, self.root, type_name::<T>())
    }

    fn needs(&self) -> Needs {
        Needs::Total
    }

    fn contribute(&self, out: &mut Vec<u8>) -> Result {
        out.extend_from_slice(&self.small);
        Ok(())
    }

    fn meld(&self, left: &[u8], right: &[u8], out: &mut Vec<u8>) -> Result {
        out.extend_from_slice(if left.is_empty() { right } else { left });
        Ok(())
    }

    fn conclude(&mut self, found: Option<&[u8]>) -> Result {
        match found.and_then(<[u8]>::split_first) {
            Some((&HERE, bytes)) if self.rank != self.root => self.value = Some(K::decode(bytes)?),
            Some((&(HERE | APART), _)) => {}
            _ => return Err(root_left(self.root, self.site)),
        }
        Ok(())
    }

    fn deliver(&mut self, _: usize, payload: Payload<'_>) -> Result {
        match payload {
            Payload::Moved(_) => self.value = Some(receive_copy::<T, K>(payload)?),
            Payload::Bytes(piece) => {
                let (of, piece) = piece.split_first_chunk().ok_or_else(damaged)?;
                let of = u32::from_le_bytes(*of) as usize;
                self.pieces.resize(self.size, None);
                *self.pieces.get_mut(of).ok_or_else(damaged)? = Some(piece.to_vec());
            }
        }
        Ok(())
    }

    fn forward(&mut self, number: u32, outbox: &mut Outbox, circle: &dyn Circle, left: &[usize]) -> Result {
        let others = (0..self.size).filter(|&to| to != self.rank && to != self.root && !left.contains(&to));
        if let Some(piece) = self.pieces.get(self.rank).and_then(Option::as_ref) {
            others.for_each(|to| push_piece(outbox, to, number, self.rank, piece));
            return Ok(());
        }
        // The pieces of those who left are the root's to pass on.
        let is_apart = self.small == [APART] && !(0..circle.size()).all(|to| circle.shares(to));
        let value = self.value.as_ref().filter(|_| is_apart && !left.is_empty());
        let mut bytes = Vec::new();
        if value.is_some_and(|value| K::encode(value, &mut bytes).is_ok()) {
            for (of, piece) in pieces(&bytes, self.root, self.size).filter(|(of, _)| left.contains(of)) {
                others.clone().for_each(|to| push_piece(outbox, to, number, of, piece));
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &[usize]) -> Result {
        if self.value.is_none() {
            let others = (0..self.size).filter(|&rank| rank != self.root);
            let pieces = others.map(|rank| self.pieces.get(rank).and_then(Option::as_deref));
            let whole: Vec<&[u8]> = pieces.collect::<Option<_>>().ok_or_else(damaged)?;
            self.value = Some(K::decode(&whole.concat())?);
        }
        Ok(())
    }

    fn outcome(&mut self) -> &mut dyn Any {
        &mut self.value
    }
}

impl Step {
    fn broadcast_as<V: Verb, T: Clone + Send + 'static, K: Codec<T>>(
        &self,
        root: usize,
        value: Option<T>,
        site: &'static Location<'static>,
    ) -> Pending<T> {
        self.check_root(root, site);
        let (rank, size) = (self.rank(), self.size());
        let mut small = Vec::new();
        let mut long = None;
        let value = value.filter(|_| rank == root);
        if rank == root {
            let Some(value) = &value else {
                let what = format!("rank {root} is the root of this broadcast and gave no value");
                self.refuse(ErrorKind::NoValue, &what, site);
            };
            let mut bytes = vec![HERE];
            self.must(K::encode(value, &mut bytes), site);
            if bytes.len() <= SMALL_BYTES {
                small = bytes;
            } else {
                small = vec![APART];
                bytes.remove(0);
                long = Some(bytes);
            }
        }
        let pieces = Vec::new();
        let item = Broadcast::<V, T, K> { value, root, rank, size, small, pieces, site, _verb: PhantomData };
        let pending = self.core.place(item, root as u64);
        if let Some(bytes) = long {
            self.send_long(root, pending.item, bytes);
        }
        pending
    }

    /// Hands a long value to all: whole where memory is shared, else a piece to each, who pass it on.
    fn send_long(&self, root: usize, number: u32, bytes: Vec<u8>) {
        let others: Vec<usize> = (0..self.size()).filter(|&to| to != root).collect();
        if others.iter().all(|&to| self.core.wire.circle().shares(to)) {
            let bytes = Arc::new(bytes);
            for to in others {
                self.send_copy(to, number, &bytes);
            }
            return;
        }
        for (to, piece) in pieces(&bytes, root, self.size()) {
            push_piece(&mut self.outbox(), to, number, to, piece);
        }
        self.core.raise_flag(flags::FORWARDS);
    }

    /// Gives `root`'s value to all. `root` passes `Some`; what others pass is not looked at. Collective.
    ///
    /// ```
    /// let word = superstep::Config::new().procs(3).run_all(|g| {
    ///     let word = g.leader(|| "hello".to_owned());
    ///     g.step(|s| s.broadcast(0, word))
    /// });
    /// assert_eq!(word.unwrap(), ["hello"; 3]);
    /// ```
    ///
    /// # Cost
    ///
    /// With the boundary for small values. For n words n g where memory is shared; elsewhere two phases, 2 n g + l:
    /// each member gets a piece and passes it on.
    #[track_caller]
    pub fn broadcast<T: Value>(&self, root: usize, value: Option<T>) -> Pending<T> {
        self.broadcast_as::<BroadcastValue, T, AsValue>(root, value, Location::caller())
    }

    /// Gives `root`'s slice to all; see [`broadcast`](Self::broadcast).
    ///
    /// ```
    /// let primes = superstep::Config::new().procs(2).run_all(|g| {
    ///     let slice = g.is_leader().then_some(&[2, 3, 5][..]);
    ///     g.step(|s| s.broadcast_slice(0, slice))
    /// });
    /// assert_eq!(primes.unwrap(), [[2, 3, 5], [2, 3, 5]]);
    /// ```
    #[track_caller]
    pub fn broadcast_slice<T: Element>(&self, root: usize, slice: Option<&[T]>) -> Pending<Vec<T>> {
        self.broadcast_as::<BroadcastSlice, Vec<T>, AsElements>(root, slice.map(<[T]>::to_vec), Location::caller())
    }
}
