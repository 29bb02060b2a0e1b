//! The calls that are counted.

use crate::random::mix;
use superstep::{Array, Block, Group, Plan, Sum, algorithms, sparse::Sparse};

/// One algorithm.
pub(super) struct Call {
    pub(super) name: &'static str,
    /// What the documentation says of the words that each sends.
    pub(super) says: &'static str,
    /// The same for so many elements on each of so many processors.
    pub(super) words: fn(f64, f64) -> f64,
    /// Makes what the call needs, and calls if that is asked for.
    pub(super) run: fn(&mut Group, usize, bool),
}

/// How many of the largest are asked for.
const TOP: usize = 10;
/// The edges of bins.
const EDGES: [u64; 5] = [0, 1 << 62, 1 << 63, 3 << 62, u64::MAX];

fn made(g: &mut Group, each: usize) -> Array<u64, Block> {
    let a = g.array::<u64, Block>(each * g.size());
    a.forall_mut(|at, x| *x = mix(at as u64));
    a
}

/// Makes an array, and calls with it if that is asked for.
macro_rules! call {
    ($name:literal, $says:literal, $words:expr, |$g:ident, $a:ident| $call:expr) => {
        Call {
            name: $name,
            says: $says,
            words: $words,
            run: |$g, each, calls| {
                let $a = made($g, each);
                if calls {
                    let _ = $call;
                }
            },
        }
    };
}

/// What the samples of a sort come to.
fn samples(p: f64) -> f64 {
    (64.0 * p).max(4096.0)
}

fn sorted(m: f64, p: f64) -> f64 {
    if p > 1.0 { m + samples(p) } else { 0.0 }
}

/// An element for each place of this processor, anywhere in an array of so many.
fn anywhere(g: &Group, each: usize) -> Vec<usize> {
    let n = each * g.size();
    (0..each).map(|place| (mix((g.rank() * each + place) as u64) % n as u64) as usize).collect()
}

/// How many different elements of others so many places in every processor name, where each is as likely as any.
fn named(m: f64, p: f64) -> f64 {
    m * (p - 1.0) * (1.0 - (-1.0 / p).exp())
}

/// A plan for elements anywhere.
fn planned(g: &mut Group, each: usize) -> (Array<u64, Block>, Plan<Block>) {
    let (a, at) = (made(g, each), anywhere(g, each));
    let plan = g.plan(&a, &at);
    (a, plan)
}

/// A square matrix with one entry in each row, in a column anywhere.
fn scattered(g: &mut Group, each: usize) -> (Array<u64, Block>, Sparse<u64, Block, Block>) {
    let a = made(g, each);
    // Their sums are numbers, too.
    a.forall_mut(|_, value| *value >>= 32);
    let n = a.len() as u64;
    let matrix = g.sparse_rows(&a, &a, |row| [((mix(row as u64) % n) as usize, 1)], Sum);
    (a, matrix)
}

fn is_rare(x: u64) -> bool {
    x.is_multiple_of(5)
}

