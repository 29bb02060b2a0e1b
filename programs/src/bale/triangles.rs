//! Triangles of a random graph are counted, and counted again in another way.
//!
//! The graph lies as a lower triangle: row i has the neighbours of i that are smaller. A triangle is an element (i, j)
//! and something that rows i and j both have. Rows lie in blocks, so most rows j are elsewhere, and there are two ways:
//!
//! - **pull**: all rows that are needed here are brought here, each once, and compared. 2 supersteps for each batch of
//!   rows; h is the rows that are asked for, at most all of those below.
//! - **push**: of each two elements (i, j) and (i, k) of a row, with k < j, the owner of row j is asked whether it has
//!   k. One superstep for each batch, and h is one word for each pair: d² / 6 n / p for n rows of up to d elements.
//!
//! Pulling is what is measured, pushing is the check: it shares nothing with it but the graph.

use crate::{
    Summary, Trouble,
    asked::{at_least_one, below_32_bits},
    parts::clocked,
    random::Random,
};
use superstep::{Array, Block, Group, Sum};

/// How large a graph, and which one.
#[derive(Clone, Debug, clap::Args)]
pub struct Triangles {
    /// How many vertices the graph has.
    #[arg(long, default_value_t = 50_000, value_parser = below_32_bits)]
    pub vertices: usize,
    /// How many neighbours each has, about.
    #[arg(long, default_value_t = 64, value_parser = at_least_one)]
    pub degree: usize,
    /// Which random numbers say whom.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// So many rows are compared with one step.
const ROWS: usize = 1 << 14;
/// So many pairs are asked about with one step.
const PAIRS: usize = 1 << 20;

/// The rows that lie here.
struct Rows {
    first: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
}

impl Rows {
    /// Draws them: of `degree` vertices each row has those that are smaller.
    fn new(asked: &Triangles, first: usize, count: usize) -> Self {
        let mut rows = Self { first, starts: vec![0], columns: Vec::new() };
        let mut drawn = Vec::new();
        for row in first..first + count {
            let mut random = Random::new(asked.seed).skip(row.wrapping_mul(asked.degree));
            drawn.clear();
            drawn.extend((0..asked.degree).map(|_| random.below(asked.vertices)).filter(|&column| column < row));
            drawn.sort_unstable();
            drawn.dedup();
            rows.columns.extend(drawn.iter().map(|&column| column as u32));
            rows.starts.push(rows.columns.len());
        }
        rows
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// A row, by its place among those here.
    fn row(&self, at: usize) -> &[u32] {
        &self.columns[self.starts[at]..self.starts[at + 1]]
    }

    /// A row, by its number.
    fn numbered(&self, row: u32) -> &[u32] {
        self.row(row as usize - self.first)
    }
}

pub(super) fn run(g: &mut Group, asked: &Triangles) -> Result<Summary, Trouble> {
    let owners = g.try_array::<u8, Block>(asked.vertices)?;
    let rows = Rows::new(asked, owners.global(0).unwrap_or(0), owners.local().len());
    let edges = rows.columns.len();
    let edges = g.step(|s| s.reduce(edges, Sum));
    let (seconds, triangles) = clocked(g, |g| pulled(g, &rows, &owners));
    let pushed = pushed(g, &rows, &owners);
    Ok(Summary::new("bale triangles", seconds)
        .with("vertices", asked.vertices)
        .with("edges", edges)
        .with("triangles", triangles)
        .rate(edges as f64 / seconds / 1e6, "million edges/s")
        .checked(triangles == pushed))
}

/// Counts by bringing rows here.
fn pulled(g: &mut Group, rows: &Rows, owners: &Array<u8, Block>) -> u64 {
    let mut triangles = 0u64;
    // Where a row that was brought begins; which row has this column, last of all.
    let mut places = vec![0usize; owners.len()];
    let mut marks = vec![u32::MAX; owners.len()];
    // Nobody has more rows than rank 0.
    for number in 0..owners.len_of(0).div_ceil(ROWS) {
        let batch = (number * ROWS).min(rows.count())..((number + 1) * ROWS).min(rows.count());
        let mut needed = rows.columns[rows.starts[batch.start]..rows.starts[batch.end]].to_vec();
        needed.sort_unstable();
        needed.dedup();
        // Owners have rows in blocks, so what is asked of each is a run.
        let asked: Vec<&[u32]> = (0..g.size())
            .map(|rank| {
                let of = |end: usize| needed.partition_point(|&row| owners.owner(row as usize) < end);
                &needed[of(rank)..of(rank + 1)]
            })
            .collect();
        let asked = g.step(|s| s.exchange_slices(&asked));
        // Each answer is the rows one after another, their lengths first.
        let answers: Vec<Vec<u32>> = asked
            .iter()
            .map(|asked| {
                let mut answer: Vec<u32> = asked.iter().map(|&row| rows.numbered(row).len() as u32).collect();
                answer.extend(asked.iter().flat_map(|&row| rows.numbered(row)));
                answer
            })
            .collect();
        let brought = g.step(|s| s.exchange(answers));
        let (mut columns, mut lens) = (Vec::new(), Vec::with_capacity(needed.len()));
        let mut next = needed.iter().map(|&row| owners.owner(row as usize)).peekable();
        for (rank, answer) in brought.iter().enumerate() {
            let count = std::iter::from_fn(|| next.next_if_eq(&rank)).count();
            lens.extend_from_slice(&answer[..count]);
            columns.extend_from_slice(&answer[count..]);
        }
        let mut end = 0;
        let mut ends = Vec::with_capacity(needed.len());
        for (at, &row) in needed.iter().enumerate() {
            places[row as usize] = at;
            end += lens[at] as usize;
            ends.push(end);
        }
        for at in batch {
            let (number, row) = ((rows.first + at) as u32, rows.row(at));
            for &column in row {
                marks[column as usize] = number;
            }
            for &other in row {
                let place = places[other as usize];
                let other = &columns[ends[place] - lens[place] as usize..ends[place]];
                triangles += other.iter().filter(|&&column| marks[column as usize] == number).count() as u64;
            }
        }
    }
    g.step(|s| s.reduce(triangles, Sum))
}

/// Counts by asking owners of rows.
fn pushed(g: &mut Group, rows: &Rows, owners: &Array<u8, Block>) -> u64 {
    let (mut triangles, mut at) = (0u64, 0);
    loop {
        let mut outgoing = vec![Vec::new(); g.size()];
        let mut pairs = 0;
        while at < rows.count() && pairs < PAIRS {
            let row = rows.row(at);
            for (count, &middle) in row.iter().enumerate() {
                let questions = &mut outgoing[owners.owner(middle as usize)];
                questions.extend(row[..count].iter().map(|&low| [middle, low]));
                pairs += count;
            }
            at += 1;
        }
        let left = rows.count() - at;
        let slices: Vec<&[[u32; 2]]> = outgoing.iter().map(Vec::as_slice).collect();
        let (asked, left) = g.step(|s| (s.exchange_slices(&slices), s.reduce(left, Sum)));
        let has = |&&[row, column]: &&[u32; 2]| rows.numbered(row).binary_search(&column).is_ok();
        triangles += asked.iter().flatten().filter(has).count() as u64;
        if left == 0 {
            return g.step(|s| s.reduce(triangles, Sum));
        }
    }
}
