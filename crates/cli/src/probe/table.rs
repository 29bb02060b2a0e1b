//! Parameters for people.

use super::parameters::Parameters;
use crate::place::Place;
use std::io::{self, Write};
use superstep::Fabric;

/// What the parameters are of. Under MPI that may be several machines, and a launcher may bind each process to a core.
fn whose(place: &Place) -> String {
    let cores = superstep::cores();
    let on = if place.fabric == Fabric::Procs { "processes" } else { "threads" };
    match place.threads() {
        None if cores == 1 => format!("of this machine, 1 core, on {on}"),
        None => format!("of this machine, {cores} cores, on {on}"),
        Some(1) => "under MPI, of processes of one thread".to_owned(),
        Some(threads) => format!("under MPI, of processes of {threads} threads"),
    }
}

/// Writes one line per number of processors, and what the columns mean.
pub(super) fn write(out: &mut impl Write, found: &[Parameters], rounds: usize, place: &Place) -> io::Result<()> {
    let paint = place.paint();
    writeln!(out, "\n{} {}\n", paint.bold("BSP parameters"), whose(place))?;
    let heads = format!(
        "{:>5} {:>11} {:>11} {:>11} {:>11} {:>11}",
        "p", "r MFLOP/s", "g ns/word", "g flops", "l µs", "l flops"
    );
    writeln!(out, "{}", paint.faint(&heads))?;
    for of in found {
        let (g, l) = (of.g * 1e9, of.l * 1e6);
        let wrong = if of.verified { String::new() } else { paint.bad("  WRONG") };
        writeln!(
            out,
            "{:>5} {:>11.0} {g:>11.2} {:>11.1} {l:>11.2} {:>11.0}{wrong}",
            of.procs,
            of.r / 1e6,
            of.g * of.r,
            of.l * of.r,
        )?;
    }
    if let Some((init, more)) = place.start_up() {
        let (init, more) = (init.as_secs_f64() * 1e3, more.as_secs_f64() * 1e3);
        writeln!(out, "\nStarting took {init:.0} ms in MPI_Init and {more:.1} ms more.")?;
    }
    let plural = if rounds == 1 { "" } else { "s" };
    writeln!(
        out,
        "\nr: operations of one processor while all compute. g: per word of 8 bytes in a total exchange by put.\n\
         l: an empty step. A step takes about w/r + g h + l. Best of {rounds} round{plural}."
    )
}
