//! Contenders that do one job by turns.
//!
//! The machine is noisy for seconds on end, so contenders take turns: a round of each, then the next round of each. How
//! many iterations make a round is found out before: so many that it lasts [`Options::round_seconds`]. A contender
//! times itself, inside its threads and after they have met, so that starting them does not count.

use crate::{
    options::{Error, Options},
    report::{Measure, Ratio, Report, Target, Unit},
};
use std::time::Instant;

/// How many times longer than planned a contest may last. On a busy machine it ends with fewer rounds instead.
const LATE: f64 = 3.0;
/// How many times longer than the last a trial may be; the first iterations are slow and tell little.
const GROWTH: u64 = 50;

/// What one round of one contender took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) seconds: f64,
    pub(crate) verified: bool,
}

impl Sample {
    /// What all members together took: as long as the slowest, and right if all are.
    pub(crate) fn of_all(samples: impl IntoIterator<Item = Self>) -> Self {
        let none = Self { seconds: 0.0, verified: true };
        samples.into_iter().fold(none, |all, one| Self {
            seconds: all.seconds.max(one.seconds),
            verified: all.verified && one.verified,
        })
    }
}

/// Does the job as often as it is told, and says how long that took.
type Work = Box<dyn FnMut(u64) -> superstep::Result<Sample>>;

struct Contender {
    variant: String,
    fabric: &'static str,
    work: Work,
    iterations: u64,
    best_seconds: f64,
    verified: bool,
}

impl Contender {
    /// Finds out how many iterations make a round. The fastest iteration seen counts, so that a trial that the machine
    /// held up does not make all rounds too short.
    fn calibrate(&mut self, round_seconds: f64) -> Result<(), Error> {
        let mut fastest = f64::INFINITY;
        loop {
            let seconds = (self.work)(self.iterations)?.seconds.max(1e-9);
            fastest = fastest.min(seconds / self.iterations as f64);
            let wanted = (round_seconds / fastest).ceil() as u64;
            if wanted <= 2 * self.iterations {
                self.iterations = wanted;
                return Ok(());
            }
            self.iterations = wanted.min(GROWTH * self.iterations);
        }
    }

    fn play(&mut self) -> Result<(), Error> {
        let sample = (self.work)(self.iterations)?;
        self.best_seconds = self.best_seconds.min(sample.seconds / self.iterations as f64);
        self.verified &= sample.verified;
        Ok(())
    }
}

/// What a variant should reach, compared with the best of its limits.
struct Claim {
    variant: String,
    limits: Vec<String>,
    target: Target,
}

/// A job, those who do it, and what is expected of them.
pub(crate) struct Contest {
    kernel: &'static str,
    procs: usize,
    unit: Unit,
    /// What an iteration moves, all processors together.
    bytes: u64,
    is_loaded: bool,
    contenders: Vec<Contender>,
    claims: Vec<Claim>,
}

