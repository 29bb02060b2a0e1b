//! Visits of vertices, and walks that go on from them.

use super::{
    blocks::Blocks,
    vertex::{Edge, Vertex},
};
use crate::{
    engine::Value,
    epoch::{Deed, Epoch, Handle},
    error::ErrorKind,
};
use fabric::{
    Ahead,
    code::{Shape, Three},
};
use std::{any::type_name, cell::Cell, marker::PhantomData, panic::Location};

/// What one processor has.
pub(super) struct Part<V: 'static, E: 'static> {
    pub(super) vertices: Vec<Vertex<V, E>>,
    pub(super) way: Way<V, E>,
}

/// What a walk needs to find its way on.
#[derive(Debug)]
pub(super) struct Way<V: 'static, E: 'static> {
    pub(super) blocks: Blocks,
    /// What the graph is called in requests that are sent on.
    pub(super) graph: Option<Handle<Part<V, E>>>,
    /// Whether the last visit went on to others: then the next ones are likely to read the edges of their vertices.
    pub(super) goes_on: Cell<bool>,
}

pub(super) struct Visit<V, E, A, R>(PhantomData<fn(V, E, A) -> R>);

impl<V: 'static, E: 'static, A: 'static, R: 'static> Shape for Visit<V, E, A, R> {
    type On<'a> = &'a mut Vertex<V, E>;
    type With<'a> = &'a Walk<'a, V, E>;
    type Args = A;
    type Answer = R;
}

impl<V: 'static, E: 'static, A: Value, R: 'static> Deed for Visit<V, E, A, R> {
    type On = Part<V, E>;
    type Args = (usize, A);
    type Answer = R;
    type Pointer = Three<Self>;

    fn name() -> &'static str {
        type_name::<fn(&mut Vertex<V, E>, &Walk<'_, V, E>, A) -> R>()
    }

    #[inline]
    fn ask_ahead(part: &Part<V, E>, (at, _): &(usize, A)) {
        Ahead::of(&part.vertices).ask_soon(*at);
    }

    #[inline]
    fn ask_nearer(part: &Part<V, E>, (at, _): &(usize, A)) {
        if part.way.goes_on.get()
            && let Some(vertex) = part.vertices.get(*at)
        {
            part.way.goes_on.set(false);
            vertex.ask_for_edges();
        }
    }

    #[inline]
    fn run(method: Three<Self>, part: &mut Part<V, E>, epoch: &Epoch, (at, args): (usize, A)) -> R {
        let walk = Walk { epoch, way: &part.way, at };
        (method.0)(&mut part.vertices[at], &walk, args)
    }
}

/// What a visit can go on with.
///
/// ```
/// use superstep::containers::{Vertex, Walk};
///
/// // How far each vertex is from the first one, at most so many edges.
/// fn reach(vertex: &mut Vertex<u32, ()>, walk: &Walk<'_, u32, ()>, distance: u32) {
///     if distance >= vertex.value { return }
///     vertex.value = distance;
///     for edge in vertex.edges() { walk.visit(edge.to, distance + 1, reach) }
/// }
///
/// let distances = superstep::Config::new().procs(2).run_all(|g| {
///     let ring = g.graph(6, |_| u32::MAX);
///     g.epoch(|e| if e.rank() == 0 {
///         for v in 0..6 { [1, 5].map(|next| ring.add_edge(e, v, (v + next) % 6, ())); }
///     });
///     g.epoch(|e| if e.rank() == 0 { ring.visit(e, 0, 0, reach) });
///     let mut distances = Vec::new();
///     ring.forall_mut(|_, vertex| distances.push(vertex.value));
///     distances
/// });
/// assert_eq!(distances.unwrap(), [[0, 1, 2], [3, 2, 1]]);
/// ```
#[derive(Debug)]
pub struct Walk<'a, V: 'static, E: 'static> {
    epoch: &'a Epoch,
    way: &'a Way<V, E>,
    at: usize,
}

