//! One JSON object per contender.

use crate::contest::Table;
use serde_json::json;
use superstep_bench::Measure;

/// A line for each contender of each table.
pub(crate) fn lines(tables: &[Table], rounds: u32) -> String {
    let lines = tables.iter().flat_map(|table| table.measures.iter().map(move |measure| line(table, measure, rounds)));
    lines.collect()
}

fn line(table: &Table, measure: &Measure, rounds: u32) -> String {
    let object = json!({
        "kernel": table.kernel,
        "title": table.title,
        "peer": measure.fabric,
        "variant": measure.variant,
        "rate": measure.value,
        "unit": table.unit.name,
        "seconds": table.seconds(measure),
        "of_raw": table.ratio(measure),
        "of_others": table.ratio_to_others(measure),
        "verified": measure.verified,
        "rounds": rounds,
    });
    format!("{object}\n")
}
