//! Reading from arrays: mirrors and gathers, and everything that a boundary does together (A4, S1, S2).

use crate::{
    SIZES,
    arrays::{fill, uneven},
    everywhere, on_sizes,
};
use bytemuck::{Pod, Zeroable};
use superstep::{Any, Block, BlockCyclic, Cyclic, Distribution, Group, Irregular, Max, Sum, Tiles, strided};

/// S2 (d): also what others write, and what the owner writes after the call.
#[test]
fn mirrors_and_gathers_see_what_their_own_step_writes() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let (a, me, p) = (g.array_with::<usize, _, 1>([20], distribution), g.rank(), g.size());
        for round in 1..4 {
            let (early, late, gathered) = g.step(|s| {
                let early = (s.mirror(&a, 4..10), s.gather(&a, &[3, 3, 19, 0]));
                s.update(&a, 4..8, &[100 * round + me; 4]);
                s.scatter_one(&a, &[3, 8], 1, Sum);
                a.forall_mut(|i, x| {
                    if i == 9 {
                        *x = 50 * round;
                    }
                });
                (early, s.mirror(&a, strided(9..=3, -1)), s.gather(&a, &[9, 8, 4]))
            });
            let (sum, top) = (p * round, 50 * round);
            assert_eq!(early.0, [100 * round, 100 * round, 100 * round, 100 * round, sum, top], "{a:?}");
            assert_eq!(early.1, [sum, sum, 0, 0], "{a:?}");
            assert_eq!(late, [top, sum, 100 * round, 100 * round, 100 * round, 100 * round, sum], "{a:?}");
            assert_eq!(gathered, [top, sum, 100 * round], "{a:?}");
        }
    }
    on_sizes(&SIZES, |g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(3));
        claim(g, uneven(20, g.size()));
        claim(g, Tiles([6]));
    });
}

/// S2: one boundary in which an area is got, put to and read before, and an array is written and read after.
#[test]
fn a_get_sees_the_state_before_a_step_and_a_mirror_the_state_after() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (area, a) = (g.area::<usize>(1), g.array::<usize, Block>(p));
        for round in 1..4 {
            let (got, mirrored, gathered) = g.step(|s| {
                s.put((me + 1) % p, &[10 * round], &area, 0);
                s.update(&a, (me + 1) % p..=(me + 1) % p, &[10 * round]);
                (s.get((me + 1) % p, &area, ..), s.mirror(&a, ..), s.gather(&a, &[me]))
            });
            assert_eq!((got[0], gathered[0]), (10 * (round - 1), 10 * round));
            assert_eq!(mirrored, vec![10 * round; p]);
        }
    });
}

/// A4: in any order, as often as one likes, and more than there are elements; over messages whole parts travel then.
#[test]
fn a_gather_hands_back_what_it_was_asked_for_in_that_order() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let a = g.array_with::<u64, _, 1>([30], distribution);
        let me = g.rank();
        fill(&a, |i| 7 * i as u64 + 1);
        for count in [0, 1, 5, 29, 31, 300] {
            // Different for each rank; some have much of one owner and little of another.
            let at: Vec<usize> = (0..count).map(|i| if i % 4 == 3 { 2 } else { (i * i + 11 * me) % 30 }).collect();
            let expected: Vec<u64> = at.iter().map(|&i| 7 * i as u64 + 1).collect();
            let (listed, pushed) = g.step(|s| {
                let mut reads = s.gatherer(&a);
                for &i in &at {
                    reads.push(i);
                }
                (s.gather(&a, &at), reads.finish())
            });
            assert_eq!((&listed, &pushed), (&expected, &expected), "{count} of {a:?}");
        }
    }
    everywhere(|g| {
        claim(g, Block::new());
        claim(g, Cyclic::new());
        claim(g, BlockCyclic::new(4));
        claim(g, uneven(30, g.size()));
        claim(g, Tiles([7]));
    });
}

/// A4: an array of several dimensions takes the numbers of its elements in row-major order.
#[test]
fn gathers_and_scatters_name_elements_by_row_major_numbers() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let (a, p) = (g.array_with::<usize, _, 3>([3, 4, 2], distribution), g.size());
        fill(&a, |index| index);
        let places = [[2, 3, 1], [0, 0, 0], [1, 2, 1], [2, 3, 1]];
        let at = places.map(|place| a.index(place));
        let read = g.step(|s| {
            s.scatter(&a, &at, &[100, 200, 300, 400], Sum);
            s.gather(&a, &at)
        });
        assert_eq!(read, [23 + 500 * p, 200 * p, 13 + 300 * p, 23 + 500 * p], "{a:?}");
    }
    everywhere(|g| {
        claim(g, Block::<2>);
        claim(g, Cyclic::new());
        claim(g, uneven(3, g.size()));
        claim(g, Tiles([2, 3]));
        claim(g, Tiles([2, 2, 1]));
    });
}

