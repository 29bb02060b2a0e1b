//! Active messages that carry a batch of accesses each: what a user who wants more speed than the arrays' own batches
//! writes by hand, still in safe code.

use super::process::{first, timed};
use crate::{
    Sample, digest,
    kernels::{access::Shape, random_access},
};
use lamellar::{LamellarWorld, active_messaging::prelude::*, array::prelude::*};

/// How many accesses a message carries, as in lamellar's own examples.
const BATCH: usize = 10_000;

#[AmData(Clone)]
struct Increment {
    table: LocalLockArray<u64>,
    offsets: Vec<u32>,
}

#[am]
impl LamellarAM for Increment {
    async fn exec(self) {
        let mut part = self.table.write_local_data().await;
        for &offset in &self.offsets {
            part[offset as usize] += 1;
        }
    }
}

#[AmData(Clone)]
struct Add {
    table: LocalLockArray<u64>,
    updates: Vec<(u32, u64)>,
}

#[am]
impl LamellarAM for Add {
    async fn exec(self) {
        let mut part = self.table.write_local_data().await;
        for &(offset, value) in &self.updates {
            part[offset as usize] = part[offset as usize].wrapping_add(value);
        }
    }
}

#[AmData(Clone)]
struct Change {
    table: LocalLockArray<u64>,
    updates: Vec<(u32, u64)>,
}

#[am]
impl LamellarAM for Change {
    async fn exec(self) {
        let mut part = self.table.write_local_data().await;
        for &(offset, value) in &self.updates {
            part[offset as usize] ^= value;
        }
    }
}

#[AmData(Clone)]
struct Load {
    table: ReadOnlyArray<u64>,
    offsets: Vec<u32>,
}

#[am]
impl LamellarAM for Load {
    async fn exec(self) -> Vec<u64> {
        let part = self.table.local_as_slice();
        self.offsets.iter().map(|&offset| part[offset as usize]).collect()
    }
}

/// Collects accesses by owner and hands over a batch whenever one is full, and the rest in the end.
fn by_owner<T>(processes: usize, accesses: impl Iterator<Item = (usize, T)>, mut send: impl FnMut(usize, Vec<T>)) {
    let mut batches: Vec<Vec<T>> = (0..processes).map(|_| Vec::with_capacity(BATCH)).collect();
    for (owner, access) in accesses {
        let batch = &mut batches[owner];
        batch.push(access);
        if batch.len() == BATCH {
            send(owner, std::mem::replace(batch, Vec::with_capacity(BATCH)));
        }
    }
    for (owner, batch) in batches.into_iter().enumerate() {
        send(owner, batch);
    }
}

fn table(world: &LamellarWorld, shape: Shape) -> LocalLockArray<u64> {
    LocalLockArray::new(world, shape.table(), Distribution::Block).block()
}

/// Does it twice, on a table each; the second time counts.
fn second(world: &LamellarWorld, shape: Shape, work: impl Fn(&LocalLockArray<u64>)) -> Sample {
    let scratch = table(world, shape);
    timed(world, || work(&scratch));
    let table = table(world, shape);
    let (seconds, ()) = timed(world, || work(&table));
    Sample::of_answer(seconds, digest(first(world, shape.block), table.read_local_data().block().iter().copied()))
}

pub(super) fn increment(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    second(world, shape, |table| {
        let accesses = indices.iter().map(|index| (index / shape.block, (index % shape.block) as u32));
        by_owner(world.num_pes(), accesses, |owner, offsets| {
            drop(world.exec_am_pe(owner, Increment { table: table.clone(), offsets }).spawn());
        });
    })
}

pub(super) fn add(world: &LamellarWorld, shape: Shape) -> Sample {
    let (indices, values) = (shape.indices(world.my_pe()), shape.values(world.my_pe()));
    second(world, shape, |table| {
        let updates = indices.iter().zip(&values);
        let accesses = updates.map(|(index, &value)| (index / shape.block, ((index % shape.block) as u32, value)));
        by_owner(world.num_pes(), accesses, |owner, updates| {
            drop(world.exec_am_pe(owner, Add { table: table.clone(), updates }).spawn());
        });
    })
}

pub(super) fn xor(world: &LamellarWorld, shape: Shape) -> Sample {
    let (indices, values) = random_access::updates(shape, world.my_pe());
    second(world, shape, |table| {
        let updates = indices.iter().zip(&values);
        let accesses = updates.map(|(index, &value)| (index / shape.block, ((index % shape.block) as u32, value)));
        by_owner(world.num_pes(), accesses, |owner, updates| {
            drop(world.exec_am_pe(owner, Change { table: table.clone(), updates }).spawn());
        });
    })
}

pub(super) fn load(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    let table = super::arrays::filled(world, shape).into_read_only().block();
    let mut values = vec![0; shape.count];
    let mut work = || {
        let mut requests = Vec::new();
        let accesses = indices.iter().enumerate().map(|(at, index)| {
            let offset = (index % shape.block) as u32;
            (index / shape.block, (at as u32, offset))
        });
        by_owner(world.num_pes(), accesses, |owner, batch: Vec<(u32, u32)>| {
            let (places, offsets): (Vec<u32>, Vec<u32>) = batch.into_iter().unzip();
            let request = world.exec_am_pe(owner, Load { table: table.clone(), offsets }).spawn();
            requests.push((places, request));
        });
        for (places, request) in requests {
            for (place, value) in places.into_iter().zip(request.block()) {
                values[place as usize] = value;
            }
        }
    };
    timed(world, &mut work);
    let (seconds, ()) = timed(world, &mut work);
    Sample::of_answer(seconds, digest(first(world, shape.count), values))
}
