//! Every thread loads what it wants from wherever it lies, and asks for it ahead.

use super::{
    ahead::{ask, visit},
    team::team,
};
use crate::{
    contenders::huge,
    Sample,
    digest,
    kernels::access::{Accesses, Shape, element},
};

pub(crate) fn direct(accesses: &Accesses) -> Sample {
    let Shape { count, .. } = accesses.shape();
    let table = huge::made(accesses.shape().table(), element);
    team(|member| {
        let mut found = huge::zeroed::<u64>(count);
        let (seconds, ()) = member.timed(|| {
            let start = table.as_ptr();
            let each = |at: usize, index: usize| {
                // SAFETY: indices lie in the table (A1), which is as long as its shape says.
                found[at] = unsafe { *table.get_unchecked(index) };
            };
            visit(accesses.indices(member.rank), |next| ask(start, next), each);
        });
        Sample::of_answer(seconds, digest(member.rank * count, found))
    })
}
