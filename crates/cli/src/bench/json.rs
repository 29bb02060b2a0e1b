//! Findings for programs.

use crate::jsonl;
use std::io::{self, Write};
use superstep_bench::Report;

/// Writes every measure, the raw limits included, then every ratio.
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
    Ok(())
}
