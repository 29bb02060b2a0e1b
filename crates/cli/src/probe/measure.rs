//! The measurements: how fast processors compute, what an empty step takes, and what h-relations take.
//!
//! An h-relation here is a total exchange by `put`: each processor sends h words, spread over all others as evenly as
//! whole words allow, and receives as many. One processor alone puts them to itself.

use super::{
    fit,
    parameters::{Parameters, Point},
};
use std::{hint::black_box, time::Instant};
use superstep::{And, Area, Config, Fabric, Group, Max};

/// The largest relation: 8 MiB per processor.
const H_MAX: usize = 1 << 20;

/// How long one measurement should last.
const SECONDS: f64 = 0.008;
/// How many times longer than the last a trial may be; the first iterations are slow and tell little.
const GROWTH: u64 = 20;

/// What one round found.
struct Round {
    r: f64,
    l: f64,
    points: Vec<Point>,
    verified: bool,
}

impl superstep::Plain for Round {}

/// Measures on so many processors, and takes the best of several rounds for each figure.
pub(super) fn parameters(
    procs: usize,
    fabric: Fabric,
    rounds: usize,
    mut tick: impl FnMut(),
) -> superstep::Result<Parameters> {
    let config = Config::new().procs(procs).fabric(fabric);
    let mut best: Option<Round> = None;
    for _ in 0..rounds {
        let round = config.run(measure)?;
        best = Some(match best {
            Some(best) => best.with(&round),
            None => round,
        });
        tick();
    }
    let Round { r, l, points, verified } = best.expect("there is at least one round");
    Ok(Parameters { procs, r, g: fit::slope(&points, l), l, points, verified })
}

impl Round {
    /// The best of both.
    fn with(mut self, other: &Self) -> Self {
        self.r = self.r.max(other.r);
        self.l = self.l.min(other.l);
        self.verified &= other.verified;
        for (point, other) in self.points.iter_mut().zip(&other.points) {
            point.seconds = point.seconds.min(other.seconds);
        }
        self
    }
}

/// Measures once. Collective; everybody gets the same.
fn measure(g: &mut Group) -> Round {
    let mut verified = true;
    let mut points = Vec::new();
    let area = g.area::<u64>(H_MAX);
    let source: Vec<u64> = (0..H_MAX).map(|at| word(g.rank(), at)).collect();
    for h in (0..=H_MAX.ilog2()).map(|power| 1 << power) {
        let relation = Relation::new(g.rank(), g.size(), h);
        area.local_mut().fill(u64::MAX);
        let seconds = time(g, |g| relation.put(g, &source, &area));
        verified &= relation.has_arrived(&area.local());
        points.push(Point { h, seconds });
    }
    let l = time(g, |g| g.step(|_| ()));
    let verified = g.step(|s| s.reduce(verified, And));
    Round { r: flop_rate(g), l, points, verified }
}

/// How long `body` takes on the slowest processor. Collective; everybody gets the same.
fn time(g: &mut Group, mut body: impl FnMut(&mut Group)) -> f64 {
    let mut lasting = |iterations: u64| {
        g.step(|_| ());
        let start = Instant::now();
        for _ in 0..iterations {
            body(g);
        }
        let seconds = start.elapsed().as_secs_f64();
        g.step(|s| s.reduce(seconds, Max))
    };
    let (mut iterations, mut fastest) = (2, f64::INFINITY);
    loop {
        let seconds = lasting(iterations).max(1e-9);
        // The fastest iteration seen decides, so that a trial that the machine held up does not end the search.
        fastest = fastest.min(seconds / iterations as f64);
        let wanted = (SECONDS / fastest) as u64;
        if wanted <= 2 * iterations {
            return seconds / iterations as f64;
        }
        iterations = wanted.min(GROWTH * iterations);
    }
}

/// Operations per second of one processor while all of them add a multiple of one vector to another, both of which fit
/// into the innermost cache.
fn flop_rate(g: &mut Group) -> f64 {
    const LENGTH: usize = 1024;
    const REPEATS: usize = 100;
    let (x, mut y) = (vec![1.0_f64; LENGTH], vec![0.0_f64; LENGTH]);
    let seconds = time(g, |_| {
        for _ in 0..REPEATS {
            let (a, x) = (black_box(1e-9), black_box(&x));
            for (y, x) in y.iter_mut().zip(x) {
                *y += a * x;
            }
            black_box(&mut y);
        }
    });
    (2 * LENGTH * REPEATS) as f64 / seconds
}

/// The word at this place of a processor's source.
fn word(rank: usize, at: usize) -> u64 {
    (rank as u64) << 32 | at as u64
}

/// One processor's part in an h-relation.
struct Relation {
    rank: usize,
    procs: usize,
    /// What goes to the processor that is next but `i`: first word and length. It lies at the same place in the source
    /// and in the target, because everybody sends alike.
    parts: Vec<(usize, usize)>,
}

impl Relation {
    fn new(rank: usize, procs: usize, h: usize) -> Self {
        let others = (procs - 1).max(1);
        let mut start = 0;
        let mut part = |at: usize| {
            let len = h / others + usize::from(at < h % others);
            start += len;
            (start - len, len)
        };
        Self { rank, procs, parts: (0..others).map(&mut part).filter(|&(_, len)| len > 0).collect() }
    }

    fn put(&self, g: &mut Group, source: &[u64], area: &Area<u64>) {
        g.step(|s| {
            for (ahead, &(start, len)) in self.parts.iter().enumerate() {
                s.put((self.rank + 1 + ahead) % self.procs, &source[start..start + len], area, start);
            }
        });
    }

    /// Whether what came is what the others sent, and nothing else was written.
    fn has_arrived(&self, area: &[u64]) -> bool {
        let end = self.parts.last().map_or(0, |&(start, len)| start + len);
        let from = |ahead: usize| (self.rank + 2 * self.procs - 1 - ahead) % self.procs;
        self.parts
            .iter()
            .enumerate()
            .all(|(ahead, &(start, len))| (start..start + len).all(|at| area[at] == word(from(ahead), at)))
            && area[end..].iter().all(|&word| word == u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_sends_and_receives_h_words() {
        for procs in [1, 2, 3, 5] {
            for h in [1, 2, 7, 64] {
                let right = Config::new().procs(procs).run_all(|g| {
                    let relation = Relation::new(g.rank(), g.size(), h);
                    let area = g.area::<u64>(100);
                    area.local_mut().fill(u64::MAX);
                    let source: Vec<u64> = (0..100).map(|at| word(g.rank(), at)).collect();
                    relation.put(g, &source, &area);
                    relation.has_arrived(&area.local()) && relation.parts.iter().map(|part| part.1).sum::<usize>() == h
                });
                assert_eq!(right.expect("the run succeeds"), vec![true; procs], "p = {procs}, h = {h}");
            }
        }
    }
}
