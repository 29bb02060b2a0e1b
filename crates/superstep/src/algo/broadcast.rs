//! The item of a broadcast: one member's value for all, whole or in pieces.

use super::{collectives::root_left, verbs::Verb};
use crate::{
    engine::{Address, Codec, Item, Needs, Outbox, Payload, Record, damaged},
    error::Result,
};
use fabric::Circle;
use std::{
    any::{Any, type_name},
    marker::PhantomData,
    panic::Location,
    sync::Arc,
};

/// One member's value for all, by the verb `V`.
pub(super) struct Broadcast<V, T, K> {
    pub(super) value: Option<T>,
    pub(super) root: usize,
    pub(super) rank: usize,
    pub(super) size: usize,
    /// The root's value, encoded, where it is small.
    pub(super) small: Vec<u8>,
    /// Pieces of a long value, by the rank they first went to.
    pub(super) pieces: Vec<Option<Vec<u8>>>,
    pub(super) site: &'static Location<'static>,
    pub(super) _verb: PhantomData<(V, K)>,
}

/// A long value in pieces, one for each rank but the root's.
pub(super) fn pieces(bytes: &[u8], root: usize, size: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let len = bytes.len().div_ceil(size - 1);
    let piece = move |at: usize| bytes.get(at * len..bytes.len().min((at + 1) * len)).unwrap_or_default();
    (0..size).filter(move |&rank| rank != root).enumerate().map(move |(at, rank)| (rank, piece(at)))
}

/// Sends `to` the piece that first went to rank `of`.
pub(super) fn push_piece(outbox: &mut Outbox, to: usize, number: u32, of: usize, piece: &[u8]) {
    outbox.push(to, Address::Item(number), Record::Data, |out| {
        out.extend_from_slice(&(of as u32).to_le_bytes());
        out.extend_from_slice(piece);
    });
}

/// What a contribution to a broadcast begins with.
pub(super) const HERE: u8 = 1;
pub(super) const APART: u8 = 2;

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
            Payload::Moved(bytes) => {
                let bytes = bytes.downcast::<Arc<Vec<u8>>>().map_err(|_| damaged())?;
                self.value = Some(K::decode(&bytes)?);
            }
            Payload::Bytes(piece) => {
                let (of, piece) = piece.split_first_chunk().ok_or_else(damaged)?;
                let of = u32::from_le_bytes(*of) as usize;
                self.pieces.resize(self.size, None);
                *self.pieces.get_mut(of).ok_or_else(damaged)? = Some(piece.to_vec());
            }
        }
        Ok(())
    }

    fn forward(&mut self, number: u32, outbox: &mut Outbox, circle: &dyn Circle, left: &[usize]) {
        let others = (0..self.size).filter(|&to| to != self.rank && to != self.root && !left.contains(&to));
        if let Some(piece) = self.pieces.get(self.rank).and_then(Option::as_ref) {
            others.for_each(|to| push_piece(outbox, to, number, self.rank, piece));
            return;
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
