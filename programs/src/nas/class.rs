//! Kernels and sizes by their names.

use clap::ValueEnum;
use std::str::FromStr;

/// The kernels there are.
///
/// ```
/// use superstep_programs::nas::Kernel;
///
/// assert_eq!(Kernel::Cg.name(), "CG");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kernel {
    /// Pairs of Gaussian deviates, counted and added up: no communication but at the end.
    Ep,
    /// Integers are ranked by their values.
    Is,
    /// The smallest eigenvalue of a sparse matrix, by conjugate gradients.
    Cg,
    /// Poisson's equation on a cube, by a multigrid method.
    Mg,
    /// A differential equation in a cube, by Fourier transforms.
    Ft,
}

/// One kernel, or all of them.
///
/// ```
/// use superstep_programs::nas::Kernels;
///
/// assert_eq!("all".parse::<Kernels>().unwrap().0.len(), 5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernels(pub Vec<Kernel>);

impl FromStr for Kernels {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let all = Kernel::value_variants();
        if name.eq_ignore_ascii_case("all") {
            return Ok(Self(all.to_vec()));
        }
        let one = all.iter().find(|kernel| kernel.name().eq_ignore_ascii_case(name));
        one.map(|&kernel| Self(vec![kernel])).ok_or_else(|| "there are ep, is, cg, mg, ft and all".to_owned())
    }
}

impl Kernel {
    /// Its name in the suite.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::Kernel::Ep.name(), "EP");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Ep => "EP",
            Self::Is => "IS",
            Self::Cg => "CG",
            Self::Mg => "MG",
            Self::Ft => "FT",
        }
    }
}

/// The sizes there are.
///
/// ```
/// use superstep_programs::nas::Class;
///
/// assert_eq!(Class::W.pick([1, 2, 3, 4]), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Class {
    /// A sample.
    S,
    /// A workstation of the nineties.
    W,
    /// Sixteen times as large.
    A,
    /// Four times that.
    B,
}

impl Class {
    /// One of four values, for S, W, A and B.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::Class::S.pick(["small", "", "", ""]), "small");
    /// ```
    pub fn pick<T>(self, [s, w, a, b]: [T; 4]) -> T {
        match self {
            Self::S => s,
            Self::W => w,
            Self::A => a,
            Self::B => b,
        }
    }
}
