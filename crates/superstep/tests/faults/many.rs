//! Thousands of simulated processors.

use crate::simulated;
use superstep::Sum;

#[test]
fn four_thousand_processors_step_and_reduce() {
    const MANY: usize = 4096;
    let sums = simulated(MANY, 1, false).stack_bytes(256 << 10).run_all(|g| {
        g.step(|_| ());
        g.step(|s| s.reduce(s.rank(), Sum))
    });
    assert_eq!(sums.unwrap(), vec![MANY * (MANY - 1) / 2; MANY]);
}
