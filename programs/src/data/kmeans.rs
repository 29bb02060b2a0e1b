//! Points are divided into clusters around their means: k-means, by Lloyd's algorithm.
//!
//! Given are n points of d coordinates, and k of them to begin with as centres. Each point joins the nearest centre,
//! each centre moves to the mean of its points, and so on until no point joins another centre or there were enough
//! rounds.
//!
//! # The program
//!
//! Points lie in rows, each processor has a block of them, and all have all centres. In a round each processor finds
//! the nearest centre of its points, and adds up for each centre the points that are its. Sums and counts of all
//! processors are combined at the boundary, and everybody makes the same new centres of them.
//!
//! # Its supersteps
//!
//! One in each round, with a reduction of k (d + 1) numbers: 3 n k d / p + 2 k (d + 1) g + l. Sums are grouped in a way
//! that depends on p alone, so on as many processors the centres have the same bits on every fabric.
//!
//! # How it scales
//!
//! Nothing but sums of centres travels: with n / p a few times larger than p, communication is not seen. Where k d is
//! large and points are few, reductions of long vectors are: there each processor combines a piece of them.
//!
//! # What peers do
//!
//! With rayon, chunks of points are folded into sums, which are then added two by two, in each round by a new tree of
//! tasks. Serial code does the same in one loop. Both find their distances as it is done here: eight centres at a time,
//! so that the processor's vectors are used. `bench/peers`, kernel `k-means`, holds them side by side.

use crate::{Summary, Trouble, asked::at_least_one, parts::clocked, random::Random};
use std::path::PathBuf;
use superstep::{Array, Block, Group, Sum, operators::Each};

/// Which points, and how many clusters.
#[derive(Clone, Debug, clap::Args)]
pub struct KMeans {
    /// A file of `NumPy` with a point in each row, in 64 bits for each coordinate; else points are drawn.
    #[arg(long)]
    pub file: Option<PathBuf>,
    /// How many points are drawn.
    #[arg(long, default_value_t = 500_000, value_parser = at_least_one)]
    pub points: usize,
    /// How many coordinates these have.
    #[arg(long, default_value_t = 8, value_parser = at_least_one)]
    pub dimensions: usize,
    /// How many clusters there are.
    #[arg(long, default_value_t = 16, value_parser = at_least_one)]
    pub clusters: usize,
    /// How many rounds there are at most.
    #[arg(long, default_value_t = 20, value_parser = at_least_one)]
    pub rounds: usize,
    /// Which points are drawn.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

type Points = Array<f64, Block, 2>;

/// What came of it.
///
/// ```
/// use superstep_programs::data::kmeans::lloyd;
///
/// let found = superstep::Config::new().procs(2).run(|g| {
///     let mine = [[1.0, 2.0], [11.0, 12.0]][g.rank()];
///     let found = lloyd(g, &mine, 1, vec![0.0, 20.0], 10);
///     (found.centres, found.sizes, found.rounds)
/// });
/// assert_eq!(found.unwrap(), (vec![1.5, 11.5], vec![2, 2], 2));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The coordinates of all centres, one after another.
    pub centres: Vec<f64>,
    /// How many points each has.
    pub sizes: Vec<u64>,
    /// The sum of the squares of all points' distances to their centres, as these were before they moved last.
    pub inertia: f64,
    /// How many rounds there were.
    pub rounds: usize,
    /// Whether that sum has never risen.
    pub is_falling: bool,
}

pub(super) fn run(g: &mut Group, asked: &KMeans) -> Result<Summary, Trouble> {
    let points = points(g, asked)?;
    let [count, dimensions] = points.shape();
    let k = asked.clusters;
    if count < k || dimensions == 0 {
        return Err(format!("{k} clusters of {count} points with {dimensions} coordinates make no sense").into());
    }
    let mine = points.local().to_vec();
    let is_finite = mine.iter().all(|x| x.is_finite());
    g.try_step(|s| s.agree(if is_finite { Ok(()) } else { Err("a coordinate is no finite number") }))?;
    let centres = first_centres(g, &points, k);
    drop(points);
    let (seconds, found) = clocked(g, |g| lloyd(g, &mine, dimensions, centres, asked.rounds));
    let members: u64 = found.sizes.iter().sum();
    let (least, most) = (found.sizes.iter().min(), found.sizes.iter().max());
    let nearest = nearest_by_one(g, &mine, dimensions, &found.centres);
    // Nobody can be farther from where the centres are now than from where they were.
    let is_right = found.is_falling && members == count as u64 && nearest <= found.inertia * (1.0 + 1e-9);
    let work = (count * k) as f64 * found.rounds as f64;
    Ok(Summary::new("data k-means", seconds)
        .with("points", count)
        .with("dimensions", dimensions)
        .with("clusters", k)
        .with("rounds", found.rounds)
        .with("least", least.copied().unwrap_or(0))
        .with("most", most.copied().unwrap_or(0))
        .with("inertia", nearest)
        .rate(work / seconds / 1e6, "million distances/s")
        .checked(is_right))
}

