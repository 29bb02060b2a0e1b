//! Algorithms where something is in the way: members that leave, operators that refuse, borrows that are held.

use crate::{
    SEVERAL,
    algorithms::{FEW, array_of, drawn},
    check,
    containers::mixed,
    failing,
    leaving::inside,
    on_sizes,
};
use std::{cell::Cell, cmp::Ordering};
use superstep::{
    Array, Block, Checked, Combine, Cyclic, ErrorKind, Group, Max, Same, Sum,
    algorithms::{self, Key},
    sparse::Sparse,
};

/// G6: of vectors, those of the members that stay are the list.
#[test]
fn vectors_of_those_who_stay_are_the_list() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        let stayed = |leaver: usize| (0..p).filter(move |&rank| rank != leaver).collect::<Vec<_>>();
        for leaver in [0, p / 2, p - 1] {
            let calls: [&dyn Fn(&mut Group) -> Vec<usize>; 7] = [
                &|sub| algorithms::sort_vec(sub, vec![me]),
                &|sub| algorithms::sort_by_vec(sub, vec![me], Ord::cmp),
                &|sub| algorithms::unique_vec(sub, vec![me, me]),
                &|sub| algorithms::dedup_vec(sub, vec![me, me], |x, y| x == y),
                &|sub| algorithms::rebalance_vec(sub, vec![me]),
                &|sub| algorithms::group_by_key_vec(sub, vec![me], vec![1], Sum).0,
                &|sub| algorithms::join_vec(sub, (vec![me], vec![0]), (vec![me], vec![0]), |&key, _, _| key),
            ];
            for call in calls {
                inside(g, |sub| {
                    if me != leaver {
                        let mine = call(sub);
                        assert_eq!(sub.step(|s| s.collect(mine)).concat(), stayed(leaver), "without {leaver}");
                    }
                });
            }
        }
    });
}

/// Calls on an array, and on heads of segments in it, each of which needs all of it.
const ON_ARRAYS: [fn(&mut Group, &Array<u64, Block>, &Array<u8, Block>); 27] = [
    |g, a, _| _ = algorithms::is_sorted(g, a),
    |g, a, _| _ = algorithms::is_sorted_by(g, a, Ord::cmp),
    |g, a, _| drop(algorithms::scan(g, a, Sum)),
    |g, a, _| drop(algorithms::scan_exclusive(g, a, Sum)),
    |g, a, heads| drop(algorithms::segmented_scan(g, a, heads, Sum)),
    |g, a, _| _ = algorithms::reduce_array(g, a, Sum),
    |g, a, _| _ = algorithms::count(g, a, |_| true),
    |g, a, _| _ = algorithms::find_first(g, a, |_| true),
    |g, a, _| _ = algorithms::min_max(g, a),
    |g, a, _| _ = algorithms::min_max_by(g, a, Ord::cmp),
    |g, a, _| _ = algorithms::arg_max(g, a),
    |g, a, _| drop(algorithms::map(g, a, |x| *x)),
    |g, a, _| drop(algorithms::zip_map(g, a, a, |x, _| *x)),
    |g, a, _| drop(algorithms::filter(g, a, |_| true)),
    |g, a, _| drop(algorithms::filter_balanced(g, a, |_| true)),
    |g, a, _| _ = algorithms::partition(g, a, |x| x.is_multiple_of(2)),
    |g, a, _| drop(algorithms::dedup(g, a, |x, y| x == y)),
    |g, a, _| drop(algorithms::unique(g, a)),
    |g, a, _| drop(algorithms::group_by_key(g, a, a, Sum)),
    |g, a, _| drop(algorithms::join(g, (a, a), (a, a), |x, _, _| *x)),
    |g, a, _| drop(algorithms::histogram(g, a, &[0, u64::MAX])),
    |g, a, _| drop(algorithms::top_k(g, a, 2)),
    |g, a, _| drop(algorithms::top_k_by(g, a, 2, Ord::cmp)),
    |g, a, _| drop(algorithms::rebalance(g, a)),
    |g, a, _| drop(algorithms::concat(g, &[a, a])),
    |g, a, _| algorithms::sort(g, a),
    |g, a, _| algorithms::sort_unstable_by(g, a, Ord::cmp),
];

