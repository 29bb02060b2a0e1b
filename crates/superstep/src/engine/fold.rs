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
pub(crate) enum Outcome {
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
    pub(crate) fn outcome(self, is_same: impl FnOnce() -> bool) -> Outcome {
        match self {
            Self::Leader | Self::Any => Outcome::Lower,
            Self::Same if is_same() => Outcome::Lower,
            Self::Same => Outcome::Differ,
            Self::Fold => Outcome::Folded,
        }
    }
}

/// The error of copies that should be the same; `name` is what a message calls them.
#[cold]
fn differ(name: &dyn Fn() -> String) -> Error {
    let message = format!("copies of {} that should be the same differ", name());
    Error::new(ErrorKind::ReplicaDiverged, message)
}

/// Calls an operator; what it panics with becomes an error.
pub(crate) fn guard<R>(operate: impl FnOnce() -> Result<R>) -> Result<R> {
    panics::guard("a combine function", operate)
}

/// Makes one encoded value of two. `combine` is the operator's function, and `name` what a message calls the values.
pub(crate) fn fold<T: Value>(
    rule: Rule,
    combine: impl FnOnce(&mut T, &T),
    name: &dyn Fn() -> String,
    (lower, higher): (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Result {
    match rule.outcome(|| lower == higher) {
        Outcome::Lower => out.extend_from_slice(lower),
        Outcome::Differ => return Err(differ(name)),
        Outcome::Folded => {
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
        match rule.outcome(|| bytes[0] == bytes[1]) {
            Outcome::Lower => {}
            Outcome::Differ => return Err(differ(name)),
            Outcome::Folded => op.combine(acc, with),
        }
        Ok(())
    })
}
