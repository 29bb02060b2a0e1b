//! The check of conflicts: calls of two members in one step that get in each other's way.

use crate::{SEVERAL, SIZES, check, claims::checked, is_everybodys, on_sizes};
use superstep::{
    Any, Array, Block, BlockCyclic, Cyclic, Error, ErrorKind, Fold, Group, Leader, Max, Or, Same, Step, Sum, strided,
};

/// The conflict of a step, which all members have, and which is not the end of the group.
#[track_caller]
fn conflict(g: &mut Group, says: &[&str], body: impl Fn(&Step)) -> Error {
    let error = g.try_step(|s| body(s)).expect_err("this is a conflict");
    check(&error, ErrorKind::Conflict, says);
    assert!(error.is_divergence());
    is_everybodys(g, &error);
    error
}

/// A line of this file, as errors name it.
fn at(line: u32) -> String {
    format!("({}:{line})", file!())
}

#[test]
fn two_ranks_that_write_one_element_are_named_with_both_lines_and_nothing_is_written() {
    checked(&SEVERAL, |g| {
        let (a, last) = (g.array::<u64, Block>(40), g.size() - 1);
        a.forall_mut(|i, x| *x = i as u64);
        let line = line!();
        let write = |s: &Step| match s.rank() {
            0 => s.update(&a, 17..18, &[1]),
            rank if rank == last => s.scatter(&a, &[3, 17, 9], &[7, 8, 9], Any),
            rank => s.update(&a, 20 + rank..21 + rank, &[5]), // elsewhere
        };
        let (by, its_by) = (format!("by rank 0 {}", at(line + 2)), format!("and by rank {last} {}", at(line + 3)));
        let step = format!("step {} of group 0: element 17 of the array", g.steps());
        conflict(g, &[&step, "was written", &by, &its_by, "without an operator"], write);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), (0..40).collect::<Vec<u64>>());
        // The group goes on, with everything that it has.
        g.step(|s| {
            if s.rank() == last {
                write(s);
            }
        });
        assert_eq!(g.step(|s| s.gather(&a, &[3, 17, 9])), [7, 8, 9]);
    });
}

#[test]
fn every_verb_that_writes_without_an_operator_is_seen_whatever_the_values() {
    checked(&[2, 3, 4, 17], |g| {
        let (a, b): (Array<u16, Cyclic>, Array<u16, BlockCyclic>) = (g.array(60), g.array_with([60], BlockCyclic(7)));
        let verbs: [&dyn Fn(&Step); 7] = [
            &|s| s.update(&a, strided(30..40, 3), &[0; 4]),
            &|s| s.update_with(&a, 20..50, &[0; 30], Any),
            &|s| s.scatter_one(&a, &[59, 33], 0, Any),
            &|s| s.scatterer(&a, Any).push(33, 0),
            &|s| s.scatterer_one(&a, 0, Any).push(33),
            &|s| s.scatter_from(0, &a, (s.rank() == 0).then_some(&[0; 60])),
            &|s| s.assign(&a, &b),
        ];
        for (number, verb) in verbs.into_iter().enumerate() {
            let is_collective = number >= 5;
            // Whoever owns element 33 of b assigns it; somebody else writes it besides.
            let other = if number == 6 { g.size() - 1 - 33 / 7 % g.size() } else { 1 };
            if number == 6 && other == 33 / 7 % g.size() {
                continue;
            }
            conflict(g, &["element 33 of the array"], |s| {
                if is_collective || s.rank() == 0 {
                    verb(s);
                }
                if s.rank() == other {
                    s.update(&a, 33..34, &[0]);
                }
            });
        }
    });
}

/// Writes that follow each other in memory are told apart where they were made on two lines.
#[test]
fn of_rows_that_were_written_on_several_lines_the_right_one_is_named() {
    checked(&[2, 3, 4], |g| {
        let a = g.array_with::<u64, _, 2>([8, 64], Block::new());
        let line = line!();
        let error = conflict(g, &["element 64 of the array"], |s| {
            if s.rank() == 0 {
                s.update(&a, (0..1, ..), &[1; 64]);
                s.update(&a, (1..2, ..), &[2; 64]);
                s.update(&a, (2..3, ..), &[3; 64]);
            } else if s.rank() == 1 {
                s.update(&a, (1..2, ..), &[4; 64]);
            }
        });
        check(&error, ErrorKind::Conflict, &[&at(line + 4), &at(line + 7)]);
    });
}

