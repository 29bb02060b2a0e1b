//! Every collective call is told from every other (S5): one member calls the one and the rest another.

use crate::{is_everybodys, on_sizes};
use superstep::{
    Any, Array, Block, By, Checked, Cyclic, Each, Error, Every, Group, Max, Object, Same, Shared, Sum, Weighted,
};

/// What the calls are about.
struct Things {
    x: Shared<i32>,
    y: Shared<i32>,
    a: Array<u64, Block>,
    b: Array<u64, Block>,
    to: Array<usize, Block>,
    object: Object<u64>,
    other: Object<u64>,
}

/// Makes the call with this number. All of them are at one place, that of the macro's call, and so differ in nothing
/// but in what they are.
macro_rules! call {
    ($which:expr, $g:expr, $things:expr) => {{
        let (size, g, things): (usize, &mut Group, &Things) = ($g.size(), $g, $things);
        match $which {
            0 => g.try_step(|_| ()),
            1 => g.try_step(|s| drop(s.reduce(1u64, Sum))),
            2 => g.try_step(|s| drop(s.reduce(1u64, Max))),
            3 => g.try_step(|s| drop(s.reduce(1i64, Sum))),
            4 => g.try_step(|s| drop(s.reduce(1u64, Checked(Sum)))),
            5 => g.try_step(|s| drop(s.reduce_to(0, 1u64, Sum))),
            6 => g.try_step(|s| drop(s.reduce_to(1, 1u64, Sum))),
            7 => g.try_step(|s| drop(s.prefix(1u64, Sum))),
            8 => g.try_step(|s| drop(s.prefix_inclusive(1u64, Sum))),
            9 => g.try_step(|s| drop(s.prefix_inclusive(1u64, |sum: &mut u64, x: &u64| *sum += x))),
            10 => g.try_step(|s| drop((s.reduce(1u64, Sum), s.prefix(1u64, Sum)))),
            11 => g.try_step(|s| drop((s.prefix(1u64, Sum), s.reduce(1u64, Sum)))),
            12 => g.try_step(|s| s.combine(&things.x, Max)),
            13 => g.try_step(|s| s.combine(&things.y, Max)),
            14 => g.try_step(|s| s.combine(&things.x, Same)),
            15 => g.try_step(|s| drop(s.combine_prefix(&things.x, Max))),
            16 => g.try_step(|s| drop(s.combine_prefix(&things.y, Max))),
            17 => g.try_step(|s| drop(s.broadcast(0, Some(vec![1u64])))),
            18 => g.try_step(|s| drop(s.broadcast(1, Some(vec![1u64])))),
            19 => g.try_step(|s| drop(s.broadcast_slice(0, Some(&[1u64])))),
            20 => g.try_step(|s| drop(s.collect(vec![1u64]))),
            21 => g.try_step(|s| drop(s.collect_slice(&[1u64]))),
            22 => g.try_step(|s| drop(s.collect_to(0, vec![1u64]))),
            23 => g.try_step(|s| drop(s.collect_to(1, vec![1u64]))),
            24 => g.try_step(|s| drop(s.collect_slice_to(0, &[1u64]))),
            25 => g.try_step(|s| drop(s.deal(0, Some(vec![vec![1u64]; size])))),
            26 => g.try_step(|s| drop(s.deal(1, Some(vec![vec![1u64]; size])))),
            27 => g.try_step(|s| drop(s.deal_slices(0, Some(&vec![&[1u64][..]; size])))),
            28 => g.try_step(|s| drop(s.exchange(vec![vec![1u64]; size]))),
            29 => g.try_step(|s| drop(s.exchange_slices(&vec![&[1u64][..]; size]))),
            30 => g.try_step(|s| s.assign(&things.a, &things.b)),
            31 => g.try_step(|s| s.assign(&things.b, &things.a)),
            32 => g.try_step(|s| s.permute(&things.a, &things.b, &things.to)),
            33 => g.try_step(|s| s.gather_to(0, &things.a)).map(drop),
            34 => g.try_step(|s| s.gather_to(1, &things.a)).map(drop),
            35 => g.try_step(|s| s.scatter_from(0, &things.a, Some(&[9; 6]))),
            36 => g.try_step(|s| s.scatter_from(1, &things.a, Some(&[9; 6]))),
            37 => {
                let _made = g.shared(1u64, Sum);
                g.try_step(|_| ())
            }
            38 => {
                let _made = g.shared(1u64, Max);
                g.try_step(|_| ())
            }
            39 => {
                let _made = g.queue::<u64, u64>();
                g.try_step(|_| ())
            }
            40 => {
                let _made = g.object(1u64);
                g.try_step(|_| ())
            }
            41 => {
                let _made = g.volatile(0, 1u64);
                g.try_step(|_| ())
            }
            42 => {
                let _made = g.volatile_array(0, 2, 1u64);
                g.try_step(|_| ())
            }
            43 => {
                let _made = (g.shared(1u64, Sum), g.queue::<u64, u64>(), g.shared(1u64, Max));
                g.try_step(|_| ())
            }
            44 => g.try_area::<u64>(3).map(drop),
            45 => g.try_area::<i64>(3).map(drop),
            46 => g.try_array::<u64, Block>(6).map(drop),
            47 => g.try_array::<u64, Block>(7).map(drop),
            48 => g.try_array::<u64, Cyclic>(6).map(drop),
            49 => g.try_array_with::<u64, _, 2>([2, 3], Block::new()).map(drop),
            50 => g.try_paged::<u64, 1>([6], [2]).map(drop),
            51 => g.try_paged::<u64, 1>([6], [3]).map(drop),
            52 => g.try_split(2, |_| ()).map(drop),
            53 => g.try_split(3, |_| ()).map(drop),
            54 => g.try_split(Every(2), |_| ()).map(drop),
            55 => g.try_split(Every(5), |_| ()).map(drop),
            56 => g.try_split(Weighted(&[1.0, 1.0]), |_| ()).map(drop),
            57 => g.try_split(Weighted(&[1.0, 2.0]), |_| ()).map(drop),
            58 => g.try_split(By(2, Some(0)), |_| ()).map(drop),
            59 => g.try_split(By(3, Some(0)), |_| ()).map(drop),
            60 => g.try_split_on(2, &things.a, |id| id..id + 1, |_, _| ()).map(drop),
            61 => g.try_split_on(2, &things.a, |id| id..id + 2, |_, _| ()).map(drop),
            62 => g.try_split_on(2, &things.b, |id| id..id + 1, |_, _| ()).map(drop),
            63 => g.try_epoch(|_| ()),
            64 => g.try_epoch(|e| e.broadcast(0, &things.object, Some(1), |x, _, y| *x += y)),
            65 => g.try_epoch(|e| e.broadcast(1, &things.object, Some(1), |x, _, y| *x += y)),
            66 => g.try_epoch(|e| e.broadcast(0, &things.object, Some(1), |x, _, y| *x *= y)),
            67 => g.try_epoch(|e| e.reduce(&things.object, (), |x, _, ()| *x, Sum)).map(|_| ()),
            68 => g.try_epoch(|e| e.reduce(&things.object, (), |x, _, ()| *x, Max)).map(|_| ()),
            69 => g.try_epoch(|e| e.reduce(&things.object, (), |x, _, ()| *x + 1, Sum)).map(|_| ()),
            70 => g.try_epoch(|e| {
                for _ in 0..2 {
                    e.reduce(&things.object, (), |x, _, ()| *x, Sum);
                }
            }),
            71 => g.try_epoch(|e| e.reduce(&things.other, (), |x, _, ()| *x, Sum)).map(|_| ()),
            72 => g.try_epoch(|e| e.broadcast(0, &things.other, Some(1), |x, _, y| *x += y)),
            73 => g.try_step(|s| drop(s.reduce(vec![1u64], Each(Sum)))),
            74 => g.try_step(|s| drop(s.reduce(1u64, Any))),
            // Long enough to lie in one piece where memory is shared.
            75 => g.try_array::<u64, Block>(20_000).map(drop),
            76 => g.try_array::<u32, Block>(40_000).map(drop),
            77 => g.try_array::<u64, Cyclic>(20_001).map(drop),
            78 => {
                let _made = g.volatile_array(1, 3, [1u64; 2]);
                g.try_step(|_| ())
            }
            _ => unreachable!("there are no more calls"),
        }
    }};
}

