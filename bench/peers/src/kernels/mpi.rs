//! The same and more between two processes, against C and MPI by hand.

use super::{
    Sizes,
    access::{Shape, element},
    count, gather, histogram,
};
use crate::{
    PROCS,
    contenders::mpi::{self, rank::Task},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

const UPDATES: Unit = Unit::millions("million updates/s");
const READS: Unit = Unit::millions("million reads/s");
const MEETINGS: Unit = Unit::millions("million/s");

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    meetings(stage, sizes.meetings)?;
    exchange(stage, Shape { block: sizes.moved_words, count: sizes.moves })?;
    for accesses in sizes.accesses() {
        let shape = accesses.shape();
        let title = |what: &str| format!("{what}, table of {} per process", count(shape.block));
        let (amount, loads) = (shape.accesses(), gather::expected(&accesses));
        let contest = |title, unit, expected| Contest::new("mpi", title, unit, amount, expected);
        stage.hold(
            contest(title("increments"), UPDATES, histogram::expected(&accesses, |_, _| 1))
                .by_hand("buckets and `MPI_Alltoallv`", move || mpi::by_hand(Task::ScatterOne, shape))
                .processes("`scatter_one`", move || mpi::superstep(Task::ScatterOne, shape)),
        )?;
        stage.hold(
            contest(title("reads"), READS, loads)
                .by_hand("buckets and `MPI_Alltoallv`", move || mpi::by_hand(Task::Gather, shape))
                .processes("`gather`", move || mpi::superstep(Task::Gather, shape))
                .processes("`gather_into`", move || mpi::superstep(Task::GatherInto, shape))
                .processes("`gather_by_into`, planned", move || mpi::superstep(Task::GatherBy, shape)),
        )?;
        let accesses = accesses.with_values();
        let sums = histogram::expected(&accesses, |rank, at| accesses.values(rank)[at]);
        stage.hold(
            contest(title("a value each"), UPDATES, sums)
                .by_hand("buckets and `MPI_Alltoallv`", move || mpi::by_hand(Task::Scatter, shape))
                .processes("`scatter`", move || mpi::superstep(Task::Scatter, shape)),
        )?;
    }
    Ok(())
}

fn meetings(stage: &mut Stage, count: usize) -> Result<(), Failure> {
    let shape = Shape { block: 1, count };
    let contest = Contest::new("mpi", "meetings".to_owned(), MEETINGS, count, (PROCS * PROCS) as u64)
        .by_hand("`MPI_Allreduce` of 8 bytes", move || mpi::by_hand(Task::EmptyStep, shape))
        .processes("an empty step", move || mpi::superstep(Task::EmptyStep, shape));
    stage.hold(contest)
}

/// Every process sends a block to the next, all at once.
fn exchange(stage: &mut Stage, shape: Shape) -> Result<(), Failure> {
    let bytes = shape.block * size_of::<u64>();
    let title = format!("exchange of {} KiB", bytes / 1024);
    let block = |rank: usize| (rank * shape.block..(rank + 1) * shape.block).map(element);
    let digests = (0..PROCS).map(|rank| digest(rank * shape.block, block((rank + PROCS - 1) % PROCS)));
    let expected = digests.fold(0, u64::wrapping_add);
    let contest = Contest::new("mpi", title, Unit::GIGABYTES, PROCS * bytes * shape.count, expected)
        .by_hand("`MPI_Isend` and `MPI_Irecv`", move || mpi::by_hand(Task::Put, shape))
        .processes("`put`", move || mpi::superstep(Task::Put, shape))
        .processes("`hp_put`", move || mpi::superstep(Task::HpPut, shape));
    stage.hold(contest)
}
