//! Paged arrays: access by global index, pages, and slices (C1, C4).

use crate::{check, everywhere, failing, leaving::inside, on_sizes};
use std::collections::BTreeSet;
use superstep::{Error, ErrorKind, Group, Paged, strided};

/// A number that every element has of its own.
fn value<const N: usize>(at: [usize; N]) -> u64 {
    at.iter().fold(7, |sum, &index| 1000 * sum + index as u64)
}

fn filled<const N: usize>(g: &mut Group, shape: [usize; N], block: [usize; N]) -> Paged<u64, N> {
    let a = g.paged::<u64, N>(shape, block);
    for at in a.indices() {
        a.write(at, value(at));
    }
    a
}

fn all_indices<const N: usize>(shape: [usize; N]) -> Vec<[usize; N]> {
    let count: usize = shape.iter().product();
    let index = |mut number: usize| {
        let mut at = [0; N];
        for dimension in (0..N).rev() {
            at[dimension] = number % shape[dimension];
            number /= shape[dimension];
        }
        at
    };
    (0..count).map(index).collect()
}

/// Each element has one owner, which can write and read it; all can, once it is coherent.
fn is_whole<const N: usize>(g: &mut Group, shape: [usize; N], block: [usize; N]) {
    let a = filled(g, shape, block);
    // No block is larger than the array.
    let mut block = block;
    block.iter_mut().zip(shape).for_each(|(block, extent)| *block = (*block).min(extent.max(1)));
    assert_eq!((a.shape(), a.block()), (shape, block));
    let mine: BTreeSet<[usize; N]> = a.indices().collect();
    for at in all_indices(shape) {
        assert_eq!(a.is_owned(at), mine.contains(&at), "{at:?} of {a:?}");
        assert_eq!(a.is_present(at), mine.contains(&at));
        if mine.contains(&at) {
            assert_eq!(a.read(at), value(at));
        }
    }
    let counts = g.step(|s| s.collect(mine.len()));
    assert_eq!(counts.iter().sum::<usize>(), shape.iter().product());
}

/// C1: whatever the distribution, in one, two and three dimensions.
#[test]
fn owners_read_and_write_by_global_index() {
    everywhere(|g| {
        is_whole(g, [23], [4]);
        is_whole(g, [130], [1]);
        is_whole(g, [9, 7], [2, 7]);
        is_whole(g, [9, 7], [9, 2]);
        is_whole(g, [9, 10], [3, 4]);
        is_whole(g, [5, 5], [1, 1]);
        is_whole(g, [4, 3, 6], [1, 3, 6]);
        is_whole(g, [4, 5, 6], [2, 3, 4]);
        is_whole(g, [0, 5], [2, 2]);
        is_whole(g, [1], [100]);
    });
}

/// C1: the cyclic form deals lines round.
#[test]
fn the_cyclic_form_deals_lines_round() {
    everywhere(|g| {
        let a = g.paged_cyclic::<u8, 2>([11, 3]);
        assert!((0..11).all(|i| (0..3).all(|j| a.owner([i, j]) == i % g.size())));
        let line = g.paged_cyclic::<u8, 1>([11]);
        assert!((0..11).all(|i| line.owner(i) == i % g.size()));
    });
}

/// C1: pages hold copies as they hold owned data.
#[test]
fn everybody_reads_everything_once_it_is_coherent() {
    everywhere(|g| {
        let all: Vec<usize> = (0..g.size()).collect();
        let a = filled(g, [9, 10], [3, 4]);
        g.cohere(&a, (.., ..), &all);
        assert!(all_indices([9, 10]).into_iter().all(|at| a.read(at) == value(at)));
        let b = filled(g, [3, 4, 5], [2, 2, 2]);
        g.cohere(&b, (.., .., ..), &all);
        assert!(all_indices([3, 4, 5]).into_iter().all(|at| b.read(at) == value(at)));
        let c = filled(g, [150], [1]);
        g.cohere(&c, .., &all);
        assert!(all_indices([150]).into_iter().all(|at| c.read(at) == value(at)));
        g.step(|_| ());
    });
}