/// S4: who reads is its own affair; those who read nothing serve all the same.
#[test]
fn one_member_may_read_alone() {
    on_sizes(&SIZES, |g| {
        let (a, me, p) = (g.array::<usize, Cyclic>(12), g.rank(), g.size());
        fill(&a, |i| i + 1);
        for reader in 0..p {
            let read = g.step(|s| (me == reader).then(|| (s.mirror(&a, strided(.., 5)), s.gather(&a, &[11]))));
            assert_eq!(read, (me == reader).then(|| (vec![1, 6, 11], vec![12])));
        }
        let read = g.step(|s| (0..me).map(|i| s.gather(&a, &[i % 12])).collect::<Vec<_>>());
        assert_eq!(read, (0..me).map(|i| vec![i % 12 + 1]).collect::<Vec<_>>());
    });
}

/// A4: the vector that comes back is the one that was given, and what was in it is gone.
#[test]
fn what_is_read_into_a_vector_keeps_its_room() {
    everywhere(|g| {
        let a = g.array::<u32, Block>(9);
        fill(&a, |i| i as u32);
        let mut given = Vec::with_capacity(40);
        given.extend([99; 20]);
        let room = (given.as_ptr(), given.capacity());
        let mut into = g.step(|s| s.mirror_into(&a, 2..5, given));
        assert_eq!((&into[..], into.as_ptr(), into.capacity()), (&[2, 3, 4][..], room.0, room.1));
        for round in 0..5 {
            into = g.step(|s| s.gather_into(&a, &[8, round, 8], into));
            assert_eq!((&into[..], into.as_ptr(), into.capacity()), (&[8, round as u32, 8][..], room.0, room.1));
        }
        // One that is too small grows.
        let grown = g.step(|s| s.mirror_into(&a, .., vec![5; 2]));
        assert_eq!(grown, (0..9).collect::<Vec<u32>>());
    });
}

/// S1: a value that nobody wants is no value, and a builder that is not finished asks for nothing.
#[test]
fn reads_that_nobody_waits_for_are_no_trouble() {
    everywhere(|g| {
        let (a, me) = (g.array::<u64, Cyclic>(7), g.rank());
        fill(&a, |i| i as u64);
        for _ in 0..3 {
            let kept = g.step(|s| {
                drop(s.mirror(&a, ..));
                drop(s.gather(&a, &[6, 0]));
                let mut dropped = s.gatherer(&a);
                dropped.push(3);
                let mut reads = s.gatherer(&a);
                reads.push(5);
                if me % 2 == 0 {
                    drop(s.gatherer(&a).finish());
                }
                (reads.finish(), s.mirror(&a, 1..3))
            });
            assert_eq!(kept, (vec![5], vec![1, 2]));
        }
    });
}

/// S2: what was read is a copy of that moment.
#[test]
fn later_writes_do_not_change_what_was_read() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(10);
        let mut kept = Vec::new();
        for round in 0..5 {
            kept.push(g.step(|s| {
                s.scatter_one(&a, &[0, 9], 1, Sum);
                (s.mirror(&a, ..), s.gather(&a, &[9]))
            }));
            a.forall_mut(|i, x| *x += usize::from(i == 4));
            let p = g.size();
            for (earlier, (all, last)) in kept.iter().enumerate() {
                assert_eq!((all[0], all[4], last[0]), (p * (earlier + 1), earlier, p * (earlier + 1)), "{round}");
            }
        }
    });
}

/// A1: any plain data is an element.
#[test]
fn elements_of_every_kind_travel_as_they_are() {
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    struct Body {
        place: [f32; 3],
        mass: f32,
        number: u64,
    }
    fn heavier(a: &mut Body, b: &Body) {
        if b.mass > a.mass {
            *a = *b;
        }
    }
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let bodies = g.array::<Body, Cyclic>(6).combining(heavier);
        let (bytes, wide) = (g.array::<u8, Block>(7), g.array::<u128, Block>(3));
        let body = |rank: usize| Body { place: [rank as f32, 0.5, -1.0], mass: 1.0 + rank as f32, number: rank as u64 };
        let (all, some, read_bytes, read_wide) = g.step(|s| {
            s.update(&bodies, strided(.., 2), &[body(me); 3]);
            s.scatter(&bodies, &[1, 5], &[body(me), body(0)], Any);
            s.scatter_one(&bodies, &[3], body(7), heavier);
            s.scatter_one(&bytes, &[1, 6], me as u8 + 1, Max);
            s.scatter(&wide, &[2], &[u128::MAX - me as u128], Any);
            (s.mirror(&bodies, ..), s.gather(&bodies, &[5, 4]), s.mirror(&bytes, ..), s.mirror(&wide, 1..))
        });
        let top = body(p - 1);
        assert_eq!(all, [top, body(0), top, body(7), top, body(0)]);
        assert_eq!(some, [body(0), top]);
        assert_eq!(read_bytes, [0, p as u8, 0, 0, 0, 0, p as u8]);
        assert_eq!(read_wide, [0, u128::MAX]);
    });
}

