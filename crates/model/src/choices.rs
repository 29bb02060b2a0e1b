//! Choices from a seed, written down as they are made, so that a program can be made again with fewer of them.

/// A source of small numbers. What was chosen can be looked at, changed and chosen again: a list that ends early goes
/// on with zeros, and zero is always the simplest choice.
#[derive(Clone, Debug)]
pub struct Choices {
    made: Vec<u32>,
    given: Option<Vec<u32>>,
    state: u64,
}

impl Choices {
    /// The choices that a seed makes.
    ///
    /// ```
    /// use superstep_model::Choices;
    ///
    /// let mut once = Choices::of_seed(7);
    /// let numbers: Vec<usize> = (0..9).map(|_| once.below(100)).collect();
    /// let mut again = Choices::given(once.made().to_vec());
    /// assert_eq!((0..9).map(|_| again.below(100)).collect::<Vec<_>>(), numbers);
    /// assert_eq!(again.below(100), 0);
    /// ```
    pub fn of_seed(seed: u64) -> Self {
        Self { made: Vec::new(), given: None, state: seed }
    }

    /// The choices of a list.
    ///
    /// ```
    /// assert_eq!(superstep_model::Choices::given(vec![5]).below(4), 1);
    /// ```
    pub fn given(list: Vec<u32>) -> Self {
        Self { made: Vec::new(), given: Some(list), state: 0 }
    }

    /// What was chosen so far.
    ///
    /// ```
    /// let mut choices = superstep_model::Choices::given(vec![5, 2]);
    /// choices.below(4);
    /// assert_eq!(choices.made(), [1]);
    /// ```
    pub fn made(&self) -> &[u32] {
        &self.made
    }

    /// A number below `end`, which is not 0.
    ///
    /// ```
    /// assert!(superstep_model::Choices::of_seed(1).below(3) < 3);
    /// ```
    pub fn below(&mut self, end: usize) -> usize {
        let number = match &self.given {
            Some(given) => u64::from(given.get(self.made.len()).copied().unwrap_or(0)),
            None => mix(&mut self.state),
        };
        let chosen = (number % end as u64) as usize;
        self.made.push(chosen as u32);
        chosen
    }

    /// Whether the rarer of two happens: one time in `many`.
    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == many - 1
    }

    /// One of several; the first is the simplest.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// `SplitMix64`.
fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number with how many choices behind it may have been about what it was larger for.
fn followed(number: u32) -> impl Iterator<Item = (u32, usize)> {
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24].into_iter().map(move |gone| (number, gone))
}

/// Makes a list of choices that fails as short and as small as it gets: `fails` says whether another one does, and is
/// asked at most `tries` times.
///
/// ```
/// // Whatever has a number above 4 in it fails.
/// let least = superstep_model::shrink(vec![1, 9, 3, 7, 2], 1000, |list| list.iter().any(|&number| number > 4));
/// assert_eq!(least, [5]);
/// ```
pub fn shrink(mut list: Vec<u32>, tries: usize, mut fails: impl FnMut(&[u32]) -> bool) -> Vec<u32> {
    let mut left = tries;
    let mut is_better = |candidate: &[u32], left: &mut usize| {
        *left = left.saturating_sub(1);
        *left > 0 && fails(candidate)
    };
    loop {
        let before = list.clone();
        // Without a stretch of it, from long ones to single choices.
        let mut len = list.len() / 2;
        while len > 0 {
            let mut at = 0;
            while at + len <= list.len() {
                let candidate = [&list[..at], &list[at + len..]].concat();
                if is_better(&candidate, &mut left) {
                    list = candidate;
                } else {
                    at += len;
                }
            }
            len /= 2;
        }
        // With smaller numbers, and perhaps without what a larger one was followed by.
        let mut at = 0;
        while at < list.len() {
            for (smaller, gone) in [0, list[at] / 2, list[at].saturating_sub(1)].into_iter().flat_map(followed) {
                let rest = list.get(at + 1 + gone..).unwrap_or_default();
                if smaller < list[at] {
                    let candidate = [&list[..at], &[smaller], rest].concat();
                    if is_better(&candidate, &mut left) {
                        list = candidate;
                    }
                }
            }
            at += 1;
        }
        if list == before || left == 0 {
            return list;
        }
    }
}
