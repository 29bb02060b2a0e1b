//! Areas, puts and gets (D1).

use crate::{SIZES, check, everywhere, failing, here, on_sizes};
use superstep::ErrorKind;

/// D1 and S1.
#[test]
fn a_put_arrives_with_the_boundary_and_not_before() {
    on_sizes(&SIZES, |g| {
        let left = g.area::<u64>(1);
        let (me, p) = (g.rank() as u64, g.size() as u64);
        g.step(|s| {
            s.put((s.rank() + 1) % s.size(), &[me + 1], &left, 0);
            assert_eq!(left.local()[0], 0);
        });
        assert_eq!(left.local()[0], (me + p - 1) % p + 1);
    });
}

/// D1.
#[test]
fn an_area_has_its_own_length_on_every_processor() {
    on_sizes(&SIZES, |g| {
        let me = g.rank();
        let area = g.area::<u16>(me * 3);
        assert_eq!((area.len(), area.is_empty()), (me * 3, me == 0));
        assert!((0..g.size()).all(|rank| area.len_of(rank) == rank * 3));
        assert!(area.local().iter().all(|&value| value == 0));
        let got = g.step(|s| (0..s.size()).map(|from| s.get(from, &area, ..)).collect::<Vec<_>>());
        assert!(got.iter().enumerate().all(|(from, got)| *got == vec![0; from * 3]));
    });
}

/// S2 (b): a get sees the state before this step's puts, and the owner's own writes of this step.
#[test]
fn a_get_reads_before_any_put_is_written() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(3);
        for round in 0..4 {
            area.local_mut().fill(1000 * round + me);
            let got = g.step(|s| {
                let early: Vec<_> = (0..p).map(|from| s.get(from, &area, 0..2)).collect();
                for to in 0..p {
                    s.put(to, &[7, 8], &area, 1);
                }
                area.local_mut()[0] += 500;
                (early, s.get(me, &area, ..=1))
            });
            let expected = |from: usize| vec![1000 * round + from + 500, 1000 * round + from];
            assert_eq!(got, ((0..p).map(expected).collect(), expected(me)));
            assert_eq!(*area.local(), [1000 * round + me + 500, 7, 8]);
        }
    });
}

/// S3: by source rank and then by order of issue, so the last one stands.
#[test]
fn puts_to_one_place_are_applied_by_rank_and_then_by_order_of_issue() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(4);
        g.step(|s| {
            for to in (0..p).rev() {
                s.put(to, &[me, me, me], &area, 0);
                s.put(to, &[100 + me, 100 + me], &area, 1);
                if me == 0 {
                    s.put(to, &[5], &area, 3);
                }
            }
        });
        assert_eq!(*area.local(), [p - 1, 100 + p - 1, 100 + p - 1, 5]);
    });
}

/// D1: buffered on the side of the source.
#[test]
fn a_source_that_changes_after_the_put_sends_its_old_value() {
    everywhere(|g| {
        let (area, me) = (g.area::<usize>(2), g.rank());
        g.step(|s| {
            let mut value = [me + 1];
            s.put(me, &value, &area, 0);
            value[0] += 99;
            assert_eq!(value, [me + 100]);
            area.local_mut()[1] = 3;
            let copy = area.local().to_vec();
            s.put(me, &copy[1..], &area, 1);
            area.local_mut()[1] = 4;
        });
        assert_eq!(*area.local(), [me + 1, 3]);
    });
}

/// D1: on the side of the target as well: a get of this step is not seen by its puts.
#[test]
fn what_was_got_can_be_put_in_a_step_of_its_own() {
    everywhere(|g| {
        let (area, me, p) = (g.area::<u8>(1), g.rank(), g.size());
        area.local_mut()[0] = me as u8;
        let got = g.step(|s| s.get((me + 1) % p, &area, ..));
        g.step(|s| s.put(me, &got, &area, 0));
        assert_eq!(area.local()[0] as usize, (me + 1) % p);
    });
}

