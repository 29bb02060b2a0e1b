neststep::neststep! {
    fn value(sh a: [usize]</>) -> usize {
        let found = step { a[3] };
        found
    }
}

fn main() {}
