//! Loops over this processor's part of an array, in Rust and in NestStep, or the same over a plain vector:
//! `bench/instructions.sh` counts the instructions of each.

use neststep::neststep;
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

/// The loops that NestStep has, over the owner's slice.
fn by_hand(a: &superstep::Array<f64, Block>) -> f64 {
    let mut sum = 0.0;
    for _ in 0..ROUNDS {
        let (mut part, mut most) = (-0.0, 0.0);
        for x in a.local_mut().iter_mut() {
            *x = *x * 0.5 + 1.0;
        }
        for x in a.local().iter() {
            part += x;
        }
        for x in a.local().iter() {
            most = if *x > most { *x } else { most };
        }
        sum += part;
        sum += most;
    }
    sum
}

neststep! {
    /// The same in NestStep.
    fn nested(sh a: [f64]</>) -> f64 {
        let mut sum = 0.0;
        for _ in 0..ROUNDS {
            let mut part = -0.0;
            let mut most = 0.0;
            step forall (i, a) { a[i] = a[i] * 0.5 + 1.0; }
            forall (i, a) { part += a[i]; }
            forall (i, a) { most = if a[i] > most { a[i] } else { most }; }
            sum += part;
            sum += most;
        }
        sum
    }
}

fn main() -> superstep::Result {
    let what = std::env::args().nth(1).unwrap_or_default();
    let sum = Config::new().procs(1).run(|g| {
        let a = g.array::<f64, Block>(LEN);
        let mut vector = black_box(vec![1.0; LEN]);
        a.local_mut().copy_from_slice(&vector);
        match &*what {
            "array" => rounds!(a.local(), a.local_mut()),
            "loops" => by_hand(&a),
            "neststep" => nested(g, &a),
            _ => rounds!(&vector[..], &mut vector[..]),
        }
    })?;
    println!("{sum}");
    Ok(())
}
