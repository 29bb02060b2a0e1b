//! The kernels of the GAP suite on compressed rows, as well as one thread does them.

use crate::{
    Sample, digest,
    kernels::gap::{ITERATIONS, Rows, TOLERANCE, components as named, highest, levels},
};
use std::time::Instant;
use superstep_programs::gap::NONE;

/// When a search goes upwards, and when it goes down again; as in the suite.
const ALPHA: usize = 15;
const BETA: usize = 18;
/// How wide buckets of distances are.
const WIDTH: u32 = 16;
const DAMPING: f32 = 0.85;

fn timed(work: impl FnOnce() -> u64, start: Instant) -> Sample {
    let seconds = start.elapsed().as_secs_f64();
    Sample::of_answer(seconds, work())
}

/// A set of vertices.
struct Set(Vec<u64>);

impl Set {
    fn new(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)])
    }

    #[inline]
    fn has(&self, at: u32) -> bool {
        self.0[at as usize / 64] >> (at % 64) & 1 == 1
    }

    #[inline]
    fn add(&mut self, at: u32) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }
}

pub(crate) fn search(rows: &Rows) -> Sample {
    let start = Instant::now();
    let mut parents = vec![NONE; rows.vertices()];
    parents[rows.source] = rows.source as u32;
    let mut front = vec![rows.source as u32];
    let (mut left, mut leaving) = (rows.targets.len(), rows.degree(rows.source));
    while !front.is_empty() {
        if leaving > left / ALPHA {
            let mut set = Set::new(rows.vertices());
            front.iter().for_each(|&vertex| set.add(vertex));
            loop {
                let (before, mut next) = (front.len(), Set::new(rows.vertices()));
                front.clear();
                for vertex in 0..rows.vertices() {
                    if parents[vertex] == NONE
                        && let Some(&parent) = rows.of(vertex).iter().find(|&&to| set.has(to))
                    {
                        parents[vertex] = parent;
                        next.add(vertex as u32);
                        front.push(vertex as u32);
                    }
                }
                set = next;
                if front.len() < before && front.len() <= rows.vertices() / BETA {
                    break;
                }
            }
            leaving = 1;
        } else {
            left -= leaving.min(left);
            let mut next = Vec::new();
            leaving = 0;
            for &vertex in &front {
                for &to in rows.of(vertex as usize) {
                    if parents[to as usize] == NONE {
                        parents[to as usize] = vertex;
                        leaving += rows.degree(to as usize);
                        next.push(to);
                    }
                }
            }
            front = next;
        }
    }
    timed(|| digest(0, levels(&parents)), start)
}

pub(crate) fn distances(rows: &Rows) -> Sample {
    let start = Instant::now();
    let mut distances = vec![NONE; rows.vertices()];
    distances[rows.source] = 0;
    let mut buckets = vec![vec![rows.source as u32]];
    let mut number = 0;
    while number < buckets.len() {
        while !buckets[number].is_empty() {
            for vertex in std::mem::take(&mut buckets[number]) {
                let distance = distances[vertex as usize];
                if distance / WIDTH != number as u32 {
                    continue;
                }
                for (to, length) in rows.with_lengths(vertex as usize) {
                    let way = distance + length;
                    if way < distances[to as usize] {
                        distances[to as usize] = way;
                        let bucket = (way / WIDTH) as usize;
                        if bucket >= buckets.len() {
                            buckets.resize_with(bucket + 1, Vec::new);
                        }
                        buckets[bucket].push(to);
                    }
                }
            }
        }
        number += 1;
    }
    timed(|| digest(0, distances), start)
}

pub(crate) fn ranks(rows: &Rows) -> Sample {
    ranked(rows).0
}

