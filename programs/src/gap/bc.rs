#![doc = include_str!("../../docs/bc.md")]

use super::{
    graph::{Graph, Links, NONE},
    mail::Mail,
};
use superstep::{Group, Max, Sum};

/// How much of all shortest ways from these vertices leads through each of this processor's, in parts of the largest of
/// these numbers. Collective.
///
/// The source of a way counts as well, as in the suite. All are zero if no way has more than one edge.
///
/// ```
/// use superstep::Config;
/// use superstep_programs::gap::{Graph, bc};
///
/// let scores = Config::new().procs(2).run_all(|g| {
///     let graph = Graph::undirected(g, 4, &[(0, 1), (1, 2), (2, 3)]);
///     bc::scores(g, &graph, &[0])
/// });
/// assert_eq!(scores.unwrap(), [[1.0, 2.0 / 3.0], [1.0 / 3.0, 0.0]]);
/// ```
pub fn scores(g: &mut Group, graph: &Graph, sources: &[usize]) -> Vec<f64> {
    let mut scores = vec![0.0; graph.vertices.here()];
    for &source in sources {
        let ways = Ways::new(g, graph, source);
        scores.iter_mut().zip(&ways.through).for_each(|(score, through)| *score += through);
    }
    let largest = scores.iter().copied().fold(0.0, f64::max);
    let largest = g.step(|s| s.reduce(largest, Max));
    if largest > 0.0 {
        for score in &mut scores {
            *score /= largest;
        }
    }
    scores
}

/// The shortest ways from one vertex, by the places of this processor's vertices.
pub(super) struct Ways {
    /// How many edges they have.
    pub(super) levels: Vec<u32>,
    /// How many there are.
    pub(super) counts: Vec<f64>,
    /// What part of the ways to other vertices leads through this one, for all of these together.
    pub(super) through: Vec<f64>,
}

impl Ways {
    pub(super) fn new(g: &mut Group, graph: &Graph, source: usize) -> Self {
        let here = graph.vertices.here();
        let mut ways = Self { levels: vec![NONE; here], counts: vec![0.0; here], through: vec![0.0; here] };
        let fronts = ways.count(g, graph, source);
        ways.add_up(g, graph, &fronts);
        ways
    }

    /// Counts ways, level by level. Returns the places of the vertices of each level. Two supersteps for each.
    fn count(&mut self, g: &mut Group, graph: &Graph, source: usize) -> Vec<Vec<u32>> {
        let mut sums = Sums::new(g, &graph.out);
        // By slot: whether its vertex has been told in an earlier level, and so been reached.
        let mut is_told = vec![false; graph.out.slots()];
        let (mut fronts, mut front) = (Vec::new(), Vec::new());
        if let Some(place) = graph.vertices.place(source) {
            (self.levels[place], self.counts[place]) = (0, 1.0);
            front.push(place as u32);
        }
        for level in 1.. {
            for &place in &front {
                sums.tell(place, self.counts[place as usize], |slot| !is_told[slot as usize]);
            }
            sums.told.iter().for_each(|&slot| is_told[slot as usize] = true);
            let mut next = Vec::new();
            sums.hand_over(g, |place, count| {
                if self.levels[place] == NONE {
                    self.levels[place] = level;
                    next.push(place as u32);
                }
                // Others have been reached on a shorter way.
                if self.levels[place] == level {
                    self.counts[place] += count;
                }
            });
            fronts.push(std::mem::replace(&mut front, next));
            if g.step(|s| s.reduce(front.len(), Sum)) == 0 {
                break;
            }
        }
        fronts
    }

    /// Adds up what leads through each vertex, from the last level to the first. A superstep for each.
    fn add_up(&mut self, g: &mut Group, graph: &Graph, fronts: &[Vec<u32>]) {
        let mut sums = Sums::new(g, graph.inward());
        let levels = graph.vertices.array(g, &self.levels);
        let levels = graph.inward().gather(g, &levels, Vec::new());
        for (level, front) in fronts.iter().enumerate().skip(1).rev() {
            for &place in front {
                let here = place as usize;
                let is_before = |slot: u32| levels[slot as usize] as usize == level - 1;
                sums.tell(place, (1.0 + self.through[here]) / self.counts[here], is_before);
            }
            sums.hand_over(g, |place, part| self.through[place] += self.counts[place] * part);
        }
    }
}

/// Numbers that vertices tell their neighbours, added up by slot.
struct Sums<'a> {
    links: &'a Links,
    by_slot: Vec<f64>,
    /// Slots that have been told something.
    told: Vec<u32>,
    mail: Mail<f64>,
}

impl<'a> Sums<'a> {
    fn new(g: &Group, links: &'a Links) -> Self {
        Self { links, by_slot: vec![0.0; links.slots()], told: Vec::new(), mail: Mail::new(g) }
    }

    /// Tells some neighbours of a vertex, which is at a place, a number above zero.
    #[inline]
    fn tell(&mut self, place: u32, number: f64, is_one: impl Fn(u32) -> bool) {
        for &slot in self.links.of(place as usize) {
            if is_one(slot) {
                let sum = &mut self.by_slot[slot as usize];
                if *sum == 0.0 {
                    self.told.push(slot);
                }
                *sum += number;
            }
        }
    }

    /// Hands the sums to the owners of the vertices.
    fn hand_over(&mut self, g: &mut Group, take: impl FnMut(usize, f64)) {
        for slot in self.told.drain(..) {
            let sum = std::mem::replace(&mut self.by_slot[slot as usize], 0.0);
            self.mail.put(self.links.home(slot), sum);
        }
        self.mail.hand_over(g, take);
    }
}
