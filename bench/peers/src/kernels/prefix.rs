//! Each element becomes the sum of all up to it.

use super::{Sizes, count, terms::terms};
use crate::{
    contenders::{raw, rayon, single, superstep},
    contest::{Contest, Stage, Unit},
    digest,
    failure::Failure,
};

pub(super) fn hold(stage: &mut Stage, sizes: &Sizes) -> Result<(), Failure> {
    for &len in sizes.summed {
        let terms = &terms(len);
        let title = format!("{} i64", count(len));
        let contest = Contest::new("prefix", title, Unit::millions("million elements/s"), len, expected(terms))
            .raw("two sweeps", || raw::two_sweeps(terms))
            .std("one sweep, one thread", || single::prefix(terms))
            .rayon("two sweeps over chunks", || rayon::prefix::two_sweeps(terms))
            .superstep("two sweeps and `prefix`", || superstep::prefix::two_sweeps(terms))
            .superstep("`scan_mut`", || superstep::prefix::scan_in_place(terms))
            .superstep("`scan`, into a new array", || superstep::prefix::scan(terms));
        stage.hold(contest)?;
    }
    Ok(())
}

fn expected(terms: &[i64]) -> u64 {
    let sums = terms.iter().scan(0, |sum, term| {
        *sum += term;
        Some(*sum)
    });
    digest(0, sums)
}
