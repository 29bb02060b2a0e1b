//! Two tables are joined, and the rows that come of it grouped and added up.
//!
//! As in `SELECT name, COUNT(*), SUM(amount) FROM sales JOIN customers USING (key) GROUP BY name`: sales have a key and
//! an amount, customers a key and the name of their group. Rows lie anywhere.
//!
//! - `join_vec` sorts both tables by key, so that rows with the same key meet: 4 supersteps, in which all rows travel
//!   once, h = n / p. Each pair is handed to a function, which adds up by name at once: there are few names.
//! - `group_by_key_vec` brings the sums of each name together: 3 supersteps, and h is the names that each has.
//!
//! The check does the same by hashes and without the library's algorithms: rows are sent to the owner of their key, and
//! every row of the left counts as often as there are rows on the right.

use crate::{
    Summary, Trouble,
    asked::at_least_one,
    parts::{clocked, part},
    random::{Random, mix},
};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use superstep::{
    Group, Sum,
    algorithms::{group_by_key_vec, join_vec},
    files::Lines,
    operators::Each,
};

/// Which tables.
#[derive(Clone, Debug, clap::Args)]
pub struct Join {
    /// A file with the line `key,amount` first, and a row of two whole numbers on each further line; else rows are
    /// drawn.
    #[arg(long, requires = "right")]
    pub left: Option<PathBuf>,
    /// A file with the line `key,name` first, and a row of a whole number and a text on each further line.
    #[arg(long, requires = "left")]
    pub right: Option<PathBuf>,
    /// How many rows are drawn on the left.
    #[arg(long, default_value_t = 2_000_000)]
    pub rows: usize,
    /// How many rows are drawn on the right.
    #[arg(long, default_value_t = 200_000, value_parser = at_least_one)]
    pub keys: usize,
    /// How many names there are on the right.
    #[arg(long, default_value_t = 100, value_parser = at_least_one)]
    pub names: usize,
    /// Which rows are drawn.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many of the names with the highest sums are told.
    #[arg(long, default_value_t = 5)]
    pub top: usize,
}

/// Keys, and a value for each.
type Table<V> = (Vec<i64>, Vec<V>);

pub(super) fn run(g: &mut Group, asked: &Join) -> Result<Summary, Trouble> {
    let (left, right) = match (&asked.left, &asked.right) {
        (Some(left), Some(right)) => (read(g, left, whole)?, read(g, right, name)?),
        _ => drawn(g, asked),
    };
    let rows = [left.0.len(), right.0.len()];
    let expected = by_hand(g, &left, &right.0);
    let (seconds, (names, sums)) = clocked(g, |g| {
        let mut by_name = FxHashMap::<String, (u64, i128)>::default();
        join_vec(g, left, right, |_, &amount, name| {
            let (count, sum) = match by_name.get_mut(name) {
                Some(sums) => sums,
                None => by_name.entry(name.clone()).or_default(),
            };
            *count += 1;
            *sum += i128::from(amount);
        });
        let (names, sums) = by_name.into_iter().unzip();
        group_by_key_vec(g, names, sums, |sums: &mut (u64, i128), more: &(u64, i128)| {
            *sums = (sums.0 + more.0, sums.1 + more.1);
        })
    });
    let count: u64 = sums.iter().map(|sums| sums.0).sum();
    let sum: i128 = sums.iter().map(|sums| sums.1).sum();
    let groups = names.len();
    let best = first(names.into_iter().zip(sums).map(|(name, sums)| (name, sums.1)).collect(), asked.top);
    let (rows, count, sum, groups, best) = g.step(|s| {
        let totals = (s.reduce(rows.to_vec(), Each(Sum)), s.reduce(count, Sum), s.reduce(sum, Sum));
        (totals.0, totals.1, totals.2, s.reduce(groups, Sum), s.collect(best))
    });
    Ok(Summary::new("data join", seconds)
        .with("left", rows[0])
        .with("right", rows[1])
        .with("joined", count)
        .with("groups", groups)
        .with("sum", sum)
        .with("top", first(best.concat(), asked.top))
        .rate((rows[0] + rows[1]) as f64 / seconds / 1e6, "million rows/s")
        .checked((count, sum) == expected))
}

