// A method that captures something.
use superstep::Config;

fn main() {
    let _ = Config::new().run(|g| {
        let object = g.object(0);
        let by = 2;
        g.epoch(|e| e.send(0, &object, (), move |x, _, ()| *x += by));
    });
}
