//! Kernels of the NAS parallel benchmarks: on one processor, on two, and under Open MPI.

use super::Sizes;
use crate::{
    PROCS, Sample,
    contenders::{bare, mpi, rustfft, superstep},
    contest::{Contest, Stage, Unit},
    failure::Failure,
};
use superstep_programs::nas::{Class, Figures, Kernel};

/// What an answer comes to that is verified.
const RIGHT: u64 = 1;

/// Loops on so many bare threads.
type Bare = fn(Class, usize) -> Sample;

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    let kernels: [(Kernel, Bare); 4] = [
        (Kernel::Is, bare::is::run),
        (Kernel::Cg, bare::cg::run),
        (Kernel::Mg, bare::mg::run),
        (Kernel::Ft, bare::ft::run),
    ];
    for (kernel, bare) in kernels {
        one(stage, kernel, sizes.class, bare)?;
    }
    Ok(())
}

fn one(stage: &mut Stage, kernel: Kernel, class: Class, bare: Bare) -> Result<(), Failure> {
    let amount = Figures::of(kernel, class, 0.0).operations as usize;
    let contest = |places: &str| {
        let title = format!("{} class {class:?}, {places}", kernel.name());
        Contest::new("nas", title, Unit::millions("Mop/s"), amount, RIGHT)
    };
    let mut alone = contest("one processor")
        .raw("plain loops", || Ok(bare(class, 1)))
        .superstep("`programs nas`", || superstep::nas::run(kernel, class, 1));
    if kernel == Kernel::Ft {
        alone = alone.peer("rustfft", "plain loops around it", || rustfft::run(class));
    }
    stage.hold(alone)?;
    stage.hold(
        contest("two threads")
            .raw("bare threads", || Ok(bare(class, PROCS)))
            .superstep("`programs nas`", || superstep::nas::run(kernel, class, PROCS)),
    )?;
    let mut launched = contest("two processes under Open MPI");
    if [Kernel::Is, Kernel::Cg].contains(&kernel) {
        launched = launched.by_hand("C and MPI", || mpi::nas::by_hand(kernel, class));
    }
    let launched = launched
        .raw("bare threads", || Ok(bare(class, PROCS)))
        .processes("`programs nas`", || mpi::nas::superstep(kernel, class));
    stage.hold(launched)
}
