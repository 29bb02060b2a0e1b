//! Transfers straight from area to area (D1: `hp_put` and `hp_get`).

use crate::{SIZES, check, everywhere, here, on_sizes};
use superstep::{ErrorKind, Group, Weighted};

/// D1: a vector that is given away, and a section that counts as it is at the boundary.
#[test]
fn an_hp_put_moves_a_vector_or_a_section_at_the_boundary() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, source) = (g.area::<usize>(4), g.area::<usize>(2));
        let (next, last) = ((me + 1) % p, (me + p - 1) % p);
        g.step(|s| {
            s.hp_put(next, vec![me, me + 10], &area, 0);
            s.hp_put(next, (&source, 0..2), &area, 2);
            source.local_mut().fill(me + 20);
            assert_eq!(*area.local(), [0; 4]);
        });
        assert_eq!(*area.local(), [last, last + 10, last + 20, last + 20]);
        // What was moved here can be read from elsewhere, without having been touched by its owner.
        let got = g.step(|s| s.get(next, &area, ..));
        assert_eq!(got, [me, me + 10, me + 20, me + 20]);
    });
}

/// D1: also what is shorter than a word.
#[test]
fn a_byte_can_be_given_away() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<u8>(2);
        g.step(|s| s.hp_put((me + 1) % p, vec![1 + me as u8], &area, 1));
        assert_eq!(*area.local(), [0, 1 + ((me + p - 1) % p) as u8]);
    });
}

/// D1.
#[test]
fn an_hp_get_moves_a_section_here() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (from, into) = (g.area::<usize>(3), g.area::<usize>(3 * p));
        from.local_mut().fill(me);
        g.step(|s| {
            for other in 0..p {
                s.hp_get(other, &from, 1.., &into, 3 * other);
            }
            from.local_mut()[2] = 50 + me;
        });
        let expected: Vec<usize> = (0..p).flat_map(|other| [other, 50 + other, 0]).collect();
        assert_eq!(*into.local(), expected);
        let got = g.step(|s| s.get((me + 1) % p, &into, ..));
        assert_eq!(got, expected);
    });
}

/// D1 and S3: everything is read before anything is written.
#[test]
fn sections_can_be_swapped_in_place() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(100);
        area.local_mut().fill(me);
        let partner = p - 1 - me;
        g.step(|s| s.hp_put(partner, (&area, 0..100), &area, 0));
        assert_eq!(*area.local(), [partner; 100]);
        g.step(|s| s.hp_get(partner, &area, .., &area, 0));
        assert_eq!(*area.local(), [me; 100]);
        // Each half the other way round, in a ring.
        g.step(|s| {
            s.hp_put((me + 1) % p, (&area, 0..50), &area, 50);
            s.hp_get((me + 1) % p, &area, 50.., &area, 0);
        });
        assert_eq!(area.local()[..50], [(me + 1) % p; 50]);
        assert_eq!(area.local()[50..], [(me + p - 1) % p; 50]);
    });
}

/// D1 and S3.
#[test]
fn overlapping_chains_move_what_was_there_before() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(10);
        for (at, value) in area.local_mut().iter_mut().enumerate() {
            *value = me * 10 + at;
        }
        // A row of all processors' elements shifts up by three places, over the edges.
        g.step(|s| {
            s.hp_put(me, (&area, 0..7), &area, 3);
            s.hp_put((me + 1) % p, (&area, 7..10), &area, 0);
        });
        for (at, &value) in area.local().iter().enumerate() {
            assert_eq!(value, (me * 10 + at + p * 10 - 3) % (p * 10));
        }
        // And back, pulled.
        g.step(|s| {
            s.hp_get(me, &area, 3.., &area, 0);
            s.hp_get((me + 1) % p, &area, ..3, &area, 7);
        });
        for (at, &value) in area.local().iter().enumerate() {
            assert_eq!(value, me * 10 + at);
        }
    });
}

/// D1: a transfer to oneself is a transfer, and of one's own place to itself a change of nothing.
#[test]
fn transfers_to_oneself_work() {
    everywhere(|g| {
        let (me, area) = (g.rank(), g.area::<u8>(4));
        area.local_mut().copy_from_slice(&[1, 2, 3, 4]);
        g.step(|s| {
            s.hp_put(me, (&area, 0..4), &area, 0);
            s.hp_get(me, &area, .., &area, 0);
        });
        assert_eq!(*area.local(), [1, 2, 3, 4]);
        g.step(|s| {
            s.hp_put(me, (&area, 0..3), &area, 1);
            s.hp_get(me, &area, 3.., &area, 0);
        });
        assert_eq!(*area.local(), [4, 1, 2, 3]);
    });
}

