//! Graphs, and visits that walk them.

use super::{blocks::Blocks, home::Home};
use crate::{
    engine::{Core, Group, Sum, Value},
    epoch::{Answer, Deed, Epoch, Handle, Method, Object},
    error::ErrorKind,
};
use fabric::code::{Shape, Three};
use std::{any::type_name, marker::PhantomData, ops::Range, panic::Location};

/// An edge, as the vertex that it leaves has it.
///
/// ```
/// use superstep::containers::Edge;
///
/// let road = Edge { to: 3, value: 12.5 };
/// assert_eq!(road.to, 3);
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
///     graph.for_each(|_, vertex: &mut Vertex<(), ()>| degrees.push(vertex.edges().len()));
///     degrees
/// });
/// assert_eq!(degrees.unwrap(), [[0, 0], [0, 2]]);
/// ```
#[derive(Clone, Debug)]
pub struct Vertex<V, E> {
    /// What it carries.
    pub value: V,
    edges: Vec<Edge<E>>,
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

    /// The same, to be changed, sorted or cut.
    ///
    /// ```
    /// let next = superstep::Config::new().procs(2).run(|g| {
    ///     let graph = g.graph::<(), ()>(3, |_| ());
    ///     g.epoch(|e| [2, 1, 2].map(|to| graph.add_edge(e, 0, to, ())));
    ///     graph.for_each(|_, vertex| {
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

/// What one processor has.
struct Part<V: 'static, E: 'static> {
    blocks: Blocks,
    vertices: Vec<Vertex<V, E>>,
    /// What the graph is called in requests that are sent on.
    graph: Option<Handle<Self>>,
}

/// A directed graph that lies spread over the processors of a group. Vertices are numbered from 0, and dealt out in
/// blocks; an edge lies with the vertex that it leaves.
///
/// A [visit](Self::visit) runs a method on a vertex, wherever that is, and the method can visit further ones. So a walk
/// goes through the graph on its own, and the epoch ends when every walk has.
///
/// ```
/// use superstep::containers::{Vertex, Walk};
///
/// // Marks whatever can be reached.
/// fn mark(vertex: &mut Vertex<bool, ()>, walk: &Walk<'_, bool, ()>, (): ()) {
///     if std::mem::replace(&mut vertex.value, true) { return }
///     for edge in vertex.edges() { walk.visit(edge.to, (), mark) }
/// }
///
/// let reached = superstep::Config::new().procs(3).run_all(|g| {
///     let graph = g.graph(10, |_| false);
///     // Each even vertex leads to the next even one.
///     g.epoch(|e| if e.rank() == 0 {
///         for v in 0..8 { graph.add_edge(e, v, v + 2, ()) }
///     });
///     g.epoch(|e| if e.rank() == 0 { graph.visit(e, 4, (), mark) });
///     let mut reached = Vec::new();
///     graph.for_each(|v, vertex| if vertex.value { reached.push(v) });
///     reached
/// });
/// assert_eq!(reached.unwrap().concat(), [4, 6, 8]);
/// ```
pub struct Graph<V: 'static, E: 'static> {
    home: Home,
    part: Object<Part<V, E>>,
    blocks: Blocks,
}

impl Group {
    /// Makes a [graph](Graph) of so many vertices and no edges; `value` makes what those of this processor carry, from
    /// their numbers. Collective.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(3).run_all(|g| g.graph::<_, f32>(10, |v| v).owned());
    /// assert_eq!(owned.unwrap(), [0..4, 4..8, 8..10]);
    /// ```
    ///
    /// # Cost
    ///
    /// No message.
    #[track_caller]
    pub fn graph<V: 'static, E: 'static>(&mut self, vertices: usize, mut value: impl FnMut(usize) -> V) -> Graph<V, E> {
        let home = Home::new::<Graph<V, E>>(self, Location::caller());
        home.declare_len(vertices);
        let blocks = Blocks::new(vertices, self.size());
        let vertices = blocks.range(self.rank()).map(|v| Vertex { value: value(v), edges: Vec::new() }).collect();
        let part = self.object(Part { blocks, vertices, graph: None });
        part.with(|here| here.graph = Some(part.handle()));
        Graph { home, part, blocks }
    }
}

impl<V: 'static, E: 'static> Graph<V, E> {
    /// How many vertices there are, on all processors together.
    ///
    /// ```
    /// let vertices = superstep::Config::new().procs(2).run(|g| g.graph::<(), ()>(7, |_| ()).vertices());
    /// assert_eq!(vertices.unwrap(), 7);
    /// ```
    pub fn vertices(&self) -> usize {
        self.blocks.len()
    }

    /// The numbers of the vertices that are here.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| g.graph::<(), ()>(7, |_| ()).owned());
    /// assert_eq!(owned.unwrap(), [0..4, 4..7]);
    /// ```
    pub fn owned(&self) -> Range<usize> {
        self.blocks.range(self.home.rank())
    }

