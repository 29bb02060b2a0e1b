//! A whole program, written as the papers would write it.

use neststep::neststep;
use superstep::{Block, testing::on_sizes};

neststep! {
    fn parprefix(sh a: [i64]</>) {                    // figure 2 of seed 000
        let mut pre = Vec::new();
        let mut myoffset = 0;
        sh sum: i64 = 0;
        step {
            forall (i, a) { pre.push(sum); sum += a[i]; }
        } combine (sum<+ : myoffset>)
        let mut j = 0;
        step forall (i, a) { a[i] = pre[j] + myoffset; j += 1 }
    }

    fn main() {
        sh<+> total: f64;
        step { total = f($); }                        // $ rank, # size, @ group number
        seq println!("global sum: {total}");
        step<2, @ = if even($) { 0 } else { 1 }> {    // nested supersteps in every form of seed 003
            sh<+> members: usize;
            step { members = 1; }
            seq println!("group {}: {members} of {}", @, #);
        }
    }
}

fn f(rank: usize) -> f64 {
    1.5 * (rank as f64 + 1.0)
}

fn even(rank: usize) -> bool {
    rank.is_multiple_of(2)
}

#[test]
fn a_prefix_sum_needs_no_zero_in_its_step() {
    on_sizes(&[1, 2, 3, 5], |g| {
        // Of the shorter ones some processors have nothing.
        for n in [0, 1, 2, 4, 7, 37] {
            let a = g.array::<i64, Block>(n);
            a.forall_mut(|i, x| *x = (i * i % 11) as i64 - 3);
            parprefix(g, &a);
            let before = |i: usize| (0..i).map(|i| (i * i % 11) as i64 - 3).sum::<i64>();
            assert_eq!(g.step(|s| s.mirror(&a, ..)), (0..n).map(before).collect::<Vec<_>>(), "{n} elements");
        }
    });
}

/// `elsewhere` starts this one on several numbers of processors, and reads what it prints.
#[test]
fn a_program_has_a_main_function() {
    main().unwrap();
}
