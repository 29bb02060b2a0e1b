//! Loops over this processor's part of an array, or the same over a plain vector: `bench/instructions.sh` counts the
//! instructions of both.

use std::hint::black_box;
use superstep::{Block, Config};

const LEN: usize = 100_000;
const ROUNDS: usize = 40;

/// Writes to all elements and adds them up, by iterators and by index.
macro_rules! rounds {
    ($read:expr, $write:expr) => {{
        let mut sum = 0.0;
        for _ in 0..ROUNDS {
            for x in $write.iter_mut() {
                *x = *x * 0.5 + 1.0;
            }
            sum += $read.iter().sum::<f64>();
            let (read, mut most) = ($read, 0.0);
            for i in 0..read.len() {
                most = if read[i] > most { read[i] } else { most };
            }
            sum += most;
        }
        sum
    }};
}

fn main() -> superstep::Result {
    let of_array = std::env::args().nth(1).as_deref() == Some("array");
    let sum = Config::new().procs(1).run(|g| {
        let a = g.array::<f64, Block>(LEN);
        let mut vector = black_box(vec![1.0; LEN]);
        a.local_mut().copy_from_slice(&vector);
        if of_array { rounds!(a.local(), a.local_mut()) } else { rounds!(&vector[..], &mut vector[..]) }
    })?;
    println!("{sum}");
    Ok(())
}
