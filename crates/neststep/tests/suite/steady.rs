//! Loops that read or contribute to one element in each round, which are the fastest ones, and others that look alike.

use neststep::neststep;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use superstep::{
    Block, ErrorKind, Sum,
    testing::{everywhere, failing},
};

/// Goes another way each time that it is made.
struct Fickle<'a>(&'a AtomicUsize, usize);

impl Fickle<'_> {
    fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let first = self.0.fetch_add(1, Relaxed) % 2;
        (0..self.1).map(move |i| if first == 0 { i } else { 3 * i })
    }
}

neststep! {
    /// Whatever is read is the element with that number.
    fn same(sh a: [usize]</>, keys: &[usize], cutoff: usize) -> Vec<Vec<usize>> {
        let mut seen = vec![Vec::new(); 9];
        step for &k in keys { seen[0].push(a[k]); }
        step for (i, &k) in keys.iter().enumerate().rev() { seen[1].push(i * a[k]); }
        step for (&k, i) in keys.iter().zip(0..40).skip(2) { if i != 5 { seen[2].push(a[k]); } }
        step for &k in keys { if seen[3].len() > cutoff { continue; } seen[3].push(a[k]); }
        step for &k in keys { let read = a[k]; if read > 2 * cutoff { break; } seen[4].push(read); }
        step { for &k in keys { seen[5].push(a[k]); } for i in (1..7).step_by(2) { seen[5].push(a[i + 1]); } }
        step for &k in keys { if k % 3 == 0 { seen[6].push(a[k]); } }
        step for i in 1..keys.len() { seen[7].push(a[keys[i] - keys[i] % 2] + keys[i - 1]); }
        step { for _ in 0..2 { for k in [4, 2] { seen[8].push(a[k]); } } }
        seen
    }

    fn fickle(sh a: [usize]</>, fickle: &Fickle<'_>) -> Vec<usize> {
        let mut seen = Vec::new();
        step for k in fickle.iter() { seen.push(a[k]); }
        seen
    }

    fn beyond(sh a: [usize]</>, keys: &[usize]) -> usize {
        let mut sum = 0;
        step for &k in keys { sum += a[k]; }
        sum
    }

    fn planes(keys: &[usize]) -> Vec<usize> {
        let mut seen = Vec::new();
        sh a: [usize; 6]</>[4];
        step forall (i, a) { for j in 0..4 { a[i][j] = 4 * i + j; } }
        step for &k in keys { seen.push(a[k][1]); }
        seen
    }

    fn counted(sh<+> counts: [usize]</>, keys: &[usize], weights: &[usize]) {
        step for &k in keys { counts[k] += 1; }
        step for (i, &k) in keys.iter().enumerate() { counts[k] += i / 300; }
        step for (&k, &w) in keys.iter().zip(weights) { if w > 1 { counts[k] += w; } else { counts[0] += 1; } }
    }
}

#[test]
fn a_loop_reads_what_it_names_however_it_goes() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(20);
        a.forall_mut(|i, x| *x = 10 * i);
        let keys: Vec<usize> = (0..12).map(|i| (7 * i + g.rank()) % 20).collect();
        let read: Vec<usize> = keys.iter().map(|k| 10 * k).collect();
        let seen = same(g, &a, &keys, 60);
        assert_eq!(seen[0], read);
        assert_eq!(seen[1], (0..12).rev().map(|i| i * read[i]).collect::<Vec<_>>());
        assert_eq!(seen[2], (2..12).filter(|i| *i != 5).map(|i| read[i]).collect::<Vec<_>>());
        assert_eq!(seen[3], read);
        assert_eq!(seen[4], read.iter().copied().take_while(|x| *x <= 120).collect::<Vec<_>>());
        assert_eq!(seen[5], [&read[..], &[20, 40, 60]].concat());
        assert_eq!(seen[6], read.iter().copied().filter(|x| x % 30 == 0).collect::<Vec<_>>());
        assert_eq!(seen[7], keys.windows(2).map(|two| 10 * (two[1] - two[1] % 2) + two[0]).collect::<Vec<_>>());
        assert_eq!(seen[8], [40, 20, 40, 20]);
        let few = same(g, &a, &keys, 3);
        assert_eq!(few[3], read[..4]);
        let here = a.local().len() / 3;
        let turns = AtomicUsize::new(0);
        let count = if g.rank() == 0 { here } else { 0 };
        assert_eq!(fickle(g, &a, &Fickle(&turns, count)), (0..count).map(|i| 30 * i).collect::<Vec<_>>());
        assert_eq!(planes(g, &[5, 0, 3]), [21, 1, 13]);
    });
}

#[test]
fn a_loop_that_names_no_element_is_refused_where_it_does() {
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<usize, Block>(5);
        beyond(g, &a, &[1, 5, 2])
    };
    failing(&[1, 2, 3], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::IndexOutOfRange, "{context}: {error}");
        assert!(error.to_string().contains("index 5 of `a`"), "{context}: {error}");
    });
}

#[test]
fn many_contributions_of_one_value_and_of_several_are_counted() {
    everywhere(|g| {
        let counts = g.array::<usize, Block>(10).combining(Sum);
        let keys: Vec<usize> = (0..1000).map(|i| i * i % 10).collect();
        let weights: Vec<usize> = (0..1000).map(|i| i % 3).collect();
        counted(g, &counts, &keys, &weights);
        let mut expected = vec![0; 10];
        for (i, k) in keys.into_iter().enumerate() {
            expected[k] += 1 + i / 300 + if i % 3 == 2 { 2 } else { 0 };
            expected[0] += usize::from(i % 3 != 2);
        }
        let found = g.step(|s| s.mirror(&counts, ..));
        assert_eq!(found, expected.iter().map(|count| g.size() * count).collect::<Vec<_>>());
    });
}
