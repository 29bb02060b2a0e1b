//! What came of a kernel.

use super::{Class, Figures, Kernel};
use std::fmt;

/// A value that a kernel ends with, beside the official one.
///
/// ```
/// use superstep_programs::nas::Value;
///
/// assert!(Value::new("zeta", 8.597_177_507_864_8, 8.597_177_507_9, 1e-10).is_right());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is called.
    pub name: String,
    /// What this run has found.
    pub found: f64,
    /// What must come out.
    pub official: f64,
    /// The relative error that is allowed.
    pub error: f64,
}

impl Value {
    /// A value that was found, and the official one with the relative error that is allowed.
    ///
    /// ```
    /// assert_eq!(superstep_programs::nas::Value::new("x", 1.0, 2.0, 1e-8).official, 2.0);
    /// ```
    pub fn new(name: impl Into<String>, found: f64, official: f64, error: f64) -> Self {
        Self { name: name.into(), found, official, error }
    }

    /// Whether it is near enough to the official one.
    ///
    /// ```
    /// assert!(!superstep_programs::nas::Value::new("x", f64::NAN, 1.0, 1e-8).is_right());
    /// ```
    pub fn is_right(&self) -> bool {
        ((self.found - self.official) / self.official).abs() <= self.error
    }
}

/// The values that a kernel ends with, and whether everything else that it checks is right.
///
/// ```
/// use superstep_programs::nas::{Class, Figures, Kernel, Outcome};
///
/// let figures = Figures::of(Kernel::Is, Class::A, 0.5);
/// let outcome = Outcome { kernel: Kernel::Is, class: Class::A, values: Vec::new(), is_sound: true, figures };
/// assert!(outcome.is_right() && outcome.to_string().contains("Verification    =               SUCCESSFUL"));
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which kernel.
    pub kernel: Kernel,
    /// Which size.
    pub class: Class,
    /// Its values.
    pub values: Vec<Value>,
    /// Whether what is checked besides these is right.
    pub is_sound: bool,
    /// How much was done, and how fast.
    pub figures: Figures,
}

impl Outcome {
    /// Whether all is right.
    ///
    /// ```
    /// use superstep_programs::nas::{Class, Figures, Kernel, Outcome};
    ///
    /// let figures = Figures::of(Kernel::Is, Class::A, 0.5);
    /// let outcome = Outcome { kernel: Kernel::Is, class: Class::A, values: Vec::new(), is_sound: false, figures };
    /// assert!(!outcome.is_right());
    /// ```
    pub fn is_right(&self) -> bool {
        self.is_sound && self.values.iter().all(Value::is_right)
    }

    /// The same as an object of JSON, on one line.
    ///
    /// ```
    /// use superstep_programs::nas::{Class, Figures, Kernel, Outcome};
    ///
    /// let figures = Figures::of(Kernel::Is, Class::A, 0.5);
    /// let outcome = Outcome { kernel: Kernel::Is, class: Class::A, values: Vec::new(), is_sound: true, figures };
    /// assert!(outcome.json(2).contains(r#""kernel":"IS""#));
    /// ```
    pub fn json(&self, procs: usize) -> String {
        let value = |value: &Value| {
            let Value { name, found, official, .. } = value;
            serde_json::json!({ "name": name, "found": found, "official": official, "verified": value.is_right() })
        };
        serde_json::json!({
            "suite": "nas",
            "kernel": self.kernel.name(),
            "class": format!("{:?}", self.class),
            "procs": procs,
            "size": self.figures.size,
            "iterations": self.figures.iterations,
            "seconds": self.figures.seconds,
            "mops": self.figures.mops(),
            "verified": self.is_right(),
            "values": self.values.iter().map(value).collect::<Vec<_>>(),
        })
        .to_string()
    }
}

/// In lines like the suite's.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { size, iterations, seconds, .. } = &self.figures;
        let verdict = if self.is_right() { "SUCCESSFUL" } else { "UNSUCCESSFUL" };
        let lines = [
            ("Class", format!("{:?}", self.class)),
            ("Size", size.clone()),
            ("Iterations", iterations.to_string()),
            ("Time in seconds", format!("{seconds:.3}")),
            ("Mop/s total", format!("{:.2}", self.figures.mops())),
            ("Verification", verdict.to_owned()),
        ];
        write!(f, " {} Benchmark Completed.", self.kernel.name())?;
        for (name, text) in lines {
            write!(f, "\n {name:<15} = {text:>24}")?;
        }
        for Value { name, found, official, error } in &self.values {
            if *error == 0.0 {
                write!(f, "\n   {name} {found}  official {official}")?;
            } else {
                write!(f, "\n   {name} {found:.13e}  official {official:.13e}")?;
            }
        }
        Ok(())
    }
}