impl<V: 'static, E: 'static> Walk<'_, V, E> {
    /// Visits another vertex, or this one again, as [`Graph::visit`](super::Graph::visit) does.
    ///
    /// ```
    /// use superstep::containers::{Vertex, Walk};
    ///
    /// fn around(vertex: &mut Vertex<u32, ()>, walk: &Walk<'_, u32, ()>, left: u32) {
    ///     vertex.value += 1;
    ///     if left > 0 { walk.visit((walk.vertex() + 1) % 4, left - 1, around) }
    /// }
    ///
    /// let counts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let ring = g.graph::<u32, ()>(4, |_| 0);
    ///     g.epoch(|e| if e.rank() == 1 { ring.visit(e, 3, 5, around) });
    ///     let mut counts = Vec::new();
    ///     ring.forall_mut(|_, vertex| counts.push(vertex.value));
    ///     counts
    /// });
    /// assert_eq!(counts.unwrap(), [[2, 1], [1, 2]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[track_caller]
    #[inline]
    pub fn visit<A: Value>(&self, vertex: usize, args: A, method: fn(&mut Vertex<V, E>, &Walk<'_, V, E>, A)) {
        let (owner, at) = self.way.blocks.place(vertex);
        self.way.goes_on.set(true);
        match self.way.graph {
            Some(graph) if vertex < self.way.blocks.len => {
                let method = Three::<Visit<V, E, A, ()>>(method);
                self.epoch.send_on::<Visit<V, E, A, ()>>(owner, graph, (at, args), method);
            }
            _ => self.refuse(vertex, Location::caller()),
        }
    }

    /// Visits all vertices that these edges lead to, in their order and with the same arguments. It does what a
    /// [`visit`](Self::visit) for each edge would, and sooner: the requests are written down together.
    ///
    /// ```
    /// use superstep::containers::{Vertex, Walk};
    ///
    /// // Counts how many edges lead to each vertex.
    /// fn count(vertex: &mut Vertex<u32, ()>, _: &Walk<'_, u32, ()>, (): ()) { vertex.value += 1 }
    ///
    /// let counts = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<u32, ()>(4, |_| 0);
    ///     g.epoch(|e| if e.rank() == 0 { [(0, 3), (0, 1), (2, 3)].map(|(v, w)| graph.add_edge(e, v, w, ())); });
    ///     g.epoch(|e| for v in graph.owned() {
    ///         graph.visit(e, v, (), |vertex, walk, ()| walk.visit_along(vertex.edges(), (), count));
    ///     });
    ///     let mut counts = Vec::new();
    ///     graph.forall_mut(|_, vertex| counts.push(vertex.value));
    ///     counts
    /// });
    /// assert_eq!(counts.unwrap(), [[0, 1], [0, 2]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If one of the edges leads to no vertex; those before it have been followed.
    #[track_caller]
    #[inline]
    pub fn visit_along<A: Value>(&self, edges: &[Edge<E>], args: A, method: fn(&mut Vertex<V, E>, &Walk<'_, V, E>, A)) {
        let wrong = edges.iter().position(|edge| edge.to >= self.way.blocks.len);
        if let Some(graph) = self.way.graph {
            self.way.goes_on.set(true);
            let place = |edge: &Edge<E>| {
                let (owner, at) = self.way.blocks.place(edge.to);
                (owner, (at, args.clone()))
            };
            let method = Three::<Visit<V, E, A, ()>>(method);
            let edges = &edges[..wrong.unwrap_or(edges.len())];
            self.epoch.send_each_on::<Visit<V, E, A, ()>, _>(graph, edges, place, method);
        }
        if let Some(wrong) = wrong {
            self.refuse(edges[wrong].to, Location::caller());
        }
    }

    #[cold]
    fn refuse(&self, vertex: usize, site: &Location<'_>) -> ! {
        let what = format!("index {vertex} of a graph, which has {}", self.way.blocks.len);
        self.epoch.core.error(ErrorKind::IndexOutOfRange, what, site).raise()
    }

    /// The number of the vertex that is visited.
    ///
    /// ```
    /// let number = superstep::Config::new().procs(2).run(|g| {
    ///     let graph = g.graph::<(), ()>(9, |_| ());
    ///     g.epoch(|e| graph.call(e, 7, (), |_, walk, ()| walk.vertex()))
    /// });
    /// assert_eq!(number.unwrap(), 7);
    /// ```
    #[inline]
    pub fn vertex(&self) -> usize {
        self.way.blocks.range(self.epoch.rank()).start + self.at
    }

    /// The epoch that the visit is part of, for requests to other objects.
    ///
    /// ```
    /// let ranks = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<(), ()>(2, |_| ());
    ///     g.epoch(|e| graph.call(e, 1, (), |_, walk, ()| walk.epoch().rank()))
    /// });
    /// assert_eq!(ranks.unwrap(), [1, 1]);
    /// ```
    #[inline]
    pub fn epoch(&self) -> &Epoch {
        self.epoch
    }
}