#[test]
fn long_writes_are_seen_and_leave_the_array_as_it_was() {
    checked(&[2, 3, 4], |g| {
        let len = 100_000 * g.size();
        let a = g.array::<u64, Block>(len);
        a.forall_mut(|i, x| *x = i as u64);
        let both = vec![1; len];
        conflict(g, &["element 0 of the array", "by rank 0", "by rank 1"], |s| {
            if s.rank() < 2 {
                s.update(&a, .., &both);
            }
        });
        let places: Vec<usize> = (50_000..len).collect();
        conflict(g, &["element 50000 of the array"], |s| match s.rank() {
            0 => s.scatter(&a, &places, &both[50_000..], Any),
            1 => s.scatter_one(&a, &places, 3, Any),
            _ => {}
        });
        a.forall(|i, x| assert_eq!(x, i as u64));
        g.step(|s| {
            if s.rank() == 1 {
                s.update(&a, .., &both);
            }
        });
        a.forall(|_, x| assert_eq!(x, 1));
    });
}

#[test]
fn a_section_of_several_dimensions_is_seen_where_it_overlaps_and_only_there() {
    checked(&SEVERAL, |g| {
        let a: Array<u8, Block, 2> = g.array_with([9, 9], Block);
        g.step(|s| match s.rank() {
            0 => s.update(&a, (2..5, 2..5), &[1; 9]),
            1 => s.update(&a, (5..9, 0..9), &[2; 36]),
            _ => {}
        });
        conflict(g, &["element 40 of the array"], |s| match s.rank() {
            0 => s.update(&a, (2..5, 2..5), &[1; 9]),
            1 => s.update(&a, (4..6, 4..6), &[2; 4]),
            _ => {}
        });
    });
}

/// No false alarm: what is right without the check is right with it.
#[test]
fn operators_disjoint_writes_and_a_rank_that_writes_twice_are_no_conflict() {
    checked(&SIZES, |g| {
        let (p, me) = (g.size(), g.rank());
        let (a, b) = (g.array::<u64, Block>(3 * p), g.array::<u64, Cyclic>(p).combining(Sum));
        g.step(|s| {
            s.update(&b, .., &vec![1; p]);
            s.scatter(&a, &[0, 0], &[2, 3], Sum);
            s.update_with(&a, 1..3, &[me as u64, 8], Max);
        });
        assert_eq!(g.step(|s| s.mirror(&b, ..)), vec![p as u64; p]);
        assert_eq!(g.step(|s| s.mirror(&a, ..3)), [5 * p as u64, p as u64 - 1, 8]);
        g.step(|s| {
            // The same element twice, and as the last of one and the first of the next.
            s.scatter(&a, &[me, me], &[1, 2], Any);
            s.update(&a, me..me + 1, &[3]);
            s.scatter_one(&a, &[p + me], 4, Any);
        });
        g.step(|s| {
            // One of them is without an operator, and comes first.
            s.scatter_one(&a, &[0], 1, Sum);
            if s.rank() == p - 1 {
                s.scatter_one(&a, &[0], 10, Any);
            }
        });
        assert_eq!(g.step(|s| s.gather(&a, &[0, p])), [10 + p as u64, 4]);
        g.step(|s| {
            s.scatter_one(&a, &[1], 6, Same);
            s.scatter_one(&a, &[2], me as u64, Leader);
            s.scatter_one(&a, &[0], 7, Or);
            s.scatter_one(&a, &[p], 7, Fold(|x: &mut u64, y: &u64| *x += y));
        });
        // In steps that follow each other, everybody may write the same.
        for rank in 0..p {
            g.step(|s| {
                if s.rank() == rank {
                    s.update(&a, .., &vec![rank as u64; 3 * p]);
                }
            });
        }
        assert_eq!(g.step(|s| s.mirror(&a, ..)), vec![p as u64 - 1; 3 * p]);
    });
}

