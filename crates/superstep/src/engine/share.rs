//! Who joins which subgroup.

/// A subgroup that this processor is in: its number, its members by their ranks in the parent, and my rank in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subgroup {
    pub(crate) id: usize,
    pub(crate) members: Vec<usize>,
    pub(crate) rank: usize,
}

impl Subgroup {
    pub(super) fn new(id: usize, members: Vec<usize>, rank: usize) -> Option<Self> {
        let rank = members.iter().position(|&member| member == rank)?;
        Some(Self { id, members, rank })
    }
}

/// The subgroups that this processor runs in, one after another. There may be more than a list could hold.
pub(crate) enum Mine {
    /// One that it is in together with others, or none.
    One(Option<Subgroup>),
    /// Every `size`-th of `count`, each alone.
    Alone { rank: usize, count: usize, size: usize },
}

impl Mine {
    pub(crate) fn each(&self) -> impl Iterator<Item = Subgroup> {
        let (one, rank, alone) = match self {
            Self::One(one) => (one.clone(), 0, (0..0).step_by(1)),
            &Self::Alone { rank, count, size } => (None, rank, (rank..count).step_by(size)),
        };
        one.into_iter().chain(alone.map(move |id| Subgroup { id, members: vec![rank], rank: 0 }))
    }
}

pub(super) fn even(count: usize, rank: usize, size: usize) -> Option<Subgroup> {
    let id = rank % count;
    Subgroup::new(id, (id..size).step_by(count).collect(), rank)
}

pub(super) fn consecutive(sizes: &[usize], rank: usize) -> Option<Subgroup> {
    let mut first = 0;
    for (id, &size) in sizes.iter().enumerate() {
        if rank < first + size {
            return Subgroup::new(id, (first..first + size).collect(), rank);
        }
        first += size;
    }
    None
}

/// Shares `processors` out in proportion to `weights`, at least one to each that is not zero.
pub(super) fn share(weights: &[f64], processors: usize) -> Result<Vec<usize>, String> {
    if let Some((at, weight)) = weights.iter().enumerate().find(|(_, weight)| !weight.is_finite() || **weight < 0.0) {
        return Err(format!("weight {at} is {weight}; weights are finite and not negative"));
    }
    let mut sizes = vec![0; weights.len()];
    let mut runs: Vec<usize> = (0..weights.len()).filter(|&at| weights[at] > 0.0).collect();
    if runs.len() > processors {
        runs.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        runs.truncate(processors);
    }
    if runs.is_empty() {
        return Ok(sizes);
    }
    // Scaled so that the sum stays finite, and by a power of two so that no bit is lost: equal claims stay equal.
    let heaviest = runs.iter().map(|&at| weights[at]).fold(0.0, f64::max);
    let scale = 2f64.powi((-heaviest.log2().floor()).clamp(-1023.0, 1023.0) as i32);
    let sum: f64 = runs.iter().map(|&at| weights[at] * scale).sum();
    let claim = |at: usize| processors as f64 * (weights[at] * scale);
    for &at in &runs {
        sizes[at] = ((claim(at) / sum).floor() as usize).clamp(1, processors);
    }
    let lack = |sizes: &[usize], at: usize| claim(at) - sizes[at] as f64 * sum;
    let mut given: usize = sizes.iter().sum();
    while given < processors {
        let most = |&a: &usize, &b: &usize| lack(&sizes, a).total_cmp(&lack(&sizes, b)).then(b.cmp(&a));
        let at = runs.iter().copied().max_by(most).expect("somebody runs");
        sizes[at] += 1;
        given += 1;
    }
    while given > processors {
        let least = |&a: &usize, &b: &usize| lack(&sizes, a).total_cmp(&lack(&sizes, b)).then(b.cmp(&a));
        let at = runs.iter().copied().filter(|&at| sizes[at] > 1).min_by(least);
        sizes[at.expect("no more run than there are processors")] -= 1;
        given -= 1;
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_near_the_ratios_as_whole_numbers_allow() {
        assert_eq!(share(&[1.0, 1.0], 4).unwrap(), [2, 2]);
        assert_eq!(share(&[1.0, 2.0], 4).unwrap(), [1, 3]);
        assert_eq!(share(&[3.0, 7.0], 3).unwrap(), [1, 2]);
        assert_eq!(share(&[0.0, 2.0, 1.0], 3).unwrap(), [0, 2, 1]);
        assert_eq!(share(&[1000.0, 1.0, 1.0], 4).unwrap(), [2, 1, 1]);
        assert_eq!(share(&[1.0, 1.0, 1.0], 8).unwrap(), [3, 3, 2]);
        assert_eq!(share(&[f64::MAX, f64::MAX], 3).unwrap(), [2, 1]);
        assert_eq!(share(&[5e-324, 5e-324], 2).unwrap(), [1, 1]);
    }

    #[test]
    fn the_lightest_do_not_run_and_ties_go_by_number() {
        assert_eq!(share(&[1.0, 3.0, 2.0], 2).unwrap(), [0, 1, 1]);
        assert_eq!(share(&[1.0, 1.0, 1.0], 2).unwrap(), [1, 1, 0]);
        assert_eq!(share(&[0.0, 0.0], 2).unwrap(), [0, 0]);
        assert_eq!(share(&[], 2).unwrap(), [0usize; 0]);
    }

    #[test]
    fn bad_weights_are_named() {
        assert!(share(&[1.0, -1.0], 2).unwrap_err().contains("weight 1 is -1"));
        assert!(share(&[f64::NAN], 2).unwrap_err().contains("weight 0 is NaN"));
        assert!(share(&[f64::INFINITY], 2).unwrap_err().contains("weight 0 is inf"));
    }

    #[test]
    fn even_parts_deal_the_ranks_round() {
        assert_eq!(even(2, 3, 5), Some(Subgroup { id: 1, members: vec![1, 3], rank: 1 }));
        assert_eq!(even(7, 2, 3), Some(Subgroup { id: 2, members: vec![2], rank: 0 }));
    }
}