/// D1: whatever the element is, and however it is aligned.
#[test]
fn elements_of_every_size_travel_as_they_are() {
    everywhere(|g| {
        let (a, b, c) = (g.area::<u8>(7), g.area::<u128>(3), g.area::<[f32; 3]>(2));
        let (me, to) = (g.rank(), (g.rank() + 1) % g.size());
        let from = (me + g.size() - 1) % g.size();
        g.step(|s| {
            s.put(to, &[me as u8; 3], &a, 1);
            s.put(to, &[u128::MAX - me as u128], &b, 2);
            s.put(to, &[me as u8], &a, 6);
            s.put(to, &[[0.5, f32::NAN, me as f32]], &c, 1);
        });
        let f = from as u8;
        assert_eq!(*a.local(), [0, f, f, f, 0, 0, f]);
        assert_eq!(*b.local(), [0, 0, u128::MAX - from as u128]);
        assert_eq!(c.local()[1].map(f32::to_bits), [0.5f32, f32::NAN, from as f32].map(f32::to_bits));
        let got = g.step(|s| (s.get(to, &a, 1..), s.get(to, &b, 2..=2), s.get(to, &c, ..1)));
        assert_eq!((got.0[0], got.1[0], got.2), (me as u8, u128::MAX - me as u128, vec![[0.0; 3]]));
    });
}

/// D1: long ones too.
#[test]
fn a_megabyte_is_put_and_got() {
    on_sizes(&[1, 2, 3, 9], |g| {
        let (me, p, len) = (g.rank(), g.size(), 1 << 17);
        let area = g.area::<u64>(len);
        let values: Vec<u64> = (0..len as u64).map(|at| at * (me as u64 + 1)).collect();
        g.step(|s| s.put((me + 1) % p, &values, &area, 0));
        let from = ((me + p - 1) % p + 1) as u64;
        assert!(area.local().iter().enumerate().all(|(at, &value)| value == at as u64 * from));
        let got = g.step(|s| s.get((me + 1) % p, &area, ..));
        assert!(got == values);
    });
}

/// X1: what is refused has queued nothing, and the step goes on.
#[test]
fn bad_puts_and_gets_are_refused_at_the_call() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<u32>(3 + me);
        g.step(|_| ());
        g.step(|s| {
            let put = |to: usize, count: usize, offset: usize| {
                let values = vec![9; count];
                (s.try_put(to, &values, &area, offset).unwrap_err(), here())
            };
            let named = format!("rank {p} named in a group of {p}; ranks run from 0 to {}", p - 1);
            for (to, words) in [(p, named.as_str()), (p + 1, "named in a group"), (usize::MAX, "named in a group")] {
                let (error, place) = put(to, 1, 0);
                check(&error, ErrorKind::RankOutOfRange, &["step 2 of group 0: rank", words, &place]);
                assert!(error.is_misuse());
                let got = s.try_get(to, &area, 0..1).unwrap_err();
                check(&got, ErrorKind::RankOutOfRange, &["step 2 of group 0: rank", words, file!()]);
            }
            let last = p - 1;
            let there = format!("which has {} on rank {last}", 3 + last);
            for (count, offset, words) in [
                (1, 3 + last, "1 elements at offset"),
                (4 + last, 0, "end 1 beyond the area"),
                (2, 2 + last, "end 1 beyond the area"),
                (2, 3 + last, "end 2 beyond the area"),
                (1, usize::MAX, "end far beyond the area"),
                (2, usize::MAX - 1, "far beyond the area"),
                (2, usize::MAX, "far beyond the area"),
            ] {
                let (error, place) = put(last, count, offset);
                check(&error, ErrorKind::OutOfBounds, &["step 2 of group 0", words, &there, &place]);
            }
            for error in [
                s.try_get(last, &area, 0..4 + last).unwrap_err(),
                s.try_get(last, &area, usize::MAX - 1..usize::MAX).unwrap_err(),
                s.try_get(last, &area, 0..=usize::MAX).unwrap_err(),
                s.try_get(last, &area, ..=3 + last).unwrap_err(),
                s.try_get(last, &area, 4 + last..).unwrap_err(),
            ] {
                let has = format!("of {} elements, which is what the area has on rank {last}", 3 + last);
                check(&error, ErrorKind::OutOfBounds, &["step 2 of group 0", &has, file!()]);
            }
        });
        assert!(area.local().iter().all(|&value| value == 0));
    });
}

