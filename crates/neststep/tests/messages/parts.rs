neststep::neststep! {
    fn sorted(sh a: [[usize; 3]]</>) {
        step a[1].sort();
    }

    fn no_such_part(sh a: [usize]</>) -> usize {
        step { a[1][2] = 3; }
        let mut found = 0;
        step found = a[1][2] + a[1].there;
        found
    }
}

fn main() {}
