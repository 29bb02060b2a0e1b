//! The Parallel Research Kernels pass the suite's checks, on every fabric that needs no launcher.

mod support;

use superstep_programs::{
    Fact,
    prk::{self, Program, Sparse, Stencil, Synch, Transpose},
};
use support::{count, error_of, everywhere};

/// A number among the facts of each run, by how many processors it had, is the same where these are as many.
#[track_caller]
fn numbers(program: Program, name: &str) -> Vec<f64> {
    let number = |facts: &[(&'static str, Fact)]| match facts.iter().find(|(its, _)| *its == name) {
        Some((_, Fact::Number(number))) => *number,
        other => panic!("{name} is {other:?}"),
    };
    let found = everywhere(|g| prk::run(g, &program));
    let of = |procs: usize| found.iter().filter(move |((_, its), _)| *its == procs).map(|(_, facts)| number(facts));
    for ((_, procs), _) in &found {
        assert!(of(*procs).all(|number| Some(number) == of(*procs).next()), "{program:?} on {procs}");
    }
    found.iter().map(|(_, facts)| number(facts)).collect()
}

/// The norm of the second grid, in plain loops.
fn norm_by_hand(n: usize, iterations: usize) -> f64 {
    let (mut norm, weight) = (0.0, |r: usize| 1.0 / (2 * r * 2) as f64);
    for i in 2..n - 2 {
        for j in 2..n - 2 {
            let mut sum = 0.0;
            for iteration in 0..=iterations {
                let at = |i: usize, j: usize| (i + j + iteration) as f64;
                for r in 1..=2 {
                    sum += weight(r) * (at(i + r, j) + at(i, j + r) - at(i - r, j) - at(i, j - r));
                }
            }
            norm += f64::abs(sum);
        }
    }
    norm / ((n - 4) * (n - 4)) as f64
}

#[test]
fn a_stencil_has_the_norm_of_plain_loops() {
    for (size, iterations) in [(5, 1), (17, 4), (50, 2)] {
        let expected = norm_by_hand(size, iterations);
        let found = numbers(Program::Stencil(Stencil { size, iterations }), "norm");
        assert!(found.iter().all(|norm| (norm - expected).abs() < 1e-9), "{expected}: {found:?}");
    }
    let error = error_of(|g| prk::run(g, &Program::Stencil(Stencil { size: 4, iterations: 1 })));
    assert!(error.contains("does not fit into a grid of size 4"), "{error}");
}

#[test]
fn a_matrix_is_turned_over_without_an_error() {
    for (order, iterations) in [(1, 1), (7, 3), (70, 2)] {
        let errors = numbers(Program::Transpose(Transpose { order, iterations }), "error");
        assert!(errors.iter().all(|&error| error == 0.0));
    }
}

#[test]
fn a_sparse_matrix_has_the_sum_of_the_suite() {
    for (log2, radius, iterations) in [(0, 0, 1), (2, 1, 3), (4, 4, 2)] {
        let sums = numbers(Program::Sparse(Sparse { log2, radius, iterations }), "sum");
        let elements = (4 * radius + 1) << (2 * log2);
        // Every element adds the number of its iteration, whatever its column is.
        let expected = (elements * (1..=iterations + 1).sum::<usize>()) as f64;
        assert!(sums.iter().all(|sum| (sum / expected - 1.0).abs() < 1e-12), "{expected}: {sums:?}");
    }
    let error = error_of(|g| prk::run(g, &Program::Sparse(Sparse { log2: 2, radius: 2, iterations: 1 })));
    assert!(error.contains("overlaps with itself"), "{error}");
}

/// The last point after all iterations, in plain loops.
fn corner_by_hand(rows: usize, columns: usize, iterations: usize) -> f64 {
    let mut a = vec![vec![0.0; columns]; rows];
    (0..columns).for_each(|j| a[0][j] = j as f64);
    (0..rows).for_each(|i| a[i][0] = i as f64);
    for _ in 0..=iterations {
        for i in 1..rows {
            for j in 1..columns {
                a[i][j] = a[i - 1][j] + a[i][j - 1] - a[i - 1][j - 1];
            }
        }
        a[0][0] = -a[rows - 1][columns - 1];
    }
    -a[0][0]
}

#[test]
fn a_wave_ends_where_it_does_in_plain_loops() {
    for (rows, columns, group, iterations) in [(2, 2, 1, 1), (9, 30, 4, 3), (40, 3, 100, 2), (31, 60, 1, 2)] {
        let expected = corner_by_hand(rows, columns, iterations);
        let corners = numbers(Program::Synch(Synch { rows, columns, group, iterations }), "corner");
        assert!(corners.iter().all(|corner| corner.to_bits() == expected.to_bits()), "{expected}: {corners:?}");
    }
    let asked = Synch { rows: 1, columns: 9, group: 1, iterations: 1 };
    let error = error_of(|g| prk::run(g, &Program::Synch(asked.clone())));
    assert!(error.contains("two rows and two columns"), "{error}");
}

#[test]
fn summaries_say_what_was_asked_for() {
    let asked = Stencil { size: 12, iterations: 3 };
    let facts = everywhere(|g| prk::run(g, &Program::Stencil(asked.clone())))[0].1.clone();
    assert_eq!(["size", "iterations"].map(|name| count(&facts, name)), [12, 3]);
}
