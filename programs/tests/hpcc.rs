//! The HPC Challenge's random access leaves what plain code on one thread leaves.

mod support;

use superstep::{Block, Config, Fabric};
use superstep_programs::hpcc::{self, Program, RandomAccess, update};
use support::{count, same_everywhere};

#[test]
fn every_update_is_made_on_every_fabric() {
    for (log2, ahead) in [(0, 1), (3, 1024), (10, 7), (12, 1024)] {
        let facts = same_everywhere(|g| hpcc::run(g, &Program::RandomAccess(RandomAccess { log2, ahead })));
        assert_eq!((count(&facts, "errors"), count(&facts, "updates")), (0, 4 << log2));
    }
}

#[test]
fn the_table_is_that_of_plain_code() {
    let (len, updates) = (256, 5000);
    let mut expected = vec![0u64; len];
    let mut number = 1u64;
    for _ in 0..updates {
        let lost = number >> 63;
        number = (number << 1) ^ (7 * lost);
        expected[(number % len as u64) as usize] ^= number;
    }
    for (fabric, procs) in [(Fabric::Threads, 1), (Fabric::Threads, 3), (Fabric::Procs, 4)] {
        let table = Config::new().procs(procs).fabric(fabric).run(|g| {
            let table = g.array::<u64, Block>(len);
            update(g, &table, updates, 100);
            g.step(|s| s.mirror(&table, ..))
        });
        assert_eq!(table.unwrap(), expected);
    }
}
