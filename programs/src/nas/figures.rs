//! How much each kernel does, as the suite counts it.

use super::{Class, Kernel, cg, ep, ft, is, mg};

/// How much a kernel has done, and in which time.
///
/// ```
/// use superstep_programs::nas::{Class, Figures, Kernel};
///
/// let figures = Figures::of(Kernel::Is, Class::S, 0.5);
/// assert_eq!((figures.size, figures.iterations, figures.operations), ("65536".into(), 10, 655360.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// How large the problem is.
    pub size: String,
    /// How many iterations were measured.
    pub iterations: usize,
    /// How many operations that is, as the suite counts them.
    pub operations: f64,
    /// The time of the part that the suite measures, by the slowest processor.
    pub seconds: f64,
}

impl Figures {
    /// Those of a kernel that has taken so long.
    ///
    /// ```
    /// use superstep_programs::nas::{Class, Figures, Kernel};
    ///
    /// assert_eq!(Figures::of(Kernel::Mg, Class::S, 0.5).size, "32 x 32 x 32");
    /// ```
    pub fn of(kernel: Kernel, class: Class, seconds: f64) -> Self {
        let (size, iterations, operations) = match kernel {
            Kernel::Ep => {
                let numbers = 2 * ep::pairs(class);
                (numbers.to_string(), 0, numbers as f64)
            }
            Kernel::Is => {
                let (keys, _, iterations) = is::size(class);
                (keys.to_string(), iterations, (iterations * keys) as f64)
            }
            Kernel::Cg => {
                let cg::Size { order, nonzero, iterations, .. } = cg::size(class);
                let entries = (nonzero * (nonzero + 1)) as f64;
                let each = 6.0 + entries + cg::STEPS as f64 * (5.0 + entries);
                (order.to_string(), iterations, (2 * iterations * order) as f64 * each)
            }
            Kernel::Mg => {
                let (levels, cycles, _) = mg::size(class);
                let n = 1 << levels;
                (cube([n; 3]), cycles, (58 * cycles * n * n * n) as f64)
            }
            Kernel::Ft => {
                let (extents, iterations) = ft::size(class);
                let count = extents.iter().product::<usize>() as f64;
                let (first, each) = (14.8157 + 7.19641 * count.ln(), 5.23518 + 7.21113 * count.ln());
                (cube(extents), iterations, count * (first + each * iterations as f64))
            }
        };
        Self { size, iterations, operations, seconds }
    }

    /// Millions of operations a second, by all processors together.
    ///
    /// ```
    /// use superstep_programs::nas::{Class, Figures, Kernel};
    ///
    /// assert_eq!(Figures::of(Kernel::Is, Class::S, 0.5).mops(), 1.31072);
    /// ```
    pub fn mops(&self) -> f64 {
        self.operations / self.seconds / 1e6
    }
}

fn cube(extents: [usize; 3]) -> String {
    extents.map(|extent| extent.to_string()).join(" x ")
}
