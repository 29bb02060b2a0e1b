//! Sparse matrices and graphs in compressed rows, against plain loops over dense ones.

use crate::{
    SEVERAL,
    array_life::inside,
    arrays::{fill, uneven},
    check, everywhere,
};
use superstep::{
    Any, Array, Block, BlockCyclic, Cyclic, Distribution, ErrorKind, Fold, Group, Irregular, Max, Sum, Tiles,
    sparse::Sparse,
};

const ROWS: usize = 23;
const COLUMNS: usize = 17;

/// All entries that all members give, in the order of ranks; several meet, and some rows and columns have none.
fn entries(size: usize) -> Vec<Vec<(usize, usize, f64)>> {
    let entry = |i: usize| (i * i % 19, (i * 7 + i / 5) % 15, 1.0 / (i as f64 + 0.3));
    (0..size).map(|rank| (0..40).map(|i| entry(i + 11 * rank)).collect()).collect()
}

/// The dense matrix of some entries, combined one by one.
fn dense(entries: &[Vec<(usize, usize, f64)>]) -> Vec<Vec<Option<f64>>> {
    let mut dense = vec![vec![None; COLUMNS]; ROWS];
    for &(i, j, value) in entries.iter().flatten() {
        let there: &mut Option<f64> = &mut dense[i][j];
        *there = Some(there.map_or(value, |there| there + value));
    }
    dense
}

/// What is here of a matrix, by row and column.
fn here<D: Distribution, E: Distribution>(a: &Sparse<f64, D, E>) -> Vec<(usize, usize, f64)> {
    let mut all = Vec::new();
    a.forall(|i, j, value| all.push((i, j, value)));
    all
}

/// All of a dense matrix that an array's owner of rows should have, in the order of its part.
fn expected<D: Distribution>(dense: &[Vec<Option<f64>>], rows: &Array<f64, D>) -> Vec<(usize, usize, f64)> {
    let numbers = (0..rows.local().len()).filter_map(|place| rows.global(place));
    let row = |i: usize| (0..COLUMNS).filter_map(move |j| Some((i, j, dense[i][j]?)));
    numbers.flat_map(row).collect()
}

/// Each row's sum of values times `x`, from the first column to the last.
fn product(dense: &[Vec<Option<f64>>], x: impl Fn(usize) -> f64) -> Vec<f64> {
    let sum = |row: &Vec<Option<f64>>| (0..COLUMNS).filter_map(|j| Some(row[j]? * x(j))).fold(0.0, |sum, y| sum + y);
    dense.iter().map(sum).collect()
}

fn is_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-9), "{found:?} for {expected:?}");
}

/// S3: duplicates in the order of ranks; a row adds up alike on any number of processors.
#[test]
fn a_product_is_what_plain_loops_make_of_the_dense_matrix() {
    fn claim<D: Distribution, E: Distribution>(g: &mut Group, (d, e): (D, E)) {
        let (y, x) = (g.array_with::<f64, _, 1>([ROWS], d), g.array_with::<f64, _, 1>([COLUMNS], e));
        let all = entries(g.size());
        let (a, dense) = (g.sparse(&y, &x, &all[g.rank()], Sum), dense(&all));
        assert_eq!(a.shape(), [ROWS, COLUMNS]);
        assert_eq!(here(&a), expected(&dense, &y));
        let count = dense.iter().flatten().flatten().count();
        assert_eq!((a.len(g), a.local_len()), (count, here(&a).len()));
        for round in 0..3 {
            let value = |j: usize| 1.0 / (j + round + 1) as f64;
            fill(&x, value);
            a.spmv(g, &x, &y);
            assert_eq!(g.step(|s| s.mirror(&y, ..)), product(&dense, value));
        }
        a.row_sums(&y);
        assert_eq!(g.step(|s| s.mirror(&y, ..)), product(&dense, |_| 1.0));
    }
    everywhere(|g| {
        let p = g.size();
        claim(g, (Block::new(), Block::new()));
        claim(g, (Cyclic::new(), Block::new()));
        claim(g, (uneven(ROWS, p), BlockCyclic::new(2)));
        claim(g, (Tiles([4]), uneven(COLUMNS, p)));
    });
}

