//! The global sum of the second paper: a variable whose copies are added up at the end of a step.

use neststep::neststep;

neststep! {
    fn main() {
        sh<+> sum: f64;
        step sum = some_function($);
        seq println!("global sum: {sum}");
        let expected: f64 = (0..#).map(some_function).sum();
        assert!((sum - expected).abs() < 1e-12);
    }

    fn some_function(rank: usize) -> f64 { 1.0 / (rank as f64 + 1.0) }
}
