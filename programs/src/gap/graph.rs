//! Graphs as the suite has them: no edge leads from a vertex to itself, and none is there twice.

use super::random::drawn_for;
use superstep::{Array, Block, Group, Max, Min, Sum, arrays::Plan, sparse, values::Element};

/// Stands for no vertex, and for no distance.
pub const NONE: u32 = u32::MAX;

/// An edge: from which vertex, and to which.
pub(super) type Edge = (usize, usize);

/// Which vertices there are, and who has which: everybody has a block of them.
pub(super) struct Vertices(Array<u8, Block>);

impl Vertices {
    fn new(g: &mut Group, count: usize) -> Self {
        Self(g.array(count))
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// How many this processor has.
    pub(super) fn here(&self) -> usize {
        self.0.local().len()
    }

    /// The number of this processor's first one.
    pub(super) fn first(&self) -> usize {
        self.0.global(0).unwrap_or(0)
    }

    /// The place of a vertex, if this processor has it.
    pub(super) fn place(&self, vertex: usize) -> Option<usize> {
        self.0.is_owned(vertex).then(|| self.0.offset(vertex))
    }

    pub(super) fn home(&self, vertex: usize) -> Home {
        Home { owner: self.0.owner(vertex) as u32, place: self.0.offset(vertex) as u32 }
    }

    /// An array with an element for each vertex, of which these are this processor's.
    pub(super) fn array<T: Element>(&self, g: &mut Group, values: &[T]) -> Array<T, Block> {
        let array = g.array(self.count());
        array.local_mut().copy_from_slice(values);
        array
    }

    /// One of the vertices at these places, or the first of all if nobody has any. Collective.
    fn draw(&self, g: &mut Group, seed: u64, places: &[usize]) -> usize {
        let (below, all) = g.step(|s| (s.prefix(places.len(), Sum), s.reduce(places.len(), Sum)));
        let drawn = drawn_for(seed, 0).below(all.max(1));
        let here = drawn.checked_sub(below).and_then(|at| places.get(at)).map_or(0, |place| self.first() + place);
        g.step(|s| s.reduce(here, Max))
    }
}

/// The edges of this processor's vertices in one direction, in compressed rows.
///
/// The other ends are numbered by *slots*: each vertex to which edges of this processor lead has one, however many
/// edges lead there. So what a processor keeps of others is in lists that are as long as there are slots, and nobody
/// has a list of all vertices.
pub(super) struct Links {
    rows: sparse::Graph<Block>,
    /// The owner of each slot's vertex, and its place there.
    homes: Vec<Home>,
    /// By place: the slot of each of this processor's vertices, or a number behind the slots if it has none.
    nodes: Vec<u32>,
}

/// A vertex by its owner, and its place there.
#[derive(Clone, Copy)]
pub(super) struct Home {
    pub(super) owner: u32,
    pub(super) place: u32,
}

impl Links {
    fn new(g: &mut Group, vertices: &Vertices, edges: &[Edge]) -> Self {
        let rows = g.sparse_graph(&vertices.0, edges);
        let homes: Vec<Home> = (0..rows.plan().len() as u32).map(|slot| vertices.home(rows.number(slot))).collect();
        let mut nodes = vec![NONE; vertices.here()];
        for (slot, home) in (0..).zip(&homes) {
            if home.owner as usize == g.rank() {
                nodes[home.place as usize] = slot;
            }
        }
        let behind = nodes.iter_mut().filter(|node| **node == NONE);
        behind.zip(homes.len() as u32..).for_each(|(node, number)| *node = number);
        Self { rows, homes, nodes }
    }

    /// How many vertices this processor has.
    pub(super) fn here(&self) -> usize {
        self.rows.local_len()
    }

    /// The slots to which the edges of the vertex at a place lead.
    #[inline]
    pub(super) fn of(&self, place: usize) -> &[u32] {
        self.rows.neighbours(place)
    }

    pub(super) fn degree(&self, place: usize) -> usize {
        self.rows.degree(place)
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.homes.len()
    }

    /// The vertex of a slot.
    #[inline]
    pub(super) fn number(&self, slot: u32) -> usize {
        self.rows.number(slot)
    }

