#![doc = include_str!("../../docs/bfs.md")]

use super::{
    graph::{Graph, Home, NONE},
    mail::Mail,
};
use superstep::{Group, Sum};

/// From when on vertices look for parents: when edges out of the front are more than this part of those that are left.
const ALPHA: usize = 15;
/// Until when: as long as the front has more than this part of all vertices.
const BETA: usize = 18;

/// Searches from a vertex. Returns the parent of each of this processor's vertices: [`NONE`] where no edges lead there,
/// and itself for the source. Collective.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{Graph, NONE, bfs};
///
/// let parents = Config::new().procs(2).run_all(|g| {
///     let graph = Graph::undirected(g, 4, &[(0, 1), (1, 2)]);
///     bfs::search(g, &graph, 0)
/// });
/// assert_eq!(parents.unwrap(), [[0, 0], [1, NONE]]);
/// ```
pub fn search(g: &mut Group, graph: &Graph, source: usize) -> Vec<u32> {
    let places: Vec<usize> = graph.vertices.place(source).into_iter().collect();
    search_from(g, graph, &places)
}

/// Searches from vertices of this processor, which are given by their places, and from those of the others. Collective.
pub(super) fn search_from(g: &mut Group, graph: &Graph, places: &[usize]) -> Vec<u32> {
    let mut search = Search::new(g, graph, places);
    let mut left = graph.edges();
    loop {
        let (count, edges) = search.front(g);
        if count == 0 {
            return search.parents;
        }
        if edges > left / ALPHA {
            search.upwards(g, count);
        } else {
            left -= edges.min(left);
            search.downwards(g);
        }
    }
}

/// A search under way.
struct Search<'a> {
    graph: &'a Graph,
    /// The number of this processor's first vertex.
    first: usize,
    /// By place.
    parents: Vec<u32>,
    /// The places of vertices that were reached last.
    front: Vec<u32>,
    /// By slot: whether its vertex has been reached, as far as this processor knows.
    known: Vec<bool>,
    mail: Mail<u32>,
}

impl<'a> Search<'a> {
    fn new(g: &Group, graph: &'a Graph, places: &[usize]) -> Self {
        let first = graph.vertices.first();
        let mut parents = vec![NONE; graph.vertices.here()];
        for &place in places {
            parents[place] = (first + place) as u32;
        }
        let front = places.iter().map(|&place| place as u32).collect();
        let known = vec![false; graph.out.slots()];
        Self { graph, first, parents, front, known, mail: Mail::new(g) }
    }

    /// How many vertices the front has, and how many edges leave them. One superstep.
    fn front(&self, g: &mut Group) -> (usize, usize) {
        let edges: usize = self.front.iter().map(|&place| self.graph.out.degree(place as usize)).sum();
        g.step(|s| (s.reduce(self.front.len(), Sum), s.reduce(edges, Sum)))
    }

    /// The front tells its neighbours. One superstep.
    fn downwards(&mut self, g: &mut Group) {
        let me = g.rank() as u32;
        let (out, parents) = (&self.graph.out, &mut self.parents);
        let mut next = Vec::new();
        for &place in &self.front {
            let parent = (self.first + place as usize) as u32;
            for &slot in out.of(place as usize) {
                // Each vertex is told once.
                if std::mem::replace(&mut self.known[slot as usize], true) {
                    continue;
                }
                match out.home(slot) {
                    Home { owner, place } if owner == me => reach(parents, &mut next, place as usize, parent),
                    home => self.mail.put(home, parent),
                }
            }
        }
        self.mail.hand_over(g, |place, parent| reach(parents, &mut next, place, parent));
        self.front = next;
    }

    /// Vertices that were not reached look for a neighbour in the front, level by level, while that has many. A
    /// superstep and a sum for each level.
    fn upwards(&mut self, g: &mut Group, mut count: usize) {
        let inward = self.graph.inward();
        let mut flags = vec![0u8; self.parents.len()];
        for &place in &self.front {
            flags[place as usize] = 1;
        }
        let flags = self.graph.vertices.array(g, &flags);
        // Those that can still be reached.
        let is_left = |&place: &u32| self.parents[place as usize] == NONE && inward.degree(place as usize) > 0;
        let mut rest: Vec<u32> = (0..self.parents.len() as u32).filter(is_left).collect();
        let (mut around, mut next) = (Vec::new(), Vec::new());
        loop {
            around = inward.gather(g, &flags, around);
            next.clear();
            rest.retain(|&place| {
                let found = inward.of(place as usize).iter().find(|&&slot| around[slot as usize] != 0);
                if let Some(&slot) = found {
                    self.parents[place as usize] = inward.number(slot) as u32;
                    next.push(place);
                }
                found.is_none()
            });
            {
                let mut flags = flags.local_mut();
                for &place in &self.front {
                    flags[place as usize] = 0;
                }
                for &place in &next {
                    flags[place as usize] = 1;
                }
            }
            std::mem::swap(&mut self.front, &mut next);
            let before = std::mem::replace(&mut count, g.step(|s| s.reduce(self.front.len(), Sum)));
            if count < before && count <= self.graph.vertices() / BETA {
                break;
            }
        }
        if count == 0 {
            return;
        }
        // Whoever tells neighbours from now on need not tell those that were reached meanwhile.
        for (flag, &parent) in flags.local_mut().iter_mut().zip(&self.parents) {
            *flag = u8::from(parent != NONE);
        }
        let reached = self.graph.out.gather(g, &flags, around);
        self.known.iter_mut().zip(reached).for_each(|(known, reached)| *known = reached != 0);
    }
}

/// Takes the first parent that comes.
#[inline]
fn reach(parents: &mut [u32], next: &mut Vec<u32>, place: usize, parent: u32) {
    if parents[place] == NONE {
        parents[place] = parent;
        next.push(place as u32);
    }
}
