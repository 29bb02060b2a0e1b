//! Findings for programs.

use crate::jsonl;
use std::io::{self, Write};
use superstep_bench::Report;

/// Writes every measure, the raw limits included, then every ratio, then every speed-up over one thread; those that a
/// paper reports have `paper` for a fabric.
pub(super) fn write(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for measure in &report.measures {
        let line = jsonl::line(&[
            ("kernel", measure.kernel.into()),
            ("variant", measure.variant.as_str().into()),
            ("fabric", measure.fabric.into()),
            ("procs", measure.procs.into()),
            ("value", measure.value.into()),
            ("unit", measure.unit.name().into()),
            ("verified", measure.verified.into()),
        ]);
        writeln!(out, "{line}")?;
    }
    for ratio in &report.ratios {
        let line = jsonl::line(&[
            ("kernel", ratio.kernel.into()),
            ("variant", ratio.variant.as_str().into()),
            ("fabric", ratio.fabric.into()),
            ("procs", ratio.procs.into()),
            ("ratio", "superstep/limit".into()),
            ("value", ratio.value.into()),
        ]);
        writeln!(out, "{line}")?;
    }
    for speedup in &report.speedups {
        let here = (speedup.fabric, speedup.value());
        for (fabric, value) in [here].into_iter().chain(speedup.paper.map(|paper| ("paper", paper.speedup()))) {
            let line = jsonl::line(&[
                ("kernel", speedup.kernel.into()),
                ("variant", speedup.variant.as_str().into()),
                ("fabric", fabric.into()),
                ("procs", speedup.procs.into()),
                ("ratio", "one-thread/all".into()),
                ("value", value.into()),
            ]);
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
