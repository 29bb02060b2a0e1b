//! Whole runs with damaged packets: those of the corpus, and one bit of each byte of each packet flipped in turn.

mod near;

use near::{corpus, hand};

/// How many packets of a run are damaged, one at a time, and how many bytes of each. What is behind them is data.
const PACKETS: u8 = 40;
const BYTES: u8 = 40;

/// Runs with two processors of a program, of which one packet is damaged; as the corpus has them.
fn damaged(program: u8) -> impl Iterator<Item = [u8; 8]> {
    let flip = |at: u8| [3, at, 0, at.wrapping_mul(5)];
    let edge = |at: u8| [4, at, 0, at];
    (0..PACKETS).flat_map(move |packet| {
        let plans = (0..BYTES).map(flip).chain((0..BYTES).step_by(4).map(edge));
        plans.map(move |[how, low, high, value]| [program, 0, 0, packet, how, low, high, value])
    })
}

/// One test: the plan of damage is the process's.
#[test]
fn whatever_a_packet_says_the_run_ends_well_or_with_a_named_error() {
    let corpus = corpus("runs").into_iter().map(|(_, bytes)| bytes);
    corpus.for_each(|bytes| hand(superstep_fuzz::run, &bytes));
    for program in 0..superstep_fuzz::runs::PROGRAMS.len() as u8 {
        damaged(program).for_each(|bytes| hand(superstep_fuzz::run, &bytes));
    }
}