/// X1: a range that runs backwards is no section.
#[test]
fn a_section_that_runs_backwards_is_refused() {
    everywhere(|g| {
        let area = g.area::<u32>(3);
        g.step(|s| {
            #[allow(clippy::reversed_empty_ranges)]
            let error = s.try_get(0, &area, 2..1).unwrap_err();
            check(&error, ErrorKind::BadSection, &["step 1 of group 0: section 2..1 runs backwards", file!()]);
        });
    });
}

/// The section on puts in the list of misuse: nothing is a no-op, whatever else is wrong.
#[test]
fn a_put_of_nothing_is_no_put_even_to_nobody() {
    everywhere(|g| {
        let area = g.area::<u32>(2);
        g.step(|s| {
            s.put(usize::MAX, &[], &area, usize::MAX);
            s.put(s.size(), &[], &area, 0);
            s.hp_put(usize::MAX, vec![], &area, 9);
            s.hp_put(s.size(), (&area, 1..1), &area, 9);
        });
        assert_eq!(*area.local(), [0, 0]);
    });
}

/// The same for what is got.
#[test]
fn a_get_of_nothing_is_nothing_even_from_nobody() {
    everywhere(|g| {
        let area = g.area::<u32>(2);
        let got = g.step(|s| {
            s.hp_get(0, &area, 2..2, &area, 2);
            s.hp_get(99, &area, 7..7, &area, 9);
            (s.get(0, &area, 0..0), s.get(s.size() - 1, &area, 2..), s.get(99, &area, 1..1), s.get(0, &area, 9..9))
        });
        assert_eq!(got, (vec![], vec![], vec![], vec![]));
    });
}

/// X1: what is not tried but done ends the run, with the caller's line.
#[test]
fn a_bad_put_ends_the_run_with_its_line() {
    failing(
        &SIZES,
        |g| {
            let area = g.area::<u8>(1);
            g.step(|s| {
                if s.rank() == s.size() - 1 {
                    s.put(s.size(), &[1], &area, 0);
                }
            });
        },
        |_, error| check(&error, ErrorKind::RankOutOfRange, &["step 1 of group 0", "named in a group of", file!()]),
    );
    failing(
        &SIZES,
        |g| {
            let area = g.area::<u8>(1);
            g.step(|s| drop(s.get(0, &area, ..2)));
        },
        |_, error| {
            check(
                &error,
                ErrorKind::OutOfBounds,
                &["step 1 of group 0", "section ..2 of 1 elements", "on rank 0", file!()],
            );
        },
    );
    failing(
        &SIZES,
        |g| assert_eq!(g.area::<u8>(1).len_of(g.size()), 1),
        |_, error| check(&error, ErrorKind::RankOutOfRange, &["named in a group of", file!()]),
    );
}

/// X1.
#[test]
fn an_area_that_is_lent_twice_is_refused() {
    let lend: [fn(&superstep::Area<u8>); 3] = [
        |area| drop((area.local_mut(), area.local_mut())),
        |area| drop((area.local(), area.local_mut())),
        |area| drop((area.local_mut(), area.local())),
    ];
    for lend in lend {
        failing(
            &[1, 2, 3],
            |g| lend(&g.area::<u8>(1)),
            |_, error| check(&error, ErrorKind::StillBorrowed, &["step 1 of group 0", "area of u8", file!()]),
        );
    }
}

/// D1: a length is no borrow.
#[test]
fn lengths_can_be_asked_for_while_the_area_is_lent() {
    everywhere(|g| {
        let area = g.area::<u8>(3);
        let lent = area.local_mut();
        assert_eq!((area.len(), area.is_empty(), area.len_of(0), lent.len()), (3, false, 3, 3));
        assert!(format!("{area:?}").contains("3 elements"));
    });
}
