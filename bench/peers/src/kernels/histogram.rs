//! Random elements of a distributed table are increased.

use super::{Sizes, access::Accesses, count};
use crate::{
    PROCS,
    contenders::{
        lamellar::{self, task::Task},
        raw, rayon, superstep,
    },
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

const UNIT: Unit = Unit::millions("million updates/s");

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for accesses in sizes.accesses() {
        increments(stage, &accesses)?;
        additions(stage, &accesses.with_values())?;
    }
    Ok(())
}

fn increments(stage: &mut Stage, accesses: &Accesses) -> Result<(), Failure> {
    let shape = accesses.shape();
    let title = format!("table of {} per processor, increments", count(shape.block));
    let expected = expected(accesses, |_, _| 1);
    let contest = Contest::new("histogram", title, UNIT, shape.accesses(), expected)
        .raw("bucketed by owner, no atomics", || raw::increments(accesses))
        .rayon("relaxed atomics", || rayon::access::increments(accesses))
        .lamellar("`AtomicArray::batch_add`", move || lamellar::play(Task::IncrementAtomic, shape))
        .lamellar("`LocalLockArray::batch_add`", move || lamellar::play(Task::IncrementLocalLock, shape))
        .lamellar("active messages, bucketed by hand", move || lamellar::play(Task::IncrementMessages, shape))
        .superstep("`scatter_one`", || superstep::access::scatter_one(accesses))
        .superstep("`scatterer_one`, one by one", || superstep::access::push_ones(accesses))
        .superstep("`send`, a request for each", || superstep::access::send_ones(accesses));
    stage.hold(contest)
}

fn additions(stage: &mut Stage, accesses: &Accesses) -> Result<(), Failure> {
    let shape = accesses.shape();
    let title = format!("table of {} per processor, a value each", count(shape.block));
    let expected = expected(accesses, |rank, at| accesses.values(rank)[at]);
    let contest = Contest::new("histogram", title, UNIT, shape.accesses(), expected)
        .raw("bucketed by owner, no atomics", || raw::additions(accesses))
        .rayon("relaxed atomics", || rayon::access::additions(accesses))
        .lamellar("`AtomicArray::batch_add`", move || lamellar::play(Task::AddAtomic, shape))
        .lamellar("`LocalLockArray::batch_add`", move || lamellar::play(Task::AddLocalLock, shape))
        .lamellar("active messages, bucketed by hand", move || lamellar::play(Task::AddMessages, shape))
        .superstep("`scatter`", || superstep::access::scatter(accesses))
        .superstep("`scatterer`, one by one", || superstep::access::push_values(accesses));
    stage.hold(contest)
}

pub(super) fn expected(accesses: &Accesses, value: impl Fn(usize, usize) -> u64) -> u64 {
    let mut table = vec![0u64; accesses.shape().table()];
    for rank in 0..PROCS {
        for (at, &index) in accesses.indices(rank).iter().enumerate() {
            table[index] = table[index].wrapping_add(value(rank, at));
        }
    }
    digest(0, table)
}
