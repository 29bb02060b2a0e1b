//! Contenders that do one job by turns.
//!
//! The machine is noisy for seconds on end, so contenders take turns: a round of each, then the next round of each. How
//! many iterations make a round is found out before: so many that it lasts [`Options::round_seconds`]. A contender
//! times itself, inside its threads and after they have met, so that starting them does not count.

pub(crate) use crate::sample::Sample;
use crate::{
    contender::{Contender, Side, Work},
    options::{Error, Options},
    report::{Digest, Measure, Paper, Report, Target, Unit},
    verdict::{Claim, Gain},
};
use std::time::Instant;

/// How many times longer than planned a contest may last. On a busy machine it ends with fewer rounds instead.
const LATE: f64 = 3.0;

/// A job, those who do it, and what is expected of them.
pub struct Turns<'a> {
    kernel: &'static str,
    procs: usize,
    unit: Unit,
    /// How many of what the unit counts an iteration handles, all processors together.
    amount: u64,
    is_loaded: bool,
    contenders: Vec<Contender<'a>>,
    claims: Vec<Claim>,
    gains: Vec<Gain>,
}

/// One whose contenders own what they work on.
pub(crate) type Contest = Turns<'static>;

impl<'a> Turns<'a> {
    /// A contest about time.
    pub(crate) fn of_times(kernel: &'static str, procs: usize) -> Self {
        Self {
            kernel,
            procs,
            unit: Unit::Microseconds,
            amount: 0,
            is_loaded: false,
            contenders: Vec::new(),
            claims: Vec::new(),
            gains: Vec::new(),
        }
    }

    /// A contest about how fast so many bytes move.
    pub fn of_rates(kernel: &'static str, procs: usize, bytes: u64) -> Self {
        Self { unit: Unit::GigabytesPerSecond, amount: bytes, ..Self::of_times(kernel, procs) }
    }

    /// A contest about how fast so many elements are dealt with.
    pub fn of_elements(kernel: &'static str, procs: usize, elements: u64) -> Self {
        Self { unit: Unit::MillionsPerSecond, amount: elements, ..Self::of_times(kernel, procs) }
    }

    /// Holds it while a foreign process keeps one core busy.
    pub(crate) fn under_load(mut self) -> Self {
        self.is_loaded = true;
        self
    }

    /// Lets a peer take part that does one iteration at a time.
    #[must_use]
    pub fn peer<E: Into<Error>>(
        mut self,
        peer: &'static str,
        variant: impl Into<String>,
        work: impl Fn() -> Result<Sample, E> + 'a,
    ) -> Self {
        let work = move |iterations: u64| {
            assert_eq!(iterations, 1, "a round of peers is one iteration");
            work().map_err(Into::into)
        };
        self.add(Side::BareThreads, variant.into(), peer, self.procs, Box::new(work));
        self
    }

    /// Lets hand-written code take part.
    pub(crate) fn raw(
        mut self,
        variant: impl Into<String>,
        work: impl FnMut(u64) -> superstep::Result<Sample> + 'a,
    ) -> Self {
        self.add(Side::BareThreads, variant.into(), "raw", self.procs, or_fails(work));
        self
    }

    /// Lets hand-written code on one thread take part.
    pub(crate) fn alone(
        mut self,
        variant: impl Into<String>,
        work: impl FnMut(u64) -> superstep::Result<Sample> + 'a,
    ) -> Self {
        self.add(Side::BareThreads, variant.into(), "raw", 1, or_fails(work));
        self
    }

    /// Lets MPI itself take part.
    pub(crate) fn by_mpi(
        mut self,
        variant: impl Into<String>,
        work: impl FnMut(u64) -> superstep::Result<Sample> + 'a,
    ) -> Self {
        self.add(Side::Mpi, variant.into(), "raw", self.procs, or_fails(work));
        self
    }

    /// Lets superstep take part.
    pub(crate) fn superstep(
        mut self,
        variant: impl Into<String>,
        options: &Options,
        work: impl FnMut(u64) -> superstep::Result<Sample> + 'a,
    ) -> Self {
        self.add(Side::Superstep, variant.into(), options.fabric_name(), self.procs, or_fails(work));
        self
    }

    fn add(&mut self, side: Side, variant: String, fabric: &'static str, procs: usize, work: Work<'a>) {
        self.contenders.push(Contender::new(side, variant, fabric, procs, work));
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

    /// Asks how much faster `variant` is than `alone`, to be shown beside what a paper says.
    pub(crate) fn speedup(
        mut self,
        variant: impl Into<String>,
        alone: impl Into<String>,
        paper: Option<Paper>,
    ) -> Self {
        self.gains.push(Gain { variant: variant.into(), alone: alone.into(), paper });
        self
    }

    /// Leaves out what would run in each of several processes at once.
    pub(crate) fn without_bare_threads(mut self) -> Self {
        self.contenders.retain(|contender| contender.side != Side::BareThreads);
        self
    }

    /// Lets superstep's contenders do one iteration each, and says what their answers come to.
    pub(crate) fn digests(self, options: &Options) -> Result<Vec<Digest>, Error> {
        let ours = self.contenders.into_iter().filter(|contender| contender.side == Side::Superstep);
        let digest = |mut contender: Contender<'_>| {
            let sample = options.agreed((contender.work)(1)?)?;
            let (kernel, variant) = (self.kernel, contender.variant);
            Ok(Digest { kernel, variant, value: sample.digest, verified: sample.verified })
        };
        ours.map(digest).collect()
    }

