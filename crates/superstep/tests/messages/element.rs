// A struct that is no plain data, in an array.
use superstep::{Block, Config};

#[derive(Clone, Copy)]
struct Point {
    x: f64,
}

fn main() {
    let _ = Config::new().run(|g| drop(g.array::<Point, Block>(4)));
}
