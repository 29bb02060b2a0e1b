//! Areas come and go, and have the memory that they ask for (D1).

use crate::{SIZES, check, failing, here, is_everybodys, on_sizes};
use superstep::{Block, ErrorKind, Group};

/// D1: areas may be dropped and made in any order, as long as all do the same.
#[test]
fn areas_come_and_go() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let mut kept = Vec::new();
        for round in 0..20 {
            kept.push(g.area::<usize>(round % 3 + 1));
            if round % 3 == 2 {
                kept.remove(round % kept.len());
            }
            g.step(|s| {
                for (at, area) in kept.iter().enumerate() {
                    s.put((me + 1) % p, &[round * 100 + at], area, 0);
                }
            });
            for (at, area) in kept.iter().enumerate() {
                assert_eq!(area.local()[0], round * 100 + at);
            }
        }
    });
}

/// D1: a handle that one member has dropped does not matter to those who hold theirs.
#[test]
fn an_area_outlives_the_handles_of_others() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<usize>(2);
        let mut area = Some(area);
        for round in 0..p {
            // Everybody still puts to everybody; those without a handle have their part all the same.
            let got = g.step(|s| {
                let own = area.as_ref();
                for to in (0..p).filter(|_| own.is_some()) {
                    s.put(to, &[round + 1], own.unwrap(), 0);
                }
                own.map(|area| (0..p).map(|from| s.get(from, area, ..1)).collect::<Vec<_>>())
            });
            assert_eq!(got, area.as_ref().map(|_| vec![vec![round]; p]));
            if me == round {
                area = None;
            }
        }
        g.step(|_| ());
    });
}

/// D1: what is made and dropped again leaves nothing behind, and its number serves again.
#[test]
fn areas_and_variables_that_come_and_go_stay_apart() {
    on_sizes(&[1, 3], |g| {
        let kept = g.area::<u32>(1);
        kept.local_mut()[0] = 7;
        for round in 0..300u32 {
            let area = g.area::<u32>(2);
            let count = g.shared(0u32, superstep::Sum);
            g.step(|s| {
                s.put((s.rank() + 1) % s.size(), &[round], &area, 1);
                count.set(1);
            });
            assert_eq!((area.local()[1], count.get() as usize), (round, g.size()));
        }
        assert_eq!(kept.local()[0], 7);
    });
}

/// Far more than a page.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(4194304))]
struct Vast([[u8; 2048]; 2048]);

/// More than a page, in bytes that can be told apart.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8192))]
struct Wide([[u64; 32]; 32]);

/// X10.
#[test]
fn memory_is_aligned_as_its_elements_ask_for() {
    fn is_aligned<T>(values: &[T]) -> bool {
        // Of a reference the compiler takes it for granted.
        std::hint::black_box(values.as_ptr().addr()).is_multiple_of(align_of::<T>())
    }
    on_sizes(&[1, 2, 3], |g| {
        let areas: Vec<_> = (0..6).map(|len| g.area::<Vast>(1 + len % 2)).collect();
        assert!(areas.iter().all(|area| is_aligned(&area.local())));
        let (me, p) = (g.rank(), g.size());
        let area = g.area::<Wide>(3);
        let value = |rank: usize| Wide([[rank as u64; 32]; 32]);
        let got = g.step(|s| {
            s.put((me + 1) % p, &[value(me)], &area, 1);
            s.get((me + 1) % p, &area, ..)
        });
        assert!(is_aligned(&got) && is_aligned(&area.local()));
        assert_eq!(area.local()[1], value((me + p - 1) % p));
        let array = g.array::<Wide, Block>(2 * p);
        g.step(|s| s.update(&array, 2 * me..2 * me + 2, &[value(me); 2]));
        let all = g.step(|s| s.mirror(&array, ..));
        assert!(is_aligned(&all) && (0..2 * p).all(|at| all[at] == value(at / 2)));
    });
}

/// The list of misuse: memory that there is not is refused at the call, and the group goes on.
#[test]
fn an_area_without_memory_is_refused_at_the_callers_line() {
    for len in [usize::MAX, usize::MAX / 8, 1 << 58] {
        on_sizes(&[1, 2, 3], |g| {
            let (made, at) = (g.try_area::<u64>(len), here());
            let error = made.expect_err("there is no such memory");
            check(&error, ErrorKind::OutOfMemory, &[&at, "no memory", &len.to_string(), "u64"]);
            let area = g.area::<u64>(2);
            assert_eq!(*area.local(), [0, 0]);
        });
        // What one member has no memory for, none of them has.
        on_sizes(&[2, 3], |g| {
            let error = g.try_area::<u64>(if g.rank() == 1 { len } else { 1 }).expect_err("rank 1 has no such memory");
            check(&error, ErrorKind::OutOfMemory, &["rank 1 has no memory", &len.to_string()]);
            is_everybodys(g, &error);
        });
        let (at, claim) = (here(), |g: &mut Group| drop(g.area::<u64>(len)));
        failing(&[1, 3], claim, |context, error| {
            assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{context}: {error}");
            assert!(error.to_string().contains(&at), "{context}: {error}");
        });
    }
}
