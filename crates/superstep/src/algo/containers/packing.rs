//! What a processor has of a container, as bytes that can be kept, and dealt out again by any number of processors.

use super::{
    graph::Graph,
    hash_map::HashMap,
    table::Table,
    vector::Vector,
    vertex::{Edge, Vertex},
};
use crate::{
    engine::{Core, Group, Value, decode_next, encode_next},
    error::Result,
};
use std::{hash::Hash, panic::Location};

/// A container whose parts can be packed.
///
/// Packed parts are unpacked in two moves, because what somebody else has kept need not make sense: first each
/// processor reads those that it is given, and then all deal out what was in them.
pub(crate) trait Packed {
    /// What packed parts hold.
    type Contents;

    /// Which container it is, in a word.
    const WHAT: &str;

    /// Refuses another group than its own.
    fn check_home(&self, core: &Core, site: &Location<'_>) -> Result;

    /// How long it always is, if it has a length that does not change.
    fn fixed_len(&self) -> Option<usize>;

    /// What this processor has.
    fn pack(&self, out: &mut Vec<u8>) -> Result;

    /// What packed parts hold, one after another.
    fn read(&self, parts: &[Vec<u8>]) -> Result<Self::Contents>;

    /// Takes what all processors have read, in the order of their ranks, for all that is in the container. Collective.
    /// Where every processor has read what it had packed itself, nothing moves.
    fn deal_out(&self, g: &mut Group, contents: Self::Contents, has_own: bool) -> Result;
}

impl<T: Value> Packed for Vector<T> {
    /// The elements that have an index, and those that were pushed since.
    type Contents = (Vec<T>, Vec<T>);

    const WHAT: &str = "vector";

    fn check_home(&self, core: &Core, site: &Location<'_>) -> Result {
        self.home.try_check(core, site)
    }

    fn fixed_len(&self) -> Option<usize> {
        None
    }

    fn pack(&self, out: &mut Vec<u8>) -> Result {
        self.part.with(|part| {
            encode_next(&(part.settled as u64), out)?;
            encode_next(&((part.values.len() - part.settled) as u64), out)?;
            part.values.iter().try_for_each(|value| encode_next(value, out))
        })
    }

    fn read(&self, parts: &[Vec<u8>]) -> Result<Self::Contents> {
        let (mut settled, mut pushed) = (Vec::new(), Vec::new());
        for mut part in parts.iter().map(Vec::as_slice) {
            let counts = [decode_next::<u64>(&mut part)?, decode_next::<u64>(&mut part)?];
            for _ in 0..counts[0] {
                settled.push(decode_next(&mut part)?);
            }
            for _ in 0..counts[1] {
                pushed.push(decode_next(&mut part)?);
            }
        }
        Ok((settled, pushed))
    }

    fn deal_out(&self, g: &mut Group, (settled, pushed): Self::Contents, has_own: bool) -> Result {
        self.part.with(|part| part.values = settled);
        if has_own {
            self.settle(g);
        } else {
            self.balance(g);
        }
        self.part.with(|part| part.values.extend(pushed));
        Ok(())
    }
}

impl<K: Value + Hash + Eq, V: Value> Packed for HashMap<K, V> {
    type Contents = Vec<(K, V)>;

    const WHAT: &str = "hash map";

    fn check_home(&self, core: &Core, site: &Location<'_>) -> Result {
        self.home.try_check(core, site)
    }

    fn fixed_len(&self) -> Option<usize> {
        None
    }

    fn pack(&self, out: &mut Vec<u8>) -> Result {
        self.part.with(|table| {
            encode_next(&(table.len() as u64), out)?;
            table.iter().try_for_each(|(key, value)| {
                encode_next(key, out)?;
                encode_next(value, out)
            })
        })
    }

    fn read(&self, parts: &[Vec<u8>]) -> Result<Self::Contents> {
        let mut entries = Vec::new();
        for mut part in parts.iter().map(Vec::as_slice) {
            for _ in 0..decode_next::<u64>(&mut part)? {
                entries.push((decode_next(&mut part)?, decode_next(&mut part)?));
            }
        }
        Ok(entries)
    }

    fn deal_out(&self, g: &mut Group, mut entries: Self::Contents, has_own: bool) -> Result {
        if !has_own {
            let mut parts: Vec<Vec<(K, V)>> = (0..g.size()).map(|_| Vec::new()).collect();
            for entry in entries {
                parts[self.owner(&entry.0)].push(entry);
            }
            entries = g.try_step(|s| s.exchange(parts))?.into_iter().flatten().collect();
        }
        self.part.with(|table| *table = Table::from_iter(entries));
        Ok(())
    }
}

impl<V: Value, E: Value> Packed for Graph<V, E> {
    /// What vertices carry, and their edges, with the number of each vertex.
    type Contents = Vec<(usize, V, Vec<(usize, E)>)>;

    const WHAT: &str = "graph";

    fn check_home(&self, core: &Core, site: &Location<'_>) -> Result {
        self.home.try_check(core, site)
    }

    fn fixed_len(&self) -> Option<usize> {
        Some(self.vertices())
    }

    fn pack(&self, out: &mut Vec<u8>) -> Result {
        let first = self.owned().start;
        self.part.with(|part| {
            encode_next(&(first as u64), out)?;
            encode_next(&(part.vertices.len() as u64), out)?;
            for vertex in &part.vertices {
                encode_next(&vertex.value, out)?;
                encode_next(&(vertex.edges.len() as u64), out)?;
                for edge in &vertex.edges {
                    encode_next(&(edge.to as u64), out)?;
                    encode_next(&edge.value, out)?;
                }
            }
            Ok(())
        })
    }

    fn read(&self, parts: &[Vec<u8>]) -> Result<Self::Contents> {
        let mut vertices = Vec::new();
        for mut part in parts.iter().map(Vec::as_slice) {
            let first = decode_next::<u64>(&mut part)?;
            for number in 0..decode_next::<u64>(&mut part)? {
                let (value, mut edges) = (decode_next(&mut part)?, Vec::new());
                for _ in 0..decode_next::<u64>(&mut part)? {
                    edges.push((decode_next::<u64>(&mut part)? as usize, decode_next(&mut part)?));
                }
                vertices.push((first.saturating_add(number) as usize, value, edges));
            }
        }
        Ok(vertices)
    }

    fn deal_out(&self, g: &mut Group, mut vertices: Self::Contents, has_own: bool) -> Result {
        if !has_own {
            let mut parts: Vec<Self::Contents> = (0..g.size()).map(|_| Vec::new()).collect();
            for vertex in vertices.into_iter().filter(|(number, ..)| *number < self.blocks.len) {
                parts[self.blocks.place(vertex.0).0].push(vertex);
            }
            vertices = g.try_step(|s| s.exchange(parts))?.into_iter().flatten().collect();
        }
        let first = self.owned().start;
        self.part.with(|part| {
            for (number, value, edges) in vertices {
                let edges = edges.into_iter().map(|(to, value)| Edge { to, value }).collect();
                if let Some(vertex) = number.checked_sub(first).and_then(|at| part.vertices.get_mut(at)) {
                    *vertex = Vertex { value, edges };
                }
            }
        });
        Ok(())
    }
}
