//! Whole arrays: redistribution, permutations, to and from one processor (A6), and import by subgroups (G7).

use crate::{SEVERAL, SIZES, array_life::inside, check, failing, here, on_sizes};
use superstep::{
    Array, Block, BlockCyclic, By, Cyclic, Distribution, Element, Error, ErrorKind, Every, Group, Irregular, Local,
    Sum, Tiles, Weighted,
};

/// Sizes for claims with many steps.
const FEW: [usize; 4] = [1, 2, 3, 7];

fn all<T: Element, D: Distribution, const N: usize>(g: &mut Group, a: &Array<T, D, N>) -> Vec<T> {
    let indices: Vec<usize> = (0..a.len()).collect();
    g.step(|s| s.gather(a, &indices))
}

fn fill<D: Distribution, const N: usize>(a: &Array<u64, D, N>) {
    let indices: Vec<Option<usize>> = (0..a.local().len()).map(|offset| a.global(offset)).collect();
    for (x, index) in a.local_mut().iter_mut().zip(indices) {
        *x = index.map_or(u64::MAX, |index| 7 * index as u64 + 3);
    }
}

fn expected(len: usize) -> Vec<u64> {
    (0..len as u64).map(|index| 7 * index + 3).collect()
}

/// Sizes that leave the first with nothing.
fn uneven(len: usize, p: usize) -> Irregular {
    let mut sizes = vec![0; p];
    for index in 0..len {
        sizes[p - 1 - index % p.div_ceil(2)] += 1;
    }
    Irregular(sizes)
}

fn assign_to_every_kind<D: Distribution>(g: &mut Group, src: &Array<u64, D>) {
    let (n, p) = (src.len(), g.size());
    fill(src);
    let block = g.array::<u64, Block>(n);
    let cyclic = g.array::<u64, Cyclic>(n);
    let dealt = g.array_with([n], BlockCyclic::new(3));
    let irregular = g.array_with([n], uneven(n, p));
    let tiles = g.array_with([n], Tiles([4]));
    g.step(|s| {
        s.assign(&block, src);
        s.assign(&cyclic, src);
        s.assign(&dealt, src);
        s.assign(&irregular, src);
        s.assign(&tiles, src);
    });
    assert_eq!(all(g, &block), expected(n));
    assert_eq!(all(g, &cyclic), expected(n));
    assert_eq!(all(g, &dealt), expected(n));
    assert_eq!(all(g, &irregular), expected(n));
    assert_eq!(all(g, &tiles), expected(n));
}

/// A6: from any distribution to any other.
#[test]
fn an_assignment_redistributes_between_any_two_distributions() {
    on_sizes(&FEW, |g| {
        for n in [0, 5, 100] {
            let p = g.size();
            let a = g.array::<u64, Block>(n);
            assign_to_every_kind(g, &a);
            let a = g.array::<u64, Cyclic>(n);
            assign_to_every_kind(g, &a);
            let a = g.array_with([n], BlockCyclic::new(2));
            assign_to_every_kind(g, &a);
            let a = g.array_with([n], uneven(n, p));
            assign_to_every_kind(g, &a);
            let a = g.array_with([n], Tiles([3]));
            assign_to_every_kind(g, &a);
        }
    });
}

/// A6, in several dimensions, where a tile's rows are short and padded.
#[test]
fn an_assignment_redistributes_in_several_dimensions() {
    on_sizes(&SIZES, |g| {
        let (rows, tiles) = (g.array_with([7, 5, 2], Block::new()), g.array_with([7, 5, 2], Tiles([3, 2])));
        let cells = g.array_with([7, 5, 2], Cyclic::<2>);
        fill(&rows);
        g.step(|s| s.assign(&tiles, &rows));
        assert_eq!(all(g, &tiles), expected(70));
        g.step(|s| s.assign(&cells, &tiles));
        assert_eq!(all(g, &cells), expected(70));
        g.step(|s| s.assign(&rows, &cells));
        assert_eq!(all(g, &rows), expected(70));
    });
}

