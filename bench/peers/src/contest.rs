//! Contests of superstep's benchmarks, with peers and the digest of the right answer.
//!
//! Who takes part, and how, is said here; how contenders take turns, and what counts, is `superstep_bench`'s. A
//! contender does the work once in each round. It times itself, after its threads or processes have met and with its
//! memory in place, and digests its answer once the clock stands.

use crate::{PROCS, Sample, failure::Failure};
use superstep_bench::{Error, Measure, Options, Turns};

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

/// A job, its right answer, and those who do it.
pub(crate) struct Contest<'a> {
    kernel: &'static str,
    title: String,
    unit: Unit,
    /// How much of what the unit counts is done in a round, all processors together.
    amount: usize,
    expected: u64,
    turns: Turns<'a>,
}

impl<'a> Contest<'a> {
    /// A contest about how fast `amount` is done, with the digest of the right answer.
    pub(crate) fn new(kernel: &'static str, title: String, unit: Unit, amount: usize, expected: u64) -> Self {
        let turns = match unit {
            Unit { name: "GB/s", .. } => Turns::of_rates(kernel, PROCS, amount as u64),
            _ => Turns::of_elements(kernel, PROCS, amount as u64),
        };
        Self { kernel, title, unit, amount, expected, turns }
    }

    fn add<E: std::fmt::Display>(
        mut self,
        peer: &'static str,
        variant: &'static str,
        play: impl Fn() -> Result<Sample, E> + 'a,
    ) -> Self {
        let (expected, who) = (self.expected, format!("{}, {}: {peer}, {variant}", self.kernel, self.title));
        self.turns = self.turns.peer(peer, variant, move || match play() {
            Ok(sample) => Ok(Sample { verified: sample.digest == expected, ..sample }),
            Err(why) => Err(Error::Peer(format!("{who}: {why}"))),
        });
        self
    }

    /// Lets hand-written threads take part.
    pub(crate) fn raw(self, variant: &'static str, play: impl Fn() -> superstep::Result<Sample> + 'a) -> Self {
        self.add(RAW, variant, play)
    }

    /// Lets the standard library take part, on one thread.
    pub(crate) fn std(self, variant: &'static str, play: impl Fn() -> Sample + 'a) -> Self {
        self.add("std", variant, move || Ok::<_, Failure>(play()))
    }

    /// Lets rayon take part.
    pub(crate) fn rayon(self, variant: &'static str, play: impl Fn() -> Sample + 'a) -> Self {
        self.add("rayon", variant, move || Ok::<_, Failure>(play()))
    }

    /// Lets another crate take part.
    pub(crate) fn peer(self, peer: &'static str, variant: &'static str, play: impl Fn() -> Sample + 'a) -> Self {
        self.add(peer, variant, move || Ok::<_, Failure>(play()))
    }

    /// Lets lamellar take part, where it is there.
    pub(crate) fn lamellar(self, variant: &'static str, play: impl Fn() -> Result<Sample, Failure> + 'a) -> Self {
        if cfg!(feature = "lamellar") { self.add("lamellar", variant, play) } else { self }
    }

    /// Lets hand-written processes take part.
    pub(crate) fn by_hand(self, variant: &'static str, play: impl Fn() -> Result<Sample, Failure> + 'a) -> Self {
        self.add(RAW, variant, play)
    }

    /// Lets processes of superstep take part.
    pub(crate) fn processes(self, variant: &'static str, play: impl Fn() -> Result<Sample, Failure> + 'a) -> Self {
        self.add(SUPERSTEP, variant, play)
    }

    /// Lets superstep take part.
    pub(crate) fn superstep(self, variant: &'static str, play: impl Fn() -> superstep::Result<Sample> + 'a) -> Self {
        self.add(SUPERSTEP, variant, play)
    }
}

/// The peer that the others are held against.
const RAW: &str = "raw";
/// The one that is held against them.
const SUPERSTEP: &str = "superstep";

/// What one contest found.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) kernel: &'static str,
    pub(crate) title: String,
    pub(crate) unit: Unit,
    amount: usize,
    pub(crate) measures: Vec<Measure>,
}

impl Table {
    /// What a measure is of the best hand-written one.
    pub(crate) fn ratio(&self, measure: &Measure) -> Option<f64> {
        let raw = self.measures.iter().filter(|measure| measure.is_limit() && measure.verified);
        raw.map(|measure| measure.value).reduce(f64::max).map(|limit| measure.value / limit)
    }

    /// What a measure of superstep is of the best of all others, hand-written ones among them.
    pub(crate) fn ratio_to_others(&self, measure: &Measure) -> Option<f64> {
        let others = self.measures.iter().filter(|measure| measure.fabric != SUPERSTEP && measure.verified);
        let best = others.map(|measure| measure.value).reduce(f64::max).filter(|_| measure.fabric == SUPERSTEP);
        best.map(|best| measure.value / best)
    }

    /// How long the best round took.
    pub(crate) fn seconds(&self, measure: &Measure) -> f64 {
        self.amount as f64 / self.unit.scale / measure.value
    }
}

/// Where contests are held, one after another.
pub(crate) struct Stage {
    options: Options,
    /// What is in the title of every contest that is held.
    title: String,
    tables: Vec<Table>,
}

impl Stage {
    pub(crate) fn new(rounds: u32, title: String) -> Self {
        let options = Options { rounds: rounds as usize, round_seconds: 0.0, ..Options::default() };
        Self { options, title, tables: Vec::new() }
    }

    /// Holds a contest if it is asked for, and says on standard error what is next.
    pub(crate) fn hold(&mut self, contest: Contest<'_>) -> Result<(), Failure> {
        let Contest { kernel, title, unit, amount, turns, .. } = contest;
        if !title.contains(&self.title) {
            return Ok(());
        }
        let report = turns.hold(&self.options, |now| eprintln!("{now}, {title}")).map_err(Failure::new)?;
        self.tables.push(Table { kernel, title, unit, amount, measures: report.measures });
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
            .raw("slow", || Ok(Sample::of_answer(4.0, 7)))
            .raw("fast", || Ok(Sample::of_answer(2.0, 7)))
            .std("wrong", || Sample::of_answer(1.0, 8))
            .superstep("ours", || Ok(Sample::of_answer(1.0, 7)));
        let mut stage = Stage::new(2, String::new());
        stage.hold(contest).expect("nobody fails");
        let table = &stage.into_tables()[0];
        assert!(table.measures[1].verified && !table.measures[2].verified);
        assert_eq!(table.ratio(&table.measures[0]), Some(0.5));
        assert_eq!(table.measures.iter().map(|measure| table.ratio_to_others(measure)).next_back(), Some(Some(2.0)));
        assert!((table.seconds(&table.measures[0]) - 4.0).abs() < 1e-9);
    }
}
