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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_makes_no_sense_is_told_with_its_value() {
        let wrong = Wrong { name: "SUPERSTEP_SIZE", value: "1 2".into(), wanted: "a number".to_owned() };
        assert_eq!(wrong.plain(), "SUPERSTEP_SIZE is 1 2; it must be a number");
        assert_eq!(wrong.to_string(), "SUPERSTEP_SIZE is \"1 2\"; it must be a number");
    }

    #[test]
    fn a_variable_that_is_set_is_read() {
        // It is set wherever there are programs to start, and so not in Miri.
        let Some(value) = env::var_os("PATH").filter(|value| value.to_str().is_some()) else { return };
        let found = read("PATH", "folders", |text| Some(OsString::from(text)));
        assert_eq!(found, Ok(Some(value.clone())));
        let wrong = Wrong { name: "PATH", value, wanted: "a number".to_owned() };
        assert_eq!(read("PATH", "a number", |_| None::<u32>), Err(wrong));
    }
}
