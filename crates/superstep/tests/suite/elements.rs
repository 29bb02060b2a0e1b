//! Structs that `#[derive(Element)]` makes elements and values.

use crate::everywhere;
use superstep::{Any, Block, Leader, arrays::Edge, values::Element};

/// No field of it is where its type would like to lie.
#[derive(Debug, PartialEq, Element)]
#[repr(C, packed)]
struct Packed {
    a: u8,
    b: u64,
    c: u16,
}

fn packed(of: usize) -> Packed {
    Packed { a: of as u8, b: 1 << (20 + of), c: 7 }
}

#[test]
fn a_packed_struct_travels_by_every_verb() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (mine, n) = (packed(me), 3 * p);
        let (array, area, queue) = (g.array::<Packed, Block>(n), g.area::<Packed>(3), g.queue::<u8, Packed>());
        let (shared, list) = (g.shared(mine, Leader), g.object(Vec::new()));
        array.forall_mut(|i, element| *element = packed(i));
        let (gathered, halo, all, sum) = g.step(|s| {
            s.put((me + 1) % p, &[mine, mine], &area, 1);
            s.send((me + 1) % p, &queue, 1, mine);
            shared.set(mine);
            let add = |low: &mut Packed, high: &Packed| low.b = { low.b } + { high.b };
            (s.gather(&array, &[n - 1, 0]), s.halo(&array, [1], Edge::Periodic), s.collect(mine), s.reduce(mine, add))
        });
        let before = packed((me + p - 1) % p);
        assert_eq!(gathered, [packed(n - 1), packed(0)]);
        assert_eq!(halo[[3 * me as isize - 1]], packed((3 * me + n - 1) % n));
        assert_eq!(all, (0..p).map(packed).collect::<Vec<_>>());
        assert_eq!({ sum.b }, (0..p).map(|rank| packed(rank).b).sum::<u64>());
        assert_eq!(area.local()[1..], [before, before]);
        assert_eq!(queue.drain().collect::<Vec<_>>(), [(1, before)]);
        assert_eq!(shared.get(), packed(0));
        g.step(|s| s.scatter(&array, &[n - 1 - me], &[mine], Any));
        assert_eq!(g.step(|s| s.mirror(&array, n - p..)), (0..p).rev().map(packed).collect::<Vec<_>>());
        g.epoch(|e| e.send(0, &list, mine, |list, _, more| list.push(more)));
        assert_eq!(list.with(|list| list.len()), if me == 0 { p } else { 0 });
    });
}

/// Of a length that no list of lengths has, and one that it says itself. A trait of the library has its name.
#[derive(Debug, PartialEq, Element)]
#[repr(C)]
struct Filled {
    long: [u64; 50],
    own: [u32; Self::LEN],
}

impl Filled {
    const LEN: usize = 34;
}

#[test]
fn arrays_of_any_length_are_elements_and_fields() {
    everywhere(|g| {
        let (rows, lists) = (g.array::<[u32; 77], Block>(5), g.array::<Filled, Block>(5));
        rows.forall_mut(|i, row| row[76] = i as u32);
        lists.forall_mut(|i, list| list.own[Filled::LEN - 1] = i as u32);
        let (rows, lists) = g.step(|s| (s.mirror(&rows, ..), s.mirror(&lists, ..)));
        assert!((0..5).all(|i| rows[i][76] == i as u32 && lists[i].own[33] == i as u32 && lists[i].long == [0; 50]));
    });
}
