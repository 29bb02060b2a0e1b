//! The first program of the README: counts keys in an array that is spread over all processors.

use superstep::{Block, Sum};

fn main() -> superstep::Result {
    superstep::run(|world| {
        let counts = world.array::<u64, Block>(10);
        let keys: Vec<usize> = (0..1000).map(|i| (i * i + world.rank()) % 10).collect();
        world.step(|s| s.scatter_one(&counts, &keys, 1, Sum));
        let (all, total) = world.step(|s| (s.mirror(&counts, ..), s.reduce(keys.len(), Sum)));
        if world.is_leader() {
            println!("{total} keys on {} processors: {all:?}", world.size());
        }
    })
}