#[test]
fn a_permutation_that_names_an_element_twice_is_none() {
    checked(&SIZES, |g| {
        let n = 4 * g.size();
        let (a, b, to) = (g.array::<u32, Block>(n), g.array::<u32, Cyclic>(n), g.array::<usize, Block>(n));
        a.forall_mut(|i, x| *x = i as u32);
        to.forall_mut(|i, place| *place = n - 1 - i);
        g.step(|s| s.permute(&b, &a, &to));
        // Twice on one processor, and twice on the first and the last.
        for (one, other) in [(1, 2), (1, n - 1)] {
            to.forall_mut(|i, place| *place = if i == other { n - 1 - one } else { n - 1 - i });
            let line = at(line!() + 3);
            let owner = other / 4;
            let names = format!("for element {one} of rank 0 and for element {other} of rank {owner}");
            let body = |s: &Step| s.permute(&b, &a, &to);
            let element = format!("element {} of the array", n - 1 - one);
            conflict(g, &[&element, "named twice by a permutation", &names, &line], body);
        }
        b.forall(|i, x| assert_eq!(x, (n - 1 - i) as u32));
    });
}

#[test]
fn puts_of_two_ranks_that_overlap_are_named_with_what_they_both_write() {
    checked(&SEVERAL, |g| {
        let (area, last) = (g.area::<u16>(20), g.size() - 1);
        area.local_mut().fill(9);
        let line = line!();
        let put = |s: &Step| match s.rank() {
            0 => s.put(last, &[1; 8], &area, 2),
            1 => s.hp_put(last, vec![2; 5], &area, 7),
            _ => {}
        };
        let (by, its_by) = (format!("by rank 0 {}", at(line + 2)), format!("by rank 1 {}", at(line + 3)));
        let what = format!("elements 7 to 9 of what rank {last} has of the area of u16");
        let advice = "; write to different places, or in different steps";
        conflict(g, &[&what, "were written", &by, &its_by, advice], put);
        assert!(area.local().iter().all(|&value| value == 9));
        // One that reaches far, and one that lies in it, with others between them.
        conflict(g, &["element 15 of what rank 0 has"], |s| match s.rank() {
            0 => {
                s.put(0, &[1; 20], &area, 0);
                s.put(0, &[1; 3], &area, 4);
            }
            1 => s.put(0, &[1], &area, 15),
            _ => {}
        });
        // Side by side, twice by one rank, and to the same places of different ranks.
        g.step(|s| {
            let me = s.rank();
            s.put(last, &[me as u16], &area, me);
            s.put(last, &[me as u16; 1], &area, me);
            s.put(me, &[4; 2], &area, 18);
        });
        let here: Vec<u16> = (0..g.size() as u16).collect();
        assert!(g.rank() < last || area.local()[..here.len()] == here);
    });
}

/// However many there are, and in whatever order a sort leaves them.
#[test]
fn of_several_that_write_one_element_the_lowest_are_named() {
    checked(&SEVERAL, |g| {
        let (area, me) = (g.area::<u16>(2000), g.rank());
        conflict(g, &["element 100 of what rank 0 has", "by rank 0 (", "and by rank 1 ("], |s| {
            for i in 0..50 {
                s.put(0, &[1], &area, 100);
                s.put((me + i) % s.size(), &[1; 7], &area, 200 + 300 * (me % 5) + 5 * i);
            }
        });
        conflict(g, &["element 51 of what rank 0 has", "without a copy by rank 0 (", "and read by rank 1 ("], |s| {
            if s.rank() == 0 {
                s.hp_put(0, vec![1], &area, 51);
            } else {
                drop(s.get(0, &area, strided(1.., 2)));
            }
        });
    });
}

/// Each of them is one, and names each element once.
#[test]
fn two_permutations_of_one_line_are_two_that_write() {
    checked(&SEVERAL, |g| {
        let n = 4 * g.size();
        let (a, b) = (g.array::<u32, Block>(n), g.array::<u32, Cyclic>(n));
        let to = [g.array::<usize, Block>(n), g.array::<usize, Block>(n)];
        to[0].forall_mut(|i, place| *place = n - 1 - i);
        to[1].forall_mut(|i, place| *place = (i + 5) % n);
        let error = conflict(g, &["was written by rank", "without an operator"], |s| {
            for to in &to {
                s.permute(&b, &a, to);
            }
        });
        assert!(!error.to_string().contains("twice"), "{error}");
    });
}

