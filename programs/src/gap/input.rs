//! Where graphs come from: they are drawn, or read from files.

use super::{
    graph::{Edge, Graph, NONE, Weighted},
    options::{Kind, Options},
    random::{Shuffle, drawn_for},
};
use crate::{Trouble, random::Random};
use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};
use superstep::{Any, Block, Group, Min, Or, sparse::Sparse};

/// Of a million edges so many fall into each quarter of the matrix but the last.
const QUARTERS: [u64; 3] = [570_000, 190_000, 190_000];
/// Lengths of edges that have none run from 1 to this.
const LONGEST: usize = 255;
/// Of the first line of a file so much is read.
const FIRST_LINE: u64 = 1 << 10;

/// What one processor has of the edges of a graph.
struct Edges {
    vertices: usize,
    list: Vec<Edge>,
    /// One for each edge, if edges have lengths.
    lengths: Option<Vec<u32>>,
    /// Whether an edge stands for both directions.
    are_both: bool,
}

/// The graph that the options ask for. Collective.
pub(super) fn graph(g: &mut Group, options: &Options, are_both: bool) -> Result<Graph, Trouble> {
    let edges = edges(g, options, false)?;
    Ok(if edges.are_both || are_both {
        Graph::undirected(g, edges.vertices, &edges.list)
    } else {
        Graph::directed(g, edges.vertices, &edges.list)
    })
}

/// The graph that the options ask for, with a length for each edge. Collective.
pub(super) fn weighted(g: &mut Group, options: &Options) -> Result<Weighted, Trouble> {
    let Edges { vertices, list, lengths, are_both } = edges(g, options, true)?;
    let lengths = lengths.unwrap_or_else(|| list.iter().map(|edge| length(options.seed, edge)).collect());
    let one_way = list.iter().zip(&lengths).map(|(&(a, b), &length)| (a, b, length));
    let edges: Vec<(usize, usize, u32)> = if are_both {
        one_way.flat_map(|(a, b, length)| [(a, b, length), (b, a, length)]).collect()
    } else {
        one_way.collect()
    };
    Ok(Weighted::new(g, vertices, &edges))
}

/// The length of an edge that has none: drawn by a seed, and the same in both directions.
///
/// ```
/// use superstep_programs::gap::length;
///
/// assert!(length(1, &(3, 5)) == length(1, &(5, 3)) && (1..=255).contains(&length(2, &(3, 5))));
/// ```
pub fn length(seed: u64, &(a, b): &(usize, usize)) -> u32 {
    let ends = (a.min(b) as u64) << 32 | a.max(b) as u64;
    drawn_for(seed, ends).below(LONGEST) as u32 + 1
}

fn edges(g: &mut Group, options: &Options, with_lengths: bool) -> Result<Edges, Trouble> {
    let mut edges = if let Some(path) = &options.file {
        read(g, path, with_lengths)?
    } else {
        let list = drawn(options, g.rank(), g.size());
        Edges { vertices: 1 << options.scale, list, lengths: None, are_both: true }
    };
    if edges.vertices == 0 {
        return Err(Trouble::from("the graph has no vertices"));
    }
    if edges.vertices >= NONE as usize {
        let count = edges.vertices;
        return Err(Trouble::from(format!("the graph has {count} vertices; there is room for less than {NONE}")));
    }
    edges.are_both |= options.symmetrize;
    Ok(edges)
}

/// One of so many parts of the edges of a graph that is drawn. Each edge depends on the seed and on its number alone,
/// so the graph is the same in any number of parts. Each edge stands for both directions.
///
/// ```
/// use superstep_programs::gap::{Kernel, Options, drawn};
///
/// let options = Options { scale: 5, ..Options::new(Kernel::Bfs) };
/// let parts = [drawn(&options, 0, 2), drawn(&options, 1, 2)];
/// assert_eq!(parts.concat(), drawn(&options, 0, 1));
/// ```
pub fn drawn(options: &Options, part: usize, parts: usize) -> Vec<(usize, usize)> {
    let (vertices, count) = (1usize << options.scale, options.degree << options.scale);
    let start = |part: usize| count / parts * part + (count % parts).min(part);
    let names = Shuffle::new(options.scale, options.seed);
    let draw = |number: usize| {
        let mut random = drawn_for(options.seed, number as u64);
        match options.kind {
            Kind::Uniform => (random.below(vertices), random.below(vertices)),
            Kind::Kron => {
                let (a, b) = kronecker(&mut random, options.scale);
                (names.place(a) as usize, names.place(b) as usize)
            }
        }
    };
    (start(part)..start(part + 1)).map(draw).collect()
}