    /// The rank of the processor that has this vertex; none if there is no such vertex.
    ///
    /// ```
    /// let owners = superstep::Config::new().procs(2).run(|g| {
    ///     let graph = g.graph::<(), ()>(7, |_| ());
    ///     [0, 3, 4, 7].map(|v| graph.owner(v))
    /// });
    /// assert_eq!(owners.unwrap(), [Some(0), Some(0), Some(1), None]);
    /// ```
    pub fn owner(&self, vertex: usize) -> Option<usize> {
        (vertex < self.blocks.len()).then(|| self.blocks.place(vertex).0)
    }

    /// How many edges leave the vertices of all processors. Collective.
    ///
    /// ```
    /// let edges = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<(), ()>(4, |_| ());
    ///     g.epoch(|e| graph.add_edge(e, e.rank(), 3, ()));
    ///     graph.edges(g)
    /// });
    /// assert_eq!(edges.unwrap(), [2; 2]);
    /// ```
    ///
    /// # Cost
    ///
    /// l.
    #[track_caller]
    pub fn edges(&self, g: &mut Group) -> usize {
        if let Err(error) = self.home.check(g.core(), Location::caller()) {
            error.raise();
        }
        let mine = self.part.with(|part| part.vertices.iter().map(|vertex| vertex.edges.len()).sum::<usize>());
        g.step(|s| s.reduce(mine, Sum))
    }

    /// Hands every vertex that is here to `body`, upwards, with its number.
    ///
    /// In an epoch the body may add edges and send visits; those that come to this processor meanwhile run when it has
    /// ended.
    ///
    /// ```
    /// let degrees = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<usize, ()>(6, |_| 0);
    ///     g.epoch(|e| graph.for_each(|v, _| graph.add_edge(e, 5 - v, v, ())));
    ///     let mut sum = 0;
    ///     graph.for_each(|_, vertex| sum += vertex.edges()[0].to);
    ///     sum
    /// });
    /// assert_eq!(degrees.unwrap(), [12, 3]);
    /// ```
    #[track_caller]
    pub fn for_each(&self, mut body: impl FnMut(usize, &mut Vertex<V, E>)) {
        let first = self.owned().start;
        self.part.with(|part| part.vertices.iter_mut().enumerate().for_each(|(at, vertex)| body(first + at, vertex)));
    }

    #[inline]
    fn place(&self, core: &Core, vertex: usize, site: &Location<'_>) -> (usize, usize) {
        if let Err(error) = self.home.check(core, site) {
            error.raise();
        }
        if vertex >= self.blocks.len() {
            self.home.missing(core, vertex, self.blocks.len(), site).raise();
        }
        self.blocks.place(vertex)
    }

