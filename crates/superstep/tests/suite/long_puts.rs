//! Puts that are long enough to go straight from memory to memory where members share none (D1, S3).

use crate::{SEVERAL, everywhere, on_sizes};
use superstep::{Block, Fold, Sum};

/// So many words are carried.
const LONG: usize = 10_000;

/// A number that looks random, and is the same on every processor.
fn mix(seed: usize) -> usize {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as usize
}

/// The puts of one member to another in one step: where each goes, how long it is, and what it brings.
fn puts(round: usize, from: usize, to: usize) -> Vec<(usize, usize, usize)> {
    let number = |put: usize, what: usize| mix(((round * 64 + from) * 64 + to) * 64 + put * 4 + what);
    let one = |put: usize| {
        let len = if number(put, 0).is_multiple_of(3) { 1 + number(put, 1) % 50 } else { LONG };
        (number(put, 2) % (4 * LONG - len), len, 1 + number(put, 3))
    };
    (0..number(0, 0) % 7).map(one).collect()
}

/// S3: by the rank of the source and then by order of issue, whatever meets whatever.
#[test]
fn long_and_short_puts_that_meet_are_applied_by_rank_and_order_of_issue() {
    on_sizes(&[1, 2, 3, 4, 5], |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, mut expected) = (g.area::<usize>(4 * LONG), vec![0; 4 * LONG]);
        for round in 0..6 {
            g.step(|s| {
                for to in 0..p {
                    for (at, len, value) in puts(round, me, to) {
                        if value % 4 == 0 {
                            s.hp_put(to, vec![value; len], &area, at);
                        } else {
                            s.put(to, &vec![value; len], &area, at);
                        }
                    }
                }
            });
            for from in 0..p {
                for (at, len, value) in puts(round, from, me) {
                    expected[at..at + len].fill(value);
                }
            }
            assert!(*area.local() == expected, "round {round}");
        }
    });
}

/// D1: what a put brings is what the source held when it was issued.
#[test]
fn a_source_may_change_as_soon_as_a_long_put_was_issued() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (area, mut values) = (g.area::<[u8; 3]>(3 * LONG), vec![[0; 3]; 3 * LONG]);
        for round in 0..3 {
            g.step(|s| {
                values.fill([round, 1, me as u8]);
                s.put((me + 1) % p, &values, &area, 0);
                values.fill([9; 3]);
            });
            assert!(area.local().iter().all(|&value| value == [round, 1, ((me + p - 1) % p) as u8]));
        }
    });
}

/// S2: gets read before transfers and puts, transfers go before puts, and mirrors read what arrays were written.
#[test]
fn all_that_is_long_can_be_in_one_step_and_keeps_its_order() {
    on_sizes(&SEVERAL[..4], |g| {
        let (me, p) = (g.rank(), g.size());
        let (next, left) = ((me + 1) % p, (me + p - 1) % p);
        let (area, source) = (g.area::<usize>(2 * LONG), g.area::<usize>(2 * LONG));
        let a = g.array::<usize, Block>(LONG * p);
        for round in 1..4 {
            area.local_mut().fill(me);
            source.local_mut().fill(100 * round + me);
            let (got, mirrored) = g.step(|s| {
                s.put(next, &vec![200 * round + me; LONG], &area, LONG / 2);
                s.hp_put(next, (&source, 0..2 * LONG), &area, 0);
                s.update_with(&a, next * LONG..(next + 1) * LONG, &vec![round; LONG], Sum);
                (s.get(next, &area, ..), s.mirror(&a, next * LONG..(next + 1) * LONG))
            });
            assert!(got == vec![next; 2 * LONG]);
            assert!(mirrored == vec![round * (round + 1) / 2; LONG]);
            let area = area.local();
            let of_put = LONG / 2..LONG + LONG / 2;
            let expected = |at| if of_put.contains(&at) { 200 * round + left } else { 100 * round + left };
            assert!((0..2 * LONG).all(|at| area[at] == expected(at)));
        }
    });
}

/// The same where an operator may refuse, so that arrays are written for the time being first.
#[test]
fn a_long_put_goes_with_writes_that_may_be_refused() {
    on_sizes(&SEVERAL[..4], |g| {
        let (me, p) = (g.rank(), g.size());
        let (next, left) = ((me + 1) % p, (me + p - 1) % p);
        let area = g.area::<usize>(LONG);
        let a = g.array::<usize, Block>(LONG * p);
        for round in 1..4 {
            g.step(|s| {
                s.put(next, &vec![round + me; LONG], &area, 0);
                s.update_with(&a, next * LONG..(next + 1) * LONG, &vec![round; LONG], Fold(|x, y| *x += y));
            });
            assert!(area.local().iter().all(|&value| value == round + left));
            assert!(a.local().iter().all(|&value| value == round * (round + 1) / 2));
        }
    });
}
