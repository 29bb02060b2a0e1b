//! Blocks of arrays with a frame of what lies around them (A4).

use crate::{check, everywhere, failing};
use superstep::{
    Block, Cyclic, ErrorKind, Group, Irregular, Local, Tiles,
    arrays::{Array, Edge, Halo},
    distributions::Distribution,
};

/// Whether each element of a halo is the one of the array with its index, and all that should be there is.
fn is_right<D: Distribution, const N: usize>(a: &Array<u64, D, N>, halo: &Halo<u64, N>, width: [usize; N], edge: Edge) {
    let (owned, shape) = (a.owned().expect("a block"), a.shape());
    if owned.iter().any(std::ops::Range::is_empty) {
        return assert!(halo.is_empty(), "{halo:?}");
    }
    assert!(!halo.is_empty());
    let (mut expected, mut lens) = (Vec::new(), [0; N]);
    for dimension in 0..N {
        let (from, to) = (owned[dimension].start as isize, owned[dimension].end as isize);
        let wide = from - width[dimension] as isize..to + width[dimension] as isize;
        let is_there = |at: &isize| edge == Edge::Periodic || (0..shape[dimension] as isize).contains(at);
        let line: Vec<isize> = wide.filter(is_there).collect();
        assert_eq!(halo.start()[dimension], line[0], "{halo:?}");
        lens[dimension] = line.len();
        expected.push(line);
    }
    assert_eq!(halo.shape(), lens);
    assert_eq!(halo.len(), lens.iter().product::<usize>());
    for number in 0..halo.len() {
        let (mut rest, mut at) = (number, [0; N]);
        for dimension in (0..N).rev() {
            at[dimension] = expected[dimension][rest % lens[dimension]];
            rest /= lens[dimension];
        }
        let place: [usize; N] =
            std::array::from_fn(|dimension| at[dimension].rem_euclid(shape[dimension] as isize) as usize);
        assert_eq!(halo[at], value(a.index(place)), "{at:?} of {a:?}, {width:?}, {edge:?}");
        assert_eq!(halo.row(at)[0], halo[at]);
    }
}

fn value(index: usize) -> u64 {
    3 * index as u64 + 7
}

fn claim<D: Distribution + Clone, const N: usize>(g: &mut Group, shape: [usize; N], d: D, widths: &[[usize; N]]) {
    let a: Array<u64, D, N> = g.array_with(shape, d);
    for &width in widths {
        for edge in [Edge::Open, Edge::Periodic] {
            a.local_mut().fill(0);
            // What is written in the step is in the halo already, as in a mirror.
            let halo = g.step(|s| {
                let owned: Vec<usize> = (0..a.len()).filter(|&index| a.is_owned(a.place(index))).collect();
                let values: Vec<u64> = owned.iter().map(|&index| value(index)).collect();
                s.scatter(&a, &owned, &values, superstep::Any);
                s.halo(&a, width, edge)
            });
            is_right(&a, &halo, width, edge);
        }
    }
}

#[test]
fn a_halo_is_what_lies_around_a_block() {
    everywhere(|g| {
        let p = g.size();
        claim(g, [13], Block::new(), &[[0], [1], [3], [14], [30]]);
        claim(g, [2], Block::new(), &[[1]]);
        claim(g, [3 * p], Irregular(vec![3; p]), &[[2]]);
        claim(g, [7, 4], Block::new(), &[[1, 0], [1, 1], [2, 3], [0, 9]]);
        claim(g, [5, 3, 2], Block::new(), &[[1, 1, 1], [12, 0, 5], [0, 7, 1]]);
        claim(g, [1, 1], Block::new(), &[[3, 4]]);
        // One tile for each processor.
        claim(g, [4, 3 * p], Tiles([4, 3]), &[[1, 1], [0, 2], [5, 4]]);
    });
}

/// Only blocks have a frame.
#[test]
fn a_halo_of_elements_that_are_no_block_is_refused() {
    failing(
        &[2, 3],
        |g| {
            let dealt = g.array::<u64, Cyclic>(9);
            g.step(|s| s.halo(&dealt, [1], Edge::Open));
        },
        |_, error| {
            check(&error, ErrorKind::BadDistribution, &["step 1 of group 0", "a halo lies around one block", file!()]);
        },
    );
}

#[test]
fn what_a_halo_does_not_have_is_named() {
    failing(
        &[2, 3],
        |g| {
            let a = g.array::<u64, Block>(9);
            let halo = g.step(|s| s.halo(&a, [1], Edge::Open));
            assert_eq!(halo[[40]], 0);
        },
        |_, error| check(&error, ErrorKind::Panicked, &["element [40] is not in a halo of shape [", file!()]),
    );
}

/// X1: what has no room is refused at the call, whatever the width, and the step goes on.
#[test]
fn a_halo_for_which_there_is_no_memory_is_refused() {
    everywhere(|g| {
        let (a, b): (Array<u64, Block>, Array<u64, Block, 2>) = (g.array(9), g.array_with([9, 2], Block));
        // Of the second width, the halo of the first rank begins where the array does.
        let too_wide = [1 << 60, 9 << 57].map(|width| (width, ErrorKind::OutOfMemory));
        for (width, kind) in too_wide.into_iter().chain([(usize::MAX, ErrorKind::Overflow)]) {
            let (line, sheet, open) = g.step(|s| {
                let line = s.try_halo(&a, [width], Edge::Periodic).err();
                let sheet = s.try_halo(&b, [width, width], Edge::Periodic).err();
                (Local(line), Local(sheet), s.halo(&b, [width, width], Edge::Open))
            });
            if a.local().is_empty() {
                assert!(line.is_none() && sheet.is_none() && open.is_empty());
                continue;
            }
            check(&line.unwrap(), kind, &["a halo of width [", "; make it narrower; rank ", file!()]);
            check(&sheet.unwrap(), ErrorKind::Overflow, &["a halo of width [", file!()]);
            assert_eq!(open.shape(), [9, 2]);
        }
    });
}

/// G6: the line that is named is the program's.
#[test]
fn a_halo_that_somebody_leaves_with_names_its_line() {
    failing(
        &[2, 3],
        |g| {
            let (me, last) = (g.rank(), g.size() - 1);
            g.split(1, |h| {
                let a = h.array::<u64, Block>(9);
                if me < last {
                    h.step(|s| s.halo(&a, [2], Edge::Periodic));
                }
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["left the group before this mirror was served", file!()]),
    );
}