/// S2 and S3: gets read first, then transfers are written, and puts over them.
#[test]
fn gets_transfers_and_puts_of_one_step_come_in_this_order() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, source) = (g.area::<usize>(6), g.area::<usize>(6));
        area.local_mut().fill(me);
        source.local_mut().fill(100 + me);
        let next = (me + 1) % p;
        let got = g.step(|s| {
            s.put(next, &[200 + me], &area, 0);
            s.hp_put(next, (&source, 0..4), &area, 0);
            s.hp_put(next, vec![300 + me], &area, 1);
            s.hp_get(next, &area, 0..2, &source, 2);
            s.put(next, &[400 + me], &source, 5);
            (s.get(next, &area, ..), s.get(next, &source, ..))
        });
        assert_eq!(got, (vec![next; 6], vec![100 + next; 6]));
        let last = (me + p - 1) % p;
        assert_eq!(*area.local(), [200 + last, 300 + last, 100 + last, 100 + last, me, me]);
        assert_eq!(*source.local(), [100 + me, 100 + me, next, next, 100 + me, 400 + last]);
    });
}

/// S3: of transfers to one place, one's own `hp_get`s come first and then what others put, by rank and order of issue.
#[test]
fn transfers_to_one_place_are_written_in_a_fixed_order() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, source) = (g.area::<usize>(3), g.area::<usize>(3));
        source.local_mut().copy_from_slice(&[me, 100 + me, 200 + me]);
        g.step(|s| {
            for to in (0..p).rev() {
                s.hp_put(to, (&source, 0..1), &area, 0);
                s.hp_put(to, (&source, 1..2), &area, 0);
            }
            s.hp_get((me + 1) % p, &source, 2.., &area, 0);
            s.hp_get((me + 1) % p, &source, 2.., &area, 1);
            s.hp_get((me + 2) % p, &source, 2.., &area, 1);
        });
        assert_eq!(*area.local(), [100 + p - 1, 200 + (me + 2) % p, 0]);
    });
}

/// S3: in the order of issue, whatever areas the sections are of.
#[test]
fn transfers_out_of_several_areas_keep_their_order() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, other) = (g.area::<usize>(3), g.area::<usize>(1));
        area.local_mut()[2] = 100 + me;
        other.local_mut()[0] = 200 + me;
        g.step(|s| {
            for to in 0..p {
                // The first area is named first, by another transfer, and is the source of the last of two.
                s.hp_put(to, (&area, 0..1), &area, 1);
                s.hp_put(to, (&other, 0..1), &area, 0);
                s.hp_put(to, (&area, 2..3), &area, 0);
            }
        });
        assert_eq!(*area.local(), [100 + p - 1, 0, 100 + me]);
        g.step(|s| {
            for to in 0..p {
                s.hp_put(to, (&area, 2..3), &area, 0);
                s.hp_put(to, (&other, 0..1), &area, 0);
            }
        });
        assert_eq!(*area.local(), [200 + p - 1, 0, 100 + me]);
    });
}

/// S3: one section may go to many places, and be pulled and pushed at once.
#[test]
fn one_section_may_be_read_by_all_while_it_is_written() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(p + 1);
        area.local_mut().fill(1000 + me);
        g.step(|s| {
            for other in 0..p {
                s.hp_put(other, (&area, 0..1), &area, me);
            }
            s.hp_get((me + 1) % p, &area, 0..1, &area, p);
        });
        let mut expected: Vec<usize> = (1000..1000 + p).collect();
        expected.push(1000 + (me + 1) % p);
        assert_eq!(*area.local(), expected);
    });
}

/// D1: long sections, also where they travel set aside.
#[test]
fn a_megabyte_is_moved_and_swapped() {
    on_sizes(&[2, 3, 9], |g| {
        let (me, p, len) = (g.rank(), g.size(), 1 << 17);
        let area = g.area::<u64>(len);
        for (at, value) in area.local_mut().iter_mut().enumerate() {
            *value = (me * len + at) as u64;
        }
        g.step(|s| s.hp_put((me + 1) % p, (&area, 0..len), &area, 0));
        let from = (me + p - 1) % p;
        assert!(area.local().iter().enumerate().all(|(at, &value)| value == (from * len + at) as u64));
        g.step(|s| s.hp_get((me + 1) % p, &area, .., &area, 0));
        assert!(area.local().iter().enumerate().all(|(at, &value)| value == (me * len + at) as u64));
        let vector = area.local().to_vec();
        g.step(|s| s.hp_put((me + 1) % p, vector, &area, 0));
        assert!(area.local().iter().enumerate().all(|(at, &value)| value == (from * len + at) as u64));
    });
}