    /// How many rounds all contenders have together, their trials included.
    pub(crate) fn rounds(&self, each: usize) -> usize {
        self.contenders.len() * (each + 1)
    }

    /// Holds the contest, and calls `next` with what is next before each round.
    ///
    /// # Errors
    ///
    /// If a contender cannot do its work, or the load cannot be started.
    pub fn hold(mut self, options: &Options, mut next: impl FnMut(&str)) -> Result<Report, Error> {
        let load = options.load.as_ref().filter(|_| self.is_loaded);
        let _load = load.map(|start| start()).transpose().map_err(Error::Load)?;
        let (kernel, procs, start) = (self.kernel, self.procs, Instant::now());
        let mut announce = |contender: &Contender<'_>| next(&format!("{kernel}: {} on {procs}", contender.variant));
        for contender in &mut self.contenders {
            announce(contender);
            contender.calibrate(options)?;
        }
        let in_turn: f64 = self.contenders.iter().map(|contender| contender.round_seconds).sum();
        let planned = in_turn * (options.rounds + 1) as f64;
        let mut rounds = 0;
        while rounds < options.rounds
            && (rounds == 0 || planned == 0.0 || options.longest(start.elapsed().as_secs_f64())? < LATE * planned)
        {
            for contender in &mut self.contenders {
                announce(contender);
                contender.play(options)?;
            }
            rounds += 1;
        }
        Ok(self.report(rounds))
    }

    fn report(self, rounds: usize) -> Report {
        let speedups = self.gains.iter().filter_map(|gain| gain.judge(self.kernel, &self.contenders)).collect();
        let measures: Vec<Measure> = self
            .contenders
            .into_iter()
            .map(|contender| Measure {
                kernel: self.kernel,
                variant: contender.variant,
                fabric: contender.fabric,
                procs: contender.procs,
                value: self.unit.value(contender.best_seconds, self.amount),
                unit: self.unit,
                verified: contender.verified,
            })
            .collect();
        let ratios = self.claims.iter().filter_map(|claim| claim.judge(&measures)).collect();
        Report { measures, ratios, speedups, rounds }
    }
}

/// Work whose failures are those of a run.
fn or_fails<'a>(mut work: impl FnMut(u64) -> superstep::Result<Sample> + 'a) -> Work<'a> {
    Box::new(move |iterations| Ok(work(iterations)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(micros: f64, verified: bool) -> impl FnMut(u64) -> superstep::Result<Sample> {
        move |iterations| Ok(Sample::by_hand(iterations as f64 * micros * 1e-6, verified))
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
    fn a_speedup_is_what_one_thread_takes_by_what_all_take() {
        let options = Options::default();
        let contest = Contest::of_elements("test", 2, 1000)
            .alone("alone", takes(6.0, true))
            .superstep("ours", &options, takes(4.0, true))
            .speedup("ours", "alone", Some(Paper { alone_seconds: 3.0, seconds: 2.0 }));
        let report = contest.hold(&options, |_| ()).expect("nothing can fail");
        let speedup = &report.speedups[0];
        assert!((speedup.value() - 1.5).abs() < 1e-9);
        assert_eq!(speedup.paper.map(Paper::speedup), Some(1.5));
        assert_eq!(report.measures.iter().map(|measure| measure.procs).collect::<Vec<_>>(), [1, 2]);
        assert!((report.measures[1].value - 250.0).abs() < 1e-9);
    }

    #[test]
    fn without_bare_threads_what_is_measured_stands_for_itself() {
        let options = Options::default();
        let contest = Contest::of_times("test", 2)
            .raw("limit", takes(1.0, false))
            .alone("alone", takes(1.0, false))
            .superstep("ours", &options, takes(3.0, true))
            .superstep("other", &options, takes(2.0, true))
            .superstep("beside", &options, takes(1.0, true))
            .claim("ours", ["limit"], Target::AtMost(1.6))
            .claim("other", ["beside"], Target::AtMost(2.5))
            .speedup("ours", "alone", None);
        let contest = contest.without_bare_threads();
        assert_eq!(contest.rounds(2), 9);
        let report = contest.hold(&options, |_| ()).expect("nothing can fail");
        assert_eq!((report.ratios.len(), report.speedups.len(), report.is_verified()), (1, 0, true));
        assert!(report.unmatched().map(|measure| &measure.variant).eq(["ours"]));
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
