//! Updates are bucketed by owner, and the owner applies them; no atomics.
//!
//! A thread goes through its indices in pieces that fit the first cache. Those of its own half it applies at once,
//! those of the other's half it keeps as offsets of four bytes. Then the two meet and apply what the other has kept for
//! them. An offset is written to both buckets and only one of them grows, so there is no branch to mispredict.
//!
//! - **R1** An index is below twice the block (A1), so an offset within its half is below the block, which is the
//!   length of each table.
//! - **R2** A bucket never has more elements than were gone through, and has room for all of them.

use super::{
    ahead::{ask, visit},
    team::{Handover, team},
};
use crate::{
    PROCS,
    contenders::huge,
    Sample,
    digest,
    kernels::access::{Accesses, Shape},
};

const _: () = assert!(PROCS == 2, "a half is mine or the other's");

/// How many indices are gone through at once: their offsets and values fit the first cache.
const PIECE: usize = 2048;

/// What a thread keeps for the other.
struct Kept<T> {
    offsets: Vec<u32>,
    values: Vec<T>,
    len: usize,
}

/// Each update adds one.
pub(crate) fn increments(accesses: &Accesses) -> Sample {
    let Shape { block, count } = accesses.shape();
    let handover = Handover::new();
    team(|member| {
        let (rank, indices) = (member.rank, accesses.indices(member.rank));
        let mut table = huge::zeroed::<u64>(block);
        let mut kept = Kept::<u64> { offsets: huge::zeroed(count), values: Vec::new(), len: 0 };
        let (seconds, ()) = member.timed(|| {
            let mut mine = [0; PIECE];
            for piece in indices.chunks(PIECE) {
                let (near, far) = split(piece, block, rank, &mut mine, &mut kept.offsets[kept.len..]);
                kept.len += far;
                increment(&mut table, &mine[..near]);
            }
            handover.give(rank, kept);
            member.meet();
            let kept = handover.seen(1 - rank);
            increment(&mut table, &kept.offsets[..kept.len]);
        });
        Sample::of_answer(seconds, digest(rank * block, table))
    })
}

/// Each update adds a value of its own.
pub(crate) fn additions(accesses: &Accesses) -> Sample {
    let Shape { block, count } = accesses.shape();
    let handover = Handover::new();
    team(|member| {
        let (rank, indices, values) = (member.rank, accesses.indices(member.rank), accesses.values(member.rank));
        let mut table = huge::zeroed::<u64>(block);
        let mut kept = Kept { offsets: huge::zeroed(count), values: huge::zeroed::<u64>(count), len: 0 };
        let (seconds, ()) = member.timed(|| {
            let (mut mine, mut mine_values) = ([0; PIECE], [0; PIECE]);
            for (piece, values) in indices.chunks(PIECE).zip(values.chunks(PIECE)) {
                let far = &mut kept.offsets[kept.len..];
                split_values(piece, values, block, rank, &mut mine_values, &mut kept.values[kept.len..]);
                let (near, far) = split(piece, block, rank, &mut mine, far);
                kept.len += far;
                add(&mut table, &mine[..near], &mine_values[..near]);
            }
            handover.give(rank, kept);
            member.meet();
            let kept = handover.seen(1 - rank);
            add(&mut table, &kept.offsets[..kept.len], &kept.values[..kept.len]);
        });
        Sample::of_answer(seconds, digest(rank * block, table))
    })
}

/// Puts the offsets of my own half into `mine` and the others into `far`, and says how many there are of each.
fn split(indices: &[usize], block: usize, rank: usize, mine: &mut [u32], far: &mut [u32]) -> (usize, usize) {
    assert!(mine.len() >= indices.len() && far.len() >= indices.len(), "there is room");
    let (mut near_len, mut far_len) = (0, 0);
    for &index in indices {
        let is_upper = usize::from(index >= block);
        let (offset, is_far) = ((index - is_upper * block) as u32, is_upper ^ rank);
        // SAFETY: R2.
        unsafe { *mine.get_unchecked_mut(near_len) = offset };
        // SAFETY: R2.
        unsafe { *far.get_unchecked_mut(far_len) = offset };
        near_len += 1 - is_far;
        far_len += is_far;
    }
    (near_len, far_len)
}

/// The same with the values that go with the indices.
fn split_values(indices: &[usize], values: &[u64], block: usize, rank: usize, mine: &mut [u64], far: &mut [u64]) {
    assert!(mine.len() >= indices.len() && far.len() >= indices.len(), "there is room");
    let (mut near_len, mut far_len) = (0, 0);
    for (&index, &value) in indices.iter().zip(values) {
        let is_far = usize::from(index >= block) ^ rank;
        // SAFETY: R2.
        unsafe { *mine.get_unchecked_mut(near_len) = value };
        // SAFETY: R2.
        unsafe { *far.get_unchecked_mut(far_len) = value };
        near_len += 1 - is_far;
        far_len += is_far;
    }
}

fn increment(table: &mut [u64], offsets: &[u32]) {
    let start = table.as_ptr();
    let each = |_, offset| {
        // SAFETY: R1.
        unsafe { *table.get_unchecked_mut(offset as usize) += 1 };
    };
    visit(offsets, |next| ask(start, next as usize), each);
}

fn add(table: &mut [u64], offsets: &[u32], values: &[u64]) {
    let start = table.as_ptr();
    let each = |at: usize, offset: u32| {
        // SAFETY: R1.
        let element = unsafe { table.get_unchecked_mut(offset as usize) };
        *element = element.wrapping_add(values[at]);
    };
    visit(offsets, |next| ask(start, next as usize), each);
}
