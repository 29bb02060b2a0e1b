//! How much faster than one thread, beside what a paper says.

use super::columns::{Columns, number};
use crate::paint::Paint;
use std::io::{self, Write};
use superstep_bench::Speedup;

const HEADS: [(&str, bool); 8] = [
    ("speed-up over one thread", false),
    ("p", true),
    ("one thread", true),
    ("superstep", true),
    ("speed-up", true),
    ("paper: seq", true),
    ("paper: p", true),
    ("speed-up", true),
];

fn row(speedup: &Speedup) -> [String; 8] {
    let paper = speedup.paper.map_or_else(
        || [const { String::new() }; 3],
        |paper| [seconds(paper.alone_seconds), seconds(paper.seconds), format!("{:.2}", paper.speedup())],
    );
    let [paper_alone, paper_all, paper_speedup] = paper;
    [
        speedup.variant.clone(),
        speedup.procs.to_string(),
        seconds(speedup.alone_seconds),
        seconds(speedup.seconds),
        format!("{:.2}", speedup.value()),
        paper_alone,
        paper_all,
        paper_speedup,
    ]
}

/// A time in the unit that suits it.
fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 0.1 => format!("{} s", number(seconds)),
        _ if seconds >= 1e-3 => format!("{} ms", number(seconds * 1e3)),
        _ => format!("{} µs", number(seconds * 1e6)),
    }
}

/// Writes a table, if there is anything to tell.
pub(super) fn write(out: &mut impl Write, speedups: &[Speedup], paint: Paint) -> io::Result<()> {
    if speedups.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = speedups.iter().map(row).collect();
    let columns = Columns::new(HEADS, &rows);
    writeln!(out, "\n  {}", paint.faint(&columns.head()))?;
    for row in &rows {
        writeln!(out, "  {}", columns.line(row).trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        assert_eq!([7.9, 0.0123, 4.5e-5].map(seconds), ["7.90 s", "12.3 ms", "45.0 µs"]);
    }
}
