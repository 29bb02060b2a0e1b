//! Parameters for programs: one JSON object per line.

use super::Parameters;
use serde_json::json;

/// One line per number of processors.
pub(super) fn lines(found: &[Parameters]) -> String {
    let line = |of: &Parameters| {
        let points: Vec<_> =
            of.points.iter().map(|point| json!({"h": point.h, "us": point.seconds * 1e6})).collect();
        let line = json!({
            "procs": of.procs,
            "fabric": "threads",
            "r_mflops": of.r / 1e6,
            "g_ns": of.g * 1e9,
            "g_flops": of.g * of.r,
            "l_us": of.l * 1e6,
            "l_flops": of.l * of.r,
            "points": points,
            "verified": of.verified,
        });
        format!("{line}\n")
    };
    found.iter().map(line).collect()
}
