//! What a simulated run is like.

use super::{cost::Cost, faults::Faults, trace::Trace};

/// Whether simulated processors share an address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Everything travels as bytes.
    #[default]
    Apart,
    /// Objects can move, and regions can be reached.
    Shared,
}

/// What a simulated run is like.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Decides everything that is not the program's to decide.
    pub seed: u64,
    /// Whether processors share an address space.
    pub memory: Memory,
    /// What goes wrong.
    pub faults: Faults,
    /// How time passes.
    pub cost: Cost,
    /// Keeps what happens.
    pub trace: Option<Trace>,
    /// Whether what happens is also printed, on standard error.
    pub prints: bool,
}

impl Plan {
    /// A run under this seed in which nothing goes wrong.
    ///
    /// ```
    /// use fabric::{sim::{self, Memory, Plan}, threads::Options};
    ///
    /// let sizes = sim::run(3, &Plan::new(7, Memory::Apart), Options::default(), |circle| circle.size());
    /// assert_eq!(sizes.unwrap(), [3, 3, 3]);
    /// ```
    pub fn new(seed: u64, memory: Memory) -> Self {
        Self { seed, memory, ..Self::default() }
    }
}
