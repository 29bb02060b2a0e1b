//! Delays and stalls change no result.

use crate::{expected, outcome, programs::PROGRAMS, replayed, seeds, simulated};
use superstep::sim::Faults;

#[test]
fn late_packets_and_processors_that_stand_still_change_no_result() {
    for (name, program) in PROGRAMS {
        for size in [1, 2, 3, 5] {
            let right = expected(size, program);
            for seed in seeds(4) {
                for shares_memory in [false, true] {
                    for faults in [Faults::DELAY, Faults::STALL, Faults::DELAY | Faults::STALL] {
                        let words = replayed(name, size, seed, shares_memory, faults);
                        let found = outcome(&simulated(size, seed, shares_memory).faults(faults), program);
                        assert_eq!(found.as_ref(), Ok(&right), "{words}");
                    }
                }
            }
        }
    }
}
