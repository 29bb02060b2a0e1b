//! What goes wrong in a run, and when, as its seed has it.

use super::{dice::Dice, faults::Faults};

/// Decides at every occasion whether something goes wrong there.
///
/// How likely that is differs from seed to seed, by powers of two: under some seeds the first call fails, and under
/// others one of thousands does.
pub(super) struct Fate {
    faults: Faults,
    dice: Dice,
    odds: Odds,
    /// Whether the one crash or the one damaged packet of the run has been.
    has_crashed: bool,
    has_spoiled: bool,
}

/// Once in how many occasions each happens, and for how many turns at most.
struct Odds {
    delay: usize,
    delay_turns: usize,
    stall: usize,
    stall_turns: usize,
    crash: usize,
    notice_turns: usize,
    spoil: usize,
    memory: usize,
}

/// What has happened to the bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoiled {
    Damaged,
    Cut,
}

impl Fate {
    pub(super) fn new(faults: Faults, seed: u64) -> Self {
        // Who goes on when is decided by other numbers, and stays the same whatever goes wrong.
        let mut dice = Dice::new(seed.rotate_left(32) ^ 0xA076_1D64_78BD_642F);
        let odds = Odds {
            delay: dice.power(0..5),
            delay_turns: dice.power(0..11),
            stall: dice.power(1..8),
            stall_turns: dice.power(2..12),
            crash: dice.power(0..13),
            notice_turns: dice.power(0..12),
            spoil: dice.power(0..11),
            memory: dice.power(0..6),
        };
        Self { faults, dice, odds, has_crashed: false, has_spoiled: false }
    }

    fn happens(&mut self, fault: Faults, odds: impl Fn(&Odds) -> usize) -> bool {
        self.faults.has(fault) && self.dice.strikes(odds(&self.odds))
    }

    /// For how many turns a packet is held back, if it is.
    pub(super) fn delay(&mut self) -> Option<u64> {
        self.happens(Faults::DELAY, |odds| odds.delay).then(|| 1 + self.dice.below(self.odds.delay_turns) as u64)
    }

    /// For how many turns a processor stands still, if it does.
    pub(super) fn stall(&mut self) -> Option<u64> {
        self.happens(Faults::STALL, |odds| odds.stall).then(|| 1 + self.dice.below(self.odds.stall_turns) as u64)
    }

    /// After how many turns it is noticed that a processor crashes now, if it does.
    pub(super) fn crash(&mut self) -> Option<u64> {
        if self.has_crashed || !self.happens(Faults::CRASH, |odds| odds.crash) {
            return None;
        }
        self.has_crashed = true;
        Some(1 + self.dice.below(self.odds.notice_turns) as u64)
    }

    /// Spoils the bytes of a packet, or leaves them alone.
    pub(super) fn spoil(&mut self, bytes: &mut Vec<u8>) -> Option<Spoiled> {
        let garbles = self.faults.has(Faults::GARBLE);
        let kinds = [
            (Spoiled::Damaged, garbles || self.faults.has(Faults::DAMAGE)),
            (Spoiled::Cut, garbles || self.faults.has(Faults::CUT)),
        ];
        let kinds: Vec<Spoiled> = kinds.into_iter().filter(|(_, is_asked)| *is_asked).map(|(kind, _)| kind).collect();
        let may_be = !bytes.is_empty() && !kinds.is_empty() && (garbles || !self.has_spoiled);
        if !may_be || !self.dice.strikes(self.odds.spoil) {
            return None;
        }
        self.has_spoiled = true;
        let kind = kinds[self.dice.below(kinds.len())];
        match kind {
            Spoiled::Cut => bytes.truncate(self.dice.below(bytes.len())),
            Spoiled::Damaged => {
                let (start, len) = (self.dice.below(bytes.len()), self.dice.power(0..5));
                for byte in bytes[start..].iter_mut().take(len) {
                    *byte ^= 1 + self.dice.below(255) as u8;
                }
            }
        }
        Some(kind)
    }

    /// Whether it is not seen that packets were spoiled.
    pub(super) fn hides_spoiled(&self) -> bool {
        self.faults.has(Faults::GARBLE)
    }

    /// Whether memory is refused that is asked for now.
    pub(super) fn refuses_memory(&mut self) -> bool {
        self.happens(Faults::MEMORY, |odds| odds.memory)
    }

    /// Whether the threads of the run are refused.
    pub(super) fn refuses_threads(&mut self) -> bool {
        self.happens(Faults::THREADS, |_| 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is late is late by a turn at least, or it would be no fault; and by no more than the seed allows.
    #[test]
    #[cfg_attr(miri, ignore = "so many seeds take Miri minutes")]
    fn delays_and_stalls_last_for_a_turn_at_least() {
        let (mut delays, mut stalls, mut notices) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..300 {
            let mut fate = Fate::new(Faults::DELAY | Faults::STALL | Faults::CRASH, seed);
            for _ in 0..40 {
                delays.extend(fate.delay());
                stalls.extend(fate.stall());
                notices.extend(fate.crash());
            }
        }
        for (turns, most) in [(&delays, 1 << 10), (&stalls, 1 << 11), (&notices, 1 << 11)] {
            assert_eq!(turns.iter().min(), Some(&1));
            assert!(turns.iter().all(|&turns| turns <= most) && turns.iter().any(|&turns| turns > most / 4));
        }
        assert!(notices.len() <= 300, "a run has one crash");
        let mut calm = Fate::new(Faults::default(), 0);
        assert!((0..1000).all(|_| calm.delay().is_none() && calm.stall().is_none() && calm.crash().is_none()));
    }

    #[test]
    fn every_byte_that_is_damaged_differs_from_what_it_was() {
        // Whether bits are only set or only cleared shows as well.
        let sent: Vec<u8> = (0..64).map(|at| if at % 2 == 0 { 0 } else { u8::MAX }).collect();
        let mut damaged = 0;
        for seed in 0..20 {
            let mut fate = Fate::new(Faults::GARBLE, seed);
            for _ in 0..40 {
                let mut bytes = sent.clone();
                if fate.spoil(&mut bytes) != Some(Spoiled::Damaged) {
                    continue;
                }
                damaged += 1;
                let differing: Vec<usize> = (0..sent.len()).filter(|&at| bytes[at] != sent[at]).collect();
                let (first, last) = (differing[0], differing[differing.len() - 1]);
                assert_eq!(differing.len(), last - first + 1, "seed {seed}: {differing:?}");
                assert!(differing.len().is_power_of_two() || last == sent.len() - 1, "seed {seed}: {differing:?}");
            }
        }
        assert!(damaged > 20, "{damaged} packets were damaged");
    }
}
