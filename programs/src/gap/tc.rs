#![doc = include_str!("../../docs/tc.md")]

use super::graph::Graph;
use crate::Trouble;
use superstep::{Array, Block, Group, Sum, distributions::Irregular};

/// How many triangles there are. Collective.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{Graph, tc};
///
/// let count = Config::new().procs(2).run(|g| {
///     let graph = Graph::undirected(g, 4, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]);
///     tc::triangles(g, &graph).unwrap()
/// });
/// assert_eq!(count.unwrap(), 2);
/// ```
///
/// # Errors
///
/// If the edges of the graph lead one way.
pub fn triangles(g: &mut Group, graph: &Graph) -> Result<u64, Trouble> {
    let rows = Rows::new(g, graph)?;
    let mut marks = Marks::new(graph.vertices());
    let (mut count, me, p) = (0, g.rank(), g.size());
    // Everybody goes round all processors, and each begins with itself.
    for owner in (0..p).map(|step| (me + step) % p) {
        let theirs = rows.of(g, owner);
        for mine in rows.mine.rows() {
            let among = theirs.among(mine);
            if among.is_empty() {
                continue;
            }
            for &vertex in mine {
                marks.set(vertex);
            }
            for &middle in among {
                count += theirs.row(middle).iter().map(|&vertex| marks.get(vertex)).sum::<u64>();
            }
            for &vertex in mine {
                marks.clear(vertex);
            }
        }
    }
    Ok(g.step(|s| s.reduce(count, Sum)))
}

/// The same count in another way: what two sorted lists have in common, one after the other.
pub(super) fn recount(g: &mut Group, graph: &Graph) -> Result<u64, Trouble> {
    let rows = Rows::new(g, graph)?;
    let mut count = 0u64;
    for owner in 0..g.size() {
        let theirs = rows.of(g, owner);
        for mine in rows.mine.rows() {
            for &middle in theirs.among(mine) {
                count += common(mine, theirs.row(middle));
            }
        }
    }
    Ok(g.step(|s| s.reduce(count, Sum)))
}

/// How many numbers two rising lists have in common.
fn common(mut a: &[u32], mut b: &[u32]) -> u64 {
    let mut count = 0;
    while let (Some(&x), Some(&y)) = (a.first(), b.first()) {
        count += u64::from(x == y);
        (a, b) = (&a[usize::from(x <= y)..], &b[usize::from(y <= x)..]);
    }
    count
}

/// The neighbours of each vertex that come after it: those of higher degree, and of equal degree those of a higher
/// number. So each triangle is found from its first vertex alone, and no list is long.
struct Rows {
    /// Of this processor.
    mine: Part,
    /// Where each vertex' neighbours end among those of its owner.
    ends: Array<u32, Block>,
    targets: Array<u32, Irregular>,
    /// Where each processor's neighbours begin.
    firsts: Vec<usize>,
}

/// The rows of one processor.
struct Part {
    first: usize,
    ends: Vec<u32>,
    targets: Vec<u32>,
}

impl Rows {
    fn new(g: &mut Group, graph: &Graph) -> Result<Self, Trouble> {
        if graph.is_directed() {
            return Err(Trouble::from("triangles are counted in graphs whose edges lead both ways; use --symmetrize"));
        }
        let (out, first) = (&graph.out, graph.vertices.first());
        let degrees: Vec<u32> = (0..out.here()).map(|place| out.degree(place) as u32).collect();
        let lie = graph.vertices.array(g, &degrees);
        let around = out.gather(g, &lie, Vec::new());
        let (mut ends, mut targets) = (Vec::with_capacity(degrees.len()), Vec::new());
        for (place, &degree) in degrees.iter().enumerate() {
            let later = |&&slot: &&u32| (around[slot as usize], out.number(slot)) > (degree, first + place);
            targets.extend(out.of(place).iter().filter(later).map(|&slot| out.number(slot) as u32));
            ends.push(targets.len() as u32);
        }
        let sizes = g.step(|s| s.collect(targets.len()));
        let mut firsts = vec![0];
        for size in &sizes {
            firsts.push(firsts[firsts.len() - 1] + size);
        }
        let all = g.array_with([firsts[sizes.len()]], Irregular(sizes));
        all.local_mut().copy_from_slice(&targets);
        lie.local_mut().copy_from_slice(&ends);
        Ok(Self { mine: Part { first, ends, targets }, ends: lie, targets: all, firsts })
    }

    /// The rows of a processor. One superstep.
    fn of(&self, g: &mut Group, owner: usize) -> Part {
        let size = self.ends.len().div_ceil(g.size());
        let vertices = (owner * size).min(self.ends.len())..((owner + 1) * size).min(self.ends.len());
        let first = vertices.start;
        let targets = self.firsts[owner]..self.firsts[owner + 1];
        let (ends, targets) = g.step(|s| (s.mirror(&self.ends, vertices), s.mirror(&self.targets, targets)));
        Part { first, ends, targets }
    }
}

impl Part {
    fn rows(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.targets[std::mem::replace(&mut start, end as usize)..end as usize])
    }

    /// The row of a vertex that is here.
    #[inline]
    fn row(&self, vertex: u32) -> &[u32] {
        let place = vertex as usize - self.first;
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.targets[start as usize..self.ends[place] as usize]
    }

    /// Those of a rising list that have rows here.
    fn among<'a>(&self, list: &'a [u32]) -> &'a [u32] {
        let start = list.partition_point(|&vertex| (vertex as usize) < self.first);
        let end = list.partition_point(|&vertex| (vertex as usize) < self.first + self.ends.len());
        &list[start..end]
    }
}

/// A set of vertices.
struct Marks(Vec<u64>);

impl Marks {
    fn new(vertices: usize) -> Self {
        Self(vec![0; vertices.div_ceil(64)])
    }

    #[inline]
    fn set(&mut self, vertex: u32) {
        self.0[vertex as usize / 64] |= 1 << (vertex % 64);
    }

    #[inline]
    fn clear(&mut self, vertex: u32) {
        self.0[vertex as usize / 64] = 0;
    }

    #[inline]
    fn get(&self, vertex: u32) -> u64 {
        self.0[vertex as usize / 64] >> (vertex % 64) & 1
    }
}
