//! Lamellar's safe arrays and their batched operations.
//!
//! Everything is done twice, on an array each, and the second time counts: by then the runtime has the memory it needs.

use super::process::{first, timed};
use crate::{
    Sample, digest,
    kernels::{
        access::{Shape, element},
        permutation::Permutation,
        random_access,
    },
};
use lamellar::{LamellarWorld, array::prelude::*};

fn atomic(world: &LamellarWorld, shape: Shape) -> AtomicArray<u64> {
    AtomicArray::new(world, shape.table(), Distribution::Block).block()
}

fn local_lock(world: &LamellarWorld, shape: Shape) -> LocalLockArray<u64> {
    LocalLockArray::new(world, shape.table(), Distribution::Block).block()
}

/// A table that is filled with what it should hold.
pub(super) fn filled(world: &LamellarWorld, shape: Shape) -> LocalLockArray<u64> {
    let table = local_lock(world, shape);
    let first = first(world, shape.block);
    for (at, value) in table.write_local_data().block().iter_mut().enumerate() {
        *value = element(first + at);
    }
    world.barrier();
    table
}

/// The digest of this process's part.
fn part_of_atomic(world: &LamellarWorld, shape: Shape, table: &AtomicArray<u64>) -> u64 {
    let part = table.local_data();
    digest(first(world, shape.block), part.iter().map(|value| value.load()))
}

/// The digest of this process's part.
fn part_of_local_lock(world: &LamellarWorld, shape: Shape, table: &LocalLockArray<u64>) -> u64 {
    digest(first(world, shape.block), table.read_local_data().block().iter().copied())
}

/// The digest of what this process has read.
fn found(world: &LamellarWorld, shape: Shape, values: &[u64]) -> u64 {
    digest(first(world, shape.count), values.iter().copied())
}

pub(super) fn increment_atomic(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    let work = |table: &AtomicArray<u64>| timed(world, || table.batch_add(&indices, 1).block()).0;
    work(&atomic(world, shape));
    let table = atomic(world, shape);
    Sample::of_answer(work(&table), part_of_atomic(world, shape, &table))
}

pub(super) fn increment_local_lock(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    let work = |table: &LocalLockArray<u64>| timed(world, || table.batch_add(&indices, 1).block()).0;
    work(&local_lock(world, shape));
    let table = local_lock(world, shape);
    Sample::of_answer(work(&table), part_of_local_lock(world, shape, &table))
}

pub(super) fn add_atomic(world: &LamellarWorld, shape: Shape) -> Sample {
    let (indices, values) = (shape.indices(world.my_pe()), shape.values(world.my_pe()));
    let work = |table: &AtomicArray<u64>| timed(world, || table.batch_add(&indices, &values).block()).0;
    work(&atomic(world, shape));
    let table = atomic(world, shape);
    Sample::of_answer(work(&table), part_of_atomic(world, shape, &table))
}

pub(super) fn add_local_lock(world: &LamellarWorld, shape: Shape) -> Sample {
    let (indices, values) = (shape.indices(world.my_pe()), shape.values(world.my_pe()));
    let work = |table: &LocalLockArray<u64>| timed(world, || table.batch_add(&indices, &values).block()).0;
    work(&local_lock(world, shape));
    let table = local_lock(world, shape);
    Sample::of_answer(work(&table), part_of_local_lock(world, shape, &table))
}

pub(super) fn load_atomic(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    let table = filled(world, shape).into_atomic().block();
    let work = || timed(world, || table.batch_load(&indices).block());
    work();
    let (seconds, values) = work();
    Sample::of_answer(seconds, found(world, shape, &values))
}

pub(super) fn load_local_lock(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    let table = filled(world, shape);
    let work = || timed(world, || table.batch_load(&indices).block());
    work();
    let (seconds, values) = work();
    Sample::of_answer(seconds, found(world, shape, &values))
}

pub(super) fn load_read_only(world: &LamellarWorld, shape: Shape) -> Sample {
    let indices = shape.indices(world.my_pe());
    let table = filled(world, shape).into_read_only().block();
    let work = || timed(world, || table.batch_load(&indices).block());
    work();
    let (seconds, values) = work();
    Sample::of_answer(seconds, found(world, shape, &values))
}

pub(super) fn store_atomic(world: &LamellarWorld, shape: Shape) -> Sample {
    let permutation = Permutation::random(shape.block);
    let (targets, source) = (permutation.targets(world.my_pe()), permutation.source(world.my_pe()));
    let work = |table: &AtomicArray<u64>| timed(world, || table.batch_store(targets, &source).block()).0;
    work(&atomic(world, shape));
    let table = atomic(world, shape);
    Sample::of_answer(work(&table), part_of_atomic(world, shape, &table))
}

pub(super) fn store_local_lock(world: &LamellarWorld, shape: Shape) -> Sample {
    let permutation = Permutation::random(shape.block);
    let (targets, source) = (permutation.targets(world.my_pe()), permutation.source(world.my_pe()));
    let work = |table: &LocalLockArray<u64>| timed(world, || table.batch_store(targets, &source).block()).0;
    work(&local_lock(world, shape));
    let table = local_lock(world, shape);
    Sample::of_answer(work(&table), part_of_local_lock(world, shape, &table))
}

pub(super) fn xor_atomic(world: &LamellarWorld, shape: Shape) -> Sample {
    let (indices, values) = random_access::updates(shape, world.my_pe());
    let work = |table: &AtomicArray<u64>| timed(world, || table.batch_bit_xor(&indices, &values).block()).0;
    work(&atomic(world, shape));
    let table = atomic(world, shape);
    Sample::of_answer(work(&table), part_of_atomic(world, shape, &table))
}

pub(super) fn xor_local_lock(world: &LamellarWorld, shape: Shape) -> Sample {
    let (indices, values) = random_access::updates(shape, world.my_pe());
    let work = |table: &LocalLockArray<u64>| timed(world, || table.batch_bit_xor(&indices, &values).block()).0;
    work(&local_lock(world, shape));
    let table = local_lock(world, shape);
    Sample::of_answer(work(&table), part_of_local_lock(world, shape, &table))
}
