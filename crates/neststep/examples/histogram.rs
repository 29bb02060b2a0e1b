//! A histogram, and a walk along its bins: elements of others, written and read where they stand.

use neststep::neststep;

neststep! {
    fn main() {
        sh<+> counts: [u64; 10]<%>;
        let keys: Vec<usize> = (0..50).map(|i| (i * i + $) % 10).collect();
        step for &k in &keys { counts[k] += 1; }
        let mut all = Vec::new();
        step for k in 0..10 { all.push(counts[k]); }
        assert_eq!(all.iter().sum::<u64>(), 50 * # as u64);
        seq println!("{all:?}");
    }
}