/// All that have a line in the documentation.
pub(super) const CALLS: &[Call] = &[
    call!("sort", "n / p + max(64 p, 4096)", sorted, |g, a| algorithms::sort(g, &a)),
    call!("sort_unstable", "n / p + max(64 p, 4096)", sorted, |g, a| algorithms::sort_unstable(g, &a)),
    call!("is_sorted", "2 p", |_, p| 2.0 * p, |g, a| algorithms::is_sorted(g, &a)),
    call!("scan", "with the boundary", |_, _| 0.0, |g, a| algorithms::scan(g, &a, Sum)),
    Call {
        name: "segmented_scan",
        says: "with the boundary",
        words: |_, _| 0.0,
        run: |g, each, calls| {
            let (a, heads) = (made(g, each), g.array::<u8, Block>(each * g.size()));
            heads.forall_mut(|at, head| *head = u8::from(is_rare(mix(at as u64))));
            if calls {
                algorithms::segmented_scan(g, &a, &heads, Sum);
            }
        },
    },
    call!("reduce_array", "with the boundary", |_, _| 0.0, |g, a| algorithms::reduce_array(g, &a, Sum)),
    call!("count", "with the boundary", |_, _| 0.0, |g, a| algorithms::count(g, &a, |&x| is_rare(x))),
    call!("find_first", "with the boundary", |_, _| 0.0, |g, a| algorithms::find_first(g, &a, |&x| is_rare(x))),
    call!("min_max", "2 p", |_, p| 2.0 * p, |g, a| algorithms::min_max(g, &a)),
    call!("arg_max", "2 p", |_, p| 2.0 * p, |g, a| algorithms::arg_max(g, &a)),
    call!("map", "", |_, _| 0.0, |g, a| algorithms::map(g, &a, |x| x + 1)),
    call!("filter", "p", |_, p| p, |g, a| algorithms::filter(g, &a, |&x| is_rare(x))),
    call!("filter_balanced", "n / p", |m, p| m + p, |g, a| algorithms::filter_balanced(g, &a, |&x| is_rare(x))),
    call!("partition", "n / p", |m, p| m + p, |g, a| algorithms::partition(g, &a, |&x| is_rare(x))),
    call!("dedup", "2 p", |_, p| 2.0 * p, |g, a| algorithms::dedup(g, &a, |x, y| x == y)),
    call!("unique", "as a sort of what is left on each", sorted, |g, a| algorithms::unique(g, &a)),
    call!("group_by_key", "keys that each has, with values", |m, p| sorted(2.0 * m, p), |g, a| {
        algorithms::group_by_key(g, &a, &a, Sum)
    }),
    call!("join", "as a sort of all rows", |m, p| sorted(4.0 * m, p), |g, a| {
        algorithms::join(g, (&a, &a), (&a, &a), |x, _, _| *x)
    }),
    call!("histogram", "b log p, for b bins", |_, p| 4.0 * p.log2(), |g, a| algorithms::histogram(g, &a, &EDGES)),
    call!("top_k", "k p", |_, p| TOP as f64 * p, |g, a| algorithms::top_k(g, &a, TOP)),
    call!("rebalance", "n / p", |m, _| m, |g, a| algorithms::rebalance(g, &a)),
    call!("concat", "n / p", |m, _| 2.0 * m, |g, a| algorithms::concat(g, &[&a, &a])),
    call!("random_permutation", "as a sort of numbers", sorted, |g, a| {
        algorithms::random_permutation(g, a.len(), 7)
    }),
    Call {
        name: "transpose",
        says: "n / p",
        words: |m, _| m,
        run: |g, each, calls| {
            // As long as wide, so that everybody has rows of both.
            let rows = (each * g.size()).isqrt();
            let sheet = g.array_with::<u64, _, 2>([rows, each * g.size() / rows], Block::new());
            if calls {
                algorithms::transpose(g, &sheet);
            }
        },
    },
    Call {
        name: "plan",
        says: "half of each index, of elements of others",
        words: |m, p| m * (p - 1.0) / p / 2.0,
        run: |g, each, calls| {
            let (a, at) = (made(g, each), anywhere(g, each));
            if calls {
                g.plan(&a, &at);
            }
        },
    },
    Call {
        name: "gather_by",
        says: "each element of others once",
        words: named,
        run: |g, each, calls| {
            let (a, plan) = planned(g, each);
            if calls {
                g.step(|s| s.gather_by(&a, &plan));
            }
        },
    },
    Call {
        name: "scatter_by",
        says: "each value for others",
        words: |m, p| m * (p - 1.0) / p,
        run: |g, each, calls| {
            let (a, plan) = planned(g, each);
            if calls {
                g.step(|s| s.scatter_by(&a, &plan, &vec![1; each], Sum));
            }
        },
    },
    Call {
        name: "spmv",
        says: "each column of others with entries",
        words: named,
        run: |g, each, calls| {
            let (a, matrix) = scattered(g, each);
            if calls {
                matrix.spmv(g, &a, &a);
            }
        },
    },
    Call {
        name: "spmv_transposed",
        says: "each column of others with entries",
        words: named,
        run: |g, each, calls| {
            let (a, matrix) = scattered(g, each);
            let y = g.array::<u64, Block>(a.len());
            if calls {
                matrix.spmv_transposed(g, &a, &y);
            }
        },
    },
];