/// G6: nobody takes the parts that are left for the whole array, and the line of the call is named.
#[test]
fn an_algorithm_refuses_an_array_of_which_an_owner_leaves() {
    for (number, call) in ON_ARRAYS.into_iter().enumerate() {
        failing(
            &[2, 3, 8],
            |g| {
                inside(g, |sub| {
                    let (a, heads) = (array_of(sub, Block::new(), &drawn(40)), sub.array::<u8, Block>(40));
                    if sub.rank() > 0 {
                        call(sub, &a, &heads);
                    }
                });
            },
            |context, error| {
                assert_eq!(error.kind(), ErrorKind::Departed, "call {number}, {context}: {error}");
                check(&error, ErrorKind::Departed, &["rank 0", "left", file!()]);
            },
        );
    }
    failing(
        &[2, 3, 8],
        |g| {
            inside(g, |sub| {
                let a = sub.array::<u64, Cyclic>(40);
                if sub.rank() > 0 {
                    algorithms::sort(sub, &a);
                }
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["rank 0 left", file!()]),
    );
    failing(
        &[2, 3, 8],
        |g| {
            inside(g, |sub| {
                if sub.rank() > 0 {
                    algorithms::random_permutation_vec(sub, 40, 1);
                }
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["a member has left", file!()]),
    );
}

/// X2: nobody makes one result of the parts of several arrays.
#[test]
fn members_call_an_algorithm_on_the_same_array() {
    for (number, call) in ON_ARRAYS.into_iter().enumerate() {
        failing(
            &[2, 3],
            |g| {
                let heads = g.array::<u8, Block>(40);
                let [a, b] = [(), ()].map(|()| array_of(g, Block::new(), &drawn(40)));
                call(g, if g.is_leader() { &a } else { &b }, &heads);
            },
            |context, error| {
                assert_eq!(error.kind(), ErrorKind::DeclMismatch, "call {number}, {context}: {error}");
                check(&error, ErrorKind::DeclMismatch, &["a call on the array [40] of u64", file!()]);
            },
        );
    }
}

/// The standard library sees it, at a line of its own.
#[test]
fn a_function_that_is_no_order_is_an_error_with_the_line_of_the_call() {
    let calls: [fn(&mut Group, Vec<u64>, &dyn Fn() -> Ordering); 3] = [
        |g, list, any| drop(algorithms::sort_by_vec(g, list, |_, _| any())),
        |g, list, any| drop(algorithms::top_k_by_vec(g, &list, list.len(), |_, _| any())),
        |g, list, any| {
            let a = array_of(g, Block::new(), &list);
            algorithms::sort_unstable_by(g, &a, |_, _| any());
        },
    ];
    for call in calls {
        failing(
            &[1, 2, 3],
            |g| {
                let asked = Cell::new(0);
                let any = || {
                    asked.set(asked.get() + 1);
                    if mixed(asked.get()).is_multiple_of(2) { Ordering::Less } else { Ordering::Greater }
                };
                call(g, drawn(3000), &any);
            },
            |_, error| check(&error, ErrorKind::Panicked, &["total order", "in the call at", file!()]),
        );
    }
}

/// Whoever looks at a value again sees it: the sort, or the standard library.
#[test]
fn a_function_that_makes_other_keys_each_time_is_an_error_with_the_line_of_the_call() {
    failing(
        &[2, 3],
        |g| {
            let asked = Cell::new(0);
            algorithms::sort_by_key_vec(g, drawn(30_000), |_: &u64| {
                asked.set(asked.get() + 1);
                mixed(asked.get())
            });
        },
        |_, error| check(&error, ErrorKind::Panicked, &["in the call at", file!()]),
    );
}

/// Whoever has another key for a value than the others has it sent to where nobody looks for it. Its place must not be
/// made up instead.
#[test]
fn a_key_that_is_not_the_same_everywhere_makes_up_no_values() {
    type Sort = fn(&mut Group, u64) -> Vec<u64>;
    let sorts: [Sort; 2] = [
        |g, mask| algorithms::sort_by_key_vec(g, drawn(30_000), |x: &u64| x ^ mask),
        |g, mask| {
            let a = array_of(g, Block::new(), &drawn(30_000));
            algorithms::sort_unstable_by_key(g, &a, |x: &u64| x ^ mask);
            a.local().to_vec()
        },
    ];
    for sort in sorts {
        failing(
            &[2, 3],
            |g| {
                let mask = if g.is_leader() { u64::MAX } else { 0 };
                sort(g, mask);
            },
            |_, error| {
                let words = ["another key of the same value", "in the call at", file!()];
                check(&error, ErrorKind::Panicked, &words);
            },
        );
    }
}

#[test]
fn a_permutation_that_has_no_room_is_refused() {
    let calls: [fn(&mut Group); 2] = [
        |g| drop(algorithms::random_permutation(g, usize::MAX, 1)),
        |g| drop(algorithms::random_permutation_vec(g, usize::MAX, 1)),
    ];
    for call in calls {
        failing(&[1, 2, 3], call, |_, error| check(&error, ErrorKind::OutOfMemory, &["a permutation of", file!()]));
    }
}

/// X1: the line that the program called at, and not one of the library.
#[test]
fn a_borrow_that_is_held_is_refused_at_the_line_of_the_call() {
    for (number, call) in ON_ARRAYS.into_iter().enumerate() {
        failing(
            &FEW,
            |g| {
                let (a, heads) = (g.array::<u64, Block>(40), g.array::<u8, Block>(40));
                let _held = (g.rank() == 0).then(|| a.local_mut());
                call(g, &a, &heads);
            },
            |context, error| {
                assert!(error.to_string().contains(file!()), "call {number}, {context}: {error}");
                assert_eq!(error.kind(), ErrorKind::StillBorrowed, "call {number}, {context}: {error}");
            },
        );
    }
}

/// R1 and X1: what an operator refuses of the elements of one processor says at which call.
#[test]
fn operators_that_refuse_elements_say_where_they_were_called() {
    let claims: [fn(&mut Group, [&Array<u8, Block>; 2]); 9] = [
        |g, [a, _]| _ = algorithms::reduce_array(g, a, Checked(Sum)),
        |g, [a, _]| {
            let mine = a.local().to_vec();
            algorithms::reduce_vec(g, &mine, Checked(Sum));
        },
        |g, [a, _]| drop(algorithms::scan(g, a, Checked(Sum))),
        |g, [a, _]| {
            let mine = a.local().to_vec();
            algorithms::scan_vec(g, mine, Checked(Sum));
        },
        |g, [a, none]| drop(algorithms::segmented_scan(g, a, none, Checked(Sum))),
        |g, [a, none]| drop(algorithms::group_by_key(g, none, a, Checked(Sum))),
        |g, [a, _]| drop(g.sparse(a, a, &[(0, 0, 200u8), (0, 0, 100)], Checked(Sum))),
        |g, [a, _]| drop(algorithms::scan(g, a, Same)),
        |g, [a, _]| drop(g.sparse(a, a, &[(0, 0, 1u8), (0, 0, 2)], Same)),
    ];
    for (number, claim) in claims.into_iter().enumerate() {
        failing(
            &FEW,
            |g| {
                let (a, none) = (g.array::<u8, Block>(10), g.array::<u8, Block>(10));
                a.forall_mut(|i, x| *x = 60 + i as u8);
                claim(g, [&a, &none]);
            },
            |_, error| {
                let kind = if number < 7 { ErrorKind::Overflow } else { ErrorKind::ReplicaDiverged };
                check(&error, kind, &["of group 0", file!()]);
            },
        );
    }
}

/// Groups by an operator, or makes a matrix with it.
fn combined_by<C: Combine<u64>>(g: &mut Group, is_matrix: bool, op: C) {
    let a = g.array::<u64, Block>(10);
    if is_matrix {
        let _: Sparse<u64, Block> = g.sparse(&a, &a, &[(0, 0, 1), (0, 0, 2)], op);
    } else {
        algorithms::group_by_key(g, &a, &a, op);
    }
}

/// X2: members that combine by different operators have one error, also where each combines what it owns.
#[test]
fn members_combine_groups_and_entries_by_the_same_operator() {
    for (is_matrix, words) in [(true, "a matrix whose entries"), (false, "groups that")] {
        failing(
            &SEVERAL,
            |g| if g.is_leader() { combined_by(g, is_matrix, Sum) } else { combined_by(g, is_matrix, Max) },
            |_, error| check(&error, ErrorKind::DeclMismatch, &[words, "Sum", "Max", file!()]),
        );
    }
}

/// A key of the program, of which nothing is known but its order.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Own(u32);

impl Key for Own {
    fn order(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

/// X2: edges that differ behind what their first digits say.
#[test]
fn edges_that_differ_anywhere_are_everybodys_error() {
    let claims: [fn(&mut Group); 3] = [
        |g| {
            let edges = ["abcdefgha", ["z", "abcdefghi"][usize::from(g.is_leader())]].map(str::to_owned);
            algorithms::histogram_vec(g, &[], &edges);
        },
        |g| {
            let edges = [Own(1), Own(2 + g.rank() as u32)];
            algorithms::histogram_vec(g, &[], &edges);
        },
        |g| {
            let (a, last) = (g.array::<u128, Block>(5), 2 + g.rank() as u128);
            algorithms::histogram(g, &a, &[1, last]);
        },
    ];
    for claim in claims {
        failing(&SEVERAL, claim, |_, error| {
            check(&error, ErrorKind::DeclMismatch, &["a histogram with 2 edges", file!()]);
        });
    }
    on_sizes(&FEW, |g| {
        let a = array_of(g, Block::new(), &drawn(100));
        assert_eq!(algorithms::histogram(g, &a, &[0, u64::MAX]), [100]);
        assert_eq!(algorithms::histogram_vec(g, &[Own(3)], &[Own(1), Own(3)]), [g.size() as u64]);
    });
}
