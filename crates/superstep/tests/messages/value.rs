// A struct that cannot be encoded, in a broadcast.
use superstep::Config;

struct Name(String);

fn main() {
    let _ = Config::new().run(|g| g.step(|s| s.broadcast(0, Some(Name(String::new())))).0);
}