const CALLS: usize = 79;

/// Calls that differ from one shortly before them in an argument alone; they are held against their neighbours.
const VARIANTS: [usize; 20] = [6, 11, 13, 16, 18, 23, 26, 31, 34, 36, 38, 42, 45, 47, 53, 57, 59, 61, 65, 70];

/// Whether the first member makes the one call while the rest make the other: in the smallest group both ways round.
fn is_tried(first: usize, rest: usize, size: usize) -> bool {
    let is_far = first.abs_diff(rest) > 3;
    let is_variant = VARIANTS.contains(&first) || VARIANTS.contains(&rest);
    let is_this_way = size == 2 || (first < rest) == (first + rest).is_multiple_of(2);
    first != rest && !(is_far && is_variant) && is_this_way
}

/// The first member makes one call, and everybody else the other.
fn call_apart(g: &mut Group, first: usize, rest: usize, things: &Things) -> Error {
    let which = if g.rank() == 0 { first } else { rest };
    let outcome: Result<(), Error> = call!(which, g, things);
    outcome.err().unwrap_or_else(|| panic!("calls {first} and {rest} went together on rank {}", g.rank()))
}

/// Holds that nothing of a call has taken effect and that everything can still be used.
fn goes_on(g: &mut Group, things: &Things, round: u64) {
    let (size, rank) = (g.size() as u64, g.rank() as u64);
    assert_eq!((things.x.get(), things.object.with(|x| *x)), (7, 7));
    let (below, all) = g.step(|s| {
        things.x.set(7);
        s.update(&things.a, .., &[round; 6]);
        (s.prefix(rank, Sum), s.collect(rank))
    });
    assert_eq!((below, all), ((0..rank).sum(), (0..size).collect::<Vec<_>>()));
    assert_eq!(g.step(|s| s.mirror(&things.a, ..)), [round; 6]);
    let made = g.shared(0u64, Sum);
    g.step(|_| made.set(1));
    assert_eq!(made.get(), size);
}

