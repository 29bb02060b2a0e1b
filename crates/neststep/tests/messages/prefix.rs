neststep::neststep! {
    fn of_an_array(sh<+> a: [i64]</>) {
        let mut k = 0;
        step { a[0] += 1; } combine (a<+ : k>)
    }

    fn declared() {
        let mut k = 0;
        sh<+ : k> a: [i64; 4]</>;
    }

    fn another_name() {
        step { } combine (y<+>)
    }
}

fn main() {}
