//! What a benchmark found.

use std::fmt;

/// What values are given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Microseconds per iteration; lower is better.
    Microseconds,
    /// Gigabytes per second, all processors together; higher is better.
    GigabytesPerSecond,
    /// Million elements per second, all processors together; higher is better.
    MillionsPerSecond,
}

impl Unit {
    /// Its name in plain ASCII.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::GigabytesPerSecond => "GB/s",
            Self::MillionsPerSecond => "M/s",
        }
    }

    /// Whether of two values the one that is lower is better.
    pub fn prefers_less(self) -> bool {
        self == Self::Microseconds
    }

    /// The value of an iteration that took so many seconds and handled so many bytes or elements.
    pub(crate) fn value(self, seconds: f64, amount: u64) -> f64 {
        match self {
            Self::Microseconds => seconds * 1e6,
            Self::GigabytesPerSecond => amount as f64 / seconds / 1e9,
            Self::MillionsPerSecond => amount as f64 / seconds / 1e6,
        }
    }
}

/// The unit as people write it.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Microseconds => "µs",
            Self::GigabytesPerSecond => "GB/s",
            Self::MillionsPerSecond => "M/s",
        })
    }
}

/// One contender's best round.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The kernel it belongs to.
    pub kernel: &'static str,
    /// What was done; a raw limit has its own, such as `empty/raw-epoch-flags`.
    pub variant: String,
    /// What carried it: `threads`, `mpi`, `mixed` for processes of several threads, `sim`, or `raw` for a limit.
    pub fabric: &'static str,
    /// How many processors took part.
    pub procs: usize,
    /// How much, in `unit`.
    pub value: f64,
    /// What `value` is given in.
    pub unit: Unit,
    /// Whether the answers of all rounds were right.
    pub verified: bool,
}

impl Measure {
    /// Whether it is of hand-written code, and not of superstep.
    pub fn is_limit(&self) -> bool {
        self.fabric == "raw"
    }
}

/// What the answer of one of superstep's contenders comes to, after one iteration.
#[derive(Clone, Debug)]
pub struct Digest {
    /// The kernel it belongs to.
    pub kernel: &'static str,
    /// What was done.
    pub variant: String,
    /// A number that any other bit of the answer, on whichever processor, would change.
    pub value: u64,
    /// Whether the answer was right.
    pub verified: bool,
}

/// A quotient of two measures: superstep's by the limit's.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// The kernel it belongs to.
    pub kernel: &'static str,
    /// The variant whose measure was divided.
    pub variant: String,
    /// What carried that variant.
    pub fabric: &'static str,
    /// How many processors took part.
    pub procs: usize,
    /// The variant that it was divided by: the best of those that do the same job.
    pub limit: String,
    /// The quotient.
    pub value: f64,
    /// What it should be.
    pub target: Target,
}

impl Ratio {
    /// Whether it is as it should be.
    pub fn is_met(&self) -> bool {
        self.target.allows(self.value)
    }
}

/// What a ratio should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This or less; for times.
    AtMost(f64),
    /// This or more; for rates.
    AtLeast(f64),
}

impl Target {
    /// Whether `ratio` is as it should be.
    pub fn allows(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
        }
    }
}

/// What a paper says that a job took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// On one processor, in seconds.
    pub alone_seconds: f64,
    /// On as many as here.
    pub seconds: f64,
}

impl Paper {
    /// How many times faster all processors were.
    pub fn speedup(self) -> f64 {
        self.alone_seconds / self.seconds
    }
}

/// How much faster superstep does a job than one thread does, and what a paper says about that.
#[derive(Clone, Debug)]
pub struct Speedup {
    /// The kernel it belongs to.
    pub kernel: &'static str,
    /// The variant that all processors did.
    pub variant: String,
    /// What carried it.
    pub fabric: &'static str,
    /// How many processors took part.
    pub procs: usize,
    /// What one thread took in the same run.
    pub alone_seconds: f64,
    /// What all processors took.
    pub seconds: f64,
    /// What a paper says about a job of this size on as many processors.
    pub paper: Option<Paper>,
}

impl Speedup {
    /// How many times faster all processors were.
    pub fn value(&self) -> f64 {
        self.alone_seconds / self.seconds
    }
}

/// Everything that a benchmark found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One per contender, the raw limits included.
    pub measures: Vec<Measure>,
    /// What superstep was held against.
    pub ratios: Vec<Ratio>,
    /// How much faster than one thread it was, where a paper tells the same of its own system.
    pub speedups: Vec<Speedup>,
    /// Of how many rounds at least the best counted; a busy machine has time for fewer than were asked for.
    pub rounds: usize,
}

impl Report {
    /// Whether every answer was right.
    pub fn is_verified(&self) -> bool {
        self.measures.iter().all(|measure| measure.verified)
    }

    /// The two measures that a ratio is the quotient of: superstep's and the limit's.
    pub fn sides(&self, ratio: &Ratio) -> Option<(&Measure, &Measure)> {
        let find = |variant: &str| {
            let same = |measure: &&Measure| {
                (measure.kernel, measure.variant.as_str(), measure.procs) == (ratio.kernel, variant, ratio.procs)
            };
            self.measures.iter().find(same)
        };
        find(&ratio.variant).zip(find(&ratio.limit))
    }

    /// Superstep's measures that no ratio speaks of, because what they would be held against did not take part.
    pub fn unmatched(&self) -> impl Iterator<Item = &Measure> {
        self.measures.iter().filter(|measure| {
            let names = |ratio: &Ratio| [&ratio.variant, &ratio.limit].contains(&&measure.variant);
            let speaks = |ratio: &Ratio| (ratio.kernel, ratio.procs) == (measure.kernel, measure.procs) && names(ratio);
            !measure.is_limit() && !self.ratios.iter().any(speaks)
        })
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.measures.append(&mut other.measures);
        self.ratios.append(&mut other.ratios);
        self.speedups.append(&mut other.speedups);
        self.rounds = self.rounds.min(other.rounds);
    }
}
