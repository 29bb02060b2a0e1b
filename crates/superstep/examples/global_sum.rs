//! A sum over numbers that are spread over the processors, in three ways that give the same result.
//!
//! The first and the second travel in the messages that the boundary sends anyway; the third shows what they save.

use superstep::Sum;

fn main() -> superstep::Result {
    superstep::run(|world| {
        let (me, size) = (world.rank() as u64, world.size() as u64);
        let mine: u64 = (0..1000).filter(|x| x % size == me).sum();

        // As a value of the step.
        let reduced = world.step(|s| s.reduce(mine, Sum));

        // As a shared variable: everybody writes its own copy, and the boundary combines what was written.
        let total = world.shared(0, Sum);
        world.step(|_| total.set(mine));

        // By hand: everybody gets everything and adds it up.
        let all = world.step(|s| s.collect(mine));

        world.leader(|| println!("the sum of 0 to 999 is {reduced}"));
        assert_eq!(reduced, 499_500);
        assert_eq!(total.get(), reduced);
        assert_eq!(all.iter().sum::<u64>(), reduced);
    })
}
