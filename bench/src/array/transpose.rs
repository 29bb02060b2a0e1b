//! Kernel `transpose`: a square matrix in tiles, turned over.
//!
//! Each processor fills its tiles of the result. The tile that one is made of may be another processor's: then it is
//! mirrored, a few tiles in each step, so that they are still in the cache when they are turned. The limit is threads
//! that turn tiles directly, from one matrix in tiles into another, without a copy in between.

use super::PROCS;
use crate::{
    clock::{clocked, on_all},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{fill_parts, huge::zeroed, turn},
    report::Target,
};
use superstep::{Array, Config, Group, Result, Step, Tiles};

const KERNEL: &str = "transpose";

/// How many rows and columns the matrix has.
const SIDE: usize = 4096;
/// How many rows and columns a tile has: two of them fit into the second-level cache.
const TILE: usize = 128;

/// Plans the one contest of the kernel.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    // Half as many rows and half as many columns make a quarter of a matrix.
    let tiles = (SIDE / options.shrink.isqrt() / TILE).max(1);
    let side = tiles * TILE;
    let (limit, config) = (format!("{side}x{side}/raw-tiles"), options.config(procs));
    let variant = format!("{side}x{side}");
    let contest = Contest::of_rates(KERNEL, procs, (side * side * size_of::<f64>()) as u64)
        .raw(&limit, move |rounds| by_hand(procs, tiles, rounds))
        .superstep(&variant, options, move |rounds| by_superstep(&config, tiles, rounds))
        .claim(variant, [limit], Target::AtLeast(0.5));
    vec![contest]
}

/// The element at a place.
fn value(row: usize, column: usize) -> f64 {
    (row * SIDE + column) as f64
}

/// Fills the tile in this row and column of tiles.
fn fill(tile: &mut [f64], row: usize, column: usize) {
    for (at, x) in tile.iter_mut().enumerate() {
        *x = value(row * TILE + at / TILE, column * TILE + at % TILE);
    }
}

/// Whether the tile in this row and column of tiles has been turned over.
fn is_turned(tile: &[f64], row: usize, column: usize) -> bool {
    let wanted = |at: usize| value(column * TILE + at % TILE, row * TILE + at / TILE);
    tile.iter().copied().eq((0..TILE * TILE).map(wanted))
}

/// Turns a tile over.
fn turn_tile(source: &[f64], target: &mut [f64]) {
    turn(&source[..TILE * TILE], TILE, 0..TILE, &mut target[..TILE * TILE], TILE);
}

/// Whose a tile is and which of its owner's, in a matrix of `tiles` times `tiles` that are dealt round.
#[derive(Clone, Copy)]
struct Deal {
    tiles: usize,
    procs: usize,
}

impl Deal {
    fn owner(self, row: usize, column: usize) -> (usize, usize) {
        let number = row * self.tiles + column;
        (number % self.procs, number / self.procs)
    }

    /// The rows and columns of all tiles of `rank`, one after another.
    fn of(self, rank: usize) -> impl Iterator<Item = (usize, usize)> {
        (rank..self.tiles * self.tiles)
            .step_by(self.procs)
            .map(move |number| (number / self.tiles, number % self.tiles))
    }

    /// How many steps it takes until everybody has turned all its tiles, one in each step.
    fn rounds(self) -> usize {
        (self.tiles * self.tiles).div_ceil(self.procs)
    }
}

/// Where a tile lies in its owner's part.
fn place(number: usize) -> std::ops::Range<usize> {
    number * TILE * TILE..(number + 1) * TILE * TILE
}

type Matrix = Array<f64, Tiles<2>, 2>;

/// Turns `a` over into `b`, tile by tile.
fn transpose(g: &mut Group, a: &Matrix, b: &Matrix, deal: Deal, mut room: Vec<f64>) -> Vec<f64> {
    let rank = g.rank();
    let mut mine = deal.of(rank).enumerate();
    for _ in 0..deal.rounds() {
        let next = mine.next();
        // The tile that the next one is made of, if it has to come from elsewhere.
        let remote = next.filter(|&(_, (row, column))| deal.owner(column, row).0 != rank);
        room = g.step(|s: &Step| {
            let tile = |at: usize| at * TILE..(at + 1) * TILE;
            let section = remote.map_or((0..0, 0..0), |(_, (row, column))| (tile(column), tile(row)));
            s.mirror_into(a, section, room)
        });
        if let Some((number, (row, column))) = next {
            let target = &mut b.local_mut()[place(number)];
            if remote.is_some() {
                turn_tile(&room, target);
            } else {
                turn_tile(&a.local()[place(deal.owner(column, row).1)], target);
            }
        }
    }
    room
}

fn by_superstep(config: &Config, tiles: usize, rounds: u64) -> Result<Sample> {
    on_all(config, |g| {
        let (rank, deal, side) = (g.rank(), Deal { tiles, procs: g.size() }, tiles * TILE);
        let a: Matrix = g.array_with([side, side], Tiles([TILE, TILE]));
        let b: Matrix = g.array_with([side, side], Tiles([TILE, TILE]));
        for (number, (row, column)) in deal.of(rank).enumerate() {
            fill(&mut a.local_mut()[place(number)], row, column);
        }
        let mut room = Vec::new();
        let seconds = clocked(rounds, |_| room = transpose(g, &a, &b, deal, std::mem::take(&mut room)));
        let turned = deal.of(rank).enumerate().all(|(at, (row, column))| is_turned(&b.local()[place(at)], row, column));
        (seconds, turned, digest(&b.local()))
    })
}

fn by_hand(procs: usize, tiles: usize, rounds: u64) -> Result<Sample> {
    let deal = Deal { tiles, procs };
    let source = |rank: usize| {
        let mut source = zeroed(deal.rounds() * TILE * TILE);
        for (number, (row, column)) in deal.of(rank).enumerate() {
            fill(&mut source[place(number)], row, column);
        }
        source
    };
    let sources: Vec<Vec<f64>> = (0..procs).map(source).collect();
    let turn = |rank: usize, target: &mut [f64]| {
        for (number, (row, column)) in deal.of(rank).enumerate() {
            let (owner, at) = deal.owner(column, row);
            turn_tile(&sources[owner][place(at)], &mut target[place(number)]);
        }
    };
    fill_parts(procs, deal.rounds() * TILE * TILE, rounds, turn, |seconds, rank, target| {
        let mut tiles = deal.of(rank).enumerate();
        let verified = tiles.all(|(number, (row, column))| is_turned(&target[place(number)], row, column));
        Sample::by_hand(seconds, verified)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_turn_the_matrix_over() {
        for procs in [1, 2, 3] {
            assert!(by_superstep(&Config::new().procs(procs), 3, 1).expect("the run succeeds").verified);
            assert!(by_hand(procs, 3, 1).expect("the run succeeds").verified);
        }
    }
}
