// A type of the program as the result of a body.
use superstep::Config;

struct Mine;

fn main() {
    let _ = Config::new().run(|_| Mine);
}