/// Sums across rows are grouped by processor, so they are near and not the same.
#[test]
fn a_transposed_product_and_sums_of_columns_add_up_all_rows() {
    fn claim<D: Distribution, E: Distribution>(g: &mut Group, (d, e): (D, E)) {
        let (y, x) = (g.array_with::<f64, _, 1>([ROWS], d), g.array_with::<f64, _, 1>([COLUMNS], e));
        let all = entries(g.size());
        let (a, dense) = (g.sparse(&y, &x, &all[g.rank()], Sum), dense(&all));
        let sums = |y: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..COLUMNS).map(|j| (0..ROWS).map(|i| dense[i][j].unwrap_or(0.0) * y(i)).sum()).collect()
        };
        for round in 0..3 {
            let value = move |i: usize| 1.0 / (i + round + 1) as f64;
            fill(&y, value);
            fill(&x, |_| 77.0);
            a.spmv_transposed(g, &y, &x);
            is_near(&g.step(|s| s.mirror(&x, ..)), &sums(&value));
        }
        a.column_sums(g, &x);
        is_near(&g.step(|s| s.mirror(&x, ..)), &sums(&|_| 1.0));
    }
    everywhere(|g| {
        let p = g.size();
        claim(g, (Block::new(), Block::new()));
        claim(g, (uneven(ROWS, p), Cyclic::new()));
    });
}

/// Rows by a closure, values that change, and entries that are combined by an operator that does not commute.
#[test]
fn a_matrix_is_made_row_by_row_and_its_values_can_be_changed() {
    everywhere(|g| {
        let x = g.array::<u64, Cyclic>(9);
        let digits = Fold(|all: &mut u64, digit: &u64| *all = 10 * *all + digit);
        let mut a = g.sparse_rows(&x, &x, |i| [(8 - i, 1), (0, 2), (8 - i, 3)], digits);
        let mut all = Vec::new();
        a.forall(|i, j, value| all.push((i, j, value)));
        for &(i, j, value) in &all {
            let expected = if i == 8 {
                123
            } else if j == 0 {
                2
            } else {
                13
            };
            assert!((j == 8 - i || j == 0) && value == expected, "{value} at {i}, {j}");
        }
        a.forall_mut(|i, j, value| *value = (10 * i + j) as u64);
        fill(&x, |_| 1);
        a.spmv(g, &x, &x);
        let sum = |i: u64| if i == 8 { 80 } else { 10 * i + 8 - i + 10 * i };
        assert_eq!(g.step(|s| s.mirror(&x, ..)), (0..9).map(sum).collect::<Vec<_>>());
    });
}

/// Rows that follow each other, and nobody has more than its share and one row.
#[test]
fn rows_can_be_balanced_by_their_entries() {
    everywhere(|g| {
        let p = g.size();
        let x = g.array::<f64, Cyclic>(60);
        let lens = |i: usize| if i < 50 { 0 } else { (i % 7) * 8 };
        let a = g.sparse_rows(&x, &x, |i| (0..lens(i)).map(move |j| (j % 60, (i + j) as f64)), Sum);
        let Irregular(sizes) = a.balanced(g);
        assert_eq!((sizes.len(), sizes.iter().sum::<usize>()), (p, 60));
        let y: Array<f64, Irregular> = g.array_with([60], Irregular(sizes));
        let b = a.lay_like(g, &y, &x);
        let total = a.len(g);
        assert_eq!(b.len(g), total);
        assert!(b.local_len() <= total / p + 48, "{} of {total} on {p}", b.local_len());
        fill(&x, |j| 1.0 / (j + 1) as f64);
        let z = g.array::<f64, Cyclic>(60);
        a.spmv(g, &x, &z);
        b.spmv(g, &x, &y);
        let (one, other) = g.step(|s| (s.mirror(&z, ..), s.mirror(&y, ..)));
        assert_eq!(one, other);
        let empty = g.sparse::<f64, _, _, _, _>(&x, &x, &[], Any);
        assert!(empty.balanced(g).0.iter().all(|&size| size >= 60 / p));
    });
}

/// Entries go to other rows and columns, and those that meet are combined.
#[test]
fn a_permuted_matrix_has_its_entries_where_the_arrays_say() {
    everywhere(|g| {
        let all = entries(g.size());
        let (y, x) = (g.array::<f64, Block>(ROWS), g.array::<f64, Cyclic>(COLUMNS));
        let a = g.sparse(&y, &x, &all[g.rank()], Sum);
        let (rows, columns) = (g.array::<usize, Block>(ROWS), g.array::<usize, Cyclic>(COLUMNS));
        fill(&rows, |i| i * 5 % ROWS);
        fill(&columns, |j| (j * 3 + 1) % COLUMNS);
        let b = a.permute(g, &rows, &columns, Sum);
        let was = dense(&all);
        let mut now = vec![vec![None; COLUMNS]; ROWS];
        for (i, row) in was.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                now[i * 5 % ROWS][(j * 3 + 1) % COLUMNS] = *value;
            }
        }
        assert_eq!(here(&b), expected(&now, &y));
        fill(&rows, |_| 2);
        fill(&columns, |_| 4);
        let c = a.permute(g, &rows, &columns, Max);
        let most = was.iter().flatten().flatten().fold(0.0, |most: f64, &x| most.max(x));
        assert_eq!(c.len(g), 1);
        assert!(here(&c).iter().all(|&entry| entry == (2, 4, most)));
    });
}

