struct Place(usize);

neststep::neststep! {
    fn left_out(sh a: [usize]</>) -> usize {
        let mut sum = 0;
        #[cfg(any())]
        step sum += a[7];
        sum
    }

    fn no_element(n: usize) {
        sh a: [bool; n]<%>;
        step a[3] = true;
    }

    impl Place {
        fn go(&self) -> usize {
            let mut sum = self.0;
            step sum += $;
            sum
        }
    }

    fn strided(sh a: [usize]</>) {
        step<2> {
            sh part: [usize]</> = import(a[1:7:2]);
            step forall (i, part) part[i] = 0;
            export(part);
        }
    }

    fn some_bounds(n: usize) {
        sh a: [usize; n][n]</>;
        step forall2 (i, j, a, 1, n - 1) a[i][j] = 0;
    }

    fn part(sh a: [[usize; 2]]</>) {
        step { let first = &mut a[0][1]; *first = 3; }
    }
}

fn main() {}