/// Reads the points, or draws them: each beside one of as many places as there are clusters.
fn points(g: &mut Group, asked: &KMeans) -> Result<Points, Trouble> {
    if let Some(path) = &asked.file {
        return Ok(g.read_npy(path)?);
    }
    let d = asked.dimensions;
    let points = g.try_array_with([asked.points, d], Block)?;
    let mut random = Random::new(asked.seed);
    let places: Vec<f64> =
        (0..asked.clusters.checked_mul(d).ok_or("there are too many clusters")?).map(|_| random.unit()).collect();
    let first = points.global(0).unwrap_or(0) / d;
    for (row, point) in (first..).zip(points.local_mut().chunks_exact_mut(d)) {
        let mut random = Random::new(!asked.seed).skip(row * (d + 1));
        let place = random.below(asked.clusters);
        for (x, place) in point.iter_mut().zip(&places[place * d..]) {
            *x = place + 0.2 * (random.unit() - 0.5);
        }
    }
    Ok(points)
}

/// Points that lie as far apart in the list as can be.
fn first_centres(g: &mut Group, points: &Points, k: usize) -> Vec<f64> {
    let [count, d] = points.shape();
    let indices: Vec<usize> = (0..k).flat_map(|at| (0..d).map(move |j| at * (count / k) * d + j)).collect();
    g.step(|s| s.gather(points, &indices))
}

/// So many distances are found at once.
const LANES: usize = 8;

/// What some points add up to.
///
/// ```
/// use superstep_programs::data::kmeans::joined;
///
/// let mut nearest = [0, 0, 1];
/// let sums = joined(&[1.0, 9.0, 12.0], 1, &[0.0, 10.0], &mut nearest);
/// assert_eq!((sums.coordinates, sums.sizes), (vec![1.0, 21.0], vec![1, 2]));
/// assert_eq!((sums.inertia, sums.moved), (6.0, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Sums {
    /// Coordinates of the points of each centre.
    pub coordinates: Vec<f64>,
    /// How many points each centre has.
    pub sizes: Vec<u64>,
    /// Squares of the points' distances to their centres.
    pub inertia: f64,
    /// How many points have joined another centre.
    pub moved: u64,
}

/// Finds the nearest centre of each point of `d` coordinates, and adds points up by centre.
///
/// Centres are turned so that one coordinate of eight of them lies together. What fills up the last eight is too far
/// away for any point.
pub fn joined(points: &[f64], d: usize, centres: &[f64], nearest: &mut [u32]) -> Sums {
    let k = centres.len() / d;
    let mut turned = vec![[f64::INFINITY; LANES]; k.div_ceil(LANES) * d];
    for (at, centre) in centres.chunks_exact(d).enumerate() {
        centre.iter().enumerate().for_each(|(j, &x)| turned[at / LANES * d + j][at % LANES] = x);
    }
    let mut sums = Sums { coordinates: vec![0.0; k * d], sizes: vec![0; k], inertia: 0.0, moved: 0 };
    for (point, nearest) in points.chunks_exact(d).zip(nearest) {
        let (mut best, mut least) = (0, f64::INFINITY);
        for (block, eight) in turned.chunks_exact(d).enumerate() {
            let mut distances = [0.0; LANES];
            for (&x, centres) in point.iter().zip(eight) {
                for (distance, centre) in distances.iter_mut().zip(centres) {
                    *distance += (x - centre) * (x - centre);
                }
            }
            for (lane, &distance) in distances.iter().enumerate() {
                if distance < least {
                    (best, least) = (block * LANES + lane, distance);
                }
            }
        }
        sums.moved += u64::from(*nearest != best as u32);
        *nearest = best as u32;
        sums.sizes[best] += 1;
        sums.inertia += least;
        for (sum, x) in sums.coordinates[best * d..(best + 1) * d].iter_mut().zip(point) {
            *sum += x;
        }
    }
    sums
}

/// Moves centres until no point joins another one, at most so many times. Collective: everybody gives points of its
/// own, with `dimensions` coordinates each, and the same centres.
///
/// A centre that has no points stays where it is.
pub fn lloyd(g: &mut Group, points: &[f64], dimensions: usize, mut centres: Vec<f64>, rounds: usize) -> Found {
    let mut nearest = vec![u32::MAX; points.len() / dimensions];
    let (mut before, mut is_falling) = (f64::INFINITY, true);
    for round in 1.. {
        let mine = joined(points, dimensions, &centres, &mut nearest);
        let (coordinates, sizes, inertia, moved) = g.step(|s| {
            let sums = (s.reduce(mine.coordinates, Each(Sum)), s.reduce(mine.sizes, Each(Sum)));
            (sums.0, sums.1, s.reduce(mine.inertia, Sum), s.reduce(mine.moved, Sum))
        });
        for ((centre, sums), &size) in
            centres.chunks_exact_mut(dimensions).zip(coordinates.chunks_exact(dimensions)).zip(&sizes)
        {
            if size > 0 {
                centre.iter_mut().zip(sums).for_each(|(x, sum)| *x = sum / size as f64);
            }
        }
        is_falling &= inertia <= before * (1.0 + 1e-9);
        before = inertia;
        if moved == 0 || round == rounds {
            return Found { centres, sizes, inertia, rounds: round, is_falling };
        }
    }
    unreachable!("rounds have an end")
}

/// The sum of the squares of all points' distances to the nearest centre, one distance after another.
fn nearest_by_one(g: &mut Group, points: &[f64], d: usize, centres: &[f64]) -> f64 {
    let square = |point: &[f64], centre: &[f64]| point.iter().zip(centre).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
    let least = |point| centres.chunks_exact(d).map(|centre| square(point, centre)).fold(f64::INFINITY, f64::min);
    let mine: f64 = points.chunks_exact(d).map(least).sum();
    g.step(|s| s.reduce(mine, Sum))
}