/// Degrees, neighbours and their numbers, and values of neighbours by the plan.
#[test]
fn a_graph_has_the_edges_that_were_given() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let (n, p, me) = (31, g.size(), g.rank());
        let a = g.array_with::<u64, _, 1>([n], distribution);
        let edge = |i: usize| (i * 13 % n, i * i % n);
        let given: Vec<(usize, usize)> = (0..80).filter(|i| i % p == me).map(edge).collect();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (from, to) in (0..80).map(edge) {
            next[from].push(to);
        }
        for next in &mut next {
            next.sort_unstable();
            next.dedup();
        }
        let [graph, by_rows] = [g.sparse_graph(&a, &given), g.sparse_graph_rows(&a, |v| next[v].clone())];
        fill(&a, |v| 100 + v as u64);
        for graph in [graph, by_rows] {
            assert_eq!((graph.vertices(), graph.edges(g)), (n, next.iter().map(Vec::len).sum()));
            let around = g.step(|s| s.gather_by(&a, graph.plan()));
            assert_eq!(graph.local_len(), a.local().len());
            for place in 0..graph.local_len() {
                let expected = a.global(place).map_or(&[][..], |v| &next[v]);
                let numbers: Vec<usize> = graph.neighbours(place).iter().map(|&to| graph.number(to)).collect();
                assert_eq!((numbers.as_slice(), graph.degree(place)), (expected, expected.len()));
                let values = graph.neighbours(place).iter().map(|&to| around[to as usize]);
                assert!(values.eq(expected.iter().map(|&v| 100 + v as u64)));
            }
        }
    }
    everywhere(|g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, Tiles([4]));
        claim(g, uneven(31, g.size()));
    });
}

/// X1 and P2: what does not fit is refused.
#[test]
fn arrays_that_lie_otherwise_and_indices_that_are_not_there_are_refused() {
    let fails = |kind: ErrorKind, says: &str, claim: &(dyn Fn(&mut Group) + Sync)| {
        crate::failing(&[1, 2, 3], claim, |_, error| check(&error, kind, &[says, file!()]));
    };
    fails(ErrorKind::IndexOutOfRange, "index 4 of an array of 4", &|g| {
        let x = g.array::<u8, Block>(4);
        g.sparse(&x, &x, &[(4, 0, 1)], Any);
    });
    fails(ErrorKind::IndexOutOfRange, "index 9 of an array of 4", &|g| {
        let x = g.array::<u8, Block>(4);
        g.sparse_rows(&x, &x, |_| [(9, 1)], Any);
    });
    fails(ErrorKind::IndexOutOfRange, "index 4 of an array of 4", &|g| {
        let x = g.array::<u8, Block>(4);
        g.sparse_graph(&x, &[(0, 4)]);
    });
    fails(ErrorKind::BadDistribution, "does not lie like the rows of the matrix", &|g| {
        let (x, y) = (g.array::<u8, Block>(4), g.array::<u8, Block>(5));
        let a = g.sparse(&x, &x, &[(0, 1, 1)], Any);
        a.spmv(g, &x, &y);
    });
    fails(ErrorKind::BadDistribution, "does not lie like the columns of the matrix", &|g| {
        let (x, y) = (g.array::<u8, Block>(4), g.array::<u8, Block>(5));
        let a = g.sparse(&x, &x, &[(0, 1, 1)], Any);
        a.spmv(g, &y, &x);
    });
    fails(ErrorKind::BadLength, "a matrix of shape [4, 4] that should lie like arrays of [4, 5]", &|g| {
        let (x, y) = (g.array::<u8, Block>(4), g.array::<u8, Block>(5));
        g.sparse(&x, &x, &[(0, 1, 1)], Any).lay_like(g, &x, &y);
    });
    fails(ErrorKind::NotMember, "this array belongs to group 0", &|g| {
        let x = g.array::<u8, Block>(4);
        inside(g, |sub| drop(sub.sparse(&x, &x, &[(0, 1, 1)], Any)));
    });
}

/// G6: a matrix needs all who have some of it.
#[test]
fn a_matrix_of_a_group_that_lost_a_member_is_refused() {
    crate::failing(
        &SEVERAL,
        |g| {
            let last = g.size() - 1;
            inside(g, |sub| {
                let x = sub.array::<u8, Block>(40);
                let a = sub.sparse_rows(&x, &x, |i| [(i, 1)], Any);
                if sub.rank() < last {
                    sub.step(|_| ());
                    a.spmv(sub, &x, &x);
                }
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["has left", file!()]),
    );
}
