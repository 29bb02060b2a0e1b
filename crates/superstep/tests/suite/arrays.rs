//! Arrays: who owns what, look-ups, and loops over what one owns (A1 to A3, A7).

use crate::{everywhere, on_sizes};
use superstep::{
    Array, Block, BlockCyclic, Cyclic, Distribution, Element, Group, Irregular, Section, Sum, Tiles, strided,
};

/// What lies where: for each rank, the elements of its part by number; `None` is padding.
type Parts = Vec<Vec<Option<usize>>>;

/// Deals units out, each to the owner that `owner` names.
fn dealt(units: usize, procs: usize, owner: impl Fn(usize) -> usize) -> Parts {
    let mut parts = vec![Vec::new(); procs];
    for unit in 0..units {
        parts[owner(unit)].push(Some(unit));
    }
    parts
}

fn in_blocks(units: usize, procs: usize) -> Parts {
    dealt(units, procs, |unit| unit / units.div_ceil(procs))
}

fn dealt_round(units: usize, procs: usize, block: usize) -> Parts {
    dealt(units, procs, |unit| unit / block % procs)
}

fn as_listed(sizes: &[usize]) -> Parts {
    let ends: Vec<usize> = (1..=sizes.len()).map(|count| sizes[..count].iter().sum()).collect();
    dealt(sizes.iter().sum(), sizes.len(), |unit| ends.iter().position(|&end| unit < end).unwrap())
}

/// Deals out tiles of at most three dimensions, by walking through each of them.
fn tiled(extents: &[usize], tiles: &[usize], procs: usize) -> Parts {
    // Dimensions that are not there have one element.
    let three = |given: &[usize]| [0, 1, 2].map(|at| if at < given.len() { given[at] } else { 1 });
    let (n, t) = (three(extents), three(tiles));
    // A tile is never larger than the array.
    let t = [0, 1, 2].map(|at| t[at].min(n[at].max(1)));
    let mut parts = vec![Vec::new(); procs];
    let mut owner = 0;
    for_places([0, 1, 2].map(|at| n[at].div_ceil(t[at])), |[a, b, c]| {
        for_places(t, |[i, j, k]| {
            let [i, j, k] = [a * t[0] + i, b * t[1] + j, c * t[2] + k];
            let is_there = i < n[0] && j < n[1] && k < n[2];
            parts[owner].push(is_there.then_some((i * n[1] + j) * n[2] + k));
        });
        owner = (owner + 1) % procs;
    });
    parts
}

/// Calls `visit` with every place of a box, in row-major order.
fn for_places([x, y, z]: [usize; 3], mut visit: impl FnMut([usize; 3])) {
    for i in 0..x {
        for j in 0..y {
            for k in 0..z {
                visit([i, j, k]);
            }
        }
    }
}

/// Sizes that are as uneven as they can be made from so few numbers, some of them 0.
pub(crate) fn uneven(units: usize, procs: usize) -> Irregular {
    let mut sizes = vec![0; procs];
    sizes[procs / 2] = units / 2;
    sizes[0] += units / 5;
    sizes[procs - 1] += units - units / 2 - units / 5;
    Irregular(sizes)
}

fn made<D: Distribution, const N: usize>(g: &mut Group, shape: [usize; N], distribution: D) -> Array<u16, D, N> {
    g.array_with(shape, distribution)
}

/// Gives every element the value that `value` makes of its number, each owner its own.
pub(crate) fn fill<T: Element, D: Distribution, const N: usize>(a: &Array<T, D, N>, value: impl Fn(usize) -> T) {
    for (offset, element) in a.local_mut().iter_mut().enumerate() {
        if let Some(index) = a.global(offset) {
            *element = value(index);
        }
    }
}

/// Holds every look-up against what lies where; each unit of `units` has the dimensions inside of it.
fn check<T: Element, D: Distribution, const N: usize>(me: usize, a: &Array<T, D, N>, units: &Parts) {
    let inner: usize = a.shape()[D::DISTRIBUTED..].iter().product();
    let expand = |unit: Option<usize>| (0..inner).map(move |within| unit.map(|unit| unit * inner + within));
    let mut seen = 0;
    let len = if a.shape().contains(&0) { 0 } else { a.shape().iter().product() };
    assert_eq!((a.len(), a.is_empty()), (len, len == 0), "{a:?}");
    for (rank, part) in units.iter().enumerate() {
        let part: Vec<Option<usize>> = part.iter().copied().flat_map(expand).collect();
        assert_eq!(a.len_of(rank), part.len(), "{a:?}: the part of rank {rank}");
        for (offset, index) in part.iter().enumerate().filter_map(|(offset, index)| Some((offset, (*index)?))) {
            let place = a.place(index);
            assert_eq!((a.owner(place), a.offset(place)), (rank, offset), "{a:?}: element {index}");
            assert_eq!((a.is_owned(place), a.index(place)), (rank == me, index), "{a:?}: element {index}");
            seen += 1;
        }
        if rank == me {
            let here: Vec<Option<usize>> = (0..part.len()).map(|offset| a.global(offset)).collect();
            assert_eq!((here, a.local().len()), (part, a.len_of(me)), "{a:?}");
            assert_eq!([a.global(a.len_of(me)), a.global(usize::MAX)], [None, None], "{a:?}");
        }
    }
    assert_eq!(seen, a.len(), "{a:?}: every element has a place");
}

