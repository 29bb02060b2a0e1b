//! What may go wrong in a simulated run.

use std::{fmt, ops::BitOr, str::FromStr};

/// What goes wrong in a simulated run; the seed decides when, where and how often.
///
/// Delays and stalls are harmless: they change no result. After any other fault a run ends, and its error names what
/// happened; but a program may go on after memory that was refused to a call that returns the error. Not every seed has
/// the fault that was asked for before the run is over. A text names them with commas between:
///
/// ```
/// # use fabric::sim::Faults;
/// let faults: Faults = "delay,stall".parse().unwrap();
/// assert_eq!(faults, Faults::DELAY | Faults::STALL);
/// assert!("delay,hail".parse::<Faults>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults(u8);

/// A text that names no faults.
///
/// ```
/// # use fabric::sim::Faults;
/// let wrong = "hail".parse::<Faults>().unwrap_err();
/// let wanted = "a list of delay, stall, crash, damage, cut, garble, memory and threads, with commas";
/// assert_eq!(wrong.to_string(), wanted);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFaults;

/// The names of the faults, in the order of their bits.
const NAMES: [&str; 8] = ["delay", "stall", "crash", "damage", "cut", "garble", "memory", "threads"];

impl Faults {
    /// Nothing goes wrong.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert_eq!(Faults::NONE, Faults::default());
    /// ```
    pub const NONE: Self = Self(0);

    /// Packets arrive late. Those of other pairs overtake them; those of the same pair do not.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert!(Faults::DELAY.is_harmless());
    /// ```
    pub const DELAY: Self = Self(1 << 0);

    /// Processors stand still for a while.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert!(Faults::STALL.is_harmless());
    /// ```
    pub const STALL: Self = Self(1 << 1);

    /// One processor is lost, in the middle of any call, as if its process had been killed. The others notice it late.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert!(!Faults::CRASH.is_harmless());
    /// ```
    pub const CRASH: Self = Self(1 << 2);

    /// Bits of one packet flip on the way, and the one who receives it sees that.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert_eq!(Faults::DAMAGE.to_string(), "damage");
    /// ```
    pub const DAMAGE: Self = Self(1 << 3);

    /// The end of one packet is missing, and the one who receives it sees that.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert_eq!(Faults::CUT.to_string(), "cut");
    /// ```
    pub const CUT: Self = Self(1 << 4);

    /// Bits of packets flip, or their ends are missing, and nobody sees that before the bytes are read. Values may be
    /// wrong then; the run ends all the same.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert_eq!(Faults::GARBLE.to_string(), "garble");
    /// ```
    pub const GARBLE: Self = Self(1 << 5);

    /// Memory for areas, arrays and pages is refused.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert_eq!(Faults::MEMORY.to_string(), "memory");
    /// ```
    pub const MEMORY: Self = Self(1 << 6);

    /// The system refuses to start the threads of the run.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert_eq!(Faults::THREADS.to_string(), "threads");
    /// ```
    pub const THREADS: Self = Self(1 << 7);

    /// Whether `other` is among them.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert!((Faults::CUT | Faults::STALL).has(Faults::CUT));
    /// assert!(!Faults::STALL.has(Faults::CUT));
    /// ```
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no result changes by them.
    ///
    /// ```
    /// # use fabric::sim::Faults;
    /// assert!((Faults::DELAY | Faults::STALL).is_harmless());
    /// assert!(!(Faults::DELAY | Faults::CRASH).is_harmless());
    /// ```
    pub fn is_harmless(self) -> bool {
        (Self::DELAY | Self::STALL).has(self)
    }
}

impl BitOr for Faults {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromStr for Faults {
    type Err = NoFaults;

    fn from_str(text: &str) -> Result<Self, NoFaults> {
        let one = |name: &str| NAMES.iter().position(|known| *known == name).map(|bit| Self(1 << bit));
        if text.is_empty() {
            return Ok(Self::NONE);
        }
        text.split(',').try_fold(Self::NONE, |all, name| Some(all | one(name)?)).ok_or(NoFaults)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = (0..NAMES.len()).filter(|bit| self.0 >> bit & 1 == 1).map(|bit| NAMES[bit]).collect();
        f.write_str(&names.join(","))
    }
}

impl fmt::Display for NoFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (last, first) = NAMES.split_last().expect("there are some");
        write!(f, "a list of {} and {last}, with commas", first.join(", "))
    }
}

impl std::error::Error for NoFaults {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written_and_nothing_else_is() {
        for bits in 0..=u8::MAX {
            assert_eq!(Faults(bits).to_string().parse(), Ok(Faults(bits)));
        }
        for wrong in [",", "delay,", ",delay", "Delay", "delay stall", "delay, stall", "all", "1"] {
            assert_eq!(wrong.parse::<Faults>(), Err(NoFaults), "{wrong:?}");
        }
    }

    #[test]
    fn delays_and_stalls_are_harmless_and_nothing_else_is() {
        for (bit, name) in NAMES.iter().enumerate() {
            assert_eq!(Faults(1 << bit).is_harmless(), ["delay", "stall"].contains(name), "{name}");
        }
        assert!(Faults::NONE.is_harmless() && (Faults::DELAY | Faults::STALL).is_harmless());
        assert!(!(Faults::DELAY | Faults::CRASH).is_harmless());
    }
}
