//! Parameters for people.

use super::Parameters;
use crate::paint::Paint;
use std::io::{self, Write};

/// Writes one line per number of processors, and what the columns mean.
pub(super) fn write(out: &mut impl Write, found: &[Parameters], rounds: usize, paint: Paint) -> io::Result<()> {
    let cores = superstep::cores();
    let plural = if cores == 1 { "" } else { "s" };
    writeln!(out, "\n{} of this machine, {cores} core{plural}, on threads\n", paint.bold("BSP parameters"))?;
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
    let plural = if rounds == 1 { "" } else { "s" };
    writeln!(
        out,
        "\nr: operations of one processor while all compute. g: per word of 8 bytes in a total exchange by put.\n\
         l: an empty step. A step takes about w/r + g h + l. Best of {rounds} round{plural}."
    )
}