    /// Visits a vertex: `method` runs where it is, with the vertex, a [`Walk`] that can visit further ones, and `args`.
    /// Returns at once. The method is a function or a closure that captures nothing.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<_, ()>(4, |v| v);
    ///     g.epoch(|e| graph.visit(e, 2 + e.rank(), 10, |vertex, _, x| vertex.value += x));
    ///     let mut values = Vec::new();
    ///     graph.for_each(|_, vertex| values.push(vertex.value));
    ///     values
    /// });
    /// assert_eq!(values.unwrap(), [[0, 1], [12, 13]]);
    /// ```
    ///
    /// # Cost
    ///
    /// That of a [`send`](Epoch::send).
    ///
    /// # Panics
    ///
    /// If there is no such vertex, or if the graph is one of another group.
    #[track_caller]
    #[inline]
    pub fn visit<A: Value>(
        &self,
        e: &Epoch,
        vertex: usize,
        args: A,
        method: fn(&mut Vertex<V, E>, &Walk<'_, V, E>, A),
    ) {
        let (owner, at) = self.place(&e.core, vertex, Location::caller());
        e.send_deed::<Visit<V, E, A, ()>>(owner, &self.part, (at, args), Three::<Visit<V, E, A, ()>>(method));
    }

    /// Visits a vertex and waits for what the method returns.
    ///
    /// ```
    /// let values = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<_, ()>(4, |v| v * v);
    ///     g.epoch(|e| graph.call(e, 3 - e.rank(), (), |vertex, _, ()| vertex.value))
    /// });
    /// assert_eq!(values.unwrap(), [9, 4]);
    /// ```
    #[track_caller]
    #[expect(clippy::type_complexity, reason = "it is the signature that the program's function has")]
    pub fn call<A: Value, R: Value>(
        &self,
        e: &Epoch,
        vertex: usize,
        args: A,
        method: fn(&mut Vertex<V, E>, &Walk<'_, V, E>, A) -> R,
    ) -> R {
        let (owner, at) = self.place(&e.core, vertex, Location::caller());
        e.call_deed::<Visit<V, E, A, R>>(owner, &self.part, (at, args), Three::<Visit<V, E, A, R>>(method))
    }

    /// Visits a vertex, as [`call`](Self::call) does, and does not wait for what the method returns.
    ///
    /// ```
    /// let sums = superstep::Config::new().procs(2).run_all(|g| {
    ///     let graph = g.graph::<_, ()>(4, |v| v);
    ///     g.epoch(|e| {
    ///         let asked = [0, 3].map(|v| graph.ask(e, v, 10, |vertex, _, x| vertex.value + x));
    ///         asked.map(|answer| e.take(answer))
    ///     })
    /// });
    /// assert_eq!(sums.unwrap(), [[10, 13]; 2]);
    /// ```
    #[track_caller]
    #[expect(clippy::type_complexity, reason = "it is the signature that the program's function has")]
    pub fn ask<A: Value, R: Value>(
        &self,
        e: &Epoch,
        vertex: usize,
        args: A,
        method: fn(&mut Vertex<V, E>, &Walk<'_, V, E>, A) -> R,
    ) -> Answer<R> {
        let (owner, at) = self.place(&e.core, vertex, Location::caller());
        e.ask_deed::<Visit<V, E, A, R>>(owner, &self.part, (at, args), Three::<Visit<V, E, A, R>>(method))
    }
}

impl<V: 'static, E: Value> Graph<V, E> {
    /// Adds an edge between two vertices, wherever they are. Returns at once.
    ///
    /// ```
    /// let lengths = superstep::Config::new().procs(2).run_all(|g| {
    ///     let roads = g.graph::<(), f32>(2, |_| ());
    ///     g.epoch(|e| roads.add_edge(e, 1 - e.rank(), e.rank(), 7.5));
    ///     let mut length = 0.0;
    ///     roads.for_each(|_, vertex| length += vertex.edges()[0].value);
    ///     length
    /// });
    /// assert_eq!(lengths.unwrap(), [7.5; 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// If one of the vertices is not there.
    #[track_caller]
    #[inline]
    pub fn add_edge(&self, e: &Epoch, from: usize, to: usize, value: E) {
        let site = Location::caller();
        let (owner, at) = self.place(&e.core, from, site);
        self.place(&e.core, to, site);
        e.send_by::<AddEdge<V, E>>(owner, &self.part, (at, to, value));
    }
}

/// Adds an edge to the vertex that it leaves.
struct AddEdge<V, E>(PhantomData<fn(V, E)>);

impl<V: 'static, E: Value> Method for AddEdge<V, E> {
    type On = Part<V, E>;
    type Args = (usize, usize, E);
    type Answer = ();

    #[inline]
    fn run(part: &mut Part<V, E>, _: &Epoch, (at, to, value): (usize, usize, E)) {
        part.vertices[at].edges.push(Edge { to, value });
    }
}

/// Runs a method on a vertex.
struct Visit<V, E, A, R>(PhantomData<fn(V, E, A) -> R>);

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
    fn run(method: Three<Self>, part: &mut Part<V, E>, epoch: &Epoch, (at, args): (usize, A)) -> R {
        let walk = Walk { epoch, graph: part.graph, blocks: part.blocks, at };
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
///     ring.for_each(|_, vertex| distances.push(vertex.value));
///     distances
/// });
/// assert_eq!(distances.unwrap(), [[0, 1, 2], [3, 2, 1]]);
/// ```
#[derive(Debug)]
pub struct Walk<'a, V: 'static, E: 'static> {
    epoch: &'a Epoch,
    graph: Option<Handle<Part<V, E>>>,
    blocks: Blocks,
    at: usize,
}

impl<V: 'static, E: 'static> Walk<'_, V, E> {
    /// Visits another vertex, or this one again, as [`Graph::visit`] does.
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
    ///     ring.for_each(|_, vertex| counts.push(vertex.value));
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
        let (owner, at) = self.blocks.place(vertex);
        match &self.graph {
            Some(graph) if vertex < self.blocks.len() => {
                self.epoch.send_deed::<Visit<V, E, A, ()>>(
                    owner,
                    graph,
                    (at, args),
                    Three::<Visit<V, E, A, ()>>(method),
                );
            }
            _ => self.refuse(vertex, Location::caller()),
        }
    }

    #[cold]
    fn refuse(&self, vertex: usize, site: &Location<'_>) -> ! {
        let what = format!("index {vertex} of a graph, which has {}", self.blocks.len());
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
        self.blocks.range(self.epoch.rank()).start + self.at
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

impl<V: 'static, E: 'static> std::fmt::Debug for Graph<V, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, of {} vertices", self.home.describe(), self.vertices())
    }
}
