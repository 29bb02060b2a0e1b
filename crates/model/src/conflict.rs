//! Conflicts: which steps the library refuses where it is asked to look for calls that get in each other's way.
//!
//! Element by element, and each with each: slow and plain.

use crate::{
    layout::indices,
    model::Group,
    program::{Act, Step},
    value::{Op, Write},
};

/// What a step does to one element of an area: the area, whose part, where; by whom; and how.
type Touch = ((usize, usize, usize), usize, Use);

#[derive(Clone, Copy, PartialEq)]
enum Use {
    Read,
    Put,
    Transfer,
}

/// Whether two ranks that stay write one element of an array without an operator, at an owner that stays.
pub(crate) fn in_writes(group: &Group, number: usize, writes: &[Vec<Write>]) -> bool {
    let gone: Vec<usize> = group.leaving.iter().map(|&rank| group.members[rank]).collect();
    let owners = &group.arrays[number].owners;
    (0..owners.len()).filter(|&index| !gone.contains(&owners[index])).any(|index| {
        let assigns = |writes: &&Vec<Write>| writes.iter().any(|write| write.0 == index && write.2 == Op::Any);
        writes.iter().filter(assigns).count() > 1
    })
}

/// Whether a permutation names an element of an owner that stays twice.
pub(crate) fn in_permutation(group: &Group, dst: usize, to: &[usize]) -> bool {
    let gone: Vec<usize> = group.leaving.iter().map(|&rank| group.members[rank]).collect();
    let is_kept = |index: &usize| !gone.contains(&group.arrays[dst].owners[*index]);
    to.iter().enumerate().any(|(at, index)| is_kept(index) && to[..at].contains(index))
}

/// Whether what ranks do to areas gets in each other's way.
pub(crate) fn in_areas(step: &Step, stays: &[usize]) -> bool {
    let mut touches: Vec<Touch> = Vec::new();
    for &rank in stays {
        for act in &step.plans[rank].acts {
            let mut touch = |area: usize, of: usize, places: &mut dyn Iterator<Item = usize>, how: Use| {
                touches.extend(places.map(|at| ((area, of, at), rank, how)));
            };
            match act {
                Act::Put { to, area, at, values, is_given } => {
                    let how = if *is_given { Use::Transfer } else { Use::Put };
                    touch(*area, *to, &mut (*at..at + values.len()), how);
                }
                Act::MoveOut { area, range, to, into, at } => {
                    touch(*area, rank, &mut range.clone(), Use::Read);
                    touch(*into, *to, &mut (*at..at + range.len()), Use::Transfer);
                }
                Act::MoveIn { from, area, range, into, at } => {
                    touch(*area, *from, &mut range.clone(), Use::Read);
                    touch(*into, rank, &mut (*at..at + range.len()), Use::Transfer);
                }
                Act::Get { from, area, cut } => touch(*area, *from, &mut indices(*cut).into_iter(), Use::Read),
                _ => {}
            }
        }
    }
    // Nobody looks at the part of somebody who leaves.
    touches.retain(|&((_, of, _), ..)| stays.contains(&of));
    let clash = |&(at, rank, how): &Touch, &(its_at, its_rank, its_how): &Touch| {
        let is_any = |one| how == one || its_how == one;
        at == its_at && if is_any(Use::Read) { is_any(Use::Transfer) } else { rank != its_rank }
    };
    touches.iter().enumerate().any(|(number, one)| touches[..number].iter().any(|other| clash(one, other)))
}
