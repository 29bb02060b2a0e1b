//! How long a processor may wait.

use crate::settings;
use std::time::Duration;

/// How long a processor may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so long it is said who waits where for whom, and again after twice as long, and so on; zero is never.
    pub notice: Duration,
    /// After so long it is an error of the whole run; zero is never.
    pub most: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        // Miri's clock goes by what it interprets, and says nothing of who waits long.
        Self { notice: Duration::from_secs(if cfg!(miri) { 0 } else { 10 }), most: Duration::ZERO }
    }
}

impl Limits {
    /// What the environment says, in `SUPERSTEP_WAIT_NOTICE` and `SUPERSTEP_WAIT_LIMIT`, each a number of seconds.
    ///
    /// # Errors
    ///
    /// If one of them makes no sense; in words.
    pub fn from_environment() -> Result<Self, String> {
        let usual = Self::default();
        let seconds = |text: &str| Duration::try_from_secs_f64(text.trim().parse().ok()?).ok();
        let read = |name, usual| {
            let found = settings::read(name, "a number of seconds, and 0 is off", seconds);
            found.map(|found| found.unwrap_or(usual)).map_err(|wrong| wrong.plain())
        };
        let notice = read("SUPERSTEP_WAIT_NOTICE", usual.notice)?;
        Ok(Self { notice, most: read("SUPERSTEP_WAIT_LIMIT", usual.most)? })
    }

    /// How often to look, if at all: often enough to tell how long a wait has lasted to a tenth.
    pub(crate) fn period(&self) -> Option<Duration> {
        let least = [self.notice, self.most].into_iter().filter(|limit| !limit.is_zero()).min()?;
        Some((least / 10).clamp(Duration::from_millis(5), Duration::from_secs(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_wait_shortest_is_looked_at_ten_times_within_it() {
        let period = |notice, most| {
            let [notice, most] = [notice, most].map(Duration::from_millis);
            Limits { notice, most }.period().map(|period| period.as_millis())
        };
        assert_eq!(period(0, 0), None);
        assert_eq!(period(2000, 0), Some(200));
        assert_eq!(period(0, 3000), Some(300));
        assert_eq!(period(2000, 1000), Some(100));
        assert_eq!(period(1000, 2000), Some(100));
        // Neither all the time nor hardly ever.
        assert_eq!(period(1, 0), Some(5));
        assert_eq!(period(0, 60_000), Some(1000));
    }

    /// Whoever starts the tests may have set them; then that is what counts.
    #[test]
    fn what_the_environment_says_counts_and_what_it_does_not_say_is_usual() {
        let seconds = |name: &str| {
            let set = std::env::var_os(name)?;
            Some(Duration::from_secs_f64(set.to_str()?.trim().parse().ok()?))
        };
        let usual = Limits::default();
        let expected = Limits {
            notice: seconds("SUPERSTEP_WAIT_NOTICE").unwrap_or(usual.notice),
            most: seconds("SUPERSTEP_WAIT_LIMIT").unwrap_or(usual.most),
        };
        assert_eq!(Limits::from_environment(), Ok(expected));
    }
}
