//! The library's grouping of two arrays in blocks.

use super::{on_all, timed};
use crate::{
    Sample,
    kernels::group::{Rows, groups},
};
use ::superstep::{Block, Result, Sum, algorithms};

pub(crate) fn group_by_key(rows: &Rows) -> Result<Sample> {
    on_all(|g| {
        let (keys, values) = (g.array::<u64, Block>(rows.len()), g.array::<u64, Block>(rows.len()));
        keys.forall_mut(|at, key| *key = rows.keys[at]);
        values.forall_mut(|at, value| *value = rows.values[at]);
        algorithms::group_by_key(g, &keys, &values, Sum);
        let (seconds, (keys, sums)) = timed(g, |g| algorithms::group_by_key(g, &keys, &values, Sum));
        Sample::of_answer(seconds, groups(keys.local().iter().copied().zip(sums.local().iter().copied())))
    })
}