impl Contest {
    /// A contest about time.
    pub(crate) fn of_times(kernel: &'static str, procs: usize) -> Self {
        Self {
            kernel,
            procs,
            unit: Unit::Microseconds,
            bytes: 0,
            is_loaded: false,
            contenders: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// A contest about how fast so many bytes move.
    pub(crate) fn of_rates(kernel: &'static str, procs: usize, bytes: u64) -> Self {
        Self { unit: Unit::GigabytesPerSecond, bytes, ..Self::of_times(kernel, procs) }
    }

    /// Holds it while a foreign process keeps one core busy.
    pub(crate) fn under_load(mut self) -> Self {
        self.is_loaded = true;
        self
    }

    /// Lets hand-written code take part.
    pub(crate) fn raw(
        mut self,
        variant: impl Into<String>,
        work: impl FnMut(u64) -> superstep::Result<Sample> + 'static,
    ) -> Self {
        self.add(variant.into(), "raw", Box::new(work));
        self
    }

    /// Lets superstep take part.
    pub(crate) fn superstep(
        mut self,
        variant: impl Into<String>,
        options: &Options,
        work: impl FnMut(u64) -> superstep::Result<Sample> + 'static,
    ) -> Self {
        self.add(variant.into(), options.fabric_name(), Box::new(work));
        self
    }

    fn add(&mut self, variant: String, fabric: &'static str, work: Work) {
        self.contenders.push(Contender {
            variant,
            fabric,
            work,
            iterations: 1,
            best_seconds: f64::INFINITY,
            verified: true,
        });
    }

    /// Expects of `variant` that it comes as near to the best of `limits` as `target` says.
    pub(crate) fn claim<L: Into<String>>(
        mut self,
        variant: impl Into<String>,
        limits: impl IntoIterator<Item = L>,
        target: Target,
    ) -> Self {
        self.claims.push(Claim {
            variant: variant.into(),
            limits: limits.into_iter().map(Into::into).collect(),
            target,
        });
        self
    }

    /// How many rounds all contenders have together, their trials included.
    pub(crate) fn rounds(&self, each: usize) -> usize {
        self.contenders.len() * (each + 1)
    }

    /// Holds the contest, and calls `next` with what is next before each round.
    pub(crate) fn hold(mut self, options: &Options, mut next: impl FnMut(&str)) -> Result<Report, Error> {
        let load = options.load.as_ref().filter(|_| self.is_loaded);
        let _load = load.map(|start| start()).transpose().map_err(Error::Load)?;
        let (kernel, procs, start) = (self.kernel, self.procs, Instant::now());
        let mut announce = |contender: &Contender| next(&format!("{kernel}: {} on {procs}", contender.variant));
        for contender in &mut self.contenders {
            announce(contender);
            contender.calibrate(options.round_seconds)?;
        }
        let planned = options.round_seconds * self.rounds(options.rounds) as f64;
        let mut rounds = 0;
        while rounds < options.rounds && (rounds == 0 || start.elapsed().as_secs_f64() < LATE * planned) {
            for contender in &mut self.contenders {
                announce(contender);
                contender.play()?;
            }
            rounds += 1;
        }
        Ok(self.report(rounds))
    }

    fn report(self, rounds: usize) -> Report {
        let measures: Vec<Measure> = self
            .contenders
            .into_iter()
            .map(|contender| Measure {
                kernel: self.kernel,
                variant: contender.variant,
                fabric: contender.fabric,
                procs: self.procs,
                value: self.unit.value(contender.best_seconds, self.bytes),
                unit: self.unit,
                verified: contender.verified,
            })
            .collect();
        let ratios = self.claims.iter().filter_map(|claim| judge(claim, &measures)).collect();
        Report { measures, ratios, rounds }
    }
}

/// The quotient that a claim is about, if both of its sides took part.
fn judge(claim: &Claim, measures: &[Measure]) -> Option<Ratio> {
    let ours = measures.iter().find(|measure| measure.variant == claim.variant)?;
    let limits = measures.iter().filter(|measure| claim.limits.contains(&measure.variant));
    let limit = limits.reduce(|best, other| {
        let is_better = (other.value < best.value) == best.unit.prefers_less();
        if is_better { other } else { best }
    })?;
    Some(Ratio {
        kernel: ours.kernel,
        variant: ours.variant.clone(),
        fabric: ours.fabric,
        procs: ours.procs,
        limit: limit.variant.clone(),
        value: ours.value / limit.value,
        target: claim.target,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(micros: f64, verified: bool) -> impl FnMut(u64) -> superstep::Result<Sample> {
        move |iterations| Ok(Sample { seconds: iterations as f64 * micros * 1e-6, verified })
    }

    #[test]
    fn a_ratio_is_taken_against_the_best_limit() {
        let options = Options::default();
        let contest = Contest::of_times("test", 2)
            .raw("slow", takes(4.0, true))
            .raw("fast", takes(2.0, true))
            .superstep("ours", &options, takes(3.0, true))
            .claim("ours", ["slow", "fast"], Target::AtMost(1.6));
        let report = contest.hold(&options, |_| ()).expect("nothing can fail");
        let ratio = &report.ratios[0];
        assert_eq!(ratio.limit, "fast");
        assert!((ratio.value - 1.5).abs() < 1e-9);
        assert!(ratio.is_met() && report.is_verified());
    }

    #[test]
    fn for_rates_the_best_limit_is_the_highest_and_a_wrong_answer_is_told() {
        let options = Options::default();
        let contest = Contest::of_rates("test", 2, 1000)
            .raw("slow", takes(4.0, true))
            .raw("fast", takes(2.0, true))
            .raw("wrong", takes(1.0, false))
            .claim("slow", ["fast", "slow"], Target::AtLeast(0.9));
        let report = contest.hold(&options, |_| ()).expect("nothing can fail");
        assert_eq!(report.ratios[0].limit, "fast");
        assert!(!report.ratios[0].is_met() && !report.is_verified());
    }
}
