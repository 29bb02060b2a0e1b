// Vectors are combined element by element.
use superstep::{Config, Sum};

fn main() {
    let _ = Config::new().run(|g| g.step(|s| s.reduce(vec![1, 2], Sum)));
}
