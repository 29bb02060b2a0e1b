//! Algorithms on whole arrays, and on a vector of each processor.
//!
//! They are functions that take the group first, as containers' calls do, and not methods of it: `sort`, `map` or
//! `filter` would crowd a [`Group`](crate::Group), and a program imports the ones that it needs.
//!
//! ```
//! use superstep::{Block, Config, algorithms::{is_sorted, sort}};
//!
//! let is_sorted = Config::new().procs(2).run(|g| {
//!     let a = g.array::<u64, Block>(1000);
//!     a.forall_mut(|i, x| *x = i as u64 * 7919 % 1000);
//!     sort(g, &a);
//!     is_sorted(g, &a)
//! });
//! assert!(is_sorted.unwrap());
//! ```
//!
//! # Names
//!
//! - `x` works on an [`Array`](crate::Array) of any distribution, in the order of its indices.
//! - `x_vec` does the same to vectors of the processors: the list is all of them one behind the other, in the order of
//!   ranks. Each is handed its own vector and gets its own back. Its values may be any [`Value`](crate::values::Value).
//!   What becomes of each value by itself needs no call: `map`, `zip_map` and `filter` of vectors are iterators.
//! - `_by` takes a function that compares, and `_by_key` one that makes a [`Key`], as in the standard library.
//!
//! # Contract
//!
//! 1. All of them are collective: every member of the group calls them at the same place, with the same arrays. Arrays
//!    that differ are an error (`DeclMismatch`).
//! 2. The result is what plain sequential code makes of the whole list. Sums of floats are grouped in a way that
//!    depends on the number of processors and on the distribution alone, so they have the same bits in every run and
//!    on every fabric.
//! 3. Functions of the program depend on their arguments alone. Operators are associative and need not commute. What
//!    compares says a total order. What is sorted by a function that does not may come in any order, have values twice
//!    or lack some; where that is seen, it is a panic that names the line of the call.
//! 4. What is wrong about a call is an error on all members, before anything was changed.
//! 5. A member that has left has no part in a call. The vectors of those who stay are the list, and an array of which
//!    an owner is missing is refused (`Departed`).
//! 6. The steps of a call are steps of the group, so messages that lie in a queue are gone behind the first one.
//!
//! # Costs
//!
//! For n words on p processors, where the array *lies in order*: where rank 0 owns the first elements, rank 1 the next
//! ones and so on, as with [`Block`](crate::Block) and [`Irregular`](crate::distributions::Irregular). Any other has to
//! be brought in order first, with one step and n / p g more, where the order matters. Making an array is one of the
//! steps. A step is one message to each other processor for which there is something, and l.
//!
//! | algorithm | steps, at most | words sent by each | work |
//! |---|---|---|---|
//! | [`sort`], [`sort_by`], [`sort_by_key`], [`sort_unstable`] | 3 | n / p + max(64 p, 4096) | n / p for digits, (n / p) log n |
//! | [`is_sorted`] | 1 | 2 p | n / p |
//! | [`scan`], [`scan_exclusive`] | 2 | with the boundary | 2 n / p |
//! | [`scan_mut`], [`scan_exclusive_mut`] | 1 | with the boundary | 2 n / p |
//! | [`segmented_scan`] | 2 | with the boundary | 2 n / p |
//! | [`reduce_array`], [`count`], [`find_first`] | 1 | with the boundary | n / p |
//! | [`min_max`], [`arg_max`] | 1 | 2 p | n / p |
//! | [`map`], [`zip_map`] | 1 | | n / p |
//! | [`filter`] | 2 | p | n / p |
//! | [`filter_balanced`] | 3 | n / p | n / p |
//! | [`partition`] | 2 | n / p | n / p |
//! | [`dedup`] | 3 | 2 p | n / p |
//! | [`unique`] | 4 | as a sort of what is left on each | as a sort |
//! | [`group_by_key`] | 5 | keys that each has, with values | n / p, a sort of the keys |
//! | [`join`] | 4 | as a sort of all rows | as a sort, and the pairs |
//! | [`histogram`] | 1 | b log p, for b bins | (n / p) log b |
//! | [`top_k`] | 1 | k p | n / p |
//! | [`rebalance`], [`concat()`] | 2 | n / p | n / p |
//! | [`random_permutation`] | 4 | as a sort of numbers | as a sort |
//! | [`transpose`] | 2 | n / p | n / p |

mod classes;
mod concat;
mod deal;
mod extremes;
mod filter;
mod find;
mod group;
mod histogram;
mod join;
mod key;
mod line;
mod lists;
mod local_sort;
mod map;
mod order;
mod out;
mod partition;
mod passes;
mod permutation;
mod random;
mod rebalance;
mod reduce;
mod runs;
mod scan;
mod segmented;
mod sort;
mod sorted;
mod spread;
mod top_k;
mod transpose;
mod unique;

pub use concat::{concat, concat_vec};
pub use extremes::{
    arg_max, arg_max_by_key, arg_max_by_key_vec, arg_max_vec, min_max, min_max_by, min_max_by_vec, min_max_vec,
};
pub use filter::{filter, filter_balanced, filter_balanced_vec};
pub use find::{find_first, find_first_vec};
pub use group::{group_by_key, group_by_key_vec};
pub use histogram::{histogram, histogram_vec};
pub use join::{join, join_vec};
pub use key::{Digits, Key};
pub use map::{map, zip_map};
pub use partition::{partition, partition_vec};
pub use permutation::{random_permutation, random_permutation_vec};
pub use rebalance::{rebalance, rebalance_vec};
pub use reduce::{count, count_vec, reduce_array, reduce_vec};
pub use scan::{scan, scan_exclusive, scan_exclusive_mut, scan_exclusive_vec, scan_mut, scan_vec};
pub use segmented::{segmented_scan, segmented_scan_vec};
pub use sort::{
    sort, sort_by, sort_by_key, sort_by_key_vec, sort_by_vec, sort_unstable, sort_unstable_by, sort_unstable_by_key,
    sort_unstable_vec, sort_vec,
};
pub use sorted::{is_sorted, is_sorted_by, is_sorted_by_vec, is_sorted_vec};
pub use top_k::{top_k, top_k_by, top_k_by_vec, top_k_vec};
pub use transpose::{transpose, transpose_vec};
pub use unique::{dedup, dedup_vec, unique, unique_vec};
