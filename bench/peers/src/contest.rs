//! Contenders that do one job by turns.
//!
//! The machine is noisy for seconds on end, so contenders take turns: a round of each, then the next round of each, and
//! the best round of each counts. A contender times itself, after its threads or processes have met and with its memory
//! in place, and digests its answer once the clock stands.

use crate::failure::Failure;

/// What one round of one contender took, and the digest of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) seconds: f64,
    pub(crate) digest: u64,
}

impl Sample {
    /// What all members together took, and the digest of all they have: as long as the slowest.
    pub(crate) fn of_all(samples: impl IntoIterator<Item = Self>) -> Self {
        samples.into_iter().fold(Self { seconds: 0.0, digest: 0 }, |all, one| Self {
            seconds: all.seconds.max(one.seconds),
            digest: all.digest.wrapping_add(one.digest),
        })
    }
}

/// What rates are given in; more is better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    scale: f64,
}

impl Unit {
    pub(crate) const GIGABYTES: Self = Self { name: "GB/s", scale: 1e9 };

    pub(crate) const fn millions(name: &'static str) -> Self {
        Self { name, scale: 1e6 }
    }
}

struct Contender<'a> {
    peer: &'static str,
    variant: &'static str,
    play: Box<dyn Fn() -> Result<Sample, Failure> + 'a>,
    best_seconds: f64,
    is_right: bool,
}

/// A job, its right answer, and those who do it.
pub(crate) struct Contest<'a> {
    kernel: &'static str,
    title: String,
    unit: Unit,
    /// How much of what the unit counts is done in a round, all processors together.
    amount: f64,
    expected: u64,
    contenders: Vec<Contender<'a>>,
}

impl<'a> Contest<'a> {
    /// A contest about how fast `amount` is done, with the digest of the right answer.
    pub(crate) fn new(kernel: &'static str, title: String, unit: Unit, amount: usize, expected: u64) -> Self {
        Self { kernel, title, unit, amount: amount as f64, expected, contenders: Vec::new() }
    }

    fn add(
        mut self,
        peer: &'static str,
        variant: &'static str,
        play: impl Fn() -> Result<Sample, Failure> + 'a,
    ) -> Self {
        let play = Box::new(play);
        self.contenders.push(Contender { peer, variant, play, best_seconds: f64::INFINITY, is_right: true });
        self
    }

    /// Lets hand-written threads take part.
    pub(crate) fn raw(self, variant: &'static str, play: impl Fn() -> Sample + 'a) -> Self {
        self.add(RAW, variant, move || Ok(play()))
    }

    /// Lets the standard library take part, on one thread.
    pub(crate) fn std(self, variant: &'static str, play: impl Fn() -> Sample + 'a) -> Self {
        self.add("std", variant, move || Ok(play()))
    }

    /// Lets rayon take part.
    pub(crate) fn rayon(self, variant: &'static str, play: impl Fn() -> Sample + 'a) -> Self {
        self.add("rayon", variant, move || Ok(play()))
    }

    /// Lets lamellar take part.
    pub(crate) fn lamellar(self, variant: &'static str, play: impl Fn() -> Result<Sample, Failure> + 'a) -> Self {
        self.add("lamellar", variant, play)
    }

    /// Lets hand-written processes take part.
    pub(crate) fn by_hand(self, variant: &'static str, play: impl Fn() -> Result<Sample, Failure> + 'a) -> Self {
        self.add(RAW, variant, play)
    }

    /// Lets processes of superstep take part.
    pub(crate) fn processes(self, variant: &'static str, play: impl Fn() -> Result<Sample, Failure> + 'a) -> Self {
        self.add("superstep", variant, play)
    }

    /// Lets superstep take part.
    pub(crate) fn superstep(self, variant: &'static str, play: impl Fn() -> superstep::Result<Sample> + 'a) -> Self {
        self.add("superstep", variant, move || play().map_err(Failure::new))
    }
}

/// The peer that the others are held against.
pub(crate) const RAW: &str = "raw";

/// One contender's best round.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    pub(crate) peer: &'static str,
    pub(crate) variant: &'static str,
    /// How much a second, in the table's unit.
    pub(crate) rate: f64,
    pub(crate) seconds: f64,
    /// Whether the answers of all rounds were right.
    pub(crate) is_right: bool,
}

/// What one contest found.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) kernel: &'static str,
    pub(crate) title: String,
    pub(crate) unit: Unit,
    pub(crate) measures: Vec<Measure>,
}

impl Table {
    /// What a measure is of the best hand-written one.
    pub(crate) fn ratio(&self, measure: &Measure) -> Option<f64> {
        let raw = self.measures.iter().filter(|measure| measure.peer == RAW && measure.is_right);
        raw.map(|measure| measure.rate).reduce(f64::max).map(|limit| measure.rate / limit)
    }
}

/// Where contests are held, one after another.
pub(crate) struct Stage {
    rounds: u32,
    tables: Vec<Table>,
}

impl Stage {
    pub(crate) fn new(rounds: u32) -> Self {
        Self { rounds, tables: Vec::new() }
    }

    /// Holds a contest, and says on standard error how far it is.
    pub(crate) fn hold(&mut self, mut contest: Contest<'_>) -> Result<(), Failure> {
        for round in 1..=self.rounds {
            for contender in &mut contest.contenders {
                let (kernel, title, rounds) = (contest.kernel, &contest.title, self.rounds);
                let who = format!("{kernel}, {title}: {}, {}", contender.peer, contender.variant);
                eprintln!("round {round} of {rounds}: {who}");
                let sample = (contender.play)().map_err(|failure| Failure::new(format!("{who}: {failure}")))?;
                contender.best_seconds = contender.best_seconds.min(sample.seconds);
                contender.is_right &= sample.digest == contest.expected;
            }
        }
        let measure = |contender: Contender<'_>| Measure {
            peer: contender.peer,
            variant: contender.variant,
            rate: contest.amount / contender.best_seconds / contest.unit.scale,
            seconds: contender.best_seconds,
            is_right: contender.is_right,
        };
        let measures = contest.contenders.into_iter().map(measure).collect();
        let (kernel, title, unit) = (contest.kernel, contest.title, contest.unit);
        self.tables.push(Table { kernel, title, unit, measures });
        Ok(())
    }

    pub(crate) fn into_tables(self) -> Vec<Table> {
        self.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_round_counts_and_a_wrong_answer_is_told() {
        let contest = Contest::new("test", String::new(), Unit::millions("things/s"), 4_000_000, 7)
            .raw("slow", || Sample { seconds: 4.0, digest: 7 })
            .raw("fast", || Sample { seconds: 2.0, digest: 7 })
            .std("wrong", || Sample { seconds: 1.0, digest: 8 });
        let mut stage = Stage::new(2);
        stage.hold(contest).expect("nobody fails");
        let table = &stage.into_tables()[0];
        assert!(table.measures[1].is_right && !table.measures[2].is_right);
        assert_eq!(table.ratio(&table.measures[0]), Some(0.5));
    }
}
