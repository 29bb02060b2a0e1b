//! Divide and conquer: a group sums the digits of a range of numbers by splitting itself in proportion to the work.
//!
//! The range is cut into two uneven parts, the group into two subgroups of about the same proportion, and so on until a
//! group has one processor left, which does its part alone.

use superstep::{Group, Sum, Weighted};

fn digits(mut x: u64) -> u64 {
    let mut sum = 0;
    while x > 0 {
        sum += x % 10;
        x /= 10;
    }
    sum
}

/// Sums the digits of all numbers in `from..to`; every processor of the group gets the result.
fn conquer(group: &mut Group, from: u64, to: u64) -> u64 {
    if group.size() == 1 {
        return (from..to).map(digits).sum();
    }
    let middle = from + (to - from) / 3;
    let parts = [from..middle, middle..to];
    let weights = [(middle - from) as f64, (to - middle) as f64];
    let part = group.split(Weighted(&weights), |sub| {
        let part = parts[sub.id()].clone();
        let sum = conquer(sub, part.start, part.end);
        // Everybody in the subgroup knows its sum; its leader alone speaks for it.
        if sub.is_leader() { sum } else { 0 }
    });
    group.step(|s| s.reduce(part.unwrap_or(0), Sum))
}

fn main() -> superstep::Result {
    superstep::Config::new().procs(5).run(|world| {
        let sum = conquer(world, 0, 1_000_000);
        world.leader(|| println!("the digits of the numbers below a million add up to {sum}"));
        assert_eq!(sum, 27_000_000);
    })
}
