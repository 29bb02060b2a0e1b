//! What a simulated machine costs, by the model.

use std::str::FromStr;

/// The parameters of a simulated machine, as `superstep probe` measures them: its clock goes by them.
///
/// A text has r, g and l with commas between:
///
/// ```
/// # use fabric::sim::Cost;
/// let cost: Cost = "2000,2.5,1.5".parse().unwrap();
/// assert_eq!(cost, Cost { r_mflops: 2000.0, g_ns: 2.5, l_us: 1.5 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// How many million operations a processor does in a second.
    pub r_mflops: f64,
    /// How many nanoseconds a word of 8 bytes takes that is sent or received.
    pub g_ns: f64,
    /// How many microseconds a meeting takes at which nobody has anything to say.
    pub l_us: f64,
}

/// A machine like a small cluster: 1000 Mflop/s, 10 ns a word, 10 µs a meeting.
///
/// ```
/// # use fabric::sim::Cost;
/// assert_eq!(Cost::default(), "1000,10,10".parse().unwrap());
/// ```
impl Default for Cost {
    fn default() -> Self {
        Self { r_mflops: 1000.0, g_ns: 10.0, l_us: 10.0 }
    }
}

/// A text that gives no parameters.
///
/// ```
/// # use fabric::sim::Cost;
/// let wrong = "2000,2.5".parse::<Cost>().unwrap_err();
/// assert_eq!(wrong.to_string(), "r,g,l: more than 0 Mflop/s, ns per word, us per meeting");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCost;

impl FromStr for Cost {
    type Err = NoCost;

    fn from_str(text: &str) -> Result<Self, NoCost> {
        let parts: Result<Vec<f64>, _> = text.split(',').map(str::parse).collect();
        let Ok([r_mflops, g_ns, l_us]) = parts.as_deref() else { return Err(NoCost) };
        let cost = Self { r_mflops: *r_mflops, g_ns: *g_ns, l_us: *l_us };
        if cost.is_sound() { Ok(cost) } else { Err(NoCost) }
    }
}

impl Cost {
    /// Whether time passes by it, and never backwards.
    ///
    /// ```
    /// # use fabric::sim::Cost;
    /// assert!(Cost::default().is_sound());
    /// assert!(!Cost { r_mflops: 0.0, ..Cost::default() }.is_sound());
    /// ```
    pub fn is_sound(&self) -> bool {
        let Self { r_mflops, g_ns, l_us } = *self;
        [r_mflops, g_ns, l_us].iter().all(|part| part.is_finite() && *part >= 0.0) && r_mflops > 0.0
    }

    /// How many nanoseconds so many operations take.
    pub(super) fn of_work(&self, operations: u64) -> f64 {
        operations as f64 * 1e3 / self.r_mflops
    }

    /// How many nanoseconds so many bytes take.
    pub(super) fn of_bytes(&self, bytes: u64) -> f64 {
        bytes.div_ceil(8) as f64 * self.g_ns
    }

    /// How many nanoseconds a meeting takes.
    pub(super) fn of_meeting(&self) -> f64 {
        self.l_us * 1e3
    }
}

impl std::fmt::Display for NoCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("r,g,l: more than 0 Mflop/s, ns per word, us per meeting")
    }
}

impl std::error::Error for NoCost {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_numbers_with_which_time_passes_are_a_cost() {
        for wrong in
            ["", "1,2", "1,2,3,4", "0,1,1", "-1,1,1", "1,-1,1", "1,1,-1", "inf,1,1", "1,NaN,1", "1, 2,3", "x,1,1"]
        {
            assert_eq!(wrong.parse::<Cost>(), Err(NoCost), "{wrong:?}");
        }
        assert_eq!("1,0,0".parse(), Ok(Cost { r_mflops: 1.0, g_ns: 0.0, l_us: 0.0 }));
    }
}
