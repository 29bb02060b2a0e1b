//! What the environment sets: the one reader of `SUPERSTEP_*` variables.

use std::{env, ffi::OsString, fmt};

/// A variable with a value that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    name: &'static str,
    value: OsString,
    wanted: String,
}

impl Wrong {
    /// The same in words, with the value as it stands.
    pub fn plain(&self) -> String {
        format!("{} is {}; it must be {}", self.name, self.value.display(), self.wanted)
    }
}

impl fmt::Display for Wrong {
    #[expect(clippy::unnecessary_debug_formatting, reason = "bytes that are no text are shown as what they are")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {:?}; it must be {}", self.name, self.value, self.wanted)
    }
}

impl std::error::Error for Wrong {}

/// The value of a variable, if it is set; `wanted` says in words what it must be.
///
/// ```
/// let size = fabric::settings::read("SUPERSTEP_NO_SUCH_NAME", "a number", |text| text.parse::<u32>().ok());
/// assert_eq!(size, Ok(None));
/// ```
///
/// # Errors
///
/// If its value is no text, or `parse` makes nothing of it.
pub fn read<T>(name: &'static str, wanted: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Wrong> {
    let Some(value) = env::var_os(name) else { return Ok(None) };
    match value.to_str().and_then(parse) {
        Some(found) => Ok(Some(found)),
        None => Err(Wrong { name, value, wanted: wanted.to_owned() }),
    }
}
