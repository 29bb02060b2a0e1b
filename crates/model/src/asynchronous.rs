//! Programs as data, where members do not meet: epochs and coherence.

use crate::{layout::Cut, value::Op};
use serde::{Deserialize, Serialize};

/// An epoch: what the body of each rank does, and then all of them together. Ranks are those inside it, when those who
/// leave have left.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "each field says what it is")]
pub struct Epoch {
    /// Which settings it has.
    pub tuning: usize,
    pub works: Vec<Vec<Work>>,
    pub together: Vec<Together>,
    /// The cells that all look at, in an epoch of its own.
    pub looks: Vec<usize>,
}

/// What the body of an epoch does.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum Work {
    Request(Request),
    /// A request that writes down its source, so that the order of each source's shows.
    Log {
        to: usize,
        value: u64,
    },
    /// A request to everybody.
    LogAll {
        value: u64,
    },
    /// Adds to the volatile cell that all add to.
    Add {
        cells: usize,
        value: u64,
    },
    /// What is done to the cell that is this rank's alone, with what is told of it.
    Cell {
        cells: usize,
        deed: CellDeed,
    },
    Poll,
    Flush,
}

/// What is done to a volatile cell (E7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum CellDeed {
    Load,
    Store(u64),
    FetchAdd(u64),
    CompareExchange(u64, u64),
}

/// How a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    /// `send`.
    Send,
    /// `send`, with a text for its number.
    Text,
    /// `ask`, and the answer is taken after all further requests.
    Ask,
    /// `call`.
    Call,
}

/// A request, and those that it makes in its turn where it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field says what it is")]
pub struct Request {
    pub to: usize,
    pub verb: Verb,
    pub value: u64,
    pub children: Vec<Request>,
}

/// What all processors of an epoch do together.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum Together {
    Broadcast { root: usize, value: u64 },
    Reduce { op: Op, values: Vec<u64> },
}

/// An operation on a paged array. Each is of one rank, but for a call, which is of several.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum PagedOp {
    Write {
        array: usize,
        rank: usize,
        element: usize,
        value: u64,
    },
    /// Writes an element of its own through a slice.
    WriteRun {
        array: usize,
        rank: usize,
        element: usize,
        value: u64,
    },
    /// These ranks make a section coherent; those that do not wait only begin.
    Call {
        array: usize,
        section: [Cut; 2],
        ranks: Vec<usize>,
        waits: Vec<bool>,
    },
    /// Finishes a call, by its number in the stage; `is_dropped` says how.
    Finish {
        call: usize,
        rank: usize,
        is_dropped: bool,
    },
    Forget {
        array: usize,
        rank: usize,
        section: [Cut; 2],
    },
    Prefetch {
        array: usize,
        rank: usize,
        section: [Cut; 2],
    },
    /// So many pages of copies are kept: 0, 1, or all.
    Limit {
        array: usize,
        rank: usize,
        pages: Option<usize>,
    },
}
