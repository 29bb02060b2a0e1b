//! Blocks that go to the next processor, and steps with nothing in them.

use super::{on_all, timed};
use crate::{
    Sample, digest,
    kernels::access::{Shape, element},
};
use ::superstep::{Area, Group, Result, Step, Sum};

/// Moves a block `shape.count` times, from each processor to the next.
fn moved(shape: Shape, send: impl Fn(&Step, usize, &Area<u64>, &Area<u64>) + Sync) -> Result<Sample> {
    on_all(|g| {
        let (rank, next, first) = (g.rank(), (g.rank() + 1) % g.size(), g.rank() * shape.block);
        let (mine, target) = (g.area::<u64>(shape.block), g.area::<u64>(shape.block));
        for (at, x) in mine.local_mut().iter_mut().enumerate() {
            *x = element(first + at);
        }
        let all = |g: &mut Group| (0..shape.count).for_each(|_| g.step(|s| send(s, next, &mine, &target)));
        timed(g, all);
        let (seconds, ()) = timed(g, all);
        Sample::of_answer(seconds, digest(rank * shape.block, target.local().iter().copied()))
    })
}

pub(crate) fn put(shape: Shape) -> Result<Sample> {
    moved(shape, |s, next, mine, target| s.put(next, &mine.local(), target, 0))
}

pub(crate) fn hp_put(shape: Shape) -> Result<Sample> {
    moved(shape, |s, next, mine, target| s.hp_put(next, (mine, 0..mine.len()), target, 0))
}

/// Steps with nothing in them; the one behind them all counts who is there.
pub(crate) fn empty_step(count: usize) -> Result<Sample> {
    on_all(|g| {
        let all = |g: &mut Group| (0..count).for_each(|_| g.step(|_| ()));
        timed(g, all);
        let (seconds, ()) = timed(g, all);
        Sample::of_answer(seconds, g.step(|s| s.reduce(1u64, Sum)))
    })
}
