neststep::neststep! {
    fn main() {
        'all: {
            step { if $ == 0 { break 'all; } }
            step { }
        }
        let steps = || { step { } };
        step { step { } }
        epoch { return; }
    }
}
