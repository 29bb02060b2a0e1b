//! The library's sorts of an array in blocks.

use super::{on_all, timed};
use crate::{Sample, digest, kernels::keys::Key};
use ::superstep::{Array, Block, Group, Result, algorithms};

pub(crate) fn stable<K: Key>(keys: &[K]) -> Result<Sample> {
    sorted(keys, algorithms::sort)
}

pub(crate) fn unstable<K: Key>(keys: &[K]) -> Result<Sample> {
    sorted(keys, algorithms::sort_unstable)
}

fn sorted<K: Key>(keys: &[K], sort: impl Fn(&mut Group, &Array<K, Block>) + Sync) -> Result<Sample> {
    on_all(|g| {
        let array = g.array::<K, Block>(keys.len());
        let first = array.global(0).unwrap_or(0);
        let mine = &keys[first..first + array.local().len()];
        let mut round = || {
            array.local_mut().copy_from_slice(mine);
            timed(g, |g| sort(g, &array)).0
        };
        round();
        let seconds = round();
        Sample::of_answer(seconds, digest(first, array.local().iter().copied()))
    })
}
