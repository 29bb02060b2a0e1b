//! Operations on paged arrays.

use crate::arrays::cut;
use superstep::{Cohering, Group, Paged, Strided};
use superstep_model::{Cut, PagedOp, Sight, Told};

fn section(section: &[Cut; 2]) -> (Strided, Strided) {
    (cut(Some(section[0])), cut(Some(section[1])))
}

fn place(a: &Paged<u64, 2>, element: usize) -> [usize; 2] {
    [element / a.shape()[1], element % a.shape()[1]]
}

/// Everything that is there of an array.
fn sights(a: &Paged<u64, 2>) -> Told {
    let see = |element: usize| {
        let at = place(a, element);
        if a.is_present(at) { Sight::Present(a.read(at)) } else { Sight::Absent }
    };
    Told::Sights((0..a.shape()[0] * a.shape()[1]).map(see).collect())
}

pub(crate) fn pages(g: &Group, arrays: &[Paged<u64, 2>], ops: &[PagedOp], told: &mut Vec<Told>) {
    let me = g.rank();
    let mut calls: Vec<(usize, Option<Cohering<'_, u64, 2>>)> = Vec::new();
    for op in ops {
        let seen = match op {
            PagedOp::Call { array, section: at, ranks, waits } => {
                let mine = ranks.iter().position(|&rank| rank == me);
                let begun = mine.and_then(|mine| {
                    if waits[mine] {
                        g.cohere(&arrays[*array], section(at), ranks);
                        return None;
                    }
                    Some(g.begin_cohere(&arrays[*array], section(at), ranks))
                });
                calls.push((*array, begun));
                mine.map(|_| *array)
            }
            PagedOp::Finish { call, rank, is_dropped } if *rank == me => {
                let (array, begun) = &mut calls[*call];
                let begun = begun.take().expect("it was begun and not finished");
                if *is_dropped {
                    drop(begun);
                } else {
                    begun.finish();
                }
                Some(*array)
            }
            PagedOp::Write { array, rank, element, value } if *rank == me => {
                arrays[*array].write(place(&arrays[*array], *element), *value);
                Some(*array)
            }
            PagedOp::WriteRun { array, rank, element, value } if *rank == me => {
                arrays[*array].run_mut(place(&arrays[*array], *element), 1)[0] = *value;
                Some(*array)
            }
            PagedOp::Forget { array, rank, section: at } if *rank == me => {
                arrays[*array].forget(section(at));
                Some(*array)
            }
            PagedOp::Prefetch { array, rank, section: at } if *rank == me => {
                let a = &arrays[*array];
                let is_there = a.prefetch(section(at));
                let see = |i: usize, j: usize| a.is_present([i, j]);
                let steps = |cut: &Cut| (cut.from..=cut.to).step_by(cut.by.unsigned_abs());
                let is_all = steps(&at[0]).all(|i| steps(&at[1]).all(|j| see(i, j)));
                assert_eq!(is_there, is_all, "what prefetch says of {at:?}");
                Some(*array)
            }
            PagedOp::Limit { array, rank, pages } if *rank == me => {
                let bytes = pages.map_or(usize::MAX, |pages| pages * 8 * arrays[*array].page_len());
                arrays[*array].limit_copies(bytes);
                Some(*array)
            }
            _ => None,
        };
        told.extend(seen.map(|array| sights(&arrays[array])));
    }
}
