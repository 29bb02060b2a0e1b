//! A scatter of values to where they belong, and the verb that does the same between arrays.

use super::{on_all, timed};
use crate::{Sample, digest, kernels::permutation::Permutation};
use ::superstep::{Any, Block, Result};

pub(crate) fn scatter(permutation: &Permutation) -> Result<Sample> {
    on_all(|g| {
        let (targets, source) = (permutation.targets(g.rank()), permutation.source(g.rank()));
        let target = g.array::<u64, Block>(permutation.all().len());
        let [_, (seconds, ())] = [(); 2].map(|()| timed(g, |g| g.step(|s| s.scatter(&target, targets, &source, Any))));
        Sample::of_answer(seconds, digest(permutation.range(g.rank()).start, target.local().iter().copied()))
    })
}

pub(crate) fn permute(permutation: &Permutation) -> Result<Sample> {
    on_all(|g| {
        let len = permutation.all().len();
        let (source, target) = (g.array::<u64, Block>(len), g.array::<u64, Block>(len));
        let targets = g.array::<usize, Block>(len);
        source.local_mut().copy_from_slice(&permutation.source(g.rank()));
        targets.local_mut().copy_from_slice(permutation.targets(g.rank()));
        let [_, (seconds, ())] = [(); 2].map(|()| timed(g, |g| g.step(|s| s.permute(&target, &source, &targets))));
        Sample::of_answer(seconds, digest(permutation.range(g.rank()).start, target.local().iter().copied()))
    })
}