#[test]
fn a_transfer_over_what_is_read_is_a_conflict_and_a_put_is_none() {
    checked(&SEVERAL, |g| {
        let (area, other) = (g.area::<u32>(30), g.area::<u32>(30));
        area.local_mut().fill(g.rank() as u32);
        let line = line!();
        let over_get = |s: &Step| match s.rank() {
            0 => s.hp_put(1, vec![7; 4], &area, 10),
            1 => drop(s.get(1, &area, 12..20)),
            _ => {}
        };
        let (by, its_by) =
            (format!("written without a copy by rank 0 {}", at(line + 2)), format!("read by rank 1 {}", at(line + 3)));
        let advice = "; read and write in different steps, or write with a copy";
        conflict(g, &["elements 12 to 13 of what rank 1 has", &by, &its_by, advice], over_get);
        conflict(g, &["element 5 of what rank 0 has", "read by rank 1"], |s| match s.rank() {
            0 => s.hp_get(1, &other, 0..6, &area, 0),
            1 => s.hp_get(0, &area, 5..9, &other, 10),
            _ => {}
        });
        // A swap reads and writes the same.
        conflict(g, &["elements 0 to 2"], |s| match s.rank() {
            0 => s.hp_put(1, (&area, 0..3), &area, 0),
            1 => s.hp_put(0, (&area, 0..3), &area, 0),
            _ => {}
        });
        // Two transfers to one place, of which one is a get.
        conflict(g, &["element 3 of what rank 0 has", "by rank 0", "by rank 1"], |s| match s.rank() {
            0 => s.hp_get(1, &other, 0..4, &area, 0),
            1 => s.hp_put(0, vec![1], &area, 3),
            _ => {}
        });
        assert!(area.local().iter().all(|&value| value == g.rank() as u32));
        let got = g.step(|s| {
            let got = s.get(0, &area, ..10);
            // A put comes after all reads, and these elements are not read.
            if s.rank() == 1 {
                s.put(0, &[8; 10], &area, 0);
                s.hp_put(0, vec![5], &area, 21);
            }
            let _ = s.get(0, &area, strided(20..30, 2));
            s.hp_get(0, &area, 10..20, &other, 0);
            got
        });
        assert_eq!(got, [0; 10]);
        assert!(g.rank() > 0 || (area.local()[..10] == [8; 10] && area.local()[21] == 5));
    });
}

#[test]
fn a_conflict_in_a_subgroup_is_that_subgroups() {
    checked(&[4, 7, 8], |g| {
        g.split(2, |h| {
            let (id, a) = (h.id(), h.array::<u8, Block>(5));
            let outcome = h.try_step(|s| {
                if s.rank() == 0 || s.rank() == 1 && id == 1 {
                    s.update(&a, 4..5, &[1]);
                }
            });
            match outcome {
                Ok(()) => assert_eq!(id, 0),
                Err(error) => check(&error, ErrorKind::Conflict, &["of group 0/1: element 4 of the array"]),
            }
        });
    });
}

#[test]
fn ranks_are_those_of_the_step_when_a_member_has_left() {
    checked(&[4, 7], |g| {
        g.split(1, |h| {
            let area = h.area::<u8>(4);
            if h.rank() == 1 {
                return;
            }
            let me = h.rank();
            let error = h
                .try_step(|s| {
                    if me == 0 || me == 2 {
                        s.put(3, &[1], &area, 0);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::Conflict, &["element 0 of what rank 3 has", "by rank 0", "by rank 2"]);
            let error = h
                .try_step(|s| {
                    if s.rank() < 2 {
                        s.put(2, &[1], &area, 0);
                    }
                })
                .unwrap_err();
            check(&error, ErrorKind::Conflict, &["element 0 of what rank 2 has", "by rank 0", "by rank 1"]);
        });
    });
}

#[test]
fn nobody_looks_for_conflicts_unless_asked() {
    on_sizes(&SEVERAL, |g| {
        let (a, area) = (g.array::<u64, Block>(4), g.area::<u64>(4));
        let (me, p) = (g.rank() as u64, g.size());
        g.step(|s| {
            s.update(&a, .., &[me; 4]);
            s.put(0, &[me], &area, 0);
            s.hp_put(1, vec![me], &area, 1);
            drop(s.get(1, &area, ..));
        });
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 4]);
        assert_eq!(g.step(|s| s.get(1, &area, 1..2)), [p as u64 - 1]);
    });
}
