//! Files that are one change away from good ones are read or refused.

mod near;

use near::{corpus, hand, near};

#[test]
fn whatever_a_file_holds_it_is_read_or_refused_by_name() {
    for (_, bytes) in corpus("files") {
        hand(superstep_fuzz::files, &bytes);
        near(&bytes).for_each(|bytes| hand(superstep_fuzz::files, &bytes));
    }
}
