//! Graphs in compressed rows.

use super::{
    entries::{self, Rows},
    pattern::Pattern,
};
use crate::{
    engine::{Element, Group, Sum},
    memory::{Array, Distribution, Plan},
};
use std::panic::Location;

/// A directed graph in compressed rows, for programs that go through all of it in every step. Its edges do not change.
///
/// Vertices lie like the elements of an array, and an edge lies with the vertex that it leaves. What a vertex carries
/// is in arrays that lie like that one; [`plan`](Self::plan) reads and writes the elements of all neighbours. For walks
/// that go where they like there is [`containers::Graph`](crate::containers::Graph).
///
/// ```
/// use superstep::{Block, Config, Min};
///
/// // The lowest number that reaches each vertex: everybody tells its neighbours, until nothing changes.
/// let lowest = Config::new().procs(2).run(|g| {
///     let lowest = g.array::<usize, Block>(6);
///     let graph = g.sparse_graph(&lowest, &[(4, 1), (1, 4), (5, 2), (2, 5), (2, 3)]);
///     lowest.forall_mut(|v, x| *x = v);
///     loop {
///         let before = lowest.local().to_vec();
///         let mut told = vec![usize::MAX; graph.plan().len()];
///         for v in 0..graph.local_len() {
///             for &to in graph.neighbours(v) { told[to as usize] = told[to as usize].min(before[v]) }
///         }
///         g.step(|s| s.scatter_by(&lowest, graph.plan(), &told, Min));
///         let is_done = *lowest.local() == *before;
///         if g.step(|s| s.reduce(is_done, superstep::And)) { break }
///     }
///     g.step(|s| s.mirror(&lowest, ..))
/// });
/// assert_eq!(lowest.unwrap(), [0, 1, 2, 2, 1, 2]);
/// ```
pub struct Graph<D: Distribution> {
    pattern: Pattern<D, D>,
}

impl Group {
    /// Makes a [graph](Graph) with a vertex for each element of `vertices`, which lies like it, and these edges: from
    /// which vertex, and to which. Every member gives some of them, for vertices of any owner. An edge that comes
    /// several times is there once. Collective.
    ///
    /// ```
    /// use superstep::{Config, Cyclic};
    ///
    /// let edges = Config::new().procs(3).run(|g| {
    ///     let vertices = g.array::<u8, Cyclic>(10);
    ///     let graph = g.sparse_graph(&vertices, &[(0, 9), (g.rank(), 5)]);
    ///     (graph.vertices(), graph.edges(g))
    /// });
    /// assert_eq!(edges.unwrap(), (10, 4));
    /// ```
    ///
    /// # Cost
    ///
    /// As [`sparse`](Self::sparse).
    ///
    /// # Panics
    ///
    /// If there is no such vertex, or if another group made the array.
    #[track_caller]
    pub fn sparse_graph<A: Element, D: Distribution>(
        &mut self,
        vertices: &Array<A, D>,
        edges: &[(usize, usize)],
    ) -> Graph<D> {
        entries::check(self, vertices, edges.iter().flat_map(|&(from, to)| [from, to]));
        let here = entries::send(self, vertices, edges.iter().map(|&(from, to)| (from, to, 0u8)));
        let rows = entries::compress(vertices.len_of(self.rank()), here, |_, _, _| ());
        Graph::new(self, vertices, rows, Location::caller())
    }

    /// Makes a [graph](Graph) vertex by vertex: `neighbours` is called with the number of each vertex of this processor
    /// and says where its edges lead. Collective.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let edges = Config::new().procs(3).run(|g| {
    ///     let vertices = g.array::<u8, Block>(10);
    ///     g.sparse_graph_rows(&vertices, |v| [(v + 1) % 10, (v + 9) % 10]).edges(g)
    /// });
    /// assert_eq!(edges.unwrap(), 20);
    /// ```
    ///
    /// # Cost
    ///
    /// One boundary.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, or if another group made the array.
    #[track_caller]
    pub fn sparse_graph_rows<A: Element, D: Distribution, I: IntoIterator<Item = usize>>(
        &mut self,
        vertices: &Array<A, D>,
        mut neighbours: impl FnMut(usize) -> I,
    ) -> Graph<D> {
        entries::check(self, vertices, [].into_iter());
        let mut here = Vec::new();
        for place in 0..vertices.len_of(self.rank()) {
            let edges = vertices.global(place).map(&mut neighbours).into_iter().flatten();
            here.extend(edges.map(|to| (place, to, 0u8)));
        }
        entries::check(self, vertices, here.iter().map(|entry| entry.1));
        let rows = entries::compress(vertices.len_of(self.rank()), here, |_, _, _| ());
        Graph::new(self, vertices, rows, Location::caller())
    }
}