/// Also says which vertices have the highest ranks.
pub(crate) fn ranked(rows: &Rows) -> (Sample, Vec<usize>) {
    let start = Instant::now();
    let count = rows.vertices() as f32;
    let base = (1.0 - DAMPING) / count;
    let mut scores = vec![1.0 / count; rows.vertices()];
    let mut leaving = vec![0.0; rows.vertices()];
    for _ in 0..ITERATIONS {
        for (vertex, (leaving, score)) in leaving.iter_mut().zip(&scores).enumerate() {
            *leaving = score / rows.degree(vertex) as f32;
        }
        let mut change = 0.0;
        for (vertex, score) in scores.iter_mut().enumerate() {
            let coming: f32 = rows.of(vertex).iter().map(|&from| leaving[from as usize]).sum();
            let before = std::mem::replace(score, base + DAMPING * coming);
            change += f64::from((*score - before).abs());
        }
        if change < TOLERANCE {
            break;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let best = highest(&scores.iter().map(|&score| f64::from(score)).collect::<Vec<_>>());
    (Sample::of_answer(seconds, digest(0, best.iter().copied())), best)
}

/// Joins the trees of two vertices.
#[inline]
fn join(parents: &mut [u32], a: u32, b: u32) {
    let (mut a, mut b) = (parents[a as usize], parents[b as usize]);
    while a != b {
        let (high, low) = (a.max(b), a.min(b));
        let parent = parents[high as usize];
        if parent == high {
            parents[high as usize] = low;
            return;
        }
        (a, b) = (parents[parent as usize], low);
    }
}

fn flatten(parents: &mut [u32]) {
    for vertex in 0..parents.len() {
        parents[vertex] = parents[parents[vertex] as usize];
    }
}

pub(crate) fn components(rows: &Rows) -> Sample {
    let start = Instant::now();
    let mut parents: Vec<u32> = (0..rows.vertices() as u32).collect();
    for round in 0..2 {
        for vertex in 0..rows.vertices() {
            if let Some(&to) = rows.of(vertex).get(round) {
                join(&mut parents, vertex as u32, to);
            }
        }
        flatten(&mut parents);
    }
    // Of some vertices the most frequent root.
    let mut drawn: Vec<u32> = parents.iter().copied().step_by(rows.vertices().div_ceil(1024)).collect();
    drawn.sort_unstable();
    let most = drawn.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).map(|same| same[0]);
    for vertex in 0..rows.vertices() {
        if Some(parents[vertex]) != most {
            for &to in rows.of(vertex).iter().skip(2) {
                join(&mut parents, vertex as u32, to);
            }
        }
    }
    flatten(&mut parents);
    timed(|| digest(0, parents), start)
}

/// The same in the plainest way.
pub(crate) fn components_by_search(rows: &Rows) -> Sample {
    let start = Instant::now();
    let mut names = vec![NONE; rows.vertices()];
    for vertex in 0..rows.vertices() {
        let mut stack = if names[vertex] == NONE { vec![vertex] } else { Vec::new() };
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut names[at], vertex as u32) == NONE {
                stack.extend(rows.of(at).iter().map(|&to| to as usize).filter(|&to| names[to] == NONE));
            }
        }
    }
    timed(|| named(names.into_iter().map(|name| name as usize)), start)
}

pub(crate) fn scores(rows: &Rows) -> Sample {
    let start = Instant::now();
    let mut levels = vec![NONE; rows.vertices()];
    let (mut counts, mut through) = (vec![0.0f64; rows.vertices()], vec![0.0f64; rows.vertices()]);
    (levels[rows.source], counts[rows.source]) = (0, 1.0);
    let (mut order, mut next) = (vec![rows.source as u32], 0);
    while let Some(&vertex) = order.get(next) {
        next += 1;
        let (level, count) = (levels[vertex as usize], counts[vertex as usize]);
        for &to in rows.of(vertex as usize) {
            if levels[to as usize] == NONE {
                levels[to as usize] = level + 1;
                order.push(to);
            }
            if levels[to as usize] == level + 1 {
                counts[to as usize] += count;
            }
        }
    }
    for &vertex in order.iter().rev() {
        let (level, mut sum) = (levels[vertex as usize], 0.0);
        for &to in rows.of(vertex as usize) {
            if levels[to as usize] == level + 1 {
                sum += (1.0 + through[to as usize]) / counts[to as usize];
            }
        }
        through[vertex as usize] = counts[vertex as usize] * sum;
    }
    timed(|| digest(0, highest(&through)), start)
}

pub(crate) fn triangles(rows: &Rows) -> Sample {
    let start = Instant::now();
    let (mut starts, mut targets) = (vec![0], Vec::new());
    for vertex in 0..rows.vertices() {
        let order = |vertex: usize| (rows.degree(vertex), vertex);
        targets.extend(rows.of(vertex).iter().filter(|&&to| order(to as usize) > order(vertex)));
        starts.push(targets.len());
    }
    let row = |vertex: usize| &targets[starts[vertex]..starts[vertex + 1]];
    let (mut marked, mut count) = (Set::new(rows.vertices()), 0u64);
    for vertex in 0..rows.vertices() {
        row(vertex).iter().for_each(|&to| marked.add(to));
        for &middle in row(vertex) {
            count += row(middle as usize).iter().map(|&to| u64::from(marked.has(to))).sum::<u64>();
        }
        row(vertex).iter().for_each(|&to| marked.0[to as usize / 64] = 0);
    }
    timed(|| digest(0, [count]), start)
}
