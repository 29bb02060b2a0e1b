//! Hand-written threads: the limit that everybody is held against. The loops are those of `superstep_bench`.

use crate::{
    PROCS, Sample,
    kernels::{access::Accesses, dense::Dense, permutation::Permutation},
};
use ::superstep::Result;
use superstep_bench::{
    NoUninit,
    raw::{self, Sparse, Sweeps},
};

/// How many rounds count; those before, which bring memory into place, do not.
const ROUNDS: u64 = 1;

/// Judges parts of so many elements each.
fn parts<T: NoUninit>(len: usize) -> impl Fn(f64, usize, &[T]) -> Sample {
    move |seconds, rank, part| Sample::of_part(seconds, rank * len, part)
}

pub(crate) fn increments(accesses: &Accesses) -> Result<Sample> {
    let block = accesses.shape().block;
    raw::increments(block, accesses.all().0, ROUNDS, parts(block))
}

pub(crate) fn additions(accesses: &Accesses) -> Result<Sample> {
    let block = accesses.shape().block;
    raw::updates(block, accesses.all(), ROUNDS, |sum, value| *sum = sum.wrapping_add(value), parts(block))
}

pub(crate) fn changes(accesses: &Accesses) -> Result<Sample> {
    let block = accesses.shape().block;
    raw::updates(block, accesses.all(), ROUNDS, |word, value| *word ^= value, parts(block))
}

pub(crate) fn loads(accesses: &Accesses) -> Result<Sample> {
    let table = raw::huge::made(accesses.shape().table(), crate::kernels::access::element);
    raw::loads(&table, accesses.all().0, ROUNDS, parts(accesses.shape().count))
}

pub(crate) fn stores(permutation: &Permutation) -> Sample {
    let (to, values) = permutation.parts();
    raw::stores((&to, &values), ROUNDS, parts(permutation.block()))
}

pub(crate) fn bucketed(permutation: &Permutation) -> Sample {
    let (to, values) = permutation.parts();
    raw::bucketed((&to, &values), ROUNDS, Sample::of_part)
}

pub(crate) fn two_sweeps(terms: &[i64]) -> Result<Sample> {
    let sweeps = Sweeps {
        fill: |first, part: &mut [i64]| part.copy_from_slice(&terms[first..][..part.len()]),
        add: |part: &[i64], (): &mut ()| part.iter().sum(),
        write: |part: &mut [i64], (): &(), before| super::single::add_up(part, before),
    };
    sweeps.measure((PROCS, terms.len()), ROUNDS, Sample::of_part)
}

pub(crate) fn sample_sort(keys: &[u64]) -> Result<Sample> {
    raw::sample_sort(PROCS, keys, ROUNDS, Sample::of_part)
}

pub(crate) fn by_rows(matrix: &Sparse) -> Result<Sample> {
    matrix.by_rows(PROCS, ROUNDS, Sample::of_part)
}

pub(crate) fn tiles(matrix: &Dense) -> Result<Sample> {
    let (side, rows) = (matrix.side, matrix.side.div_ceil(PROCS));
    let source = raw::huge::copied(&matrix.entries);
    let turn = |rank: usize, part: &mut [f64]| {
        raw::turn(&source, side, rank * rows..side.min((rank + 1) * rows), part, side);
    };
    let judge = |seconds, rank: usize, part: &[f64]| {
        let first = rank * rows * side;
        Sample::of_part(seconds, first, &part[..part.len().min(side * side - first)])
    };
    raw::fill_parts(PROCS, rows * side, ROUNDS, turn, judge)
}
