//! When to save.

use crate::engine::Group;
use fabric::settings;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How often to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Every {
    Seconds(u64),
    Steps(u64),
}

impl Every {
    /// What the environment says.
    pub(super) fn of_environment() -> Result<Option<Self>, String> {
        let wanted = "such as \"every 10 min\", \"every 30 s\", \"every 2 h\" or \"every 100 steps\"";
        settings::read("SUPERSTEP_CHECKPOINT", wanted, Self::parse).map_err(|wrong| wrong.to_string())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (Some("every"), Some(count), Some(unit), None) = (words.next(), words.next(), words.next(), words.next())
        else {
            return None;
        };
        let count = count.parse().ok().filter(|&count: &u64| count > 0)?;
        let seconds = match unit {
            "step" | "steps" => return Some(Self::Steps(count)),
            "s" => 1,
            "min" => 60,
            "h" => 3600,
            _ => return None,
        };
        count.checked_mul(seconds).map(Self::Seconds)
    }
}

/// Says when the time has come, on the leader.
#[derive(Debug)]
pub(super) struct Occasions {
    every: Option<Every>,
    last: (Instant, u64),
}

impl Occasions {
    pub(super) fn new(every: Option<Every>, g: &Group) -> Self {
        Self { every, last: (Instant::now(), g.steps()) }
    }

    pub(super) fn is_due(&self, g: &Group) -> bool {
        match self.every {
            None => false,
            Some(Every::Seconds(seconds)) => self.last.0.elapsed() >= Duration::from_secs(seconds),
            Some(Every::Steps(steps)) => g.steps().wrapping_sub(self.last.1) >= steps,
        }
    }

    /// A save has begun.
    pub(super) fn begin_again(&mut self, g: &Group) {
        self.last = (Instant::now(), g.steps());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occasions_are_said_in_three_words() {
        let cases = [
            ("every 10 min", Some(Every::Seconds(600))),
            ("every  2 h", Some(Every::Seconds(7200))),
            ("every 30 s", Some(Every::Seconds(30))),
            ("every 1 step", Some(Every::Steps(1))),
            ("every 100 steps", Some(Every::Steps(100))),
            ("every 0 steps", None),
            ("every 10", None),
            ("10 min", None),
            ("every 10 min please", None),
            ("every -1 s", None),
            ("every 99999999999999999 h", None),
        ];
        for (text, every) in cases {
            assert_eq!(Every::parse(text), every, "{text}");
        }
    }
}