/// A6 and S1: the source counts as it is at the call, so an array can be permuted in place.
#[test]
fn a_permutation_moves_every_element_also_in_place() {
    on_sizes(&SIZES, |g| {
        let n = 41;
        let (a, to) = (g.array::<u64, Cyclic>(n), g.array::<usize, Cyclic>(n));
        fill(&a);
        to.forall_mut(|i, place| *place = 5 * i % n);
        let b = g.array::<u64, Block>(n);
        g.step(|s| {
            s.permute(&b, &a, &to);
            s.permute(&a, &a, &to);
        });
        let mut turned = vec![0; n];
        for (i, x) in expected(n).into_iter().enumerate() {
            turned[5 * i % n] = x;
        }
        assert_eq!(all(g, &a), turned);
        assert_eq!(all(g, &b), turned);
    });
}

/// A6: the padding of tiles goes nowhere.
#[test]
fn a_permutation_of_tiles_leaves_their_padding_alone() {
    on_sizes(&SIZES, |g| {
        let (a, to) = (g.array_with([5, 3], Tiles([2, 2])), g.array_with([5, 3], Tiles([2, 2])));
        fill(&a);
        to.forall_mut_in((.., ..), |[i, j], place| *place = 14 - (3 * i + j));
        g.step(|s| s.permute(&a, &a, &to));
        let mut turned = expected(15);
        turned.reverse();
        assert_eq!(all(g, &a), turned);
    });
}

/// A6: one has it all, and gives it all.
#[test]
fn a_whole_array_goes_to_one_processor_and_comes_from_one() {
    on_sizes(&SIZES, |g| {
        let last = g.size() - 1;
        let (a, b) = (g.array_with([6, 4], Tiles([2, 3])), g.array_with([6, 4], Cyclic::<2>));
        fill(&a);
        let whole = g.step(|s| s.gather_to(last, &a));
        assert_eq!(whole, (g.rank() == last).then(|| expected(24)));
        g.step(|s| s.scatter_from(last, &b, whole.as_deref()));
        assert_eq!(all(g, &b), expected(24));
    });
}

/// A6 and G6: what one member cannot have because an owner leaves is everybody's error.
#[test]
fn where_an_owner_leaves_all_hear_that_nobody_has_the_whole() {
    let is_lost = |error: &Error| check(error, ErrorKind::Departed, &["left the group before this mirror", file!()]);
    let claim = |g: &mut Group| {
        let (me, last) = (g.rank(), g.size() - 1);
        inside(g, |sub| {
            let a = sub.array::<u8, Block>(2 * sub.size());
            if me != last {
                let whole = sub.try_step(|s| s.gather_to(0, &a));
                is_lost(&whole.expect_err("all who stay hear of it"));
            }
        });
    };
    failing(&[2, 3, 7], claim, |_, error| is_lost(&error));
}

/// A6 and S5: these are collective, and one who does not take part is seen.
#[test]
fn whole_array_verbs_are_every_members() {
    failing(
        &SEVERAL,
        |g| {
            let (a, b) = (g.array::<u8, Block>(4), g.array::<u8, Cyclic>(4));
            g.step(|s| {
                if s.rank() != 1 {
                    s.assign(&a, &b);
                }
            });
        },
        |_, error| check(&error, ErrorKind::CombineMismatch, &["the assignment of array 1 to array 0", "nothing"]),
    );
}

