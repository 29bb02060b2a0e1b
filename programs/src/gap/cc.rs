#![doc = include_str!("../../docs/cc.md")]

use super::{
    graph::{Graph, Links, NONE},
    mail::Mail,
};
use crate::Trouble;
use superstep::{Group, Max, Min, Or};

/// With how many of its neighbours each vertex is joined before the largest tree is looked for.
const FIRST: usize = 2;
/// At how many vertices it is looked for.
const DRAWN: usize = 1024;
/// Everybody is told all pairs of names if nobody has more than so many.
const FEW: usize = 1024;

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
    let mut forest = Forest::new(graph);
    forest.join_first(&graph.out);
    let most = forest.frequent();
    let is_passing = forest.join_others(&graph.out, |_, root| root != most);
    let (labels, of_most) = settle(g, graph, &mut forest, most);
    // Those that were passed over may be in several components, of which edges between them then make one.
    let passed = of_most.filter(|_| is_passing);
    let (low, high) = g.step(|s| (s.reduce(passed.unwrap_or(NONE), Min), s.reduce(passed.unwrap_or(0), Max)));
    if low >= high {
        return Ok(labels);
    }
    forest.join_others(&graph.out, |place, _| labels[place] != low);
    Ok(settle(g, graph, &mut forest, most).0)
}

/// Gives all vertices of a component the same label, the lowest of their numbers. Also says which one those in the tree
/// of the node `most` have, if there are any.
///
/// Each tree of each processor is named after its lowest vertex there, and the owners of its other vertices are told
/// that name. One tree has most of them, so for that one they get a set of bits. An edge between two trees is a pair of
/// names, and of equal pairs one is kept: what is left to be done is done with the names alone.
fn settle(g: &mut Group, graph: &Graph, forest: &mut Forest, most: u32) -> (Vec<u32>, Option<u32>) {
    forest.flatten();
    let most = forest.parents.get(most as usize).copied().unwrap_or(NONE);
    let first = graph.vertices.first() as u32;
    let mut names = forest.names(first);
    let (mut mail, mut sets) = (Mail::new(g), vec![Vec::new(); g.size()]);
    let mut slot = 0;
    for homes in graph.out.homes().chunk_by(|a, b| a.owner == b.owner) {
        let (roots, owner) = (&forest.parents[slot..][..homes.len()], homes[0].owner as usize);
        slot += homes.len();
        if owner == g.rank() {
            continue;
        }
        let set: &mut Vec<u64> = &mut sets[owner];
        let end = homes.iter().map(|home| home.place as usize / 64 + 1).max().unwrap_or(0);
        set.resize(end.max(set.len()), 0);
        for (&home, &root) in homes.iter().zip(roots) {
            set[home.place as usize / 64] |= u64::from(root == most) << (home.place % 64);
            let name = names[root as usize];
            let (is_other, is_named) = (root != most, name != NONE);
            // Both at once: one alone cannot be foreseen.
            if is_other & is_named {
                mail.put(home, name);
            }
        }
    }
    let called = names.get(most as usize).copied().unwrap_or(NONE);
    let mut pairs = Vec::new();
    let (sets, called) = mail.hand_over_with(
        g,
        |s| (s.exchange(sets), s.collect(called)),
        |place, name| pairs.push((names[forest.root(place) as usize], name)),
    );
    let mine = forest.set(most);
    for (set, name) in sets.iter().zip(called) {
        let mut is_common = false;
        for (at, (&told, &mine)) in set.iter().zip(&mine).enumerate() {
            is_common |= told & mine != 0;
            let mut others = told & !mine;
            while others != 0 {
                pairs.push((names[forest.root(64 * at + others.trailing_zeros() as usize) as usize], name));
                others &= others - 1;
            }
        }
        if is_common {
            pairs.push((names[most as usize], name));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    for (name, label) in agree(g, graph, &pairs) {
        names[forest.root((name - first) as usize) as usize] = label;
    }
    let labels = forest.nodes.iter().map(|&node| names[forest.parents[node as usize] as usize]).collect();
    (labels, names.get(most as usize).copied())
}

/// Which of this processor's names have another label than themselves, where pairs have the same label: their first is
/// a name of this processor. One superstep if there are few pairs.
fn agree(g: &mut Group, graph: &Graph, pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let few = (pairs.len() <= FEW).then(|| pairs.to_vec());
    match g.step(|s| s.collect(few)).into_iter().collect::<Option<Vec<_>>>() {
        Some(all) => {
            let is_here = |&(name, _): &(u32, u32)| graph.vertices.place(name as usize).is_some();
            joined(&all.concat()).into_iter().filter(is_here).collect()
        }
        None => agree_in_rounds(g, graph, pairs),
    }
}

/// The names in pairs that have another label than themselves, the lowest name to which pairs lead.
fn joined(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut names: Vec<u32> = pairs.iter().flat_map(|&(name, other)| [name, other]).collect();
    names.sort_unstable();
    names.dedup();
    // By the place of a name: that of a lower one with the same label, or its own.
    let mut lower: Vec<usize> = (0..names.len()).collect();
    for &(name, other) in pairs {
        let [one, other] = [name, other].map(|name| {
            let mut at = names.partition_point(|&before| before < name);
            while lower[at] != at {
                at = lower[at];
            }
            at
        });
        lower[one.max(other)] = one.min(other);
    }
    // What is lower has its label already.
    for at in 0..names.len() {
        lower[at] = lower[lower[at]];
    }
    let labels = names.iter().zip(&lower).map(|(&name, &at)| (name, names[at]));
    labels.filter(|(name, label)| name != label).collect()
}

/// What [`agree`] says, if there are many pairs.
///
/// Labels are names, so they lead on to labels. In each round the labels of pairs with two labels take the lower of
/// them, and then each label follows the one to which it leads. Three supersteps for each round, and two for the last.
fn agree_in_rounds(g: &mut Group, graph: &Graph, pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
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
        let changed: Vec<(u32, u32)> = {
            let labels = labels.local();
            numbers.iter().copied().zip(labels.iter().copied()).filter(|(name, label)| name != label).collect()
        };
        if !is_changed {
            return changed;
        }
        let leading: Vec<usize> = changed.iter().map(|&(_, label)| label as usize).collect();
        let further = g.step(|s| s.gather(&labels, &leading));
        let mut labels = labels.local_mut();
        changed.iter().zip(further).for_each(|(&(name, _), label)| labels[name as usize - first] = label);
    }
}

/// Which slots and vertices of this processor are joined by its own edges: trees, of which each root is its own parent.
struct Forest<'a> {
    /// By node: slots, and behind them this processor's vertices that have none.
    parents: Vec<u32>,
    /// The node of each of this processor's vertices.
    nodes: &'a [u32],
}

