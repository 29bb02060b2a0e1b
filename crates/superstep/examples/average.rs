//! The average of numbers that come as text: what one processor cannot read, all of them hear of.
//!
//! `cargo run --example average -- 3 4 5` prints 4; with `3 four 5` every processor stops, `main` prints one line that
//! says who could not read what, and the program ends with 1.

use anyhow::{Context, ensure};
use superstep::Sum;

fn main() -> superstep::Result {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        words = (1..=9).map(|number| number.to_string()).collect();
    }
    superstep::run(|world| -> anyhow::Result<()> {
        let (me, size) = (world.rank(), world.size());
        // Each takes every so-manyeth word; `?` leaves the body, and the error is the run's.
        let mine = words.iter().skip(me).step_by(size);
        let numbers: Vec<f64> =
            mine.map(|word| word.parse().with_context(|| format!("`{word}`"))).collect::<anyhow::Result<_>>()?;

        let (sum, count) = world.step(|s| (s.reduce(numbers.iter().sum::<f64>(), Sum), s.reduce(numbers.len(), Sum)));
        ensure!(count > 0, "there are no numbers");
        world.leader(|| println!("the average is {}", sum / count as f64));
        Ok(())
    })
}