/// A1, A3 and A7: also with no element at all, and with fewer than there are processors.
#[test]
fn every_element_lies_where_its_distribution_says() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        for n in [0, 1, 5, 8, 25] {
            check(me, &made(g, [n], Block::new()), &in_blocks(n, p));
            check(me, &made(g, [n], Cyclic::new()), &dealt_round(n, p, 1));
            let sizes = uneven(n, p);
            check(me, &made(g, [n], sizes.clone()), &as_listed(&sizes.0));
            for block in [1, 3, usize::MAX] {
                check(me, &made(g, [n], BlockCyclic::new(block)), &dealt_round(n, p, block));
                check(me, &made(g, [n], Tiles([block])), &tiled(&[n], &[block], p));
            }
        }
    });
}

/// A2: one to five dimensions, of which the leftmost one to three are distributed.
#[test]
fn the_leftmost_dimensions_are_distributed_row_by_row() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        check(me, &made(g, [5, 3], Block::new()), &in_blocks(5, p));
        check(me, &made(g, [5, 3], Block::<2>), &in_blocks(15, p));
        check(me, &made(g, [5, 3], Cyclic::new()), &dealt_round(5, p, 1));
        check(me, &made(g, [5, 3], BlockCyclic::<2>(4)), &dealt_round(15, p, 4));
        check(me, &made(g, [7, 5], Tiles([2, 3])), &tiled(&[7, 5], &[2, 3], p));
        check(me, &made(g, [7, 5], Tiles([2])), &tiled(&[7], &[2], p));
        check(me, &made(g, [9, 2], uneven(9, p)), &as_listed(&uneven(9, p).0));

        check(me, &made(g, [4, 5, 7], Cyclic::<2>), &dealt_round(20, p, 1));
        check(me, &made(g, [4, 3, 2], Block::<3>), &in_blocks(24, p));
        check(me, &made(g, [4, 3, 5], Tiles([3, 2, 2])), &tiled(&[4, 3, 5], &[3, 2, 2], p));
        check(me, &made(g, [4, 3, 5], Tiles([9, 2])), &tiled(&[4, 3], &[9, 2], p));
        check(me, &made(g, [4, 3, 2], BlockCyclic::new(3)), &dealt_round(4, p, 3));

        check(me, &made(g, [3, 2, 4, 2], Block::<3>), &in_blocks(24, p));
        check(me, &made(g, [3, 2, 4, 2], Tiles([2, 1, 3])), &tiled(&[3, 2, 4], &[2, 1, 3], p));
        check(me, &made(g, [2, 3, 2, 2, 3], Cyclic::<3>), &dealt_round(12, p, 1));
        check(me, &made(g, [5, 1, 2, 1, 2], Block::new()), &in_blocks(5, p));
        check(me, &made(g, [5, 1, 2, 1, 2], uneven(5, p)), &as_listed(&uneven(5, p).0));
    });
}

/// A7: whichever dimension it is that has nothing, and whatever the others would come to.
#[test]
fn a_shape_with_a_0_in_it_has_no_elements() {
    everywhere(|g| {
        let (me, p, none) = (g.rank(), g.size(), vec![vec![]; g.size()]);
        check(me, &made(g, [0, 4], Block::new()), &none);
        check(me, &made(g, [4, 0], Cyclic::new()), &none);
        check(me, &made(g, [4, 0], uneven(4, p)), &none);
        check(me, &made(g, [4, 0], Tiles([2, 2])), &none);
        check(me, &made(g, [usize::MAX, usize::MAX, 0], Block::<2>), &none);
        check(me, &made(g, [usize::MAX, 0, 9], BlockCyclic::new(2)), &none);
        let a = made(g, [usize::MAX, usize::MAX, 0], Cyclic::new());
        assert_eq!(a.indices().count(), 0);
        a.forall_mut_in((.., .., ..), |at, _| panic!("there is nothing at {at:?}"));
        a.forall_mut_in((5..8, .., ..), |at, _| panic!("there is nothing at {at:?}"));
        let read = g.step(|s| {
            s.update(&a, (.., .., 0..0), &[]);
            s.scatter(&a, &[], &[], Sum);
            s.scatter_one(&a, &[], 7, Sum);
            (s.mirror(&a, (.., .., ..)), s.mirror(&a, (3..5, .., ..)), s.gather(&a, &[]))
        });
        assert_eq!(read, (vec![], vec![], vec![]));
    });
}