impl<'a> Forest<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = graph.out.nodes();
        let count = nodes.iter().fold(graph.out.slots() as u32, |count, &node| count.max(node + 1));
        Self { parents: (0..count).collect(), nodes }
    }

    /// Joins the trees of a vertex and of a slot.
    #[inline]
    fn join(&mut self, place: usize, slot: u32) {
        let (mut a, mut b) = (self.parents[self.nodes[place] as usize], self.parents[slot as usize]);
        while a != b {
            let (high, low) = (a.max(b), a.min(b));
            let parent = self.parents[high as usize];
            if parent == high {
                self.parents[high as usize] = low;
                return;
            }
            (a, b) = (self.parents[parent as usize], low);
        }
    }

    /// Joins each vertex with the first of its neighbours, and makes the forest flat.
    fn join_first(&mut self, out: &Links) {
        let (mut places, mut count) = (vec![0; out.here() + 1], 0);
        for place in 0..out.here() {
            // Without a branch, which could not be foreseen.
            places[count] = place;
            count += usize::from(out.degree(place) > 0);
        }
        places.truncate(count);
        // Rows are looked at once: where they begin is seldom in a cache.
        let (mut seconds, mut not_hung) = (Vec::with_capacity(count), Vec::new());
        for &place in &places {
            let (node, slots) = (self.nodes[place], out.of(place));
            // Nothing is joined yet, so a vertex can be hung where its first neighbour hangs if that one has a lower
            // number. Nearly all do, and then all but few edges find their two ends in one tree.
            let to = slots[0].min(node);
            self.parents[node as usize] = self.parents[to as usize];
            if to == node {
                not_hung.push((place, slots[0]));
            }
            seconds.push(slots.get(1).copied().unwrap_or(node));
        }
        for (place, slot) in not_hung.into_iter().chain(places.into_iter().zip(seconds)) {
            self.join(place, slot);
        }
        self.flatten();
    }

    /// Joins vertices with all their neighbours but the first ones. They are asked for by place, and by root in a flat
    /// forest. True if a vertex was left out that has other neighbours.
    fn join_others(&mut self, out: &Links, is_joined: impl Fn(usize, u32) -> bool) -> bool {
        let mut is_passing = false;
        for place in 0..out.here() {
            let (has_others, is_joined) = (out.degree(place) > FIRST, is_joined(place, self.root(place)));
            is_passing |= has_others && !is_joined;
            // Both at once: one alone cannot be foreseen.
            if has_others & is_joined {
                for &slot in &out.of(place)[FIRST..] {
                    self.join(place, slot);
                }
            }
        }
        is_passing
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

    /// The root that many vertices have: the most frequent one of some of them.
    fn frequent(&self) -> u32 {
        let some = self.nodes.iter().step_by(self.nodes.len().div_ceil(DRAWN).max(1));
        let mut roots: Vec<u32> = some.map(|&node| self.parents[node as usize]).collect();
        roots.sort_unstable();
        roots.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).map_or(NONE, |same| same[0])
    }

    /// Which of this processor's vertices have this root: a bit for each, by place.
    fn set(&self, root: u32) -> Vec<u64> {
        let has = |node: u32| u64::from(self.parents[node as usize] == root);
        let word = |nodes: &[u32]| nodes.iter().rev().fold(0, |word, &node| word << 1 | has(node));
        self.nodes.chunks(64).map(word).collect()
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