/// D1 and S3: what is long takes another way between processors that share no memory, and ends as what is short does,
/// whatever overlaps what. Also in a group of which some share memory and some do not.
#[test]
fn long_transfers_end_as_short_ones_do() {
    on_sizes(&[1, 2, 3, 4, 5], |g| {
        move_long_and_short(g);
        if g.size() > 2 {
            g.split(Weighted(&[g.size() as f64 - 1.0, 1.0]), move_long_and_short);
        }
    });
}

/// Sections of two areas go to all places, some of them at once: once with short areas, and once with long ones, in
/// which many elements stand for one.
fn move_long_and_short(g: &mut Group) {
    const LEN: usize = 6;
    /// Two of so many elements are long enough, and one is not.
    const TIMES: usize = 5000;
    let (me, p) = (g.rank(), g.size());
    let short = [g.area::<u64>(LEN), g.area::<u64>(LEN)];
    let long = [g.area::<u64>(LEN * TIMES), g.area::<u64>(LEN * TIMES)];
    for (number, (short, long)) in short.iter().zip(&long).enumerate() {
        for at in 0..LEN {
            let value = (100 * me + 10 * number + at) as u64;
            short.local_mut()[at] = value;
            long.local_mut()[at * TIMES..(at + 1) * TIMES].fill(value);
        }
    }
    let mut dice = 7 * me + 1;
    let mut roll = |sides: usize| {
        dice = dice * 1_103_515_245 % 2_147_483_648 + 12_345;
        dice / 1000 % sides
    };
    for _ in 0..12 {
        g.step(|s| {
            for _ in 0..roll(4) {
                let (to, from, into) = (roll(p), roll(2), roll(2));
                let (first, len) = (roll(LEN - 3), 1 + roll(3));
                let at = roll(LEN - len + 1);
                s.hp_put(to, (&short[from], first..first + len), &short[into], at);
                let section = first * TIMES..(first + len) * TIMES;
                s.hp_put(to, (&long[from], section), &long[into], at * TIMES);
            }
        });
        for (short, long) in short.iter().zip(&long) {
            for (at, &value) in short.local().iter().enumerate() {
                assert!(long.local()[at * TIMES..(at + 1) * TIMES].iter().all(|&x| x == value));
            }
        }
    }
}

/// X1.
#[test]
fn bad_transfers_are_refused_at_the_call() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let (area, short) = (g.area::<u8>(4), g.area::<u8>(2));
        area.local_mut().fill(1);
        g.step(|s| {
            let named = format!("rank {p} named in a group of {p}");
            let (error, place) = (s.try_hp_put(p, vec![9], &area, 0).unwrap_err(), here());
            check(&error, ErrorKind::RankOutOfRange, &["step 2 of group 0", &named, &place]);
            let (error, place) = (s.try_hp_put(p, (&area, 0..1), &area, 0).unwrap_err(), here());
            check(&error, ErrorKind::RankOutOfRange, &["step 2 of group 0", &named, &place]);
            let (error, place) = (s.try_hp_get(p, &area, 0..1, &area, 0).unwrap_err(), here());
            check(&error, ErrorKind::RankOutOfRange, &["step 2 of group 0", &named, &place]);
            for (error, words) in [
                (s.try_hp_put(0, vec![9; 3], &short, 0), "3 elements at offset 0 end 1 beyond"),
                (s.try_hp_put(0, vec![9], &short, usize::MAX), "far beyond"),
                (s.try_hp_put(0, (&area, 0..3), &short, 0), "3 elements at offset 0 end 1 beyond"),
                (s.try_hp_put(0, (&area, 0..5), &area, 0), "section 0..5 of 4 elements"),
                (s.try_hp_put(0, (&area, 0..2), &area, usize::MAX), "far beyond"),
                (s.try_hp_get(0, &area, 0..5, &area, 0), "section 0..5 of 4 elements"),
                (s.try_hp_get(0, &area, 0..3, &short, 0), "3 elements at offset 0 end 1 beyond"),
                (s.try_hp_get(0, &area, 0..3, &short, usize::MAX - 1), "far beyond"),
            ] {
                check(&error.unwrap_err(), ErrorKind::OutOfBounds, &["step 2 of group 0", words, file!()]);
            }
        });
        assert_eq!((&*area.local(), &*short.local()), (&[1u8; 4][..], &[0u8; 2][..]));
    });
}
