//! Scatters to a distributed table, and gathers from one.

use super::{WARM_UPS, on_all, timed};
use crate::{
    Sample,
    contenders::huge,
    digest,
    kernels::access::{Accesses, element},
};
use ::superstep::{Array, Block, Epoch, Group, Method, Pending, Result, Step, Sum};

type Table = Array<u64, Block>;

/// Updates a table in one step, on processors that each know their rank: first by zeros, which change nothing, then by
/// ones or values.
fn updated(accesses: &Accesses, update: impl Fn(&Step, &Table, u64, &[u64]) + Sync) -> Result<Sample> {
    on_all(|g| {
        let table = g.array::<u64, Block>(accesses.shape().table());
        let values = accesses.values(g.rank());
        let zeros = vec![0; values.len()];
        for _ in 0..WARM_UPS {
            timed(g, |g| g.step(|s| update(s, &table, 0, &zeros)));
        }
        let (seconds, ()) = timed(g, |g| g.step(|s| update(s, &table, 1, values)));
        Sample::of_answer(seconds, digest(g.rank() * accesses.shape().block, table.local().iter().copied()))
    })
}

pub(crate) fn scatter_one(accesses: &Accesses) -> Result<Sample> {
    updated(accesses, |s, table, one, _| s.scatter_one(table, accesses.indices(s.rank()), one, Sum))
}

pub(crate) fn push_ones(accesses: &Accesses) -> Result<Sample> {
    updated(accesses, |s, table, one, _| {
        let mut updates = s.scatterer_one(table, one, Sum);
        for &index in accesses.indices(s.rank()) {
            updates.push(index);
        }
    })
}

/// A part of a table, and what is added to its elements.
struct Part {
    values: Vec<u64>,
    one: u64,
}

struct Increment;

impl Method for Increment {
    type On = Part;
    type Args = u32;
    type Answer = ();

    #[inline]
    fn run(part: &mut Part, _: &Epoch, at: u32) {
        part.values[at as usize] += part.one;
    }
}

/// One request for each increment, in an epoch: first of zeros, then of ones.
pub(crate) fn send_ones(accesses: &Accesses) -> Result<Sample> {
    on_all(|g| {
        let block = accesses.shape().block;
        let part = g.object(Part { values: vec![0; block], one: 0 });
        let mut count = |g: &mut Group| {
            g.epoch(|e| {
                for &index in accesses.indices(e.rank()) {
                    let (owner, at) = (index as u32 / block as u32, index as u32 % block as u32);
                    e.send_by::<Increment>(owner as usize, &part, at);
                }
            });
        };
        for _ in 0..WARM_UPS {
            timed(g, &mut count);
        }
        part.with(|part| part.one = 1);
        let (seconds, ()) = timed(g, &mut count);
        let digest = part.with(|part| digest(g.rank() * block, part.values.iter().copied()));
        Sample::of_answer(seconds, digest)
    })
}

pub(crate) fn scatter(accesses: &Accesses) -> Result<Sample> {
    updated(accesses, |s, table, _, values| s.scatter(table, accesses.indices(s.rank()), values, Sum))
}

pub(crate) fn push_values(accesses: &Accesses) -> Result<Sample> {
    updated(accesses, |s, table, _, values| {
        let mut updates = s.scatterer(table, Sum);
        for (&index, &value) in accesses.indices(s.rank()).iter().zip(values) {
            updates.push(index, value);
        }
    })
}

/// Reads a table in one step, into the room of a vector or into a new one.
fn read(accesses: &Accesses, read: impl Fn(&Step, &Table, Vec<u64>) -> Pending<Vec<u64>> + Sync) -> Result<Sample> {
    on_all(|g| {
        let shape = accesses.shape();
        let table = filled(g, shape.table());
        let (mut seconds, mut values) = (0.0, huge::zeroed(shape.count));
        for _ in 0..=WARM_UPS {
            (seconds, values) = timed(g, |g| g.step(|s| read(s, &table, values)));
        }
        Sample::of_answer(seconds, digest(g.rank() * shape.count, values))
    })
}

fn filled(g: &mut Group, len: usize) -> Table {
    let table = g.array::<u64, Block>(len);
    table.forall_mut(|index, value| *value = element(index));
    table
}

pub(crate) fn gather(accesses: &Accesses) -> Result<Sample> {
    read(accesses, |s, table, _| s.gather(table, accesses.indices(s.rank())))
}

pub(crate) fn gather_into(accesses: &Accesses) -> Result<Sample> {
    read(accesses, |s, table, room| s.gather_into(table, accesses.indices(s.rank()), room))
}

pub(crate) fn push_gather(accesses: &Accesses) -> Result<Sample> {
    read(accesses, |s, table, _| {
        let mut reads = s.gatherer(table);
        for &index in accesses.indices(s.rank()) {
            reads.push(index);
        }
        reads.finish()
    })
}

/// Reads by a plan that was made before.
pub(crate) fn gather_by(accesses: &Accesses) -> Result<Sample> {
    on_all(|g| {
        let shape = accesses.shape();
        let table = filled(g, shape.table());
        let plan = g.plan(&table, accesses.indices(g.rank()));
        let (mut seconds, mut values) = (0.0, huge::zeroed(shape.count));
        for _ in 0..=WARM_UPS {
            (seconds, values) = timed(g, |g| g.step(|s| s.gather_by_into(&table, &plan, values)));
        }
        Sample::of_answer(seconds, digest(g.rank() * shape.count, values))
    })
}
