//! Graphs.

use super::{
    blocks::Blocks,
    home::Home,
    vertex::{Edge, Vertex},
    walk::{Part, Visit, Walk, Way},
};
use crate::{
    engine::{Core, Group, Sum, Value},
    epoch::{Answer, Epoch, Method, Object},
};
use fabric::code::Three;
use std::{cell::Cell, marker::PhantomData, ops::Range, panic::Location};

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
///     graph.forall_mut(|v, vertex| if vertex.value { reached.push(v) });
///     reached
/// });
/// assert_eq!(reached.unwrap().concat(), [4, 6, 8]);
/// ```
pub struct Graph<V: 'static, E: 'static> {
    pub(super) home: Home,
    pub(super) part: Object<Part<V, E>>,
    pub(super) blocks: Blocks,
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
    /// No communication.
    #[track_caller]
    pub fn graph<V: 'static, E: 'static>(&mut self, vertices: usize, mut value: impl FnMut(usize) -> V) -> Graph<V, E> {
        let home = Home::new::<Graph<V, E>>(self, Location::caller());
        home.declare_len(vertices);
        let blocks = Blocks::new(vertices, self.size());
        let vertices = blocks.range(self.rank()).map(|v| Vertex { value: value(v), edges: Vec::new() }).collect();
        let part = self.object(Part { vertices, way: Way { blocks, graph: None, goes_on: Cell::new(false) } });
        part.with(|here| here.way.graph = Some(part.handle()));
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
        self.blocks.len
    }

    /// The numbers of the vertices that are here.
    ///
    /// ```
    /// let owned = superstep::Config::new().procs(2).run_all(|g| g.graph::<(), ()>(7, |_| ()).owned());
    /// assert_eq!(owned.unwrap(), [0..4, 4..7]);
    /// ```
    pub fn owned(&self) -> Range<usize> {
        self.blocks.range(self.home.rank)
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
        (vertex < self.blocks.len).then(|| self.blocks.place(vertex).0)
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
        self.home.check(g.core(), Location::caller());
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
    ///     g.epoch(|e| graph.forall_mut(|v, _| graph.add_edge(e, 5 - v, v, ())));
    ///     let mut sum = 0;
    ///     graph.forall_mut(|_, vertex| sum += vertex.edges()[0].to);
    ///     sum
    /// });
    /// assert_eq!(degrees.unwrap(), [12, 3]);
    /// ```
    #[track_caller]
    pub fn forall_mut(&self, mut body: impl FnMut(usize, &mut Vertex<V, E>)) {
        let first = self.owned().start;
        self.part.with(|part| part.vertices.iter_mut().enumerate().for_each(|(at, vertex)| body(first + at, vertex)));
    }

    #[inline]
    fn place(&self, core: &Core, vertex: usize, site: &Location<'_>) -> (usize, usize) {
        self.home.check(core, site);
        if vertex >= self.blocks.len {
            self.home.missing(core, vertex, self.blocks.len, site).raise();
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
    ///     graph.forall_mut(|_, vertex| values.push(vertex.value));
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
    ///     roads.forall_mut(|_, vertex| length += vertex.edges()[0].value);
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

impl<V: 'static, E: 'static> std::fmt::Debug for Graph<V, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, of {} vertices", self.home.describe(), self.vertices())
    }
}
