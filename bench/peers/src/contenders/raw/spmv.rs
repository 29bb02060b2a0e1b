//! Each thread multiplies its rows.

use super::team::team_of;
use crate::{PROCS, contenders::huge, Sample, digest, kernels::sparse::Sparse};

pub(crate) fn by_rows(matrix: &Sparse) -> Sample {
    let vector = huge::copied(matrix.vector());
    let mut product = huge::zeroed::<f64>(matrix.rows());
    let share = matrix.rows().div_ceil(PROCS);
    team_of(product.chunks_mut(share), |member, part| {
        let first = member.rank * share;
        let (seconds, ()) = member.timed(|| matrix.multiply(first..first + part.len(), &vector, part));
        Sample::of_answer(seconds, digest(first, part.iter().copied()))
    })
}