/// A7: parts that are empty are served and serve like all others.
#[test]
fn fewer_elements_than_processors_are_written_and_read_by_all() {
    fn claim<D: Distribution>(g: &mut Group, n: usize, distribution: D) {
        let a = g.array_with::<usize, _, 1>([n], distribution);
        let all: Vec<usize> = (0..n).collect();
        let (p, twice) = (g.size(), all.repeat(2));
        let (mirrored, gathered) = g.step(|s| {
            s.scatter(&a, &all, &all, Sum);
            s.scatter_one(&a, &all, 1, Sum);
            (s.mirror(&a, ..), s.gather(&a, &twice))
        });
        let expected: Vec<usize> = (0..n).map(|i| p * (i + 1)).collect();
        assert_eq!((mirrored, gathered), (expected.clone(), expected.repeat(2)), "{a:?}");
    }
    on_sizes(&[1, 4, 8, 17], |g| {
        for n in [0, 1, 3] {
            claim(g, n, Block::new());
            claim(g, n, Cyclic::new());
            claim(g, n, BlockCyclic::new(2));
            claim(g, n, uneven(n, g.size()));
            claim(g, n, Tiles([2]));
        }
    });
}

/// A1: what is made is zero, whatever the element is.
#[test]
fn a_new_array_is_zero_on_every_processor() {
    everywhere(|g| {
        let (a, b) = (g.array::<f64, Block>(100), g.array_with::<[u8; 3], _, 2>([9, 9], Tiles([2, 2])));
        assert!(a.local().iter().all(|value| value.to_bits() == 0));
        assert!(b.local().iter().all(|value| *value == [0; 3]));
        a.local_mut().fill(7.0);
        drop(a);
        let again = g.array::<f64, Block>(100);
        assert!(again.local().iter().all(|value| value.to_bits() == 0));
    });
}

/// A3: what is owned is read and written as a slice, by element, and by place; nobody else is asked.
#[test]
fn an_owner_reads_and_writes_its_elements_by_their_global_place() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<usize, _, 2>([6, 5], distribution);
        let steps = g.steps();
        for (i, j) in (0..6).flat_map(|i| (0..5).map(move |j| (i, j))).filter(|&(i, j)| a.is_owned([i, j])) {
            assert_eq!(a.get([i, j]), 0);
            a.set([i, j], 10 * i + j + 1);
            assert_eq!((a.get([i, j]), a.local()[a.offset([i, j])]), (10 * i + j + 1, 10 * i + j + 1));
        }
        assert_eq!(g.steps(), steps);
        let all = g.step(|s| s.mirror(&a, (.., ..)));
        assert!(all.iter().enumerate().all(|(index, &value)| value == 10 * (index / 5) + index % 5 + 1), "{a:?}");
    }
    everywhere(|g| {
        claim(g, Block::new());
        claim(g, Cyclic::<2>);
        claim(g, BlockCyclic::new(2));
        claim(g, uneven(6, g.size()));
        claim(g, Tiles([4, 2]));
    });
}

/// A3: look-ups are no borrows, and an array says what it is.
#[test]
fn look_ups_work_while_the_part_is_lent() {
    everywhere(|g| {
        let a = g.array::<u8, Cyclic>(3);
        let lent = a.local_mut();
        assert_eq!((a.len(), a.owner(2), a.offset([2]), a.index(1)), (3, 2 % g.size(), 2 / g.size(), 1));
        assert_eq!(a.len_of(g.rank()), lent.len());
        assert_eq!(format!("{a:?}"), "Array<u8, Cyclic>([3])");
    });
}

/// A3: upwards, each element once, with its index and its value.
#[test]
fn forall_visits_what_one_owns_upwards() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        for n in [0, 1, 5, 23] {
            let a = g.array_with::<usize, _, 1>([n], distribution.resized(n, g.size()));
            a.forall_mut(|i, x| *x = 3 * i + 1);
            let mut seen = Vec::new();
            a.forall(|i, x| {
                assert_eq!(x, 3 * i + 1);
                seen.push(i);
            });
            let owned: Vec<usize> = (0..n).filter(|&i| a.is_owned(i)).collect();
            assert_eq!(seen, owned, "{a:?}");
            assert!(a.indices().eq(owned.into_iter().map(|i| [i])), "{a:?}");
            assert!((0..n).filter(|&i| a.is_owned(i)).all(|i| a.get(i) == 3 * i + 1));
        }
    }
    everywhere(|g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(2));
        claim(g, BlockCyclic::new(100));
        claim(g, uneven(0, g.size()));
        claim(g, Tiles([3]));
    });
}

