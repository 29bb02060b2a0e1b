//! What a probe finds.

/// The parameters of the machine with one number of processors, and what they were found from.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    pub(crate) procs: usize,
    /// Operations per second of one processor, while all compute.
    pub(crate) r: f64,
    /// Seconds per word.
    pub(crate) g: f64,
    /// Seconds per empty step.
    pub(crate) l: f64,
    /// How long a step with an h-relation takes, by h.
    pub(crate) points: Vec<Point>,
    /// Whether every word came where it should.
    pub(crate) verified: bool,
}

/// How long a step with an h-relation takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Words that each processor sends, and receives.
    pub(crate) h: usize,
    pub(crate) seconds: f64,
}
