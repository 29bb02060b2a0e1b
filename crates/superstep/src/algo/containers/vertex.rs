//! The vertices of a graph, and the edges that leave them.

use fabric::Ahead;

/// The bytes of a line of the caches, and so many of them are asked for; behind those the hardware does it by itself.
const LINE: usize = 64;
const LINES: usize = 6;

/// An edge, as the vertex that it leaves has it.
///
/// ```
/// use superstep::{Config, containers::Edge};
///
/// let roads = Config::new().procs(2).run(|g| {
///     let towns = g.graph::<(), f64>(4, |_| ());
///     g.epoch(|e| if e.rank() == 0 { towns.add_edge(e, 0, 3, 12.5) });
///     let mut roads = Vec::new();
///     towns.forall_mut(|_, town| roads.extend_from_slice(town.edges()));
///     roads
/// });
/// assert_eq!(roads.unwrap(), [Edge { to: 3, value: 12.5 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge<E> {
    /// The vertex that it leads to.
    pub to: usize,
    /// What it carries.
    pub value: E,
}

/// A vertex, with the edges that leave it.
///
/// ```
/// use superstep::containers::Vertex;
///
/// let degrees = superstep::Config::new().procs(2).run_all(|g| {
///     let graph = g.graph::<(), ()>(4, |_| ());
///     g.epoch(|e| graph.add_edge(e, 3, e.rank(), ()));
///     let mut degrees = Vec::new();
///     graph.forall_mut(|_, vertex: &mut Vertex<(), ()>| degrees.push(vertex.edges().len()));
///     degrees
/// });
/// assert_eq!(degrees.unwrap(), [[0, 0], [0, 2]]);
/// ```
#[derive(Clone, Debug)]
pub struct Vertex<V, E> {
    /// What it carries.
    pub value: V,
    pub(super) edges: Vec<Edge<E>>,
}

impl<V, E> Vertex<V, E> {
    /// The edges that leave it, in the order in which they came.
    ///
    /// ```
    /// let next = superstep::Config::new().procs(2).run(|g| {
    ///     let graph = g.graph::<(), ()>(3, |_| ());
    ///     g.epoch(|e| if e.rank() == 1 { [2, 1].map(|to| graph.add_edge(e, 0, to, ())); });
    ///     g.epoch(|e| graph.call(e, 0, (), |v, _, ()| v.edges().iter().map(|edge| edge.to).collect::<Vec<_>>()))
    /// });
    /// assert_eq!(next.unwrap(), [2, 1]);
    /// ```
    #[inline]
    pub fn edges(&self) -> &[Edge<E>] {
        &self.edges
    }

    /// Asks for the memory of the first edges, which are about to be read.
    #[inline]
    pub(super) fn ask_for_edges(&self) {
        let each = (LINE / size_of::<Edge<E>>()).max(1);
        (0..self.edges.len().min(LINES * each)).step_by(each).for_each(|at| Ahead::of(&self.edges).ask_soon(at));
    }

    /// The same, to be changed, sorted or cut.
    ///
    /// ```
    /// let next = superstep::Config::new().procs(2).run(|g| {
    ///     let graph = g.graph::<(), ()>(3, |_| ());
    ///     g.epoch(|e| [2, 1, 2].map(|to| graph.add_edge(e, 0, to, ())));
    ///     graph.forall_mut(|_, vertex| {
    ///         vertex.edges_mut().sort_by_key(|edge| edge.to);
    ///         vertex.edges_mut().dedup();
    ///     });
    ///     g.epoch(|e| graph.call(e, 0, (), |v, _, ()| v.edges().len()))
    /// });
    /// assert_eq!(next.unwrap(), 2);
    /// ```
    pub fn edges_mut(&mut self) -> &mut Vec<Edge<E>> {
        &mut self.edges
    }
}
