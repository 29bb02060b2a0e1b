// A section by another type of index.
use superstep::{Block, Config};

fn main() {
    let _ = Config::new().run(|g| {
        let a = g.array::<u8, Block>(4);
        g.step(|s| s.mirror(&a, 0i32..2))
    });
}