impl<D: Distribution> Graph<D> {
    fn new<A: Element>(g: &Group, vertices: &Array<A, D>, rows: Rows<u8>, site: &'static Location<'static>) -> Self {
        let made = Pattern::new(g, (vertices, vertices), rows, site);
        Self { pattern: made.unwrap_or_else(|error| error.raise()).0 }
    }

    /// How many vertices there are on all processors together.
    ///
    /// ```
    /// let vertices = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(7);
    ///     g.sparse_graph(&a, &[]).vertices()
    /// });
    /// assert_eq!(vertices.unwrap(), 7);
    /// ```
    pub fn vertices(&self) -> usize {
        self.pattern.shape[0]
    }

    /// How many edges there are on all processors together. Collective.
    ///
    /// ```
    /// let edges = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(7);
    ///     g.sparse_graph(&a, &[(0, 6), (6, 0)]).edges(g)
    /// });
    /// assert_eq!(edges.unwrap(), 2);
    /// ```
    ///
    /// # Cost
    ///
    /// One step.
    ///
    /// # Panics
    ///
    /// If another group made the graph, or if a member has left since.
    #[track_caller]
    pub fn edges(&self, g: &mut Group) -> usize {
        self.pattern.check_group(g, "graph", Location::caller());
        g.step(|s| s.reduce(self.pattern.slots.len(), Sum))
    }

    /// How many vertices are here: as many as this processor's part of the array has places.
    ///
    /// ```
    /// let here = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, superstep::Block>(7);
    ///     g.sparse_graph(&a, &[]).local_len()
    /// });
    /// assert_eq!(here.unwrap(), [4, 3]);
    /// ```
    pub fn local_len(&self) -> usize {
        self.pattern.count()
    }

    /// Where the edges of the vertex lead that is at this place of the processor's part, by rising number: places in
    /// what the [plan](Self::plan) gathers and scatters. [`number`](Self::number) says which vertex that is.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let sums = Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u64, Block>(4);
    ///     let graph = g.sparse_graph(&a, &[(0, 3), (0, 1), (2, 2)]);
    ///     a.forall_mut(|v, x| *x = 10 * v as u64);
    ///     let around = g.step(|s| s.gather_by(&a, graph.plan()));
    ///     graph.neighbours(0).iter().map(|&to| around[to as usize]).sum::<u64>()
    /// });
    /// assert_eq!(sums.unwrap(), [10 + 30, 20]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such place.
    #[track_caller]
    #[inline]
    pub fn neighbours(&self, place: usize) -> &[u32] {
        &self.pattern.slots[self.pattern.row(place)]
    }

    /// How many edges leave the vertex at this place of the processor's part.
    ///
    /// ```
    /// let degrees = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(4);
    ///     let graph = g.sparse_graph(&a, &[(0, 3), (0, 1)]);
    ///     [graph.degree(0), graph.degree(1)]
    /// });
    /// assert_eq!(degrees.unwrap(), [2, 0]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such place.
    #[track_caller]
    #[inline]
    pub fn degree(&self, place: usize) -> usize {
        self.pattern.row(place).len()
    }

    /// The number of a vertex to which edges of this processor lead, by its place in what the plan gathers.
    ///
    /// ```
    /// let to = superstep::Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, superstep::Block>(4);
    ///     let graph = g.sparse_graph(&a, &[(0, 3), (0, 1)]);
    ///     graph.neighbours(0).iter().map(|&to| graph.number(to)).collect::<Vec<_>>()
    /// });
    /// assert_eq!(to.unwrap(), [1, 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such place.
    #[track_caller]
    #[inline]
    pub fn number(&self, place: u32) -> usize {
        self.pattern.columns[place as usize]
    }

    /// What reads and writes the elements of all neighbours, each once, in arrays that lie like the vertices.
    ///
    /// ```
    /// let needed = superstep::Config::new().procs(2).run_all(|g| {
    ///     let a = g.array::<u8, superstep::Block>(4);
    ///     g.sparse_graph(&a, &[(0, 3), (1, 3), (0, 1)]).plan().len()
    /// });
    /// assert_eq!(needed.unwrap(), [2, 0]);
    /// ```
    pub fn plan(&self) -> &Plan<D> {
        &self.pattern.plan
    }
}

impl<D: Distribution> std::fmt::Debug for Graph<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({} vertices, {} edges here)", self.vertices(), self.pattern.slots.len())
    }
}
