//! Variables get the corpus, and all that is one change away from it. The environment is the process's, so they are
//! alone in one.

mod near;

use near::{corpus, hand, near};

#[test]
fn whatever_variables_say_they_are_read_or_refused() {
    for (_, bytes) in corpus("variables") {
        hand(superstep_fuzz::variables, &bytes);
        near(&bytes).for_each(|bytes| hand(superstep_fuzz::variables, &bytes));
    }
}
