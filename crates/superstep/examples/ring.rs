//! A token goes round a ring of processors, each of which adds its rank to it.
//!
//! A put made in one step can be read in the next, so a round takes as many steps as there are processors.

fn main() -> superstep::Result {
    superstep::run(|world| {
        let (me, size) = (world.rank(), world.size());
        let token = world.area::<u64>(1);
        for turn in 0..size {
            world.step(|s| {
                if me == turn {
                    let next = token.local()[0] + me as u64;
                    s.put((me + 1) % size, &[next], &token, 0);
                }
            });
        }
        world.leader(|| {
            let sum = token.local()[0];
            println!("after one round the token is {sum}");
            assert_eq!(sum, (size * (size - 1) / 2) as u64);
        });
    })
}
