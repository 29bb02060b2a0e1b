//! Programs as data: what each group does, stage by stage, and what each of its members does in it.
//!
//! Ranks are those of the group at hand, as they are when the stage begins. Lists by rank have an entry for those who
//! leave as well. What a group has made is named by its number among things of its sort.

use crate::{
    asynchronous::{Epoch, PagedOp},
    layout::{Cut, Design, Section},
    split::How,
    value::{Op, Value},
};
use std::ops::Range;

/// A whole program.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each field says what it is")]
pub struct Program {
    pub procs: usize,
    /// The number of the root group's first step.
    pub first_step: u64,
    pub body: Body,
}

/// What one group does in its life.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "each field says what it is")]
pub struct Body {
    pub stages: Vec<Stage>,
}

/// One thing that a group does together.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Makes something.
    Make(Made),
    /// The bodies of these ranks end here; the next stage is the first without them (G6).
    Leave(Vec<usize>),
    /// A superstep.
    Step(Step),
    /// Subgroups. The array that they work on parts of, if any, is the first of each of them.
    Split {
        /// Which.
        how: How,
        /// The array, and the section of each subgroup (G7).
        on: Option<(usize, Vec<Range<usize>>)>,
        /// What each does, by its number.
        bodies: Vec<Body>,
    },
    /// An epoch.
    Epoch(Epoch),
    /// Reads, writes and coherence calls on paged arrays, in one order that all keep to.
    Paged(Vec<PagedOp>),
    /// A permutation, with the array `to` made for it.
    Permute {
        /// Where the elements go to.
        dst: usize,
        /// Where they come from.
        src: usize,
        /// Where each goes.
        to: Vec<usize>,
    },
    /// What lies around everybody's block.
    Halo(Halo),
}

/// What is read around each processor's block of an array, in a step of its own in which rank 0 writes an element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the library's own words")]
pub struct Halo {
    pub array: usize,
    pub width: Vec<usize>,
    pub is_periodic: bool,
    /// Which element is written, with the value of which number; none if there are none.
    pub written: Option<(usize, u64)>,
}

/// Something that a group has.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum Made {
    Area { lens: Vec<usize> },
    Queue,
    Variable { op: Op, value: Value },
    Array(Design),
    Paged { shape: [usize; 2], block: [usize; 2] },
    Objects,
    Cells { owner: usize },
}

/// One superstep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What each rank does.
    pub plans: Vec<Plan>,
    /// What all do after that.
    pub calls: Vec<Call>,
    /// What makes it fail on all of them, if anything does.
    pub fault: Option<Fault>,
}

/// What one processor does in a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What it does.
    pub acts: Vec<Act>,
    /// Whether it unwinds at the end, is caught, and begins again (X6).
    pub abandons: bool,
}

/// What one processor does.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum Act {
    /// `put`, or `hp_put` of a vector that is given away.
    Put {
        to: usize,
        area: usize,
        at: usize,
        values: Vec<u16>,
        is_given: bool,
    },
    /// `hp_put` of a section of an area.
    MoveOut {
        area: usize,
        range: Range<usize>,
        to: usize,
        into: usize,
        at: usize,
    },
    /// `hp_get`.
    MoveIn {
        from: usize,
        area: usize,
        range: Range<usize>,
        into: usize,
        at: usize,
    },
    Get {
        from: usize,
        area: usize,
        cut: Option<Cut>,
    },
    Send {
        queue: usize,
        to: usize,
        tag: u8,
        text: String,
    },
    /// Writes a variable of this group, or of one so many levels above.
    Write {
        level: usize,
        variable: usize,
        value: Value,
    },
    /// Sets an element of its own part at once.
    Own {
        area: usize,
        at: usize,
        value: u16,
    },
    Array {
        array: usize,
        deed: Deed,
    },
    /// Something that is refused at the call, and has no effect (X1).
    Refused(Misuse),
}

/// What one processor does with an array. Values are those of the numbers from `number` on.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum Deed {
    /// With the array's own operator, or with another.
    Update {
        section: Section,
        number: u64,
        op: Option<Op>,
    },
    Scatter(Writes),
    /// One value for all.
    ScatterOne(Writes),
    /// Two builders that are open at once; the second is dropped first.
    Builders(Writes, Writes),
    OneBuilder(Writes),
    Mirror(Section),
    Gather(Vec<usize>),
    GatherBuilder(Vec<usize>),
    /// Sets an element that it owns, at once.
    Own {
        index: usize,
        number: u64,
    },
    /// Notes a number, and its index, on each element of a section that it owns.
    Forall {
        section: Section,
        number: u64,
    },
}

