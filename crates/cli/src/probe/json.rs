//! Parameters for programs.

use super::Parameters;
use crate::jsonl;
use serde_json::json;

/// One line per number of processors; `threads` is how many each process has under MPI.
pub(super) fn lines(found: &[Parameters], threads: Option<usize>) -> String {
    let fabric = match threads {
        None => "threads",
        Some(1) => "mpi",
        Some(_) => "mixed",
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
