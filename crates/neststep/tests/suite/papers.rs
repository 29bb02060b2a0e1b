//! The programs of the papers, beside the same on the API.

use neststep::neststep;
use superstep::{Block, Group, Sum, testing::everywhere};

neststep! {
    /// Figure 2 of seed 000.
    fn parprefix(sh a: [i64]</>) {
        let mut pre = Vec::new();
        let mut myoffset = 0;
        sh sum: i64 = 0;
        step {
            sum = 0;
            forall (i, a) { pre.push(sum); sum += a[i]; }
        } combine (sum<+ : myoffset>);
        let mut j = 0;
        step forall (i, a) { a[i] = pre[j] + myoffset; j += 1 }
    }

    /// Section 2.2 of seed 003.
    fn global_sum() -> f64 {
        sh<+> sum: f64;
        step sum = some_function($);
        sum
    }

    fn some_function(rank: usize) -> f64 {
        1.0 / (rank as f64 + 1.0)
    }
}

#[test]
fn parallel_prefix_is_that_of_the_api() {
    fn by_hand(g: &mut Group, a: &superstep::Array<i64, Block>) {
        let mut before = Vec::new();
        let offset = g.step(|s| {
            let mut sum = 0;
            for &x in a.local().iter() {
                before.push(sum);
                sum += x;
            }
            s.prefix(sum, Sum)
        });
        for (x, b) in a.local_mut().iter_mut().zip(&before) {
            *x = b + offset;
        }
    }
    everywhere(|g| {
        let (a, b) = (g.array::<i64, Block>(37), g.array::<i64, Block>(37));
        a.forall_mut(|i, x| *x = (i * i % 11) as i64 - 3);
        b.forall_mut(|i, x| *x = (i * i % 11) as i64 - 3);
        parprefix(g, &a);
        by_hand(g, &b);
        assert_eq!(*a.local(), *b.local());
        let all = g.step(|s| s.mirror(&a, ..));
        assert_eq!(all[1], -3);
    });
}

#[test]
fn a_global_sum_is_a_variable() {
    everywhere(|g| {
        let sum = global_sum(g);
        let rank = g.rank();
        assert_eq!(sum.to_bits(), g.step(|s| s.reduce(some_function(rank), Sum)).to_bits());
    });
}