/// Visits a section, of which these are the indices.
fn visit<D: Distribution>(a: &Array<u32, D>, section: impl Section<1, At = usize>, indices: Vec<usize>) {
    let words = format!("{section:?} of {a:?}");
    let mut seen = Vec::new();
    a.forall_mut_in(section, |i, x| {
        *x += 1;
        seen.push(i);
    });
    let owned: Vec<usize> = indices.into_iter().filter(|&i| a.is_owned(i)).collect();
    assert_eq!(seen, owned, "{words}");
}

/// A3: bounds and strides, and downwards where the stride is negative.
#[test]
fn forall_keeps_to_bounds_and_strides_and_counts_down() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u32, _, 1>([23], distribution);
        visit(&a, .., (0..23).collect());
        visit(&a, 3..17, (3..17).collect());
        visit(&a, 22.., vec![22]);
        visit(&a, ..=4, (0..5).collect());
        visit(&a, 9..9, vec![]);
        visit(&a, 23.., vec![]);
        for by in [1, 2, 3, 5, 22, 23, 24, isize::MAX] {
            let up = |from: usize, end: usize| (from..end).step_by(by as usize).collect();
            let down = |from: usize, last: usize| (last..=from).rev().step_by(by as usize).collect();
            visit(&a, strided(.., by), up(0, 23));
            visit(&a, strided(6..=18, by), up(6, 19));
            visit(&a, strided(6..18, by), up(6, 18));
            visit(&a, strided(.., -by), down(22, 0));
            visit(&a, strided(18..=6, -by), down(18, 6));
            visit(&a, strided(18..6, -by), down(18, 7));
            visit(&a, strided(5.., -by), down(5, 0));
        }
        visit(&a, strided(.., isize::MIN), vec![22]);
        visit(&a, strided(4..4, -2), vec![]);
    }
    everywhere(|g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(4));
        claim(g, uneven(23, g.size()));
        claim(g, Tiles([4]));
    });
}

/// A2 and A3: in several dimensions a section has a range for each, and the last runs fastest.
#[test]
fn forall_visits_sections_of_several_dimensions_in_their_order() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<usize, _, 3>([4, 3, 5], distribution);
        let mut owned = Vec::new();
        a.forall_mut_in((.., .., ..), |at, x| {
            *x = 100 * at[0] + 10 * at[1] + at[2];
            owned.push(at);
        });
        assert!(owned.is_sorted() && owned.iter().all(|&at| a.is_owned(at)), "{a:?}");
        let mut places: Vec<_> = a.indices().collect();
        assert!(places.iter().enumerate().all(|(at, &place)| a.offset(place) >= at), "{a:?}");
        places.sort_unstable();
        assert_eq!(places, owned, "{a:?}");
        let mut seen = Vec::new();
        a.forall_mut_in((1..3, ..2, 1..4), |at, _| seen.push(at));
        owned.retain(|at| (1..3).contains(&at[0]) && at[1] < 2 && (1..4).contains(&at[2]));
        assert_eq!(seen, owned, "{a:?}");
        let mut seen = Vec::new();
        a.forall_mut_in((1..4, strided(.., -2), strided(4..=0, -2)), |at, x| {
            assert_eq!(*x, 100 * at[0] + 10 * at[1] + at[2]);
            *x = 0;
            seen.push(at);
        });
        let mut expected = Vec::new();
        for i in 1..4 {
            for j in [2, 0] {
                expected.extend([4, 2, 0].map(|k| [i, j, k]).into_iter().filter(|&at| a.is_owned(at)));
            }
        }
        assert_eq!(seen, expected, "{a:?}");
        a.forall_mut_in((2..2, .., ..), |at, _| panic!("{at:?} is in no section"));
        let left = g.step(|s| s.mirror(&a, (.., .., ..)));
        let is_hit = |i: usize, j: usize, k: usize| i >= 1 && j != 1 && k != 1 && k != 3;
        for (index, &value) in left.iter().enumerate() {
            let [i, j, k] = a.place(index);
            assert_eq!(value, if is_hit(i, j, k) { 0 } else { 100 * i + 10 * j + k }, "{a:?}");
        }
    }
    everywhere(|g| {
        claim(g, Block::new());
        claim(g, Block::<3>);
        claim(g, Cyclic::<2>);
        claim(g, BlockCyclic::<3>(4));
        claim(g, uneven(4, g.size()));
        claim(g, Tiles([3, 2]));
        claim(g, Tiles([2, 2, 2]));
    });
}
