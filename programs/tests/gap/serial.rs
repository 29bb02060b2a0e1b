//! The same answers by plain code that nobody has made fast.

use std::collections::{BTreeSet, VecDeque};

/// A graph as lists of neighbours.
pub(crate) struct Lists(pub(crate) Vec<BTreeSet<usize>>);

impl Lists {
    pub(crate) fn new(vertices: usize, edges: &[(usize, usize)], are_both: bool) -> Self {
        let mut lists = vec![BTreeSet::new(); vertices];
        for &(a, b) in edges.iter().filter(|(a, b)| a != b) {
            lists[a].insert(b);
            if are_both {
                lists[b].insert(a);
            }
        }
        Self(lists)
    }

    fn turned(&self) -> Self {
        let edges: Vec<(usize, usize)> =
            self.0.iter().enumerate().flat_map(|(a, list)| list.iter().map(move |&b| (b, a))).collect();
        Self::new(self.0.len(), &edges, false)
    }

    pub(crate) fn levels(&self, source: usize) -> Vec<Option<u32>> {
        let (mut levels, mut queue) = (vec![None; self.0.len()], VecDeque::from([source]));
        levels[source] = Some(0);
        while let Some(a) = queue.pop_front() {
            for &b in &self.0[a] {
                if levels[b].is_none() {
                    levels[b] = levels[a].map(|level| level + 1);
                    queue.push_back(b);
                }
            }
        }
        levels
    }

    /// The lowest number of each vertex's component.
    pub(crate) fn labels(&self) -> Vec<u32> {
        let mut labels = vec![None; self.0.len()];
        for vertex in 0..labels.len() {
            if labels[vertex].is_none() {
                let levels = self.levels(vertex);
                let reached = (0..labels.len()).filter(|&other| levels[other].is_some());
                reached.for_each(|other| labels[other] = Some(vertex as u32));
            }
        }
        labels.into_iter().flatten().collect()
    }

    pub(crate) fn triangles(&self) -> u64 {
        let mut count = 0;
        for (a, list) in self.0.iter().enumerate() {
            for &b in list.range(a..) {
                count += list.range(b..).filter(|&&c| c > b && self.0[b].contains(&c)).count() as u64;
            }
        }
        count
    }

    pub(crate) fn ranks(&self, iterations: usize) -> Vec<f64> {
        let (count, inward) = (self.0.len() as f64, self.turned());
        let mut ranks = vec![1.0 / count; self.0.len()];
        for _ in 0..iterations {
            let share = |&a: &usize| ranks[a] / self.0[a].len() as f64;
            ranks = inward.0.iter().map(|list| 0.15 / count + 0.85 * list.iter().map(share).sum::<f64>()).collect();
        }
        ranks
    }

    /// Brandes' sums, in parts of the largest.
    pub(crate) fn scores(&self, sources: &[usize]) -> Vec<f64> {
        let mut scores = vec![0.0; self.0.len()];
        for &source in sources {
            let levels = self.levels(source);
            let mut order: Vec<usize> = (0..levels.len()).filter(|&vertex| levels[vertex].is_some()).collect();
            order.sort_by_key(|&vertex| levels[vertex]);
            let is_next = |a: usize, b: usize| levels[b] == levels[a].map(|level| level + 1);
            let (mut counts, mut through) = (vec![0.0; levels.len()], vec![0.0; levels.len()]);
            counts[source] = 1.0;
            for &a in &order {
                self.0[a].iter().filter(|&&b| is_next(a, b)).for_each(|&b| counts[b] += counts[a]);
            }
            for &a in order.iter().rev() {
                through[a] = self.0[a]
                    .iter()
                    .filter(|&&b| is_next(a, b))
                    .map(|&b| counts[a] / counts[b] * (1.0 + through[b]))
                    .sum();
                scores[a] += through[a];
            }
        }
        let largest = scores.iter().copied().fold(0.0, f64::max);
        scores.iter().map(|score| if largest > 0.0 { score / largest } else { 0.0 }).collect()
    }
}

/// Lengths of shortest ways: every edge is tried until nothing gets shorter.
pub(crate) fn distances(vertices: usize, edges: &[(usize, usize, u32)], source: usize) -> Vec<u32> {
    let mut distances = vec![u32::MAX; vertices];
    distances[source] = 0;
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for &(a, b, length) in edges {
            let way = distances[a].saturating_add(length);
            is_changed |= way < distances[b];
            distances[b] = distances[b].min(way);
        }
    }
    distances
}
