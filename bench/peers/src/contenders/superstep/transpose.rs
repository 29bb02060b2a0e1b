//! Each processor transposes its rows in tiles, and they become columns of the other array.

use super::{on_all, timed};
use crate::{PROCS, Sample, contenders::huge, digest, kernels::dense::Dense};
use ::superstep::{Array, Block, Result};
use superstep_bench::raw::turn;

pub(crate) fn tiles(matrix: &Dense) -> Result<Sample> {
    on_all(|g| {
        let side = matrix.side;
        let first = g.rank() * side.div_ceil(PROCS);
        let source: Array<f64, Block, 2> = g.array_with([side, side], Block);
        let target: Array<f64, Block, 2> = g.array_with([side, side], Block);
        let rows = source.local().len() / side;
        source.local_mut().copy_from_slice(&matrix.entries[first * side..(first + rows) * side]);
        let mut columns = huge::zeroed(rows * side);
        let mut round = || {
            timed(g, |g| {
                turn(&source.local(), side, 0..side, &mut columns, rows);
                g.step(|s| s.update(&target, (.., first..first + rows), &columns));
            })
        };
        round();
        let (seconds, ()) = round();
        Sample::of_answer(seconds, digest(first * side, target.local().iter().copied()))
    })
}
