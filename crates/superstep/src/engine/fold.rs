//! What an operator means: the one place that says it, for steps, shared variables, arrays and epochs.

use super::{
    operators::{Combine, Rule},
    value::{Value, decode, encode},
};
use crate::{
    error::{Error, ErrorKind, Result},
    panics,
};

/// What becomes of a value of a lower rank and one of a higher rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The lower rank's stands.
    Lower,
    /// The operator's function makes one of them.
    Folded,
    /// They should be the same and are not.
    Differ,
}

impl Rule {
    /// What becomes of two values; `is_same` says whether they agree, bit for bit, and is asked where that matters.
    ///
    /// Who takes part at all is decided before: with `Leader` rank 0 alone has a value.
    #[inline]
    pub(crate) fn verdict(self, is_same: impl FnOnce() -> bool) -> Verdict {
        match self {
            Self::Leader | Self::Any => Verdict::Lower,
            Self::Same if is_same() => Verdict::Lower,
            Self::Same => Verdict::Differ,
            Self::Fold => Verdict::Folded,
        }
    }
}

/// The error of copies that should be the same; `name` is what an error calls them.
#[cold]
fn differ(name: &dyn Fn() -> String) -> Error {
    let message = format!("copies of {} that should be the same differ", name());
    Error::new(ErrorKind::ReplicaDiverged, message)
}

pub(crate) fn guard<R>(operate: impl FnOnce() -> Result<R>) -> Result<R> {
    panics::guard("a combine function", operate)
}

/// Makes one encoded value of two. `combine` is the operator's function, and `name` what an error calls the values.
pub(crate) fn fold<T: Value>(
    rule: Rule,
    combine: impl FnOnce(&mut T, &T),
    name: &dyn Fn() -> String,
    (lower, higher): (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Result {
    match rule.verdict(|| lower == higher) {
        Verdict::Lower => out.extend_from_slice(lower),
        Verdict::Differ => return Err(differ(name)),
        Verdict::Folded => {
            let mut acc = decode::<T>(lower)?;
            combine(&mut acc, &decode(higher)?);
            encode(&acc, out)?;
        }
    }
    Ok(())
}

/// Makes one value of two: `acc`, of lower ranks, and `with`, of higher ones.
pub(crate) fn fold_into<T: Value, C: Combine<T>>(op: &C, acc: &mut T, with: &T, name: &dyn Fn() -> String) -> Result {
    guard(|| {
        let rule = op.rule();
        let mut bytes = [Vec::new(), Vec::new()];
        if rule == Rule::Same {
            encode(acc, &mut bytes[0])?;
            encode(with, &mut bytes[1])?;
        }
        match rule.verdict(|| bytes[0] == bytes[1]) {
            Verdict::Lower => {}
            Verdict::Differ => return Err(differ(name)),
            Verdict::Folded => op.combine(acc, with),
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::operators::{Any, Same, Sum},
        *,
    };

    fn folded(op: impl Combine<u32>, mut acc: u32, with: u32) -> Result<u32> {
        fold_into(&op, &mut acc, &with, &|| "numbers".to_owned()).map(|()| acc)
    }

    #[test]
    fn an_operator_folds_keeps_the_lower_or_wants_both_the_same() {
        assert_eq!([folded(Sum, 3, 4), folded(Any, 3, 4), folded(Same, 3, 3)], [Ok(7), Ok(3), Ok(3)]);
        assert_eq!(folded(Same, 3, 4).unwrap_err().kind(), ErrorKind::ReplicaDiverged);
    }
}
