//! Decoders by themselves get the corpus, and all that is one change away from it.

mod near;

use near::{corpus, hand, near};

fn near_the_corpus(name: &str, target: fn(&[u8])) {
    for (_, bytes) in corpus(name) {
        hand(target, &bytes);
        near(&bytes).for_each(|bytes| hand(target, &bytes));
    }
}

/// One test: the panics of all threads are counted together.
#[test]
fn whatever_packets_datagrams_and_hostfiles_say_it_is_read_or_refused() {
    near_the_corpus("packets", superstep_fuzz::packets);
    near_the_corpus("pulse", superstep_fuzz::pulse);
    near_the_corpus("hosts", superstep_fuzz::hosts);
}
