//! Why there is no answer.

use std::{error::Error, fmt};

/// Why there is no answer, in one line; the same on all processors.
///
/// ```
/// use superstep_programs::gap::Trouble;
///
/// assert_eq!(Trouble::new("no such vertex").to_string(), "no such vertex");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble(String);

impl Trouble {
    /// What went wrong.
    ///
    /// ```
    /// assert_ne!(superstep_programs::gap::Trouble::new("a"), superstep_programs::gap::Trouble::new("b"));
    /// ```
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Trouble {}

impl From<superstep::Error> for Trouble {
    fn from(error: superstep::Error) -> Self {
        Self(error.to_string())
    }
}
