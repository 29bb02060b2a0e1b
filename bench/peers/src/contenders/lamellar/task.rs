//! What the processes of a world can be asked for.

use crate::kernels::access::Shape;
use clap::{Args, ValueEnum};

/// What the line with the answer starts with.
pub(super) const ANSWER: &str = "answer: ";

/// What a process is to do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Task {
    IncrementAtomic,
    IncrementLocalLock,
    IncrementMessages,
    AddAtomic,
    AddLocalLock,
    AddMessages,
    LoadAtomic,
    LoadLocalLock,
    LoadReadOnly,
    LoadMessages,
    StoreAtomic,
    StoreLocalLock,
    XorAtomic,
    XorLocalLock,
    XorMessages,
}

/// A process's part in a task.
#[derive(Args, Debug)]
pub(crate) struct Part {
    pub(super) task: Task,
    /// How many elements each process has
    block: usize,
    /// How many accesses each process makes
    count: usize,
}

impl Part {
    /// How large the table is, and how often it is accessed.
    pub(super) fn shape(&self) -> Shape {
        Shape { block: self.block, count: self.count }
    }
}
