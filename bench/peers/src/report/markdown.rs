//! Tables, and the page that they stand on.

use crate::{
    PROCS,
    contest::Table,
    kernels::{KERNELS, Kernel},
    machine,
};
use superstep_bench::Measure;

/// The crates that take part.
const PEERS: [&str; 6] = ["superstep", "rayon", "rdst", "voracious_radix_sort", "sprs", "lamellar"];

/// What readers have to know to read the numbers right.
const NOTES: &str = "\
- **raw** is hand-written Rust on bare threads: the limit the others are held against. *of raw* is a rate divided by
  the best raw rate of the same table. *of the best other* is a rate of superstep divided by the best of all others.
- Inputs are made before the clock starts. A contender's memory is in place and its threads or processes have met when
  it starts; it stops when all of them are done.
- **raw**, **std** and **rayon** get memory on huge pages. **superstep** and **lamellar** make that of their arrays
  themselves, and do everything once before the clock starts, superstep on the same arrays.
- **lamellar** runs as processes of their own on its shared-memory backend, with one worker thread each and pinned to a
  core each, as its own launcher does it. It takes part where its arrays have the operation: histogram,
  gather, random-access, permute.
  It has no sort, no prefix sum, no transposition and no sparse product; written by hand on its memory they would
  measure the hand.
- In **mpi**, processes are started anew for each round, and do everything once before the clock starts as well.
- Every answer is checked, place by place, by a digest of the right one, which simple code on one thread finds.
";

fn row(table: &Table, measure: &Measure) -> String {
    let [of_raw, of_others] = [table.ratio(measure), table.ratio_to_others(measure)]
        .map(|ratio| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}")));
    let rate = match (measure.verified, measure.value) {
        (false, _) => "wrong answer".to_owned(),
        (true, rate) if rate < 10.0 => format!("{rate:.1}"),
        (true, rate) => format!("{rate:.0}"),
    };
    format!("| {} | {} | {rate} | {of_raw} | {of_others} |\n", measure.fabric, measure.variant)
}

fn section(table: &Table) -> String {
    let rows: String = table.measures.iter().map(|measure| row(table, measure)).collect();
    format!(
        "**{}**\n\n| | | {} | of raw | of the best other |\n|---|---|---:|---:|---:|\n{rows}\n",
        table.title, table.unit.name
    )
}

/// A section for each kernel with a table for each of its contests.
pub(crate) fn tables(tables: &[Table]) -> String {
    let of_kernel = |kernel: &Kernel| {
        let sections: String = tables.iter().filter(|table| table.kernel == kernel.name).map(section).collect();
        if sections.is_empty() { sections } else { format!("## {}\n\n{}\n\n{sections}", kernel.name, kernel.about) }
    };
    KERNELS.iter().map(of_kernel).collect()
}

/// The whole page.
pub(crate) fn page(found: &[Table], rounds: u32) -> String {
    let crates = PEERS.map(|name| format!("{name} {}", machine::version_of(name)));
    format!(
        "# superstep beside its peers\n\n\
         Best of {rounds} rounds that contenders take by turns, on {PROCS} processors. Made by\n\n\
         ```sh\n{}\n```\n\n\
         on {}, at commit {}.\n\n\
         - {}; {}\n- {}; {}\n\n{NOTES}\n{}\n",
        machine::command(),
        machine::date(),
        machine::commit(),
        machine::hardware(),
        machine::huge_pages(),
        crates.join(", "),
        machine::rustc(),
        tables(found).trim_end(),
    )
}
