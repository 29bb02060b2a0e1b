//! Thousands of simulated processors.

use crate::simulated;
use superstep::{Block, Sum};

#[test]
fn four_thousand_processors_step_and_reduce() {
    const MANY: usize = 4096;
    for shares_memory in [false, true] {
        let sums = simulated(MANY, 1, shares_memory).stack_bytes(256 << 10).run_all(|g| {
            g.step(|_| ());
            g.step(|s| s.reduce(s.rank(), Sum))
        });
        assert_eq!(sums.unwrap(), vec![MANY * (MANY - 1) / 2; MANY]);
    }
}

#[test]
fn hundreds_of_processors_that_share_memory_have_an_array() {
    const MANY: usize = 300;
    let run = |shares_memory| {
        simulated(MANY, 1, shares_memory).stack_bytes(256 << 10).run_all(|g| {
            let (a, me, p) = (g.array::<u64, Block>(4 * g.size()), g.rank(), g.size());
            g.step(|s| s.scatter(&a, &[me * 7 % (4 * p)], &[1 + me as u64], Sum));
            g.step(|s| s.gather(&a, &[me * 13 % (4 * p)]))[0]
        })
    };
    let expected: Vec<u64> = (0..MANY)
        .map(|me| (0..MANY).filter(|r| r * 7 % (4 * MANY) == me * 13 % (4 * MANY)).map(|r| 1 + r as u64).sum())
        .collect();
    assert_eq!(run(true).unwrap(), expected);
    assert_eq!(run(false).unwrap(), expected);
}
