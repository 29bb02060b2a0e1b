//! Random elements of a distributed table are read.

use super::{
    Sizes,
    access::{Accesses, element},
    count,
};
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

const UNIT: Unit = Unit::millions("million reads/s");

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for accesses in sizes.accesses() {
        let (accesses, shape) = (&accesses, accesses.shape());
        let title = format!("table of {} per processor", count(shape.block));
        let contest = Contest::new("gather", title, UNIT, shape.accesses(), expected(accesses))
            .raw("direct loads", || raw::loads(accesses))
            .rayon("direct loads", || rayon::access::loads(accesses))
            .lamellar("`AtomicArray::batch_load`", move || lamellar::play(Task::LoadAtomic, shape))
            .lamellar("`LocalLockArray::batch_load`", move || lamellar::play(Task::LoadLocalLock, shape))
            .lamellar("`ReadOnlyArray::batch_load`", move || lamellar::play(Task::LoadReadOnly, shape))
            .lamellar("active messages, bucketed by hand", move || lamellar::play(Task::LoadMessages, shape))
            .superstep("`gather`", || superstep::access::gather(accesses))
            .superstep("`gather_into`", || superstep::access::gather_into(accesses))
            .superstep("`gather_by_into`, planned", || superstep::access::gather_by(accesses))
            .superstep("`gatherer`, one by one", || superstep::access::push_gather(accesses));
        stage.hold(contest)?;
    }
    Ok(())
}

pub(super) fn expected(accesses: &Accesses) -> u64 {
    digest(0, (0..PROCS).flat_map(|rank| accesses.indices(rank)).map(|&index| element(index)))
}
