//! Elements are moved as a random permutation says.

use super::{
    Sizes,
    access::{Shape, element},
    count,
    permutation::Permutation,
};
use crate::{
    contenders::{
        lamellar::{self, task::Task},
        raw, rayon, superstep,
    },
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let block = sizes.permuted_per_proc;
    let shape = Shape { block, count: block };
    let permutation = &Permutation::random(block);
    let title = format!("{} u64 per processor", count(block));
    let (unit, expected) = (Unit::millions("million elements/s"), expected(permutation));
    let contest = Contest::new("permute", title, unit, shape.table(), expected)
        .raw("direct stores", || Ok(raw::stores(permutation)))
        .raw("bucketed by blocks that fit a cache", || Ok(raw::bucketed(permutation)))
        .rayon("relaxed atomic stores", || rayon::permute::stores(permutation))
        .lamellar("`AtomicArray::batch_store`", move || lamellar::play(Task::StoreAtomic, shape))
        .lamellar("`LocalLockArray::batch_store`", move || lamellar::play(Task::StoreLocalLock, shape))
        .superstep("`scatter`", || superstep::permute::scatter(permutation))
        .superstep("`permute`", || superstep::permute::permute(permutation));
    stage.hold(contest)
}

fn expected(permutation: &Permutation) -> u64 {
    let mut target = vec![0u64; permutation.all().len()];
    for (from, &to) in permutation.all().iter().enumerate() {
        target[to] = element(from);
    }
    digest(0, target)
}
