//! Elements that two members write without an operator in one step.

use super::writes::{Batch, Delivery};
use crate::engine::{Element, Party, Rule, permutes};

/// Who has written each element of a part last: a number for each batch, which no step uses again.
#[derive(Default)]
pub(super) struct Stamps {
    last: Vec<u32>,
    /// Numbers up to this one are of steps before.
    used: u32,
}

impl Stamps {
    /// The first place of a part of `len` elements that two members write without an operator, or one permutation
    /// twice, and who does. Deliveries come by ascending rank, and each says whose it is.
    pub(super) fn look<T: Element>(
        &mut self,
        deliveries: &[Box<Delivery<T>>],
        len: usize,
    ) -> Option<(usize, [Party; 2])> {
        // Who has no note means to: it clears what is combined in the same step.
        let assigns = |batch: &&Batch<T>| batch.operator.rule == Rule::Any && batch.note != 0;
        let counts = deliveries.iter().map(|delivery| delivery.batches.iter().filter(assigns).count());
        // Nobody gets in the way of a member that writes alone, unless it has a permutation.
        let is_alone = counts.clone().filter(|&count| count > 0).count() < 2;
        let has_permutation = deliveries.iter().flat_map(|delivery| &delivery.batches).any(|it| permutes(it.note));
        if is_alone && !has_permutation {
            return None;
        }
        let count = counts.sum::<usize>();
        if self.last.len() != len || u32::MAX as usize - (self.used as usize) < count {
            self.last.clear();
            self.last.resize(len, 0);
            self.used = 0;
        }
        let before = self.used;
        self.used += count as u32;
        let batches = deliveries.iter().flat_map(|delivery| {
            let batches = delivery.batches.iter().filter(assigns);
            batches.map(|batch| (delivery.from, batch))
        });
        let (mut source, mut first_of_source) = (None, 0);
        for (number, (from, batch)) in (before + 1..).zip(batches.clone()) {
            if source != Some(from) {
                (source, first_of_source) = (Some(from), number);
            }
            // Stamps from `before + 1` up to what this one may meet without harm are in its way.
            let (last, is_once) = (&mut self.last, permutes(batch.note));
            let found = batch.for_each(|at, _| {
                let stamp = std::mem::replace(&mut last[at], number);
                let is_clash = stamp > before && (stamp < first_of_source || is_once && stamp == number);
                if is_clash { Err((at, stamp)) } else { Ok(()) }
            });
            if let Err((at, stamp)) = found {
                let (its_from, its_batch) = batches.clone().nth((stamp - before - 1) as usize)?;
                let skipped = usize::from(stamp == number);
                let party = |rank, batch: &Batch<T>, skipped| Party {
                    rank,
                    note: batch.note,
                    at: (0, position(batch, at, skipped)),
                };
                return Some((at, [party(its_from, its_batch, 0), party(from, batch, skipped)]));
            }
        }
        None
    }
}

/// How many writes of a batch come before the one to a place, or before the next one to it if some are skipped.
fn position<T: Element>(batch: &Batch<T>, place: usize, skipped: usize) -> usize {
    let (mut before, mut left) = (0, skipped);
    let _ = batch.for_each(|at, _| {
        if at == place {
            if left == 0 {
                return Err(());
            }
            left -= 1;
        }
        before += 1;
        Ok(())
    });
    before
}
