//! The rules of the library as claims.
//!
//! Each test is a sentence about a group that holds on threads and on both simulated fabrics, whatever the group's
//! size. Most of them hold on processes and under MPI as well, which [`elsewhere`] tries. The rule that a test stands
//! for is named in its comment.

#![forbid(unsafe_code)]
#![allow(clippy::format_collect, clippy::type_complexity, reason = "a claim has its cases in one place")]
#![allow(clippy::reversed_empty_ranges, reason = "with a negative stride they count down")]

mod abandoned;
mod algorithms;
mod algorithms_keys;
mod algorithms_lists;
mod algorithms_misuse;
mod algorithms_vectors;
mod area_life;
mod areas;
mod array_builders;
mod array_errors;
mod array_life;
mod array_misuse;
mod array_operators;
mod array_reads;
mod array_sections;
mod array_whole;
mod array_writes;
mod arrays;
mod checkpoint_faults;
mod checkpoint_misuse;
mod checkpoints;
mod claims;
mod collectives;
mod conflicts;
mod containers;
mod determinism;
mod divergence;
mod elements;
mod elsewhere;
mod epoch_answers;
mod epoch_failures;
mod epoch_methods;
mod epoch_misuse;
mod epochs;
mod failures;
mod file_kinds;
mod files;
mod graphs;
mod groups;
mod halos;
mod launch;
mod leaving;
mod leaving_traffic;
mod lengths;
mod long_puts;
mod long_reductions;
mod outcomes;
mod paged;
mod paged_coherence;
mod paged_flight;
mod paged_misuse;
mod pairs;
mod plans;
mod queues;
mod refusals;
mod shared;
mod shared_misuse;
mod sparse;
mod sparse_misuse;
mod splits;
mod steps;
mod table;
mod transfers;
mod volatile;
mod wordings;

use claims::{everywhere, failing, on_sizes};
use std::panic::Location;
use superstep::{Error, ErrorKind, Group};

/// Sizes on both sides of the point where threads meet in a tree instead of all at once.
const SIZES: [usize; 8] = [1, 2, 3, 4, 7, 8, 9, 17];

/// The same without the size at which there is nobody else.
const SEVERAL: [usize; 7] = [2, 3, 4, 7, 8, 9, 17];

/// The place it is called at, as messages show it.
#[track_caller]
fn here() -> String {
    let at = Location::caller();
    format!("{}:{}", at.file(), at.line())
}

/// Holds an error against what its message must say.
#[track_caller]
fn check(error: &Error, kind: ErrorKind, says: &[&str]) {
    assert_eq!(error.kind(), kind, "{error}");
    for words in says {
        assert!(error.to_string().contains(words), "`{error}` does not say `{words}`");
    }
}

/// Makes sure that every member has this same error, in a further step: so the group can also go on.
#[track_caller]
fn is_everybodys(g: &mut Group, error: &Error) {
    let texts = g.step(|s| s.collect(error.to_string()));
    assert_eq!(texts, vec![error.to_string(); g.size()]);
}

/// Folds `values` as every boundary does: in a balanced tree that is cut at the largest power of two below its size.
fn bracketed<T: Clone>(values: &[T], combine: &dyn Fn(&mut T, &T)) -> T {
    let [one] = values else {
        let (left, right) = values.split_at(1 << (values.len() - 1).ilog2());
        let mut acc = bracketed(left, combine);
        combine(&mut acc, &bracketed(right, combine));
        return acc;
    };
    one.clone()
}

/// Folds what the ranks below `rank` have: the left subtrees on the way from the root down to it, from the left.
fn bracketed_below<T: Clone>(values: &[T], rank: usize, combine: &dyn Fn(&mut T, &T)) -> Option<T> {
    let mut below: Option<T> = None;
    let (mut rest, mut rank) = (values, rank);
    while rest.len() > 1 {
        let (left, right) = rest.split_at(1 << (rest.len() - 1).ilog2());
        if rank < left.len() {
            rest = left;
            continue;
        }
        let subtree = bracketed(left, combine);
        match &mut below {
            Some(below) => combine(below, &subtree),
            None => below = Some(subtree),
        }
        (rest, rank) = (right, rank - left.len());
    }
    below
}
