//! What came of a kernel.

use super::{Class, Kernel};
use std::fmt;

/// A value that a kernel ends with, beside the official one if that is known.
///
/// ```
/// use superstep_programs::nas::Value;
///
/// let value = Value { name: "zeta".into(), found: 8.597_177_507_864_8, official: Some((8.597_177_507_9, 1e-10)) };
/// assert!(value.is_right());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is called.
    pub name: String,
    /// What this run has found.
    pub found: f64,
    /// What must come out, and the relative error that is allowed.
    pub official: Option<(f64, f64)>,
}

impl Value {
    /// Whether it is near enough to the official one, or none is known.
    ///
    /// ```
    /// use superstep_programs::nas::Value;
    ///
    /// assert!(!Value { name: "x".into(), found: f64::NAN, official: Some((1.0, 1e-8)) }.is_right());
    /// ```
    pub fn is_right(&self) -> bool {
        self.official.is_none_or(|(official, error)| ((self.found - official) / official).abs() <= error)
    }
}

/// The values that a kernel ends with, and whether everything else that it checks is right.
///
/// ```
/// use superstep_programs::nas::{Class, Kernel, Outcome};
///
/// let outcome = Outcome { kernel: Kernel::Is, class: Class::A, values: Vec::new(), is_sound: true, seconds: 0.5 };
/// assert!(outcome.is_right() && outcome.to_string().starts_with("IS A: verified in 0.5"));
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which kernel.
    pub kernel: Kernel,
    /// Which size.
    pub class: Class,
    /// Its values.
    pub values: Vec<Value>,
    /// Whether what can be checked without official values is right.
    pub is_sound: bool,
    /// The time of the part that the suite measures, by the slowest processor.
    pub seconds: f64,
}

impl Outcome {
    /// Whether nothing is known to be wrong.
    ///
    /// ```
    /// use superstep_programs::nas::{Class, Kernel, Outcome};
    ///
    /// let outcome = Outcome { kernel: Kernel::Is, class: Class::A, values: Vec::new(), is_sound: false, seconds: 0.5 };
    /// assert!(!outcome.is_right());
    /// ```
    pub fn is_right(&self) -> bool {
        self.is_sound && self.values.iter().all(Value::is_right)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.is_right() {
            false => "wrong",
            true if self.values.iter().any(|value| value.official.is_none()) => "not compared",
            true => "verified",
        };
        write!(f, "{} {:?}: {verdict} in {:.3} s", self.kernel.name(), self.class, self.seconds)?;
        for Value { name, found, official } in &self.values {
            write!(f, "\n  {name} {found:.13e}")?;
            if let Some((official, _)) = official {
                write!(f, "  official {official:.13e}")?;
            }
        }
        Ok(())
    }
}
