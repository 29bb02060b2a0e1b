// A plain value as the result of a step.
use superstep::Config;

fn main() {
    let _ = Config::new().run(|g| g.step(|s| s.rank()));
}
