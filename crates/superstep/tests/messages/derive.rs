// Structs that cannot be elements.
use superstep::Element;

#[derive(Element)]
struct Loose {
    x: f64,
}

#[derive(Element)]
#[repr(C)]
struct Padded {
    kind: u8,
    x: f64,
}

#[derive(Element)]
#[repr(C)]
struct Named {
    name: String,
}

#[derive(Element)]
enum Choice {
    One,
}

fn main() {}