/// The names with the highest sums, in order; those with the same sum in the order of their letters.
fn first(mut all: Vec<(String, i128)>, top: usize) -> Vec<(String, i128)> {
    all.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(top);
    all
}

/// How many rows a join has, and what their amounts add up to.
fn by_hand(g: &mut Group, left: &Table<i64>, right: &[i64]) -> (u64, i128) {
    let size = g.size();
    let owner = |key: i64| ((u128::from(mix(key as u64)) * size as u128) >> 64) as usize;
    let (mut rows, mut keys) = (vec![Vec::new(); size], vec![Vec::new(); size]);
    for (&key, &amount) in left.0.iter().zip(&left.1) {
        rows[owner(key)].extend([key, amount]);
    }
    for &key in right {
        keys[owner(key)].push(key);
    }
    let (rows, keys) = g.step(|s| (s.exchange(rows), s.exchange(keys)));
    let mut counts = FxHashMap::<i64, u64>::default();
    keys.iter().flatten().for_each(|&key| *counts.entry(key).or_default() += 1);
    let (mut count, mut sum) = (0, 0);
    for row in rows.iter().flat_map(|rows| rows.chunks_exact(2)) {
        let matches = counts.get(&row[0]).copied().unwrap_or(0);
        count += matches;
        sum += i128::from(row[1]) * i128::from(matches);
    }
    g.step(|s| (s.reduce(count, Sum), s.reduce(sum, Sum)))
}

/// Draws this processor's rows of both tables. One key of five on the left has no row on the right, but by chance.
fn drawn(g: &Group, asked: &Join) -> (Table<i64>, Table<String>) {
    let rows = part(asked.rows, g.rank(), g.size());
    let mut random = Random::new(asked.seed).skip(rows.start.wrapping_mul(2));
    let left = rows.map(|_| (random.below(asked.keys + asked.keys / 4) as i64, random.below(2001) as i64 - 1000));
    let left = left.unzip();
    let keys = part(asked.keys, g.rank(), g.size());
    let mut random = Random::new(!asked.seed).skip(keys.start.wrapping_mul(2));
    let right = keys.map(|_| (random.below(asked.keys) as i64, format!("name-{}", random.below(asked.names))));
    (left, right.unzip())
}

/// Reads this processor's rows of a table. Collective.
fn read<V: 'static>(
    g: &mut Group,
    path: &Path,
    value: impl Fn(&[u8]) -> Result<V, &'static str>,
) -> Result<Table<V>, Trouble> {
    let lines = g.read_lines(path)?;
    let table = parsed(&lines, value).map_err(|(line, what)| format!("{}: line {line}: {what}", path.display()));
    Ok(g.try_step(|s| s.agree(table))?)
}

/// The rows of some lines; or which of them is wrong, and why.
fn parsed<V>(lines: &Lines, value: impl Fn(&[u8]) -> Result<V, &'static str>) -> Result<Table<V>, (u64, &'static str)> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (number, line) in (lines.first_number()..).zip(lines) {
        let line = line.trim_ascii();
        // The first line has the names of the columns.
        if number == 1 || line.is_empty() {
            continue;
        }
        let row = || {
            let comma = line.iter().position(|&byte| byte == b',').ok_or("there is no comma")?;
            Ok((whole(&line[..comma])?, value(&line[comma + 1..])?))
        };
        let (key, value) = row().map_err(|what| (number, what))?;
        keys.push(key);
        values.push(value);
    }
    Ok((keys, values))
}

fn whole(text: &[u8]) -> Result<i64, &'static str> {
    let text = std::str::from_utf8(text).ok();
    text.and_then(|text| text.trim().parse().ok()).ok_or("there is no whole number of 64 bits where one belongs")
}

fn name(text: &[u8]) -> Result<String, &'static str> {
    if text.iter().any(|byte| b"\",".contains(byte)) {
        return Err("a row has two columns, and quotes are not understood");
    }
    String::from_utf8(text.to_vec()).map_err(|_| "the text is no UTF-8")
}