/// C4: what was never made present cannot be read, also beside what was.
#[test]
fn only_what_coherence_brought_is_present() {
    everywhere(|g| {
        let all: Vec<usize> = (0..g.size()).collect();
        let a = filled(g, [8, 40], [2, 40]);
        g.cohere(&a, (0..2, strided(3..30, 4)), &all);
        g.cohere(&a, (0..1, 10..20), &all);
        for at in all_indices([8, 40]) {
            let is_brought = at[0] < 2 && (3..30).contains(&at[1]) && at[1] % 4 == 3 || at[0] == 0 && at[1] / 10 == 1;
            assert_eq!(a.is_present(at), is_brought || a.is_owned(at), "{at:?}");
            if is_brought {
                assert_eq!(a.read(at), value(at));
            }
        }
    });
}

/// C4: the error names the element, its owner and the call that is missing.
#[test]
fn reading_what_is_not_present_names_it_its_owner_and_the_call() {
    failing(
        &[2, 3],
        |g| {
            let a = g.paged::<u8, 2>([6, 4], [2, 4]);
            if g.rank() == 0 {
                a.read([2, 1]);
            }
            g.step(|_| ());
        },
        |context, error| {
            let says = ["element [2, 1] is not present on rank 0", "belongs to rank 1", "cohere", "paged.rs:"];
            assert!(error.is_misuse(), "{context}");
            check(&error, ErrorKind::NotPresent, &says);
        },
    );
}

/// Rows, runs and tiles are the same elements.
#[test]
fn slices_and_sections_are_the_same_elements() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let a = filled(g, [3 * p, 10], [3, 10]);
        let row: Vec<u64> = (0..10).map(|j| value([3 * me + 1, j])).collect();
        assert_eq!(*a.row(3 * me + 1), row);
        assert_eq!(*a.run([3 * me + 1, 2], 5), row[2..7]);
        assert_eq!(a.rows(3 * me..3 * me + 3)[10..20], row);
        assert_eq!(a.read_section((3 * me + 1..3 * me + 2, 4..)), row[4..]);
        let backwards: Vec<u64> = row.iter().rev().step_by(3).copied().collect();
        assert_eq!(a.read_section((3 * me + 1..3 * me + 2, strided(.., -3))), backwards);
        a.row_mut(3 * me).fill(1);
        assert_eq!(*a.row_mut(3 * me), [1; 10]);
        a.run_mut([3 * me, 8], 2).fill(2);
        a.write_section((3 * me + 1..3 * me + 3, 0..2), &[3, 4, 5, 6]);
        let mut tile = vec![9];
        a.read_section_into((3 * me..3 * me + 3, strided(.., 8)), &mut tile);
        assert_eq!(tile, [1, 2, 3, value([3 * me + 1, 8]), 5, value([3 * me + 2, 8])]);
        // Several rows are one piece.
        a.rows_mut(3 * me + 1..3 * me + 3).fill(8);
        assert_eq!(a.rows(3 * me..3 * me + 3)[9..], [vec![2], vec![8; 20]].concat());
        g.cohere(&a, (.., ..), &(0..p).collect::<Vec<usize>>());
        let next = 3 * ((me + 1) % p);
        assert_eq!(a.read_section((next..next + 3, 9..)), [2, 8, 8]);
        // Pages run down the columns here, and a column is a run.
        let b = filled(g, [6, 4 * p], [6, 4]);
        assert_eq!(*b.run([0, 4 * me], 6), (0..6).map(|i| value([i, 4 * me])).collect::<Vec<_>>());
        assert_eq!(b.read_section((2..3, 4 * me..4 * me + 2)), [value([2, 4 * me]), value([2, 4 * me + 1])]);
    });
}

