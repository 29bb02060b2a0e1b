//! What is done to which run, at which moment: all of it comes from a seed.

use crate::launched::Launcher;
use superstep_model::Choices;

/// What carries the processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    Forked,
    Under(Launcher),
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A processor's process is killed.
    Kill,
    /// It is stopped, and goes on a while later.
    Stop,
    /// All processes have one core for a while, and share it with somebody else.
    Crowd,
    /// The launcher is asked to end, in one of two ways.
    Terminate,
    Interrupt,
    /// The launcher is killed; among forked processes that is process 0.
    KillLauncher,
    /// A processor panics.
    Panic,
    /// A processor ends its process.
    Exit,
    /// Its process becomes another program, which ends: nothing that was registered for the end is called.
    Replace,
    /// A processor aborts.
    Abort,
    /// It closes all files but the three standard ones, sockets too, and goes on.
    Close,
    /// It may have hardly more memory than it has, and asks for more.
    Starve,
}

pub(crate) const FAULTS: [Fault; 12] = [
    Fault::Kill,
    Fault::Stop,
    Fault::Crowd,
    Fault::Terminate,
    Fault::Interrupt,
    Fault::KillLauncher,
    Fault::Panic,
    Fault::Exit,
    Fault::Replace,
    Fault::Abort,
    Fault::Close,
    Fault::Starve,
];

/// Where the run is when it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Start,
    Inside,
    Boundary,
    Split,
    Epoch,
    Coherence,
    End,
}

pub(crate) const PHASES: [Phase; 7] =
    [Phase::Start, Phase::Inside, Phase::Boundary, Phase::Split, Phase::Epoch, Phase::Coherence, Phase::End];

/// The rounds of a phase that every run goes through, whatever happens to it.
pub(crate) const ROUNDS: usize = 8;

impl Fault {
    /// Whether a processor does it to itself; else it comes from outside.
    pub(crate) fn is_own(self) -> bool {
        use Fault::{Abort, Close, Exit, Panic, Replace, Starve};
        matches!(self, Panic | Exit | Replace | Abort | Close | Starve)
    }

    /// Whether the run must go on as if nothing had happened.
    pub(crate) fn is_harmless(self) -> bool {
        matches!(self, Self::Stop | Self::Crowd)
    }
}

/// One fault in one run.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) ground: Ground,
    pub(crate) fault: Fault,
    pub(crate) phase: Phase,
    pub(crate) size: usize,
    /// The processors that it happens to, in order.
    pub(crate) victims: Vec<usize>,
    /// The round of the phase in which a processor does it to itself.
    pub(crate) round: usize,
    /// How long after all have come to the phase it comes from outside, in microseconds.
    pub(crate) delay: u64,
    /// How long it lasts, in milliseconds.
    pub(crate) lasts: u64,
}

impl Case {
    /// The case of a seed; the fault and the phase may be given.
    pub(crate) fn new(ground: Ground, seed: u64, fault: Fault, phase: Option<Phase>) -> Self {
        let mut choices = Choices::of_seed(seed);
        let any = PHASES[choices.below(PHASES.len())];
        let size = 2 + choices.below(if ground == Ground::Forked { 5 } else { 3 });
        let victim = choices.below(size);
        let other = choices.below(size);
        let are_two = choices.below(4) == 0;
        let mut victims = if are_two && size > 2 { vec![victim, other] } else { vec![victim] };
        victims.sort_unstable();
        victims.dedup();
        // A run takes long to begin under a launcher, and may be hit at any time of that.
        let longest = match (phase.unwrap_or(any), ground) {
            (Phase::Start, Ground::Forked) => 20_000,
            (Phase::Start, Ground::Under(_)) => 600_000,
            _ => 3_000,
        };
        Self {
            ground,
            fault,
            phase: phase.unwrap_or(any),
            size,
            victims,
            round: choices.below(ROUNDS),
            delay: choices.below(longest) as u64,
            lasts: 20 + choices.below(300) as u64,
        }
    }

    /// The fault and the phase.
    pub(crate) fn name(&self) -> String {
        format!("{:?}-{:?}", self.fault, self.phase)
    }
}