/// An edge of a Kronecker graph: at each of `scale` levels it falls into a quarter of the matrix.
fn kronecker(random: &mut Random, scale: u32) -> (u64, u64) {
    let [a, b, c] = QUARTERS;
    (0..scale).fold((0, 0), |(from, to), _| {
        let draw = random.below(1_000_000) as u64;
        let is_below = draw >= a + b;
        let is_right = (a..a + b).contains(&draw) || draw >= a + b + c;
        (from << 1 | u64::from(is_below), to << 1 | u64::from(is_right))
    })
}

/// This processor's share of the edges in a file; its name says what it is.
fn read(g: &mut Group, path: &Path, with_lengths: bool) -> Result<Edges, Trouble> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("el") => {
            let graph = g.read_edges::<Block>(path)?;
            let first = g.step(|s| s.prefix(graph.local_len(), superstep::Sum));
            let of = |place: usize| graph.neighbours(place).iter().map(move |&slot| (first + place, slot));
            let list = (0..graph.local_len()).flat_map(of).map(|(from, slot)| (from, graph.number(slot)));
            Ok(Edges { vertices: graph.vertices(), list: list.collect(), lengths: None, are_both: false })
        }
        Some("wel") => {
            let matrix = g.read_weighted_edges::<f64, Block>(path, Min)?;
            taken(g, path, &matrix, with_lengths)
        }
        Some("mtx") => {
            let matrix = g.read_matrix::<f64, Block, Block>(path, Any)?;
            // The reader has seen to it that this can be read.
            let (is_symmetric, is_pattern) = leading_words(path);
            let edges = taken(g, path, &matrix, with_lengths && !is_pattern)?;
            Ok(Edges { are_both: is_symmetric, ..edges })
        }
        _ => Err(Trouble::from(format!("{} is no graph; its name must end in .el, .wel or .mtx", path.display()))),
    }
}

/// What the first line of a matrix says: whether it is symmetric, and whether it has no values.
fn leading_words(path: &Path) -> (bool, bool) {
    let mut line = Vec::new();
    let read = File::open(path).and_then(|file| BufReader::new(file.take(FIRST_LINE)).read_until(b'\n', &mut line));
    let words = String::from_utf8_lossy(&line).to_ascii_lowercase();
    let has = |wanted| read.is_ok() && words.split_whitespace().any(|word| word == wanted);
    (has("symmetric"), has("pattern"))
}

/// The entries of a matrix as edges. Collective.
fn taken(g: &mut Group, path: &Path, of: &Sparse<f64, Block>, with_lengths: bool) -> Result<Edges, Trouble> {
    let [rows, columns] = of.shape();
    let name = path.display();
    if rows != columns {
        let what = format!("{name} has {rows} rows and {columns} columns; a graph has as many rows as columns");
        return Err(Trouble::from(what));
    }
    let (mut list, mut lengths, mut is_bad) = (Vec::new(), Vec::new(), false);
    of.forall(|from, to, length| {
        list.push((from, to));
        lengths.push(length as u32);
        is_bad |= length < 1.0 || length >= f64::from(NONE) || length.fract() != 0.0;
    });
    if with_lengths && g.step(|s| s.reduce(is_bad, Or)) {
        let what = format!("{name} has an edge whose length is no whole number from 1 to {}", NONE - 1);
        return Err(Trouble::from(what));
    }
    Ok(Edges { vertices: rows, list, lengths: with_lengths.then_some(lengths), are_both: false })
}
