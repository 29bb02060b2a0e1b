#![deny(deprecated)]

neststep::neststep! {
    fn main() {
        let odd = $ % 2 == 1;
        if odd {
            step { }
        }
        match $ {
            0 => step { },
            _ => {}
        }
    }
}
