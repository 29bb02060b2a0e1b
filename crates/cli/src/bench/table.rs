//! Findings for people: a table per kernel.

use super::{
    columns::{Columns, number},
    speedups,
};
use crate::paint::Paint;
use std::io::{self, Write};
use superstep_bench::{Kernel, Measure, Ratio, Report};

/// The columns of a row, left to right, without colour.
struct Row {
    cells: [String; 7],
    /// Whether its target is met, if it has one.
    is_met: Option<bool>,
    is_verified: bool,
}

const HEADS: [(&str, bool); 7] = [
    ("variant", false),
    ("p", true),
    ("superstep", true),
    ("limit", true),
    ("which is", false),
    ("ratio", true),
    ("target", false),
];

fn row(ratio: &Ratio, ours: &Measure, limit: &Measure) -> Row {
    Row {
        cells: [
            ratio.variant.clone(),
            ratio.procs.to_string(),
            format!("{} {}", number(ours.value), ours.unit),
            format!("{} {}", number(limit.value), limit.unit),
            limit_name(&ratio.limit),
            format!("{:.2}", ratio.value),
            ratio.target.to_string(),
        ],
        is_met: Some(ratio.is_met()),
        is_verified: ours.verified && limit.verified,
    }
}

/// A measure that is held against nothing.
fn row_alone(ours: &Measure) -> Row {
    let none = || "-".to_owned();
    let value = format!("{} {}", number(ours.value), ours.unit);
    let cells = [ours.variant.clone(), ours.procs.to_string(), value, none(), none(), none(), none()];
    Row { cells, is_met: None, is_verified: ours.verified }
}

/// What a limit is called beside its variant: `empty/raw-epoch-flags` is `epoch flags`.
fn limit_name(variant: &str) -> String {
    let name = variant.rsplit('/').next().unwrap_or(variant);
    name.trim_start_matches("raw-").replace('-', " ")
}

/// Writes the table of a kernel.
pub(super) fn write(out: &mut impl Write, kernel: &Kernel, report: &Report, paint: Paint) -> io::Result<()> {
    let held = report.ratios.iter().filter_map(|ratio| report.sides(ratio).map(|sides| (ratio, sides)));
    let mut rows: Vec<Row> = held.map(|(ratio, (ours, limit))| row(ratio, ours, limit)).collect();
    rows.extend(report.unmatched().map(row_alone));
    writeln!(out, "\n{}: {}\n", paint.bold(kernel.name), kernel.about)?;
    write_rows(out, &rows, paint)?;
    speedups::write(out, &report.speedups, paint)?;
    out.flush()
}

/// Writes how many targets were met, and whether all answers are right. `asked` is how many rounds there should have
/// been.
pub(super) fn write_end(out: &mut impl Write, report: &Report, asked: usize, paint: Paint) -> io::Result<()> {
    let targets = match (report.ratios.len(), report.ratios.iter().filter(|ratio| ratio.is_met()).count()) {
        (0, _) => "no targets".to_owned(),
        (all, met) => format!("{met} of {all} targets met"),
    };
    if report.unmatched().next().is_some() {
        let why = "No limit: the same by hand is on threads of one process, and takes no part under MPI.";
        writeln!(out, "\n{}", paint.faint(why))?;
    }
    let answers = match report.measures.iter().filter(|measure| !measure.verified).count() {
        0 => "every answer is right".to_owned(),
        wrong => format!("{wrong} of {} have WRONG ANSWERS", report.measures.len()),
    };
    let best = match report.rounds {
        rounds if rounds < asked => format!("Best of {rounds} to {asked} rounds by turns, for the machine is busy"),
        1 => "One round".to_owned(),
        rounds => format!("Best of {rounds} rounds by turns"),
    };
    writeln!(out, "\n{best}; {targets}; {answers}.")
}

fn write_rows(out: &mut impl Write, rows: &[Row], paint: Paint) -> io::Result<()> {
    let columns = Columns::new(HEADS, rows.iter().map(|row| &row.cells));
    writeln!(out, "  {}", paint.faint(&columns.head()))?;
    for row in rows {
        let met = match row.is_met {
            Some(true) => paint.good("✓ met   "),
            Some(false) => paint.bad("✗ missed"),
            None => paint.faint("no limit"),
        };
        let verified = if row.is_verified { paint.faint("verified") } else { paint.bad("WRONG") };
        writeln!(out, "  {}  {met}  {verified}", columns.line(&row.cells))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_named_without_its_variant() {
        assert_eq!(limit_name("empty/raw-epoch-flags"), "epoch flags");
        assert_eq!(limit_name("empty-beside-traffic"), "empty beside traffic");
    }
}