/// C1: a run of no elements is one, as a section is; a processor without rows asks for them.
#[test]
fn slices_may_be_empty() {
    everywhere(|g| {
        let p = g.size();
        let a = filled(g, [2 * p + 1, 8], [2, 8]);
        for i in [0, 1, 2 * p + 1] {
            assert!(a.rows(i..i).is_empty() && a.rows_mut(i..i).is_empty());
            assert!(a.run([i, 8], 0).is_empty() && a.run_mut([i, 3], 0).is_empty());
        }
        // They take nothing, and stand in nobody's way.
        let at = [2 * g.rank(), 0];
        let (empty, empty_too) = (a.rows_mut(at[0]..at[0]), a.run_mut(at, 0));
        a.write(at, 7);
        assert_eq!((a.read(at), empty.len() + empty_too.len()), (7, 0));
        for block in [[2, 8], [2 * p, 1]] {
            let a = g.paged::<u64, 2>([2 * p, 0], block);
            assert!(a.row(1).is_empty() && a.row_mut(2 * p - 1).is_empty() && a.rows(0..2 * p).is_empty());
        }
        let a = g.paged::<u64, 2>([0, 8], [2, 8]);
        assert!(a.rows(0..0).is_empty() && a.read_section((.., ..)).is_empty());
        a.write_section((.., ..), &[]);
    });
}

/// Blocks of all dimensions: a page crosses the border, and each owner answers for its part.
#[test]
fn a_page_that_crosses_a_border_has_several_owners() {
    everywhere(|g| {
        let all: Vec<usize> = (0..g.size()).collect();
        // Pages of 4 over blocks of 6: the second page of a line lies half in one block and half in the next.
        let a = filled(g, [4, 24], [2, 6]);
        assert_eq!(a.page_len(), 4);
        if g.size() > 1 {
            assert_ne!(a.owner([0, 5]), a.owner([0, 6]));
        }
        g.cohere(&a, (0..1, 4..8), &all);
        assert_eq!(a.read_section((0..1, 4..8)), [4, 5, 6, 7].map(|j| value([0, j])));
        a.write([0, 5], 50);
        a.write([0, 6], 60);
        g.cohere(&a, (0..1, 5..7), &all);
        assert_eq!(a.read_section((0..1, 4..8)), [value([0, 4]), 50, 60, value([0, 7])]);
    });
}

/// A processor sees its own writes at once, wherever they are.
#[test]
fn own_writes_are_read_at_once_and_forgotten_copies_are_gone() {
    everywhere(|g| {
        let all: Vec<usize> = (0..g.size()).collect();
        let a = filled(g, [6, 70], [1, 70]);
        a.write([5, 69], 1);
        a.write([5, 3], 2);
        assert_eq!((a.read([5, 69]), a.read([5, 3])), (1, 2));
        a.forget((.., ..));
        assert_eq!((a.read([5, 69]), a.read([5, 3])), (1, 2), "what was not made coherent stays");
        g.cohere(&a, (.., ..), &all);
        assert_eq!((a.read([5, 69]), a.read([5, 3])), (1, 2));
        let copies = (0..6).filter(|&i| !a.is_owned([i, 0])).count();
        assert_eq!(a.copied_bytes(), copies * 70 * size_of::<u64>());
        a.forget((.., ..));
        assert_eq!(a.copied_bytes(), 0);
        assert_eq!(a.is_present([5, 69]), a.is_owned([5, 69]));
        assert!((0..70).all(|j| !a.is_owned([0, 0]) || a.read([0, j]) == value([0, j])));
    });
}

/// Copies that age go, and the last ones stay.
#[test]
fn copies_stay_within_their_limit() {
    everywhere(|g| {
        let (p, all) = (g.size(), (0..g.size()).collect::<Vec<usize>>());
        let a = filled(g, [4 * p, 16], [4, 16]);
        a.limit_copies(3 * 16 * 8);
        assert!(!a.prefetch((.., ..)) || p == 1);
        for i in 0..4 * p {
            g.cohere(&a, (i..i + 1, ..), &all);
            assert!(a.copied_bytes() <= 3 * 16 * 8 && a.prefetch((i..i + 1, ..)));
            assert_eq!(a.read([i, 15]), value([i, 15]));
        }
        let last = (0..4 * p).rev().filter(|&i| !a.is_owned([i, 0])).take(3);
        assert!(last.into_iter().all(|i| a.is_present([i, 0])));
        assert!(p == 1 || (0..4 * p).any(|i| !a.is_present([i, 0])));
    });
}

/// The figure of the table, at the size that it is for.
#[test]
fn the_table_of_pages_is_small() {
    on_sizes(&[2], |g| {
        let a = g.paged::<f64, 2>([4096, 4096], [2048, 4096]);
        a.write([0, 0], 1.0);
        a.write([0, 2], 1.0);
        let share = a.table_bytes() as f64 / (4096.0 * 4096.0 * 8.0);
        assert!(share < 0.01, "it is {share} of the array");
        assert!(a.table_bytes() > 4096 * 8, "each page has an entry");
    });
}

