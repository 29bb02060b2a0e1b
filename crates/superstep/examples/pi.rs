//! Estimates pi by throwing darts at a square: how many of them hit the circle inside it.
//!
//! Each processor throws its own darts, with a sequence of its own, and one step adds them up. The result depends on
//! the number of processors and on nothing else.

use superstep::Sum;

/// A sequence of numbers in `0.0..1.0` that looks random (xorshift).
struct Darts(u64);

impl Darts {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn main() -> superstep::Result {
    const THROWS: u64 = 2_000_000;
    superstep::run(|world| {
        let mut darts = Darts(0x9E37_79B9_7F4A_7C15 ^ (world.rank() as u64 + 1) << 32);
        let hits = (0..THROWS).filter(|_| darts.next().powi(2) + darts.next().powi(2) < 1.0).count();
        let hits = world.step(|s| s.reduce(hits as u64, Sum));
        let pi = 4.0 * hits as f64 / (THROWS * world.size() as u64) as f64;
        world.leader(|| println!("pi is about {pi:.5}"));
        assert!((pi - std::f64::consts::PI).abs() < 0.01);
    })
}
