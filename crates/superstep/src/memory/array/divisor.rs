//! Division by a number that stays the same, without dividing.

/// Divides by a number that is known beforehand, with a multiplication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    by: usize,
    /// 2^64 / by, rounded down; one less where that is a whole number.
    reciprocal: u64,
}

impl Divisor {
    /// For dividing by `by`, or by 1 if that is 0.
    pub(crate) fn new(by: usize) -> Self {
        let by = by.max(1);
        Self { by, reciprocal: u64::MAX / by as u64 }
    }

    /// The quotient and the remainder. The reciprocal is at most `by / 2^64` too small for each unit of the number, so
    /// the estimate is the quotient or one less.
    #[inline]
    pub(crate) fn divide(&self, number: usize) -> (usize, usize) {
        let estimate = ((number as u128 * u128::from(self.reciprocal)) >> 64) as usize;
        let rest = number - estimate * self.by;
        let is_less = rest >= self.by;
        (estimate + usize::from(is_less), if is_less { rest - self.by } else { rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_multiplication_is_exact() {
        let most = usize::MAX;
        for by in [1, 2, 3, 5, 7, 10, 641, 65_535, 65_537, 1 << 20, 1 << 32, (1 << 32) + 1, most / 2, most - 1, most] {
            let divisor = Divisor::new(by);
            for base in [0, by, by.saturating_mul(2), 1 << 32, most / 2, most] {
                for number in base.saturating_sub(2)..=base.saturating_add(2) {
                    assert_eq!(divisor.divide(number), (number / by, number % by), "{number} / {by}");
                }
            }
        }
    }
}
