#![doc = include_str!("../../docs/cc.md")]

use super::{
    graph::{Graph, Links},
    random::drawn_for,
};
use crate::Trouble;
use std::collections::HashMap;
use superstep::{Array, Block, Group, Max, Min, Or};

/// With how many of its neighbours each vertex is joined before the largest component is looked for.
const FIRST: usize = 2;
/// How many vertices are drawn for that.
const DRAWN: usize = 1024;
/// From one change in so many slots on all slots are told.
const DENSE: usize = 8;

/// The components of a graph: for each of this processor's vertices the lowest number of one that can be reached from
/// it. Collective.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{Graph, cc};
///
/// let labels = Config::new().procs(2).run_all(|g| {
///     let graph = Graph::undirected(g, 6, &[(0, 3), (3, 5), (4, 1)]);
///     cc::labels(g, &graph).unwrap()
/// });
/// assert_eq!(labels.unwrap(), [[0, 1, 2], [0, 1, 0]]);
/// ```
///
/// # Errors
///
/// If the edges of the graph lead one way.
pub fn labels(g: &mut Group, graph: &Graph) -> Result<Vec<u32>, Trouble> {
    if graph.is_directed() {
        return Err(Trouble::from("components are looked for in graphs whose edges lead both ways; use --symmetrize"));
    }
    let (out, first) = (&graph.out, graph.vertices.first() as u32);
    let numbers: Vec<u32> = (first..).take(graph.vertices.here()).collect();
    let labels = graph.vertices.array(g, &numbers);
    let mut forest = Forest::new(graph, g.rank());
    for round in 0..FIRST {
        for place in 0..out.here() {
            if let Some(&slot) = out.of(place).get(round) {
                forest.join(place, slot);
            }
        }
    }
    settle(g, out, &mut forest, &labels);
    let settled = labels.local().to_vec();
    let most = frequent(g, &settled);
    let mut is_joined = false;
    for (place, _) in settled.iter().enumerate().filter(|&(_, &label)| label != most) {
        for &slot in out.of(place).iter().skip(FIRST) {
            is_joined |= forest.join(place, slot);
        }
    }
    if !g.step(|s| s.reduce(is_joined, Or)) {
        return Ok(settled);
    }
    settle(g, out, &mut forest, &labels);
    Ok(labels.local().to_vec())
}

/// A label that many vertices have: the most frequent one of some that are drawn, everywhere the same. One superstep.
fn frequent(g: &mut Group, labels: &[u32]) -> u32 {
    let (mut random, mut counts) = (drawn_for(1, g.rank() as u64), HashMap::<u32, u32>::new());
    for _ in 0..DRAWN.min(labels.len()) {
        *counts.entry(labels[random.below(labels.len())]).or_default() += 1;
    }
    let most = counts.into_iter().map(|(label, count)| u64::from(count) << 32 | u64::from(label)).max();
    g.step(|s| s.reduce(most.unwrap_or(0), Max)) as u32
}