/// All of an array in row-major order, whatever its blocks, on the one that is named.
fn comes_whole<const N: usize>(g: &mut Group, shape: [usize; N], block: [usize; N]) {
    let (a, me, p) = (filled(g, shape, block), g.rank(), g.size());
    let expected: Vec<u64> = all_indices(shape).into_iter().map(value).collect();
    assert_eq!((a.len(), a.is_empty()), (expected.len(), expected.is_empty()));
    assert_eq!((0..p).map(|rank| a.len_of(rank)).sum::<usize>(), a.len());
    assert_eq!(a.len_of(me), a.indices().count());
    for root in [0, p / 2, p - 1] {
        let whole = g.step(|s| s.gather_to(root, &a));
        assert_eq!(whole, (me == root).then(|| expected.clone()), "{a:?}");
    }
}

/// A6 for paged arrays.
#[test]
fn one_processor_gets_all_of_an_array() {
    everywhere(|g| {
        comes_whole(g, [23], [4]);
        comes_whole(g, [130], [1]);
        comes_whole(g, [9, 7], [9, 2]);
        comes_whole(g, [9, 10], [3, 4]);
        comes_whole(g, [5, 5], [1, 1]);
        comes_whole(g, [4, 5, 6], [2, 3, 4]);
        comes_whole(g, [0, 5], [2, 2]);
        comes_whole(g, [1], [100]);
    });
}

/// C4 and G6: what has left with its owner cannot be brought, and nobody misses one who owned nothing.
#[test]
fn what_has_left_with_its_owner_is_brought_to_nobody() {
    fn claim(g: &mut Group, extent: usize) {
        let (p, me) = (g.size(), g.rank());
        inside(g, |sub| {
            let a = filled(sub, [extent], [1]);
            if me == p - 1 {
                return;
            }
            let whole = sub.try_step(|s| s.gather_to(0, &a));
            if extent < p {
                assert_eq!(whole.unwrap(), (me == 0).then(|| (0..extent).map(|i| value([i])).collect()));
            } else {
                is_lost(&whole.expect_err("all who stay hear of it"));
            }
        });
    }
    fn is_lost(error: &Error) {
        check(error, ErrorKind::Departed, &["left the group with its part of paged array", file!()]);
    }
    on_sizes(&[2, 3, 7], |g| claim(g, g.size() - 1));
    failing(&[2, 3, 7], |g| claim(g, g.size()), |_, error| is_lost(&error));
}

/// X1 and X2: what cannot be brought is refused, and different roots are a divergence.
#[test]
fn what_cannot_be_brought_to_one_processor_is_refused() {
    on_sizes(&[1, 2, 3], |g| {
        let a = filled(g, [4, 4], [1, 4]);
        let p = g.size();
        g.step(|s| check(&s.try_gather_to(p, &a).unwrap_err(), ErrorKind::RankOutOfRange, &["rank"]));
        if let Some([rows, _]) = a.owned().next() {
            let row = a.row_mut(rows.start);
            g.step(|s| check(&s.try_gather_to(0, &a).unwrap_err(), ErrorKind::StillBorrowed, &["paged array"]));
            drop(row);
        }
        let differ = g.try_step(|s| s.gather_to(s.rank().min(1), &a));
        match differ {
            Ok(whole) => assert!(p == 1 && whole.is_some()),
            Err(error) => check(&error, ErrorKind::CombineMismatch, &["all of paged array"]),
        }
    });
}

/// G7: a subgroup has arrays of its own.
#[test]
fn subgroups_have_paged_arrays_of_their_own() {
    everywhere(|g| {
        g.split(2, |sub| {
            let all: Vec<usize> = (0..sub.size()).collect();
            let a = filled(sub, [6, 4], [1, 4]);
            sub.cohere(&a, (.., ..), &all);
            assert!(all_indices([6, 4]).into_iter().all(|at| a.read(at) == value(at)));
        });
        let a = filled(g, [6], [1]);
        g.step(|_| ());
        drop(a);
        g.step(|_| ());
    });
}
