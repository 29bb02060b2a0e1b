//! Every processor says hello, and they agree on how many they are.
//!
//! Run it with `cargo run -p superstep --example hello`; `SUPERSTEP_PROCS=4` in front makes it four.

use superstep::Sum;

fn main() -> superstep::Result {
    superstep::run(|world| {
        println!("hello from {} of {}", world.rank(), world.size());
        let count = world.step(|s| s.reduce(1, Sum));
        assert_eq!(count, world.size());
    })
}
