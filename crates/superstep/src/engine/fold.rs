//! Combining values that are encoded.

use super::{
    operators::Rule,
    value::{Value, decode, encode},
};
use crate::error::{Error, ErrorKind, Result};

/// Folds two encoded values into a third, as `rule` says. `name` is what a message calls them.
pub(crate) fn fold<T: Value>(
    rule: Rule,
    combine: impl FnOnce(&mut T, &T),
    name: &dyn Fn() -> String,
    left: &[u8],
    right: &[u8],
    out: &mut Vec<u8>,
) -> Result {
    match rule {
        Rule::Leader | Rule::Any => out.extend_from_slice(left),
        Rule::Same if left == right => out.extend_from_slice(left),
        Rule::Same => {
            let message = format!("copies of {} that should be the same differ", name());
            return Err(Error::new(ErrorKind::ReplicaDiverged, message));
        }
        Rule::Fold => {
            let mut acc = decode::<T>(left)?;
            combine(&mut acc, &decode(right)?);
            encode(&acc, out)?;
        }
    }
    Ok(())
}