/// A6 and X1: shapes, distributions and indices that do not fit are refused, and nothing is queued.
#[test]
fn whole_array_verbs_refuse_what_does_not_fit() {
    on_sizes(&SIZES, |g| {
        let (a, b) = (g.array::<u64, Block>(4), g.array::<u64, Cyclic>(5));
        let (dealt, to) = (g.array_with([4], BlockCyclic::new(1)), g.array_with([4], BlockCyclic::new(2)));
        fill(&a);
        g.step(|s| {
            let (line, error) = (here(), s.try_assign(&a, &b).unwrap_err());
            check(&error, ErrorKind::BadLength, &["shape [4]", "shape [5]", &line]);
            let (line, error) = (here(), s.try_permute(&a, &dealt, &to).unwrap_err());
            check(&error, ErrorKind::BadDistribution, &["BlockCyclic(2)", "BlockCyclic(1)", &line]);
            let (line, error) = (here(), s.try_gather_to(s.size(), &a).map(drop).unwrap_err());
            check(&error, ErrorKind::RankOutOfRange, &[&line]);
        });
        let to = g.array::<usize, Block>(4);
        to.forall_mut(|i, place| *place = if i == 3 { 9 } else { i });
        let owner = to.owner(3);
        let outcome = g.try_step(|s| {
            let outcome = s.try_permute(&a, &a, &to);
            assert_eq!(outcome.is_err(), s.rank() == owner);
        });
        // Half a permutation is none.
        assert_eq!(outcome.is_err(), g.size() > 1);
        assert_eq!(all(g, &a), expected(4));
        // Nor is one of several stretches, of which the last is wrong.
        let (long, to) = (g.array_with([24], BlockCyclic::new(2)), g.array_with([24], BlockCyclic::new(2)));
        long.forall_mut(|i, x| *x = i as u64);
        to.forall_mut(|i, place| *place = if i == 23 { 99 } else { 23 - i });
        let owner = to.owner(23);
        let outcome = g.try_step(|s| {
            let outcome = s.try_permute(&long, &long, &to);
            assert_eq!(outcome.is_err(), s.rank() == owner);
            // Whoever was refused goes on in its step.
            if outcome.is_err() {
                s.update(&long, 0..1, &[70]);
            }
        });
        assert_eq!(outcome.is_err(), g.size() > 1);
        let first = if g.size() > 1 { 0 } else { 70 };
        assert_eq!(all(g, &long), (0..24).map(|i| if i == 0 { first } else { i }).collect::<Vec<_>>());
        let outcome = g.try_step(|s| {
            let outcome = s.try_scatter_from(0, &a, Some(&[1, 2]));
            assert_eq!(outcome.err().map(|error| error.kind()), (s.rank() == 0).then_some(ErrorKind::BadLength));
        });
        // Who was refused has made no call.
        assert_eq!(outcome.is_err(), g.size() > 1);
        assert_eq!(all(g, &a), expected(4));
    });
}

fn doubled_by_subgroups<D: Distribution>(g: &mut Group, a: &Array<u64, D>) {
    fill(a);
    let n = a.len();
    let (first, second) = (0..n / 3, n / 3 + n / 4..n);
    let sections = [first, second];
    let ids = g.split_on(
        2,
        a,
        |id| sections[id].clone(),
        |sub, part| {
            assert_eq!(part.len(), sections[sub.id()].len());
            let start = sections[sub.id()].start as u64;
            part.forall(|i, x| assert_eq!(x, 7 * (start + i as u64) + 3));
            // The subgroup communicates about its part.
            let total = sub.step(|s| s.reduce(part.local().iter().fold(0u64, |sum, &x| sum.wrapping_add(x)), Sum));
            part.forall_mut(|_, x| *x = x.wrapping_add(total));
            sub.id()
        },
    );
    assert_eq!(ids, Some(g.rank() % 2));
    let mut values = expected(n);
    for section in &sections[..g.size().min(2)] {
        let total: u64 = values[section.clone()].iter().sum();
        values[section.clone()].iter_mut().for_each(|x| *x += total);
    }
    assert_eq!(all(g, a), values);
}

/// G7: each subgroup has its section as an array of its own, which is written back; the rest stays.
#[test]
fn subgroups_import_sections_of_any_distribution() {
    on_sizes(&FEW, |g| {
        for n in [0, 3, 50] {
            let p = g.size();
            let a = g.array::<u64, Block>(n);
            doubled_by_subgroups(g, &a);
            let a = g.array::<u64, Cyclic>(n);
            doubled_by_subgroups(g, &a);
            let a = g.array_with([n], BlockCyclic::new(3));
            doubled_by_subgroups(g, &a);
            let a = g.array_with([n], uneven(n, p));
            doubled_by_subgroups(g, &a);
        }
    });
}

/// G7 with G2: with fewer processors than subgroups, each runs one after another and all are written back.
#[test]
fn every_subgroup_imports_its_section_one_after_another() {
    on_sizes(&SIZES, |g| {
        let a = g.array::<u64, Cyclic>(20);
        let mut seen = 0;
        g.split_on(
            Every(10),
            &a,
            |id| 2 * id..2 * id + 2,
            |sub, part| {
                part.forall_mut(|i, x| *x = (100 * sub.id() + i) as u64);
                seen += 1;
            },
        );
        assert!(seen >= 1);
        assert_eq!(all(g, &a), (0..20).map(|i| 100 * (i / 2) + i % 2).collect::<Vec<_>>());
    });
}

