//! The HPC Challenge's `RandomAccess`, on a table of zeros.

use super::{
    Sizes,
    access::{Accesses, Shape},
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
use superstep_programs::hpcc::stream;

/// How many updates there are for each word.
const PER_WORD: usize = 4;
/// How far the rules let a processor look ahead.
const AHEAD: usize = 1024;

/// The places and values of a processor's updates.
pub(crate) fn updates(shape: Shape, rank: usize) -> (Vec<usize>, Vec<u64>) {
    let mask = shape.table() - 1;
    stream(rank * shape.count..(rank + 1) * shape.count).map(|number| (number as usize & mask, number)).unzip()
}

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for &log2 in sizes.random_access {
        let block = (1 << log2) / PROCS;
        let shape = Shape { block, count: PER_WORD * block };
        let accesses = &Accesses::made(shape, |rank| updates(shape, rank));
        let title = format!("table of 2^{log2} words");
        let contest = Contest::new(
            "random-access",
            title,
            Unit::millions("million updates/s"),
            shape.accesses(),
            expected(accesses),
        )
        .raw("places made before, bucketed by owner", || raw::changes(accesses))
        .rayon("places made before, relaxed atomics", || rayon::access::changes(accesses))
        .lamellar("places made before, `AtomicArray::batch_bit_xor`", move || lamellar::play(Task::XorAtomic, shape))
        .lamellar("places made before, `LocalLockArray::batch_bit_xor`", move || {
            lamellar::play(Task::XorLocalLock, shape)
        })
        .lamellar("places made before, active messages", move || lamellar::play(Task::XorMessages, shape))
        .superstep("the program, 1024 updates ahead", move || superstep::programs::random_access(shape, AHEAD))
        .superstep("the program, a million updates ahead", move || superstep::programs::random_access(shape, 1 << 20));
        stage.hold(contest)?;
    }
    Ok(())
}

fn expected(accesses: &Accesses) -> u64 {
    let mut table = vec![0u64; accesses.shape().table()];
    for rank in 0..PROCS {
        accesses.indices(rank).iter().zip(accesses.values(rank)).for_each(|(&index, value)| table[index] ^= value);
    }
    digest(0, table)
}
