//! The programs of bale find what plain code on one thread does, on every fabric that needs no launcher.

mod support;

use std::collections::BTreeSet;
use superstep::{Config, algorithms::random_permutation_vec};
use superstep_programs::{
    bale::{self, Gather, Histogram, Permutation, Program, Toposort, Triangles},
    random::{Random, mix},
};
use support::{count, same_everywhere};

/// The checksum of a table, as it is said to be.
fn checksum(values: &[u64]) -> i128 {
    let terms = values.iter().enumerate().map(|(at, &value)| mix(at as u64 ^ mix(value)));
    i128::from(terms.fold(0, u64::wrapping_add))
}

#[test]
fn a_histogram_counts_every_update() {
    for (table, updates) in [(1, 0), (1, 7), (13, 1000), (1000, 20), (5000, 100_000)] {
        let mut counts = vec![0u64; table];
        let mut random = Random::new(3);
        (0..updates).for_each(|_| counts[random.below(table)] += 1);
        let program = Program::Histogram(Histogram { table, updates, seed: 3 });
        let facts = same_everywhere(|g| bale::run(g, &program));
        assert_eq!(count(&facts, "updates"), updates as i128);
        assert_eq!(count(&facts, "most"), counts.iter().max().map_or(0, |&most| i128::from(most)));
        assert_eq!(count(&facts, "checksum"), checksum(&counts));
    }
}

#[test]
fn a_gather_reads_what_is_there() {
    for (table, reads) in [(1, 0), (1, 7), (13, 1000), (1000, 20)] {
        let mut random = Random::new(3);
        let values: Vec<u64> = (0..reads).map(|_| mix(random.below(table) as u64)).collect();
        let program = Program::Gather(Gather { table, reads, seed: 3 });
        let facts = same_everywhere(|g| bale::run(g, &program));
        assert_eq!(count(&facts, "checksum"), checksum(&values));
    }
}

fn permutation(len: usize, seed: u64) -> Vec<usize> {
    let numbers = Config::new().procs(1).run(|g| random_permutation_vec(g, len, seed)).unwrap();
    let all: BTreeSet<usize> = numbers.iter().copied().collect();
    assert!(all.into_iter().eq(0..len));
    numbers
}

#[test]
fn a_permutation_has_every_number_once() {
    for len in [1, 2, 13, 5000] {
        let numbers = permutation(len, 9);
        let facts = same_everywhere(|g| bale::run(g, &Program::Permutation(Permutation { len, seed: 9 })));
        let stay = numbers.iter().enumerate().filter(|&(at, &number)| at == number).count();
        assert_eq!(count(&facts, "fixed points"), stay as i128);
        assert_eq!(count(&facts, "checksum"), checksum(&numbers.iter().map(|&x| x as u64).collect::<Vec<_>>()));
    }
}

/// The places of rows, level by level, and how many elements and levels there are.
fn sorted(rows: usize, degree: usize, seed: u64) -> (Vec<u64>, usize, usize) {
    let (to_row, to_column) = (permutation(rows, seed), permutation(rows, !seed));
    let mut matrix = vec![BTreeSet::new(); rows];
    for row in 0..rows {
        let mut random = Random::new(seed).skip(row * degree);
        let others = (0..degree).map(|_| random.below(rows)).filter(|&column| column > row);
        matrix[to_row[row]] = others.chain([row]).map(|column| to_column[column]).collect();
    }
    let elements = matrix.iter().map(BTreeSet::len).sum();
    let (mut places, mut end, mut levels) = (vec![0; rows], rows, 0);
    while end > 0 {
        let level: Vec<usize> = (0..rows).filter(|&row| matrix[row].len() == 1).collect();
        let columns: Vec<usize> = level.iter().flat_map(|&row| matrix[row].clone()).collect();
        for &row in &level {
            end -= 1;
            places[row] = end as u64;
        }
        for row in &mut matrix {
            row.retain(|column| !columns.contains(column));
        }
        levels += 1;
    }
    (places, elements, levels)
}

#[test]
fn a_permuted_triangular_matrix_is_sorted() {
    for (rows, degree) in [(1, 1), (2, 5), (30, 3), (300, 4)] {
        let (places, elements, levels) = sorted(rows, degree, 5);
        let program = Program::Toposort(Toposort { rows, degree, seed: 5 });
        let facts = same_everywhere(|g| bale::run(g, &program));
        assert_eq!(count(&facts, "elements"), elements as i128);
        assert_eq!(count(&facts, "levels"), levels as i128);
        assert_eq!(count(&facts, "checksum"), checksum(&places));
    }
}

#[test]
fn triangles_are_counted() {
    for (vertices, degree) in [(1, 1), (3, 9), (30, 12), (200, 40)] {
        let mut has = vec![vec![false; vertices]; vertices];
        for (row, columns) in has.iter_mut().enumerate() {
            let mut random = Random::new(4).skip(row * degree);
            (0..degree)
                .map(|_| random.below(vertices))
                .filter(|&column| column < row)
                .for_each(|at| columns[at] = true);
        }
        let mut triangles = 0;
        for a in 0..vertices {
            for b in 0..a {
                triangles += (0..b).filter(|&c| has[a][b] && has[a][c] && has[b][c]).count();
            }
        }
        let facts = same_everywhere(|g| bale::run(g, &Program::Triangles(Triangles { vertices, degree, seed: 4 })));
        assert_eq!(count(&facts, "triangles"), triangles as i128);
        assert_eq!(count(&facts, "edges"), has.iter().flatten().filter(|&&has| has).count() as i128);
        assert!(triangles > 0 || vertices == 1);
    }
}
