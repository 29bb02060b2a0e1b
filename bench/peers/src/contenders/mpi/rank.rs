//! One process of superstep under MPI.

use super::ANSWER;
use crate::{
    contenders::superstep::{access, moves},
    failure::Failure,
    kernels::access::{Accesses, Shape},
};
use clap::{Args, ValueEnum};

/// What the processes are to do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Task {
    ScatterOne,
    Scatter,
    Gather,
    GatherInto,
    GatherBy,
    Put,
    HpPut,
    EmptyStep,
}

impl Task {
    /// What the program by hand calls it.
    pub(super) fn by_hand(self) -> &'static str {
        match self {
            Self::ScatterOne => "increments",
            Self::Scatter => "additions",
            Self::Gather | Self::GatherInto | Self::GatherBy => "loads",
            Self::Put | Self::HpPut => "exchange",
            Self::EmptyStep => "meetings",
        }
    }
}

/// A process's part in a task.
#[derive(Args, Debug)]
pub(crate) struct Part {
    task: Task,
    /// How many elements each process has
    block: usize,
    /// How often each process does it
    count: usize,
}

/// Takes part, and prints what came of it in this process.
pub(crate) fn run(part: &Part) -> Result<(), Failure> {
    let shape = Shape { block: part.block, count: part.count };
    let accesses = || Accesses::random(shape);
    let sample = match part.task {
        Task::ScatterOne => access::scatter_one(&accesses()),
        Task::Scatter => access::scatter(&accesses().with_values()),
        Task::Gather => access::gather(&accesses()),
        Task::GatherInto => access::gather_into(&accesses()),
        Task::GatherBy => access::gather_by(&accesses()),
        Task::Put => moves::put(shape),
        Task::HpPut => moves::hp_put(shape),
        Task::EmptyStep => moves::empty_step(shape.count),
    };
    let sample = sample.map_err(Failure::new)?;
    println!("{ANSWER}{} {}", sample.seconds, sample.digest);
    Ok(())
}