/// G7 with G3 and G4: zero weights and processors that skip import nothing.
#[test]
fn subgroups_that_do_not_run_import_nothing() {
    on_sizes(&SIZES, |g| {
        let a = g.array::<u64, Block>(9);
        let ran = g.split_on(
            Weighted(&[0.0, 1.0]),
            &a,
            |id| if id == 0 { 0..4 } else { 4..9 },
            |_, part| {
                part.local_mut().fill(1);
            },
        );
        assert!(ran.is_some());
        assert_eq!(all(g, &a), [0, 0, 0, 0, 1, 1, 1, 1, 1]);
        let me = g.rank();
        let ran = g.split_on(
            By(1, (me == 0).then_some(0)),
            &a,
            |_| 2..5,
            |sub, part| {
                assert_eq!(sub.size(), 1);
                part.local_mut().fill(8);
            },
        );
        assert_eq!(ran.is_some(), me == 0);
        assert_eq!(all(g, &a), [0, 0, 8, 8, 8, 1, 1, 1, 1]);
    });
}

/// G7, nested as deeply as there are processors: the quicksort of seed 003.
#[test]
fn a_nested_quicksort_sorts() {
    fn quicksort(g: &mut Group, a: &Array<u64, Block>) {
        let n = a.len();
        if n < 2 {
            return;
        }
        if g.size() == 1 {
            a.local_mut().sort_unstable();
            return;
        }
        let pivot = g.step(|s| s.mirror(a, n / 2..n / 2 + 1))[0];
        let count = |is: fn(&u64, &u64) -> bool| a.local().iter().filter(|x| is(x, &pivot)).count();
        let mine = [count(|x, p| x < p), count(|x, p| x == p), count(|x, p| x > p)];
        let (total, before) = g.step(|s| (mine.map(|n| s.reduce(n, Sum)), mine.map(|n| s.prefix(n, Sum))));
        let [less, equal, more] = total;
        let mut next = [before[0], less + before[1], less + equal + before[2]];
        let to = g.array::<usize, Block>(n);
        for (place, x) in to.local_mut().iter_mut().zip(a.local().iter()) {
            let class = 1 + usize::from(*x > pivot) - usize::from(*x < pivot);
            *place = next[class];
            next[class] += 1;
        }
        g.step(|s| s.permute(a, a, &to));
        let section = move |id: usize| if id == 0 { 0..less } else { less + equal..n };
        g.split_on(Weighted(&[less as f64, more as f64]), a, section, quicksort);
    }
    on_sizes(&SIZES, |g| {
        let n = 300;
        let a = g.array::<u64, Block>(n);
        let scramble = |i: usize| (i as u64 * 7919 + 13) % 101;
        a.forall_mut(|i, x| *x = scramble(i));
        quicksort(g, &a);
        let mut sorted: Vec<u64> = (0..n).map(scramble).collect();
        sorted.sort_unstable();
        assert_eq!(all(g, &a), sorted);
    });
}

/// G7 and X2: sections that overlap, that are none of the array's, or that differ between members.
#[test]
fn bad_imports_are_everybodys_error() {
    on_sizes(&SEVERAL, |g| {
        let a = g.array::<u8, Block>(8);
        let (line, error) = (here(), g.try_split_on(2, &a, |id| 3 * id..3 * id + 4, |_, _| ()).unwrap_err());
        check(&error, ErrorKind::ExportConflict, &["0..4", "3..7", &line]);
        let (line, error) = (here(), g.try_split_on(2, &a, |id| 0..9 * id, |_, _| ()).unwrap_err());
        check(&error, ErrorKind::SectionMismatch, &["subgroup 1", "0..9", "8", &line]);
        let me = g.rank();
        let (line, error) = (here(), g.try_split_on(1, &a, |_| 0..me.min(1), |_, _| ()).unwrap_err());
        check(&error, ErrorKind::SplitMismatch, &["[0..0]", "[0..1]", &line]);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 8]);
        let kinds = g.split(1, |sub| {
            let error = sub.try_split_on(1, &a, |_| 0..1, |_, _| ()).unwrap_err();
            check(&error, ErrorKind::NotMember, &["group 0"]);
            sub.step(|s| Local(s.try_mirror(&a, ..).unwrap_err().kind()))
        });
        assert_eq!(kinds, Some(ErrorKind::NotMember));
    });
}