    #[inline]
    pub(super) fn home(&self, slot: u32) -> Home {
        self.homes[slot as usize]
    }

    /// The vertices of all slots. Those of an owner follow each other.
    pub(super) fn homes(&self) -> &[Home] {
        &self.homes
    }

    /// The slot of each of this processor's vertices, by place. Those that have none are numbered behind the slots.
    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// What each slot's vertex has in an array; `room` is a vector whose memory may be used. One superstep.
    pub(super) fn gather<T: Element>(&self, g: &mut Group, values: &Array<T, Block>, room: Vec<T>) -> Vec<T> {
        g.step(|s| s.gather_by_into(values, self.plan(), room))
    }

    pub(super) fn plan(&self) -> &Plan<Block> {
        self.rows.plan()
    }
}

/// A graph that lies spread over the processors of a group: each has a block of the vertices, and their edges.
///
/// ```
/// use superstep::{Config, Local};
/// use superstep_programs::gap::Graph;
///
/// // A triangle with a tail, and an edge that counts for nothing. Everybody may give edges; here rank 0 gives all.
/// let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)];
/// let counts = Config::new().procs(2).run(|g| {
///     let mine = if g.is_leader() { &edges[..] } else { &[] };
///     let graph = Graph::undirected(g, 4, mine);
///     (graph.vertices(), graph.edges())
/// });
/// assert_eq!(counts.unwrap(), (4, 8));
/// ```
pub struct Graph {
    pub(super) vertices: Vertices,
    pub(super) out: Links,
    /// Edges by where they lead to; none where each edge leads both ways.
    inward: Option<Links>,
    edges: usize,
}

impl Graph {
    /// A graph in which each of these edges leads both ways. Every member gives some of them. Collective.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Graph;
    ///
    /// let edges = Config::new().procs(3).run(|g| Graph::undirected(g, 9, &[(0, 8), (8, 0)]).edges());
    /// assert_eq!(edges.unwrap(), 2);
    /// ```
    pub fn undirected(g: &mut Group, vertices: usize, edges: &[(usize, usize)]) -> Self {
        let edges: Vec<Edge> = proper(edges).flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        let vertices = Vertices::new(g, vertices);
        let out = Links::new(g, &vertices, &edges);
        Self::of(g, vertices, out, None)
    }

    /// A graph whose edges lead one way. Every member gives some of them. Collective.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Graph;
    ///
    /// let edges = Config::new().procs(3).run(|g| Graph::directed(g, 9, &[(0, 8), (8, 0), (0, 1)]).edges());
    /// assert_eq!(edges.unwrap(), 3);
    /// ```
    pub fn directed(g: &mut Group, vertices: usize, edges: &[(usize, usize)]) -> Self {
        let edges: Vec<Edge> = proper(edges).collect();
        let turned: Vec<Edge> = edges.iter().map(|&(a, b)| (b, a)).collect();
        let vertices = Vertices::new(g, vertices);
        let (out, inward) = (Links::new(g, &vertices, &edges), Links::new(g, &vertices, &turned));
        Self::of(g, vertices, out, Some(inward))
    }

    fn of(g: &mut Group, vertices: Vertices, out: Links, inward: Option<Links>) -> Self {
        let edges = out.rows.edges(g);
        Self { vertices, out, inward, edges }
    }

    /// How many vertices there are.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Graph;
    ///
    /// assert_eq!(Config::new().procs(2).run(|g| Graph::directed(g, 5, &[]).vertices()).unwrap(), 5);
    /// ```
    pub fn vertices(&self) -> usize {
        self.vertices.count()
    }

    /// How many edges there are; one that leads both ways counts twice.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Graph;
    ///
    /// assert_eq!(Config::new().procs(2).run(|g| Graph::undirected(g, 5, &[(3, 4)]).edges()).unwrap(), 2);
    /// ```
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Whether edges lead one way.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Graph;
    ///
    /// assert!(Config::new().procs(2).run(|g| Graph::directed(g, 2, &[]).is_directed()).unwrap());
    /// ```
    pub fn is_directed(&self) -> bool {
        self.inward.is_some()
    }

    /// The edges by where they lead to.
    pub(super) fn inward(&self) -> &Links {
        self.inward.as_ref().unwrap_or(&self.out)
    }

