//! Parameters for programs.

use super::parameters::Parameters;
use crate::jsonl;
use serde_json::json;
use superstep::Fabric;

/// One line per number of processors.
pub(super) fn lines(found: &[Parameters], fabric: Fabric) -> String {
    let fabric = match fabric {
        Fabric::Mpi { threads: 1 } => "mpi",
        Fabric::Mpi { .. } => "mixed",
        Fabric::Procs => "procs",
        _ => "threads",
    };
    let line = |of: &Parameters| {
        let points: Vec<_> = of.points.iter().map(|point| json!({"h": point.h, "us": point.seconds * 1e6})).collect();
        let line = jsonl::line(&[
            ("procs", of.procs.into()),
            ("fabric", fabric.into()),
            ("r_mflops", (of.r / 1e6).into()),
            ("g_ns", (of.g * 1e9).into()),
            ("g_flops", (of.g * of.r).into()),
            ("l_us", (of.l * 1e6).into()),
            ("l_flops", (of.l * of.r).into()),
            ("verified", of.verified.into()),
            ("points", points.into()),
        ]);
        format!("{line}\n")
    };
    found.iter().map(line).collect()
}
