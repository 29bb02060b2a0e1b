//! Findings for programs: one JSON object per line.

use serde_json::json;
use std::io::{self, Write};
use superstep_bench::Report;

/// Writes every measure, the raw limits included, then every ratio.
pub(super) fn write(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for measure in &report.measures {
        let line = json!({
            "kernel": measure.kernel,
            "variant": measure.variant,
            "fabric": measure.fabric,
            "procs": measure.procs,
            "value": measure.value,
            "unit": measure.unit.name(),
            "verified": measure.verified,
        });
        writeln!(out, "{line}")?;
    }
    for ratio in &report.ratios {
        let line = json!({
            "kernel": ratio.kernel,
            "variant": ratio.variant,
            "fabric": ratio.fabric,
            "procs": ratio.procs,
            "ratio": "superstep/limit",
            "value": ratio.value,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
