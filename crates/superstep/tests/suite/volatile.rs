//! Volatile variables and arrays (E7).

use crate::{SEVERAL, SIZES, check, failing, on_sizes};
use superstep::{ErrorKind, Group, Sum};

/// E7: no addition is lost, whatever the type.
#[test]
fn additions_of_everybody_are_all_there() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let owner = p - 1;
        let (small, word, float) = (g.volatile(owner, 250u8), g.volatile(0, -1i64), g.volatile(owner, 0.5f32));
        let wide = g.volatile(0, u128::MAX);
        let seen = g.epoch(|e| {
            (0..20)
                .map(|_| {
                    e.fetch_add(&small, 1);
                    e.fetch_add(&float, 0.5);
                    e.fetch_add(&wide, 1 << 70);
                    e.fetch_add(&word, 1)
                })
                .sum::<i64>()
        });
        let all = 20 * p as i64;
        // Each value was handed out once.
        assert_eq!(g.step(|s| s.reduce(seen, Sum)), (-1..all - 1).sum());
        g.epoch(|e| {
            assert_eq!(e.load(&small), 250u8.wrapping_add(all as u8));
            assert_eq!(e.load(&word), all - 1);
            assert_eq!(e.load(&float).to_bits(), (0.5 + 0.5 * all as f32).to_bits());
            assert_eq!(e.load(&wide), (all as u128 * (1 << 70)).wrapping_sub(1));
        });
    });
}

/// E7: sequential consistency. Of two who each set their own flag and then look at the other's, one sees it.
#[test]
fn of_two_who_set_flags_one_sees_the_other() {
    on_sizes(&[2, 3, 4], |g| {
        let me = g.rank();
        let flags = g.volatile_array(0, 2, 0u32);
        let other = g.volatile(1, 0u32);
        for round in 1..100 {
            let flag = |e: &superstep::Epoch, of: usize| if of == 0 { e.load(&flags.at(1)) } else { e.load(&other) };
            let seen = g.epoch(|e| {
                if me == 0 {
                    e.store(&flags.at(1), round);
                } else if me == 1 {
                    e.store(&other, round);
                }
                me > 1 || flag(e, 1 - me.min(1)) == round
            });
            let count = g.step(|s| s.reduce(u32::from(me < 2 && seen), Sum));
            assert!(count >= 1, "neither saw the other in round {round}");
        }
    });
}

/// E7: who waits for a value serves others.
#[test]
fn a_loop_over_loads_sees_what_is_stored() {
    on_sizes(&[1, 2, 3, 4], |g| {
        let (me, p) = (g.rank(), g.size());
        let turn = g.volatile(p / 2, 0usize);
        let object = g.object(me);
        g.epoch(|e| {
            while e.load(&turn) != me {}
            for to in 0..p {
                assert_eq!(e.call(to, &object, (), |rank, _, ()| *rank), to);
            }
            e.store(&turn, me + 1);
        });
        g.epoch(|e| assert_eq!(e.load(&turn), p));
    });
}

/// E7.
#[test]
fn one_exchange_wins() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank() as u64, g.size());
        for owner in 0..p {
            let place = g.volatile(owner, [0u64; 2]);
            let won = g.epoch(|e| match e.compare_exchange(&place, [0; 2], [1, me]) {
                Ok(before) => before == [0; 2],
                Err(now) => now[0] != 1,
            });
            assert_eq!(g.step(|s| s.reduce(u32::from(won), Sum)), 1);
        }
    });
}

/// E7: the value is the owner's.
#[test]
fn the_owner_says_what_it_is_at_first() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        for owner in 0..p {
            let array = g.volatile_array(owner, 3, me as u16);
            assert_eq!((array.len(), array.is_empty()), (3, false));
            g.epoch(|e| assert_eq!(e.load(&array.at(2)), owner as u16));
        }
    });
}

/// G6: those who stay go on with what one of them owns.
#[test]
fn the_owner_is_found_by_its_new_number_when_others_have_left() {
    on_sizes(&SEVERAL, |g| {
        let last = g.size() - 1;
        g.split(1, |sub| {
            let (array, small) = (sub.volatile_array(last, 2, 5u32), sub.volatile(last, [0u64; 3]));
            if sub.rank() == 0 {
                return;
            }
            sub.step(|_| ());
            sub.epoch(|e| e.fetch_add(&array.at(1), 1));
            sub.epoch(|e| {
                assert_eq!(e.load(&array.at(1)), 5 + e.size() as u32);
                assert_eq!(e.load(&small), [0; 3]);
            });
        });
    });
}

/// G6 and X1: what the leaver owned is gone, on every fabric.
#[test]
fn a_variable_whose_owner_has_left_is_refused() {
    let claim = |g: &mut Group| {
        g.split(1, |sub| {
            let variable = sub.volatile(0, 0u32);
            if sub.rank() == 0 {
                return;
            }
            sub.step(|_| ());
            sub.epoch(|e| e.store(&variable, 1));
        });
    };
    failing(&SEVERAL, claim, |_, error| check(&error, ErrorKind::Departed, &["of rank 0", "has left", file!()]));
}