/// Gives all vertices of a component the same label: each tree of each processor takes the lowest label that one of its
/// vertices has, and labels that have changed follow the labels of those that they name, until nothing changes. Four
/// supersteps for each round, and about as many rounds as the number of processors has digits, or that of the vertices
/// where trees are short.
fn settle(g: &mut Group, out: &Links, forest: &mut Forest, labels: &Array<u32, Block>) {
    forest.flatten();
    let me = g.rank() as u32;
    let (mut around, mut told) = (Vec::new(), Vec::new());
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for round in 0.. {
        around = out.gather(g, labels, around);
        let before = labels.local().to_vec();
        forest.lowest(&around, &before);
        (0..).zip(labels.local_mut().iter_mut()).for_each(|(place, label)| *label = forest.label(forest.nodes[place]));
        told.clear();
        told.extend((0..around.len() as u32).map(|slot| forest.label(slot)));
        indices.clear();
        values.clear();
        let mut changes = 0;
        for (slot, (&lowest, &label)) in
            (0..).zip(told.iter().zip(&around)).filter(|(_, (lowest, label))| lowest < label)
        {
            changes += 1;
            // Whoever has the same label hears of it as well.
            let is_said = (indices.last(), values.last()) == (Some(&(label as usize)), Some(&lowest));
            if label as usize != out.number(slot) && !is_said {
                indices.push(label as usize);
                values.push(lowest);
            }
        }
        // Many are told by the plan, and few by their numbers.
        let is_dense = changes > around.len() / DENSE;
        if !is_dense {
            for (slot, (&lowest, &label)) in (0..).zip(told.iter().zip(&around)) {
                if lowest < label && out.home(slot).owner != me {
                    indices.push(out.number(slot));
                    values.push(lowest);
                }
            }
        }
        g.step(|s| {
            s.scatter(labels, &indices, &values, Min);
            if is_dense {
                s.scatter_by(labels, out.plan(), &told, Min);
            }
        });
        let mut is_changed = changes > 0 || *labels.local() != before[..];
        if round > 0 {
            let changed: Vec<usize> =
                (0..before.len()).filter(|&place| labels.local()[place] < before[place]).collect();
            indices.clear();
            indices.extend(changed.iter().map(|&place| labels.local()[place] as usize));
            let further = g.step(|s| s.gather(labels, &indices));
            let mut labels = labels.local_mut();
            changed.iter().zip(further).for_each(|(&place, further)| labels[place] = further);
            is_changed |= !changed.is_empty();
        }
        if !g.step(|s| s.reduce(is_changed, Or)) {
            return;
        }
    }
}

/// Which slots and vertices of this processor are joined by its own edges: trees, of which each root is its own parent.
struct Forest {
    /// By node: slots, and behind them this processor's vertices that have none.
    parents: Vec<u32>,
    /// The node of each of this processor's vertices.
    nodes: Vec<u32>,
    /// By root: the lowest label in its tree.
    lowest: Vec<u32>,
}

impl Forest {
    fn new(graph: &Graph, me: usize) -> Self {
        let (slots, here) = (graph.out.slots() as u32, graph.vertices.here());
        let mut nodes = vec![u32::MAX; here];
        for slot in 0..slots {
            let home = graph.out.home(slot);
            if home.owner as usize == me {
                nodes[home.place as usize] = slot;
            }
        }
        let mut count = slots;
        for node in nodes.iter_mut().filter(|node| **node == u32::MAX) {
            *node = count;
            count += 1;
        }
        Self { parents: (0..count).collect(), nodes, lowest: Vec::new() }
    }

    /// Joins the trees of a vertex and of a slot. False if that was one tree.
    #[inline]
    fn join(&mut self, place: usize, slot: u32) -> bool {
        let (mut a, mut b) = (self.parents[self.nodes[place] as usize], self.parents[slot as usize]);
        while a != b {
            let (high, low) = (a.max(b), a.min(b));
            let parent = self.parents[high as usize];
            if parent == high {
                self.parents[high as usize] = low;
                return true;
            }
            (a, b) = (self.parents[parent as usize], low);
        }
        false
    }

    /// Makes every node a child of its root.
    fn flatten(&mut self) {
        // Parents have lower numbers, so theirs are done before.
        for node in 0..self.parents.len() {
            self.parents[node] = self.parents[self.parents[node] as usize];
        }
    }

    /// Finds the lowest label of each tree.
    fn lowest(&mut self, around: &[u32], labels: &[u32]) {
        self.lowest.clear();
        self.lowest.resize(self.parents.len(), u32::MAX);
        let of_slots = around.iter().zip(&self.parents).map(|(&label, &root)| (label, root));
        let of_places = labels.iter().zip(&self.nodes).map(|(&label, &node)| (label, self.parents[node as usize]));
        for (label, root) in of_slots.chain(of_places) {
            // Most find it there: a write would make the next one wait.
            if label < self.lowest[root as usize] {
                self.lowest[root as usize] = label;
            }
        }
    }

    /// The lowest label in the tree of a node.
    #[inline]
    fn label(&self, node: u32) -> u32 {
        self.lowest[self.parents[node as usize] as usize]
    }
}