/// S2: everything that a step can ask for, in one step, over and over.
#[test]
fn arrays_go_together_with_everything_else_in_a_step() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let next = (me + 1) % p;
        let (a, b) = (g.array::<u64, Block>(11), g.array_with::<u32, _, 2>([5, 4], Tiles([2, 3])));
        let (area, queue, count) = (g.area::<u64>(2), g.queue::<u8, String>(), g.shared(0usize, Sum));
        let (mut sum, mut cells) = (0u64, [0u32; 20]);
        for round in 0..4u64 {
            let (sections, values, got, total) = g.step(|s| {
                s.put(next, &[round, me as u64], &area, 0);
                s.send(next, &queue, 1, format!("{me} in {round}"));
                count.set(1);
                s.scatter_one(&a, &[3, 10, 3], round, Sum);
                let values = s.gather(&a, &[3, 10]);
                s.update_with(&b, (strided(.., 2), 1..3), &[1; 6], Sum);
                let sections = (s.mirror(&b, (.., ..)), s.mirror(&b, (4..=4, strided(.., -1))));
                (sections, values, s.get(next, &area, ..1), s.reduce(round, Sum))
            });
            sum += round * p as u64;
            for (i, j) in [0, 2, 4].into_iter().flat_map(|i| [(i, 1), (i, 2)]) {
                cells[4 * i + j] += p as u32;
            }
            assert_eq!((values, total), (vec![2 * sum, sum], round * p as u64));
            assert_eq!(sections.0, cells);
            assert_eq!(sections.1, [cells[19], cells[18], cells[17], cells[16]]);
            assert_eq!((got[0], area.local()[0]), (round.saturating_sub(1), round));
            let from = (me + p - 1) % p;
            assert_eq!(queue.drain().collect::<Vec<_>>(), [(1, format!("{from} in {round}"))]);
            assert_eq!(count.get(), p);
        }
    });
}

/// A4: parts of several pages, so that nothing depends on their being short.
#[test]
fn long_lists_are_scattered_gathered_and_mirrored() {
    on_sizes(&[1, 2, 5], |g| {
        let (len, me, p) = (1 << 14, g.rank(), g.size());
        let a = g.array::<u64, Cyclic>(len);
        let at: Vec<usize> = (0..len).map(|i| (i * 5 + me) % len).collect();
        let values: Vec<u64> = at.iter().map(|&i| i as u64).collect();
        let (gathered, mirrored) = g.step(|s| {
            s.scatter(&a, &at, &values, Sum);
            (s.gather(&a, &at), s.mirror(&a, ..))
        });
        assert!(gathered.iter().zip(&at).all(|(&value, &i)| value == (p * i) as u64));
        assert!(mirrored.iter().enumerate().all(|(i, &value)| value == (p * i) as u64));
    });
}

/// A7: places beyond 2^32 in one part are found by every verb.
#[test]
fn a_part_may_have_more_than_4_giga_elements() {
    on_sizes(&[1, 2], |g| {
        let (n, p) = ((1usize << 32) + 10, g.size());
        let mut sizes = vec![0; p];
        sizes[p - 1] = n;
        let a = g.array_with::<u8, _, 1>([n], Irregular(sizes));
        assert_eq!((a.len(), a.owner(n - 1), a.offset(n - 1)), (n, p - 1, n - 1));
        let p = p as u8;
        let gathered = g.step(|s| {
            s.scatter(&a, &[1, n - 1, 1 << 32], &[1, 2, 3], Sum);
            s.scatter_one(&a, &[(1 << 32) - 1, 5], 4, Sum);
            s.gather(&a, &[n - 1, 1, 1 << 32, 0, (1 << 32) - 1, 5, 9])
        });
        assert_eq!(gathered, [2 * p, p, 3 * p, 0, 4 * p, 4 * p, 0]);
        let mirrored = g.step(|s| {
            s.update(&a, n - 3..n - 1, &[8, 9]);
            s.update(&a, strided(n - 4..=1, -(n as isize - 5)), &[7, 6]);
            (s.mirror(&a, n - 5..), s.mirror(&a, ..3))
        });
        assert_eq!(mirrored, (vec![0, 7, 8, 9, 2 * p], vec![0, 6, 0]));
    });
}

/// S2: a long broadcast takes a round of its own inside the boundary, and the questions of others wait for it.
#[test]
fn reads_and_a_long_broadcast_share_a_step() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let a = g.array::<u64, Block>(4 * p);
        let last = p - 1;
        let (gathered, mirrored, told) = g.step(|s| {
            s.scatter(&a, &[me], &[1], Sum);
            let read = (s.gather(&a, &[me]), s.mirror(&a, ..p));
            (read.0, read.1, s.broadcast(last, (me == last).then(|| vec![9u64; 4000])))
        });
        assert_eq!((gathered, mirrored, told), (vec![1], vec![1; p], vec![9; 4000]));
    });
}
