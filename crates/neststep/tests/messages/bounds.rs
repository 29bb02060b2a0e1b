neststep::neststep! {
    fn one_for_all(sh a: [i64]</>) {
        step a[1:3] = 4;
    }

    fn a_row(sh a: [i64]</>, v: &[i64]) {
        step a[1:3] = v;
    }

    fn bounds_of_others(sh a: [usize]</>, sh b: [usize]</>, sh c: [usize]</>) {
        step forall (i, a, 1, b[0]) a[i] = c[i];
    }

    fn once(sh a: [i64]</>, places: impl Iterator<Item = usize>) {
        let mut sum = 0;
        step for at in places { sum += a[at]; }
    }
}

fn main() {}
