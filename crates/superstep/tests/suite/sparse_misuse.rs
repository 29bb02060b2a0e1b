//! Matrices and graphs in the wrong group.

use crate::{SEVERAL, array_life::inside, check, failing};
use superstep::{
    Array, Block, ErrorKind, Group, Sum,
    sparse::{Graph, Sparse},
};

/// What a group may ask of a matrix and a graph that it made.
type Calls<'a> = [&'a (dyn Fn(&mut Group, &Sparse<u64, Block>, &Graph<Block>, &Array<u64, Block>) + Sync); 7];

const CALLS: Calls<'static> = [
    &|g, a, _, _| _ = a.len(g),
    &|g, _, graph, _| _ = graph.edges(g),
    &|g, a, _, _| drop(a.balanced(g)),
    &|g, a, _, x| drop(a.lay_like(g, x, x)),
    &|g, a, _, x| a.spmv(g, x, x),
    &|g, a, _, x| a.spmv_transposed(g, x, x),
    &|g, a, _, x| a.column_sums(g, x),
];

/// G7: nobody counts, moves or multiplies what is here of a matrix as if that were all of it.
#[test]
fn a_matrix_and_a_graph_are_refused_by_another_group() {
    for (number, call) in CALLS.into_iter().enumerate() {
        failing(
            &SEVERAL,
            |g| {
                let x = g.array::<u64, Block>(8);
                let a = g.sparse_rows(&x, &x, |i| [(i, 1), (7 - i, 2)], Sum);
                let graph = g.sparse_graph_rows(&x, |v| [v]);
                g.split(2, |sub| {
                    let x = sub.array::<u64, Block>(8);
                    call(sub, &a, &graph, &x);
                });
            },
            |context, error| {
                assert_eq!(error.kind(), ErrorKind::NotMember, "call {number}, {context}: {error}");
                check(&error, ErrorKind::NotMember, &["belongs to group 0;", file!()]);
            },
        );
    }
}

/// G6: what is left of a matrix is not taken for the whole.
#[test]
fn what_is_left_of_a_matrix_is_not_the_matrix() {
    for (number, call) in CALLS.into_iter().enumerate() {
        failing(
            &SEVERAL,
            |g| {
                inside(g, |sub| {
                    let x = sub.array::<u64, Block>(8);
                    let a = sub.sparse_rows(&x, &x, |i| [(i, 1)], Sum);
                    let graph = sub.sparse_graph_rows(&x, |v| [v]);
                    if sub.rank() > 0 {
                        sub.step(|_| ());
                        let x = sub.array::<u64, Block>(8);
                        call(sub, &a, &graph, &x);
                    }
                });
            },
            |context, error| {
                assert_eq!(error.kind(), ErrorKind::Departed, "call {number}, {context}: {error}");
                check(&error, ErrorKind::Departed, &["rank 0 has left", file!()]);
            },
        );
    }
}

/// G7: arrays of two groups may have parts of the same lengths, and parts of other ranks all the same.
#[test]
fn sums_of_rows_go_to_an_array_of_the_same_group() {
    failing(
        &SEVERAL,
        |g| {
            let x = g.array::<u64, Block>(8);
            let a = g.sparse_rows(&x, &x, |i| [(i, 1)], Sum);
            inside(g, |sub| a.row_sums(&sub.array::<u64, Block>(8)));
        },
        |_, error| check(&error, ErrorKind::NotMember, &["this array belongs to group 0/0", file!()]),
    );
}

/// X1: the line that the program called at.
#[test]
fn a_product_names_the_line_of_its_call_where_a_borrow_is_held() {
    failing(
        &SEVERAL,
        |g| {
            let (x, y) = (g.array::<u64, Block>(8), g.array::<u64, Block>(8));
            let a = g.sparse_rows(&x, &x, |i| [(i, 1)], Sum);
            let _held = (g.rank() == 0).then(|| y.local());
            a.spmv_transposed(g, &x, &y);
        },
        |_, error| check(&error, ErrorKind::StillBorrowed, &[file!()]),
    );
}

/// X1: the same for a vertex that is not here.
#[test]
fn a_place_without_a_vertex_is_an_error_at_the_line_of_the_call() {
    let calls: [fn(&Graph<Block>); 3] =
        [|graph| _ = graph.neighbours(1000), |graph| _ = graph.degree(1000), |graph| _ = graph.number(1000)];
    for call in calls {
        failing(
            &[1, 2, 3],
            |g| {
                let x = g.array::<u64, Block>(8);
                call(&g.sparse_graph_rows(&x, |v| [v]));
            },
            |_, error| check(&error, ErrorKind::Panicked, &["1000", file!()]),
        );
    }
}
