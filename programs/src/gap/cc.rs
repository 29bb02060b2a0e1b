#![doc = include_str!("../../docs/cc.md")]

use super::{
    graph::{Graph, Links, NONE},
    mail::Mail,
    random::drawn_for,
};
use crate::Trouble;
use std::collections::HashMap;
use superstep::{Group, Max, Min, Or};

/// With how many of its neighbours each vertex is joined before the largest tree is looked for.
const FIRST: usize = 2;
/// How many vertices are drawn for that.
const DRAWN: usize = 1024;

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
    let mut forest = Forest::new(graph, g.rank());
    for round in 0..FIRST {
        for place in 0..graph.out.here() {
            if let Some(&slot) = graph.out.of(place).get(round) {
                forest.join(place, slot);
            }
        }
    }
    forest.flatten();
    let most = forest.frequent(g.rank());
    let is_passed: Vec<bool> = (0..graph.out.here()).map(|place| forest.root(place) == most).collect();
    forest.join_others(&graph.out, |place| !is_passed[place]);
    let labels = settle(g, graph, &mut forest);
    // Those that were passed over may be in several components, of which edges between them then make one.
    let passed = is_passed.iter().position(|&is_passed| is_passed).map(|place| labels[place]);
    let (low, high) = g.step(|s| (s.reduce(passed.unwrap_or(NONE), Min), s.reduce(passed.unwrap_or(0), Max)));
    if low >= high {
        return Ok(labels);
    }
    forest.join_others(&graph.out, |place| labels[place] != low);
    Ok(settle(g, graph, &mut forest))
}

/// Gives all vertices of a component the same label, the lowest of their numbers.
///
/// Each tree of each processor is named after its lowest vertex there, and its other vertices are told that name. So an
/// edge between two trees is a pair of names, and of equal pairs one is kept: what is left to be done is done with the
/// names alone.
fn settle(g: &mut Group, graph: &Graph, forest: &mut Forest) -> Vec<u32> {
    forest.flatten();
    let (out, first, me) = (&graph.out, graph.vertices.first() as u32, g.rank() as u32);
    let names = forest.names(first);
    let mut mail = Mail::new(g);
    for (slot, &root) in (0..out.slots() as u32).zip(&forest.parents) {
        let (home, name) = (out.home(slot), names[root as usize]);
        if home.owner != me && name != NONE {
            mail.put(home, name);
        }
    }
    let mut pairs = Vec::new();
    mail.hand_over(g, |place, name| {
        let pair = (names[forest.root(place) as usize], name);
        // Most are like the one before.
        if pairs.last() != Some(&pair) {
            pairs.push(pair);
        }
    });
    pairs.sort_unstable();
    pairs.dedup();
    let all = agree(g, graph, &pairs);
    (0..graph.vertices.here()).map(|place| all[(names[forest.root(place) as usize] - first) as usize]).collect()
}

/// The labels of this processor's names, by place, where pairs have the same: their first is a name of this processor.
///
/// Labels are names, so they lead on to labels. In each round the labels of pairs with two labels take the lower of
/// them, and then each label follows the one to which it leads. Three supersteps for each round, and two for the last.
fn agree(g: &mut Group, graph: &Graph, pairs: &[(u32, u32)]) -> Vec<u32> {
    let first = graph.vertices.first();
    let numbers: Vec<u32> = (first as u32..).take(graph.vertices.here()).collect();
    let labels = graph.vertices.array(g, &numbers);
    let others: Vec<usize> = pairs.iter().map(|&(_, other)| other as usize).collect();
    loop {
        let of_others = g.step(|s| s.gather(&labels, &others));
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        {
            let labels = labels.local();
            for (&(name, other), of_other) in pairs.iter().zip(of_others) {
                let label = labels[name as usize - first];
                if label != of_other {
                    indices.extend([name, other, label, of_other].map(|name| name as usize));
                    values.extend([label.min(of_other); 4]);
                }
            }
        }
        let is_changed = g.step(|s| {
            s.scatter(&labels, &indices, &values, Min);
            s.reduce(!indices.is_empty(), Or)
        });
        if !is_changed {
            return labels.local().to_vec();
        }
        let changed: Vec<usize> = (0..numbers.len()).filter(|&place| labels.local()[place] != numbers[place]).collect();
        let leading: Vec<usize> = changed.iter().map(|&place| labels.local()[place] as usize).collect();
        let further = g.step(|s| s.gather(&labels, &leading));
        let mut labels = labels.local_mut();
        changed.into_iter().zip(further).for_each(|(place, label)| labels[place] = label);
    }
}

/// Which slots and vertices of this processor are joined by its own edges: trees, of which each root is its own parent.
struct Forest {
    /// By node: slots, and behind them this processor's vertices that have none.
    parents: Vec<u32>,
    /// The node of each of this processor's vertices.
    nodes: Vec<u32>,
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
        Self { parents: (0..count).collect(), nodes }
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

    /// Joins vertices with all their neighbours but the first ones.
    fn join_others(&mut self, out: &Links, is_joined: impl Fn(usize) -> bool) {
        for place in (0..out.here()).filter(|&place| is_joined(place)) {
            for &slot in out.of(place).iter().skip(FIRST) {
                self.join(place, slot);
            }
        }
    }

    /// Makes every node a child of its root.
    fn flatten(&mut self) {
        // Parents have lower numbers, so theirs are done before.
        for node in 0..self.parents.len() {
            self.parents[node] = self.parents[self.parents[node] as usize];
        }
    }

    /// The root of the vertex at a place, in a flat forest.
    #[inline]
    fn root(&self, place: usize) -> u32 {
        self.parents[self.nodes[place] as usize]
    }

    /// The root that many vertices have: the most frequent one of some that are drawn.
    fn frequent(&self, rank: usize) -> u32 {
        let (mut random, mut counts) = (drawn_for(1, rank as u64), HashMap::<u32, u32>::new());
        for _ in 0..DRAWN.min(self.nodes.len()) {
            *counts.entry(self.root(random.below(self.nodes.len()))).or_default() += 1;
        }
        counts.into_iter().max_by_key(|&(root, count)| (count, root)).map_or(NONE, |(root, _)| root)
    }

    /// By root: the number of this processor's lowest vertex in the tree.
    fn names(&self, first: u32) -> Vec<u32> {
        let mut names = vec![NONE; self.parents.len()];
        for (place, number) in (0..self.nodes.len()).zip(first..) {
            let name = &mut names[self.root(place) as usize];
            *name = number.min(*name);
        }
        names
    }
}