/// Elements with a value for each, and how these meet others.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub struct Writes {
    pub at: Vec<usize>,
    pub number: u64,
    pub op: Op,
}

/// A call that is wrong, and that its caller alone can see to be (X1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what is done")]
pub enum Misuse {
    PutToNobody {
        area: usize,
    },
    PutBeyond {
        area: usize,
        to: usize,
    },
    GetFromNobody {
        area: usize,
    },
    GetBeyond {
        area: usize,
        from: usize,
    },
    MoveBeyond {
        area: usize,
        to: usize,
    },
    SendToNobody {
        queue: usize,
    },
    PutToOuter {
        level: usize,
        area: usize,
    },
    GatherBeyond {
        array: usize,
    },
    ScatterBeyond {
        array: usize,
    },
    ScatterTooFew {
        array: usize,
    },
    MirrorBeyond {
        array: usize,
    },
    /// Any use of an array of which an owner has left.
    UseLost {
        array: usize,
    },
}

impl Misuse {
    /// The name of the error's kind.
    ///
    /// ```
    /// assert_eq!(superstep_model::Misuse::PutToNobody { area: 0 }.kind(), "RankOutOfRange");
    /// ```
    pub fn kind(self) -> &'static str {
        match self {
            Self::PutToNobody { .. } | Self::GetFromNobody { .. } | Self::SendToNobody { .. } => "RankOutOfRange",
            Self::PutBeyond { .. } | Self::GetBeyond { .. } | Self::MoveBeyond { .. } | Self::MirrorBeyond { .. } => {
                "OutOfBounds"
            }
            Self::PutToOuter { .. } => "NotMember",
            Self::GatherBeyond { .. } | Self::ScatterBeyond { .. } => "IndexOutOfRange",
            Self::ScatterTooFew { .. } => "BadLength",
            Self::UseLost { .. } => "Departed",
        }
    }
}

/// A collective call. Values are by rank.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the library's own words")]
pub enum Call {
    Reduce { op: Op, values: Vec<Value> },
    ReduceTo { root: usize, op: Op, values: Vec<Value> },
    Prefix { op: Op, values: Vec<Value> },
    PrefixWith { op: Op, values: Vec<Value> },
    Broadcast { root: usize, value: Value },
    Collect { values: Vec<Value> },
    CollectAt { root: usize, values: Vec<Value> },
    Deal { root: usize, values: Vec<Value> },
    Exchange { values: Vec<Vec<Value>> },
    Agree { values: Vec<Value> },
    Combine { variable: usize, op: Op },
    CombinePrefix { variable: usize, op: Op },
    Assign { dst: usize, src: usize },
    GatherTo { array: usize, root: usize },
    ScatterFrom { array: usize, root: usize, number: u64 },
}

/// What makes a step fail on all members. Nothing of it takes effect, and the group goes on (X2, X6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what is done")]
pub enum Fault {
    /// A value that should be the same is another on this rank.
    Differs { rank: usize },
    /// A checked sum overflows.
    Overflows,
    /// A rank brings an error to `agree`.
    Brings { rank: usize },
    /// An operator of the program panics.
    OperatorPanics,
    /// A rank calls another verb.
    OtherVerb { rank: usize },
    /// A rank combines with another operator.
    OtherOperator { rank: usize },
    /// A rank still holds a borrow.
    Borrows { rank: usize, area: usize },
    /// The owner of an element cannot add to it.
    ElementOverflows { array: usize, rank: usize },
}

impl Fault {
    /// The name of the error's kind.
    ///
    /// ```
    /// assert_eq!(superstep_model::Fault::Overflows.kind(), "Overflow");
    /// ```
    pub fn kind(self) -> &'static str {
        match self {
            Self::Differs { .. } => "ReplicaDiverged",
            Self::Overflows | Self::ElementOverflows { .. } => "Overflow",
            Self::Brings { .. } => "Failed",
            Self::OperatorPanics => "Panicked",
            Self::OtherVerb { .. } | Self::OtherOperator { .. } => "CombineMismatch",
            Self::Borrows { .. } => "StillBorrowed",
        }
    }
}
