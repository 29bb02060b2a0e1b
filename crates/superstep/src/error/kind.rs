//! The known ways to fail, by name.

use serde::{Deserialize, Serialize};

/// The known ways to fail.
///
/// ```
/// use superstep::{Config, ErrorKind};
///
/// let error = Config::new().procs(2).run(|g| g.split(0, |_| ())).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::BadGroupCount);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting or an environment variable has a value that makes no sense.
    BadConfig,
    /// A run with no processors was asked for, or with more than there is room for.
    BadProcs,
    /// A run was started inside a run.
    NestedRun,
    /// No MPI could be loaded or started, or none is needed here.
    NoMpi,
    /// The launcher belongs to another MPI than the library that was loaded.
    WrongLauncher,
    /// The processes of a run are not of one build, or were set up differently.
    BuildMismatch,

    /// A rank that is not in the group was named.
    RankOutOfRange,
    /// A section, offset or index reaches beyond what it is about.
    OutOfBounds,
    /// A section's bounds and stride contradict each other.
    BadSection,
    /// An index that no element has.
    IndexOutOfRange,
    /// An element that another processor owns was read without having been mirrored or gathered.
    NotMirrored,
    /// An element of a paged array was read that no coherence call has brought here.
    NotPresent,
    /// A section was to be made coherent without a processor that owns some of it.
    OwnerNotInGroup,
    /// A processor named a set of ranks for coherence in which it is not itself.
    NotInSet,
    /// An element that another processor owns was written without a step.
    NotOwned,
    /// A list has another length than the call needs.
    BadLength,
    /// A shared variable was written outside of any step.
    OutsideStep,
    /// An array, area, queue or variable was used in a step of a group that did not make it.
    NotMember,
    /// A borrow was still alive at a boundary.
    StillBorrowed,
    /// The root of a collective gave no value.
    NoValue,
    /// A pending value was returned from another step than the one that made it.
    StalePending,

    /// Members of a group reached different steps.
    StepMismatch,
    /// A member ended while its group goes on.
    Departed,
    /// Members asked for different splits.
    SplitMismatch,
    /// A split into no subgroups at all.
    BadGroupCount,
    /// A weight that is negative, infinite or no number.
    BadWeight,
    /// Members declared different variables, areas or queues.
    DeclMismatch,
    /// Members combine with different operators, types or lengths.
    CombineMismatch,
    /// Copies that should agree do not.
    ReplicaDiverged,
    /// A checked operator overflowed, or a shape has more elements than can be counted.
    Overflow,
    /// The system has no memory for an array.
    OutOfMemory,
    /// Arrays that must lie alike do not.
    BadDistribution,
    /// A section that a subgroup imports is not one of the array.
    SectionMismatch,
    /// Two subgroups import sections of an array that overlap.
    ExportConflict,
    /// Two members wrote one element without an operator, or one wrote what is read, in one step; where
    /// [`Config::check`](crate::Config::check) looks for that.
    Conflict,
    /// Members of a set made different coherence calls.
    CoherenceMismatch,
    /// A value could not be encoded.
    Encode,

    /// A file cannot be read or written, or does not hold what was asked for.
    File,
    /// A signal has asked the program to end, and its [checkpoint](crate::files::Checkpoint) is saved.
    AskedToEnd,

    /// A handle names an object that was dropped, or that is of another type.
    HandleMismatch,
    /// An object whose method has panicked was used again.
    Poisoned,
    /// Remote methods that wait for each other are nested too deeply.
    TooDeep,
    /// An answer was asked for before it had come.
    NotAnswered,
    /// A remote method panicked.
    RemotePanic,

    /// The program's own error: a body returned it, or a processor brought it to [`agree`](crate::Step::agree).
    Failed,
    /// A processor panicked.
    Panicked,
    /// A process has died, was stopped, or can no longer be reached.
    PeerLost,
    /// What came from another processor made no sense.
    Damaged,
    /// Every processor waits for another one.
    Deadlock,
    /// A processor has waited for longer than [`Config::wait_limit`](crate::Config::wait_limit) allows.
    Stalled,
}
