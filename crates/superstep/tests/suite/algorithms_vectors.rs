//! Algorithms on vectors of the processors that move values: each is held against the same on one list.

use crate::{
    SEVERAL,
    algorithms::{FEW, drawn, joined},
    check, failing, on_sizes,
};
use std::cmp::Reverse;
use superstep::{ErrorKind, Group, algorithms};

/// The part of a list that a rank begins with: lengths differ, and some ranks have none.
fn part<T: Clone>(list: &[T], rank: usize, size: usize) -> Vec<T> {
    let bound = |rank: usize| list.len() * (rank * rank) / (size * size);
    list[bound(rank)..bound(rank + 1)].to_vec()
}

/// Lists of texts of several lengths.
fn lists() -> [Vec<String>; 4] {
    [0, 1, 20, 333].map(|len| drawn(len).iter().map(|x| (x % 100).to_string()).collect())
}

/// Makes sure that each processor has its block of what is expected.
fn is_even(g: &mut Group, mine: &[String], expected: &[String]) {
    let block = expected.len().div_ceil(g.size());
    assert_eq!(mine.len(), expected.len().saturating_sub(g.rank() * block).min(block));
    assert_eq!(joined(g, mine), expected);
}

/// Each is what plain code makes of the whole list, and dealt out evenly.
#[test]
fn vectors_are_parted_filtered_and_put_one_behind_the_other() {
    on_sizes(&FEW, |g| {
        let (me, p) = (g.rank(), g.size());
        for list in lists() {
            let mine = part(&list, me, p);
            let is_short = |text: &String| text.len() < 2;
            let (yes, no): (Vec<String>, Vec<String>) = list.iter().cloned().partition(is_short);
            let (parted, count) = algorithms::partition_vec(g, mine.clone(), is_short);
            assert_eq!(count, yes.len());
            is_even(g, &parted, &[yes.clone(), no.clone()].concat());
            let kept = algorithms::filter_balanced_vec(g, mine.clone(), is_short);
            is_even(g, &kept, &yes);
            let all = algorithms::concat_vec(g, vec![mine.clone(), part(&no, me, p), mine.clone()]);
            is_even(g, &all, &[list.clone(), no, list.clone()].concat());
            let ends = algorithms::min_max_by_vec(g, &mine, |x, y| y.cmp(x));
            assert_eq!(ends, list.iter().max().cloned().zip(list.iter().min().cloned()));
            let least = algorithms::arg_max_by_key_vec(g, &mine, |text| Reverse(text.clone()));
            let first = (0..list.len()).min_by_key(|&at| &list[at]);
            assert_eq!(least, first.map(|at| (at, list[at].clone())));
            let mut rising = list.clone();
            rising.sort();
            assert_eq!(algorithms::top_k_by_vec(g, &mine, 7, |x, y| y.cmp(x)), rising[..rising.len().min(7)]);
            assert_eq!(algorithms::is_sorted_by_vec(g, &mine, |x, y| y.cmp(x)), list.is_sorted_by(|x, y| x >= y));
        }
        assert!(algorithms::concat_vec(g, Vec::<Vec<u8>>::new()).is_empty());
    });
}

/// Whole rows here and there become columns, also where there are fewer of them than processors.
#[test]
fn rows_of_vectors_become_columns() {
    on_sizes(&FEW, |g| {
        let (me, p) = (g.rank(), g.size());
        for [rows, columns] in [[0, 3], [1, 1], [5, 2], [2, 5], [13, 11], [4, 0]] {
            let numbers: Vec<usize> = (0..rows).collect();
            let text = |row: usize, column: usize| format!("{row},{column}");
            let mine = part(&numbers, me, p);
            let mine = mine.iter().flat_map(|&row| (0..columns).map(move |column| text(row, column))).collect();
            let turned = algorithms::transpose_vec(g, mine, columns);
            let expected: Vec<_> =
                (0..columns).flat_map(|column| (0..rows).map(move |row| text(row, column))).collect();
            assert_eq!(turned.len(), columns.saturating_sub(me * columns.div_ceil(p)).min(columns.div_ceil(p)) * rows);
            assert_eq!(joined(g, &turned), expected);
        }
    });
}

/// X2: what is wrong about a call is one error on all members.
#[test]
fn lists_that_do_not_fit_are_everybodys_error() {
    let claims: [(fn(&mut Group), &str); 3] = [
        (
            |g| {
                let lists = vec![vec![1]; 2 + usize::from(g.rank() == g.size() - 1)];
                algorithms::concat_vec(g, lists);
            },
            "2 lists on rank 0 and 3 on rank",
        ),
        (
            |g| {
                let columns = 2 + g.rank() / (g.size() - 1);
                algorithms::transpose_vec(g, vec![0; 6], columns);
            },
            "6 values in 3 columns on rank",
        ),
        (
            |g| {
                let mine = vec![0; 6 - g.rank() / (g.size() - 1)];
                algorithms::transpose_vec(g, mine, 3);
            },
            "5 values in 3 columns on rank",
        ),
    ];
    for (claim, words) in claims {
        failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::BadLength, &[words, file!()]));
    }
}
