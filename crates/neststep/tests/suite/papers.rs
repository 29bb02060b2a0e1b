//! The programs of the papers, beside the same on the API.

use crate::figure3::{quicksort, quicksort_by_hand, rand};
use neststep::neststep;
use superstep::{Array, Block, Cyclic, Each, Group, Sum, groups::Weighted, testing::everywhere};

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

neststep! {
    /// The nested quicksort of seed 003, section 2.3.
    fn qs(sh a: [i64]<%>) {
        sh<=> l, e, u: usize;
        sh<?> pivot: i64;
        sh weight: [f64; 2];
        let n = len(a);
        if n <= THRESHOLD {
            step seq { let mut all = a[:]; all.sort_unstable(); a[:] = all; }
            return;
        }
        if # == 1 { a.local_mut().sort_unstable(); return; }
        let mut round = 0;
        loop {
            let c = rand(round) % n;
            round += 1;
            step {
                l = 0; e = 0; u = 0;
                forall (j, a, c, c, 1) pivot = a[j];
            }
            step {
                forall (j, a) {
                    if a[j] < pivot { l += 1; } else if a[j] > pivot { u += 1; } else { e += 1; }
                }
            } combine (l<+>, e<+>, u<+>);
            if l * u * 100 > 17 * n * n || round == 10 { break; }
        }
        partition(a, pivot, l, e);
        step {
            weight[0] = (l as f64 / (l + u) as f64).max(1.0 / # as f64);
            weight[1] = (u as f64 / (l + u) as f64).max(1.0 / # as f64);
        }
        if l + u == 0 { return; }
        step<2, weight> {
            sh aa: [i64]<%> = import(a[if @ == 0 { 0..l } else { l + e..l + e + u }]);
            qs(aa);
            export(aa);
        }
    }

    fn partition(sh a: [i64]<%>, pivot: i64, l: usize, e: usize) {
        sh lower, equal, upper: usize;
        let (mut nl, mut ne, mut nu) = (0, 0, 0);
        sh t: [i64; len(a)]<%>;
        sh rank: [usize; len(a)]<%>;
        step {
            lower = 0; equal = 0; upper = 0;
            forall (j, a) {
                if a[j] < pivot { lower += 1; } else if a[j] > pivot { upper += 1; } else { equal += 1; }
            }
        } combine (lower<+ : nl>, equal<+ : ne>, upper<+ : nu>);
        step forall (j, a) {
            let next = if a[j] < pivot { &mut nl } else if a[j] > pivot { &mut nu } else { &mut ne };
            rank[j] = *next + if a[j] < pivot { 0 } else if a[j] > pivot { l + e } else { l };
            *next += 1;
        }
        step permute(t, a, rank);
        step a[:] = t[:];
    }
}

const THRESHOLD: usize = 8;

#[test]
fn the_quicksort_of_figure_3_sorts_as_that_on_the_api() {
    everywhere(|g| {
        let n = 61;
        let (a, b) = (g.array::<f32, Block>(n), g.array::<f32, Block>(n));
        let c = g.array::<f32, Block>(n);
        a.forall_mut(|i, x| *x = (rand(i) % 1000) as f32 / 8.0);
        let steps = g.steps();
        quicksort(g, &a, &b);
        // One more than the five of the paper: the first has nothing before it that could fetch.
        assert_eq!(g.steps() - steps, 6);
        quicksort_by_hand(g, &a, &c);
        assert_eq!(*b.local(), *c.local());
        let mut all: Vec<f32> = (0..n).map(|i| (rand(i) % 1000) as f32 / 8.0).collect();
        all.sort_by(f32::total_cmp);
        assert_eq!(g.step(|s| s.mirror(&b, ..)), all);
    });
}

/// The same by hand: pivots, partition by ranks, and subgroups with their parts.
fn qs_by_hand(g: &mut Group, a: &Array<i64, Cyclic>) {
    let n = a.len();
    if n <= THRESHOLD {
        let all = g.step(|s| s.gather_to(0, a)).map(|mut all| {
            all.sort_unstable();
            all
        });
        g.step(|s| s.scatter_from(0, a, all.as_deref()));
        return;
    }
    if g.size() == 1 {
        a.local_mut().sort_unstable();
        return;
    }
    let (mut round, mut counts, mut pivot);
    round = 0;
    loop {
        let c = rand(round) % n;
        round += 1;
        pivot = g.step(|s| s.gather(a, &[c]))[0];
        let mine = |order: std::cmp::Ordering| a.local().iter().filter(|x| (**x).cmp(&pivot) == order).count();
        let mine = [std::cmp::Ordering::Less, std::cmp::Ordering::Equal, std::cmp::Ordering::Greater].map(mine);
        counts = g.step(|s| (s.reduce(mine.to_vec(), Each(Sum)), s.prefix(mine.to_vec(), Each(Sum))));
        if counts.0[0] * counts.0[2] * 100 > 17 * n * n || round == 10 {
            break;
        }
    }
    let ([l, e, u], mut next) = ([counts.0[0], counts.0[1], counts.0[2]], counts.1);
    next.resize(3, 0);
    let (mut places, values) = (Vec::new(), a.local().to_vec());
    for x in &values {
        let class = x.cmp(&pivot) as i8 + 1;
        places.push(next[class as usize] + [0, l, l + e][class as usize]);
        next[class as usize] += 1;
    }
    g.step(|s| s.scatter(a, &places, &values, superstep::Any));
    if l + u == 0 {
        return;
    }
    let least = 1.0 / g.size() as f64;
    let weights = [(l as f64 / (l + u) as f64).max(least), (u as f64 / (l + u) as f64).max(least)];
    let part = |id| if id == 0 { 0..l } else { l + e..l + e + u };
    g.split_on(Weighted(&weights), a, part, |sub, part| qs_by_hand(sub, part));
}

#[test]
fn the_nested_quicksort_sorts_as_that_on_the_api() {
    everywhere(|g| {
        for n in [1, 8, 50, 93] {
            let (a, b) = (g.array::<i64, Cyclic>(n), g.array::<i64, Cyclic>(n));
            a.forall_mut(|i, x| *x = (rand(i) % 40) as i64);
            b.forall_mut(|i, x| *x = (rand(i) % 40) as i64);
            qs(g, &a);
            qs_by_hand(g, &b);
            assert_eq!(*a.local(), *b.local());
            let mut all: Vec<i64> = (0..n).map(|i| (rand(i) % 40) as i64).collect();
            all.sort_unstable();
            assert_eq!(g.step(|s| s.mirror(&a, ..)), all);
        }
    });
}
