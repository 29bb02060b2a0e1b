//! What is expected of contenders, and how they are judged.

use crate::{
    contender::Contender,
    report::{Measure, Paper, Ratio, Speedup, Target},
};

/// What a variant should reach, compared with the best of its limits.
pub(crate) struct Claim {
    pub(crate) variant: String,
    pub(crate) limits: Vec<String>,
    pub(crate) target: Target,
}

impl Claim {
    /// The quotient that it is about, if both of its sides took part.
    pub(crate) fn judge(&self, measures: &[Measure]) -> Option<Ratio> {
        let ours = measures.iter().find(|measure| measure.variant == self.variant)?;
        let limits = measures.iter().filter(|measure| self.limits.contains(&measure.variant));
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
            target: self.target,
        })
    }
}

/// How much faster than on one processor a variant is, to be shown beside what a paper says.
pub(crate) struct Gain {
    pub(crate) variant: String,
    pub(crate) alone: String,
    pub(crate) paper: Option<Paper>,
}

impl Gain {
    /// The speedup, if both took part.
    pub(crate) fn judge(&self, kernel: &'static str, contenders: &[Contender<'_>]) -> Option<Speedup> {
        let find = |variant: &String| contenders.iter().find(|contender| contender.variant == *variant);
        let (ours, alone) = find(&self.variant).zip(find(&self.alone))?;
        Some(Speedup {
            kernel,
            variant: ours.variant.clone(),
            fabric: ours.fabric,
            procs: ours.procs,
            alone_seconds: alone.best_seconds,
            seconds: ours.best_seconds,
            paper: self.paper,
        })
    }
}
