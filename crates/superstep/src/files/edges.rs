//! Graphs as lists of edges.

use super::{
    lines::each_line_behind,
    together::{NUMBERS, has_room},
    words::{number, value, words},
};
use crate::{
    algo::sparse::{Graph, Sparse},
    engine::{Combine, Element, Group, Max},
    error::Result,
    memory::Distribution,
};
use std::{path::Path, str::FromStr};

/// Edges: from which vertex, to which, and a weight.
type Edges<W> = Vec<(usize, usize, W)>;

/// Reads this processor's share of a list of edges, and how many vertices all of it names. Collective.
#[track_caller]
fn edges<W>(
    g: &mut Group,
    path: &Path,
    weight: impl Fn(Option<&[u8]>) -> Result<W, String>,
) -> Result<(usize, Edges<W>)> {
    let (mut edges, mut vertices) = (Vec::new(), 0usize);
    each_line_behind(g, path, (0, 0), |line| {
        if line.starts_with(b"#") || line.starts_with(b"%") {
            return Ok(());
        }
        let mut words = words(line);
        let Some(first) = words.next() else { return Ok(()) };
        let mut vertex = |word: Option<&[u8]>| {
            let number = word.and_then(number).and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|&number| number < usize::MAX).ok_or("an edge is two numbers of vertices")?;
            vertices = vertices.max(number + 1);
            Ok::<_, String>(number)
        };
        let (from, to) = (vertex(Some(first))?, vertex(words.next())?);
        edges.push((from, to, weight(words.next())?));
        match words.next() {
            None => Ok(()),
            Some(more) => Err(format!("{} behind the edge", String::from_utf8_lossy(more))),
        }
    })?;
    let vertices = g.try_step(|s| s.reduce(vertices, Max))?;
    has_room(g, path, (vertices, "vertices"), NUMBERS)?;
    Ok((vertices, edges))
}

impl Group {
    /// Reads a [graph](Graph) from a list of edges (`.el`): a line `u v` for each, where vertices are counted from 0.
    /// Lines that are empty, or begin with `#` or `%`, are skipped. Collective.
    ///
    /// There are as many vertices as the highest number needs. An edge that comes several times is there once.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-edges-{}.el", std::process::id()));
    /// std::fs::write(&path, "0 1\n1 2\n2 0\n").unwrap();
    /// let (vertices, edges) = Config::new().procs(2).run(|g| {
    ///     let graph = g.read_edges::<Block>(&path)?;
    ///     Ok::<_, superstep::Error>((graph.vertices(), graph.edges(g)))
    /// }).unwrap();
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!((vertices, edges), (3, 3));
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads its share of the lines; then as [`sparse_graph`](Self::sparse_graph).
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read, or for the first line that is no
    /// edge, with its number.
    #[track_caller]
    pub fn read_edges<D: Distribution + Default>(&mut self, path: impl AsRef<Path>) -> Result<Graph<D>> {
        let none = |word: Option<&[u8]>| match word {
            None => Ok(()),
            Some(word) => {
                Err(format!("{} behind the edge; `read_weighted_edges` reads weights", String::from_utf8_lossy(word)))
            }
        };
        let (count, edges) = edges(self, path.as_ref(), none)?;
        let vertices = self.try_array::<u8, D>(count)?;
        let edges: Vec<(usize, usize)> = edges.into_iter().map(|(from, to, ())| (from, to)).collect();
        Ok(self.sparse_graph(&vertices, &edges))
    }

    /// Reads a graph with weights from a list of edges (`.wel`): a line `u v w` for each, otherwise as
    /// [`read_edges`](Self::read_edges). It is a [matrix](Sparse) with a row for each vertex, and the weight of an edge
    /// that comes several times is what `op` makes of them. Collective.
    ///
    /// ```
    /// use superstep::{Block, Config, Min};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-weighted-{}.wel", std::process::id()));
    /// std::fs::write(&path, "0 1 7\n1 0 3\n0 1 5\n").unwrap();
    /// let weights = Config::new().procs(2).run_all(|g| {
    ///     let mut weights = Vec::new();
    ///     g.read_weighted_edges::<u32, Block>(&path, Min)?.forall(|from, to, w| weights.push((from, to, w)));
    ///     Ok::<_, superstep::Error>(weights)
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(weights.unwrap(), [[(0, 1, 5)], [(1, 0, 3)]]);
    /// ```
    #[track_caller]
    pub fn read_weighted_edges<W: Element + FromStr, D: Distribution + Default>(
        &mut self,
        path: impl AsRef<Path>,
        op: impl Combine<W>,
    ) -> Result<Sparse<W, D, D>> {
        let (count, edges) = edges(self, path.as_ref(), value::<W>)?;
        let vertices = self.try_array::<u8, D>(count)?;
        Ok(self.sparse(&vertices, &vertices, &edges, op))
    }
}