    /// A vertex that edges leave: one of those, drawn by the seed. The first vertex if there are no edges. Collective.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Graph;
    ///
    /// let drawn = Config::new().procs(2).run(|g| Graph::directed(g, 5, &[(3, 4)]).draw(g, 7));
    /// assert_eq!(drawn.unwrap(), 3);
    /// ```
    pub fn draw(&self, g: &mut Group, seed: u64) -> usize {
        let places: Vec<usize> = (0..self.out.here()).filter(|&place| self.out.degree(place) > 0).collect();
        self.vertices.draw(g, seed, &places)
    }
}

/// Edges that lead from one vertex to another.
fn proper(edges: &[Edge]) -> impl Iterator<Item = Edge> {
    edges.iter().copied().filter(|(a, b)| a != b)
}

/// A graph whose edges have lengths, by where they lead from.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::Weighted;
///
/// let edges = Config::new().procs(2).run(|g| {
///     // Of two edges between the same vertices the shorter one stays.
///     Weighted::new(g, 3, &[(0, 1, 7), (0, 1, 5), (1, 2, 1), (2, 2, 1)]).edges()
/// });
/// assert_eq!(edges.unwrap(), 2);
/// ```
pub struct Weighted {
    pub(super) vertices: Vertices,
    pub(super) rows: sparse::Sparse<u32, Block>,
    homes: Vec<Home>,
    edges: usize,
    longest: u32,
}

impl Weighted {
    /// A graph with these edges: from which vertex, to which, and how long. Every member gives some. Collective.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Weighted;
    ///
    /// let vertices = Config::new().procs(2).run(|g| Weighted::new(g, 3, &[(0, 1, 7)]).vertices());
    /// assert_eq!(vertices.unwrap(), 3);
    /// ```
    pub fn new(g: &mut Group, vertices: usize, edges: &[(usize, usize, u32)]) -> Self {
        let edges: Vec<(usize, usize, u32)> = edges.iter().copied().filter(|(a, b, _)| a != b).collect();
        let vertices = Vertices::new(g, vertices);
        let rows = g.sparse(&vertices.0, &vertices.0, &edges, Min);
        let homes = (0..rows.plan().len() as u32).map(|slot| vertices.home(rows.number(slot))).collect();
        let mut longest = 1;
        rows.forall(|_, _, length| longest = length.max(longest));
        let (edges, longest) = g.step(|s| (s.reduce(rows.local_len(), Sum), s.reduce(longest, Max)));
        Self { vertices, rows, homes, edges, longest }
    }

    /// How many vertices there are.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Weighted;
    ///
    /// assert_eq!(Config::new().procs(2).run(|g| Weighted::new(g, 3, &[]).vertices()).unwrap(), 3);
    /// ```
    pub fn vertices(&self) -> usize {
        self.vertices.count()
    }

    /// How many edges there are.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Weighted;
    ///
    /// assert_eq!(Config::new().procs(2).run(|g| Weighted::new(g, 3, &[(0, 1, 7)]).edges()).unwrap(), 1);
    /// ```
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// The length of the longest edge.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Weighted;
    ///
    /// assert_eq!(Config::new().procs(2).run(|g| Weighted::new(g, 3, &[(0, 1, 7)]).longest()).unwrap(), 7);
    /// ```
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// A vertex that edges leave: one of those, drawn by the seed. The first vertex if there are no edges. Collective.
    ///
    /// ```
    /// use superstep::Config;
    /// use superstep_programs::gap::Weighted;
    ///
    /// assert_eq!(Config::new().procs(2).run(|g| Weighted::new(g, 3, &[(1, 2, 7)]).draw(g, 5)).unwrap(), 1);
    /// ```
    pub fn draw(&self, g: &mut Group, seed: u64) -> usize {
        let places: Vec<usize> =
            (0..self.vertices.here()).filter(|&place| !self.rows.row(place).0.is_empty()).collect();
        self.vertices.draw(g, seed, &places)
    }

    #[inline]
    pub(super) fn home(&self, slot: u32) -> Home {
        self.homes[slot as usize]
    }

    pub(super) fn slots(&self) -> usize {
        self.homes.len()
    }
}