fn go_through_all_pairs(g: &mut Group) {
    let things = Things {
        x: g.shared(7, Any),
        y: g.shared(7, Any),
        a: g.array(6),
        b: g.array(6),
        to: g.array(6),
        object: g.object(7),
        other: g.object(7),
    };
    g.step(|_| ());
    let (mut round, size) = (0, g.size());
    for first in 0..CALLS {
        for rest in (0..CALLS).filter(|&rest| is_tried(first, rest, size)) {
            let error = call_apart(g, first, rest, &things);
            assert!(
                error.is_divergence() || error.kind() == superstep::ErrorKind::Deadlock,
                "{first}, {rest}: {error}"
            );
            is_everybodys(g, &error);
            round += 1;
            if u64::is_multiple_of(round, 20) {
                things.object.with(|x| *x = 7);
                goes_on(g, &things, round);
            }
        }
    }
}

/// S5: whatever two members call that is not the same, all members have one error, and the group goes on.
#[test]
fn every_two_collective_calls_are_told_apart() {
    on_sizes(&[2, 3], go_through_all_pairs);
}

/// S5: so they are where members may write to each other between boundaries.
#[test]
fn every_two_collective_calls_are_told_apart_with_a_paged_array() {
    on_sizes(&[2], |g| {
        let _paged = g.paged::<u8, 1>([4], [2]);
        go_through_all_pairs(g);
    });
}
