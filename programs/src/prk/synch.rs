//! Synch: a wave runs over a grid, in which each point needs those before it in both directions.
//!
//! `a[i][j] = a[i - 1][j] + a[i][j - 1] - a[i - 1][j - 1]`, with `a[i][0] = i` and `a[0][j] = j`. When the last point
//! is known, the first one becomes minus it, so that iterations wait for each other.
//!
//! Columns lie in blocks, and rows are taken in groups of b: when the first processor has done the first group it puts
//! its last column to the second one, and does the second group while that one does the first. So a pipeline fills: m /
//! b + p - 1 supersteps for m rows, each of b n / p points and h = b words. Small groups fill it soon, large ones pay
//! fewer boundaries; with 2 p b n / p for the filling and m / b l for the boundaries, b = √(m l / 2 n) operations is
//! best. The check is the suite's: the last point is known.

use super::{EPSILON, timed};
use crate::{Summary, Trouble, asked::at_least_one, parts::part};
use std::ops::Range;
use superstep::{Area, Group, Sum};

/// How large a grid, how many rows at a time, and how often.
#[derive(Clone, Debug, clap::Args)]
pub struct Synch {
    /// How many rows the grid has; two are the least.
    #[arg(long, default_value_t = 2000, value_parser = at_least_one)]
    pub rows: usize,
    /// How many columns it has; two are the least.
    #[arg(long, default_value_t = 2000, value_parser = at_least_one)]
    pub columns: usize,
    /// How many rows a processor does before the next one gets them.
    #[arg(long, default_value_t = 16, value_parser = at_least_one)]
    pub group: usize,
    /// How often the wave runs.
    #[arg(long, default_value_t = 50, value_parser = at_least_one)]
    pub iterations: usize,
}

/// The columns of one processor, row by row.
struct Columns {
    first: usize,
    width: usize,
    values: Vec<f64>,
}

impl Columns {
    fn new(columns: Range<usize>, rows: usize) -> Self {
        let (first, width) = (columns.start, columns.len());
        let mut values = vec![0.0; rows * width];
        for (j, x) in columns.clone().zip(&mut values) {
            *x = j as f64;
        }
        if first == 0 && width > 0 {
            (0..rows).for_each(|i| values[i * width] = i as f64);
        }
        Self { first, width, values }
    }

    /// Does some rows; `left` is the column before these.
    fn run(&mut self, rows: Range<usize>, left: &[f64]) {
        let width = self.width;
        for i in rows.start.max(1)..rows.end {
            let (before, row) = self.values[(i - 1) * width..(i + 1) * width].split_at_mut(width);
            // The first column of all stays as it is.
            let start = usize::from(self.first == 0);
            let (mut west, mut corner) = if start == 0 { (left[i], left[i - 1]) } else { (row[0], before[0]) };
            for (x, &north) in row[start..].iter_mut().zip(&before[start..]) {
                *x = north + west - corner;
                (west, corner) = (*x, north);
            }
        }
    }

    /// The last column of some rows.
    fn edge(&self, rows: Range<usize>) -> Vec<f64> {
        rows.map(|i| self.values[(i + 1) * self.width - 1]).collect()
    }
}

pub(super) fn run(g: &mut Group, asked: &Synch) -> Result<Summary, Trouble> {
    let (m, n) = (asked.rows, asked.columns);
    if m.min(n) < 2 {
        return Err(format!("a wave needs two rows and two columns, and not {m} and {n}").into());
    }
    // Whoever has no column is behind all that have one.
    let workers = n.min(g.size());
    let mine = if g.rank() < workers { part(n, g.rank(), workers) } else { n..n };
    let cells = m.checked_mul(mine.len()).filter(|&cells| Vec::<f64>::new().try_reserve(cells).is_ok());
    g.try_step(|s| s.agree(cells.ok_or_else(|| format!("there is no memory for {m} rows of {n} columns"))))?;
    let left = g.try_area::<f64>(m)?;
    let corner = g.area::<f64>(1);
    let mut columns = Columns::new(mine, m);
    let seconds = timed(g, asked.iterations, |g| iterate(g, asked.group, workers, &mut columns, (&left, &corner)));
    // The first processor has the last point, with its sign turned.
    let found = -g.step(|s| s.reduce(if s.rank() == 0 { corner.local()[0] } else { 0.0 }, Sum));
    let expected = (asked.iterations + 1) as f64 * (m + n - 2) as f64;
    Ok(Summary::new("prk synch", seconds * asked.iterations as f64)
        .with("rows", m)
        .with("columns", n)
        .with("iterations", asked.iterations)
        .with("corner", found)
        .with("reference", expected)
        .rate(2.0 * (m - 1) as f64 * (n - 1) as f64 / seconds / 1e6, "MFlops/s")
        .checked(((found - expected) / expected).abs() <= EPSILON))
}

fn iterate(
    g: &mut Group,
    group: usize,
    workers: usize,
    columns: &mut Columns,
    (left, corner): (&Area<f64>, &Area<f64>),
) {
    let (me, rows) = (g.rank(), left.len());
    let groups = rows.div_ceil(group);
    if me == 0 {
        columns.values[0] = corner.local()[0];
    }
    for turn in 0..groups + workers - 1 {
        g.step(|s| {
            let Some(number) = turn.checked_sub(me).filter(|&number| number < groups && me < workers) else { return };
            let band = number * group..(number * group).saturating_add(group).min(rows);
            columns.run(band.clone(), &left.local());
            if me + 1 < workers {
                s.put(me + 1, &columns.edge(band.clone()), left, band.start);
            } else if band.end == rows {
                s.put(0, &[-columns.edge(rows - 1..rows)[0]], corner, 0);
            }
        });
    }
}
