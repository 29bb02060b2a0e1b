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

/// There is no memory for so many stamps.
#[derive(Debug)]
pub(super) struct NoRoom;

impl Stamps {
    /// The first place of a part of `len` elements that two members write without an operator, or one permutation
    /// twice, and who does. Deliveries come by ascending rank, and each says whose it is.
    pub(super) fn look<T: Element>(
        &mut self,
        deliveries: &[Box<Delivery<T>>],
        len: usize,
    ) -> Result<Option<(usize, [Party; 2])>, NoRoom> {
        // Who has no note means to: it clears what is combined in the same step.
        let assigns = |batch: &&Batch<T>| batch.operator.rule == Rule::Any && batch.note != 0;
        let counts = deliveries.iter().map(|delivery| delivery.batches.iter().filter(assigns).count());
        // Nobody gets in the way of a member that writes alone, unless it has a permutation.
        let is_alone = counts.clone().filter(|&count| count > 0).count() < 2;
        let has_permutation = deliveries.iter().flat_map(|delivery| &delivery.batches).any(|it| permutes(it.note));
        if is_alone && !has_permutation {
            return Ok(None);
        }
        let count = counts.sum::<usize>();
        if self.last.len() != len || u32::MAX as usize - (self.used as usize) < count {
            self.last.clear();
            if !fabric::try_make_room(&mut self.last, len) {
                return Err(NoRoom);
            }
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
        for (number, (from, batch)) in (before..=self.used).skip(1).zip(batches.clone()) {
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
                let Some((its_from, its_batch)) = batches.clone().nth((stamp - before - 1) as usize) else { continue };
                let skipped = usize::from(stamp == number);
                let party = |rank, batch: &Batch<T>, skipped| Party {
                    rank,
                    note: batch.note,
                    at: (0, position(batch, at, skipped)),
                };
                return Ok(Some((at, [party(its_from, its_batch, 0), party(from, batch, skipped)])));
            }
        }
        Ok(None)
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

#[cfg(test)]
mod tests {
    use super::{
        super::{operator::Operator, writes::Writes},
        *,
    };
    use crate::engine::Any;

    /// What ranks 2 and 5 write, each to one place.
    fn deliveries(places: [u32; 2]) -> [Box<Delivery<u16>>; 2] {
        [(2, places[0]), (5, places[1])].map(|(from, place)| {
            let batch = Batch { operator: Operator::new(Any), base: 0, writes: Writes::One(vec![place], 7), note: 1 };
            Box::new(Delivery { batches: vec![batch], pool: None, from, carried: Vec::new() })
        })
    }

    #[test]
    fn numbers_begin_again_only_where_there_are_not_enough_left() {
        let most = u32::MAX;
        for (used, after) in [(10, 12), (most - 3, most - 1), (most - 2, most), (most - 1, 2), (most, 2)] {
            let stamps = || Stamps { last: vec![used; 3], used };
            let mut apart = stamps();
            assert!(apart.look(&deliveries([0, 1]), 3).unwrap().is_none(), "after {used}");
            assert_eq!(apart.used, after);
            let clash = stamps().look(&deliveries([1, 1]), 3).unwrap();
            assert_eq!(clash.map(|(at, parties)| (at, parties.map(|party| party.rank))), Some((1, [2, 5])));
        }
    }

    #[test]
    fn a_part_of_which_there_is_no_room_for_the_stamps_is_not_looked_at() {
        assert!(Stamps::default().look(&deliveries([0, 1]), usize::MAX / 8).is_err());
        assert!(Stamps::default().look(&deliveries([0, 1])[..1], usize::MAX / 8).unwrap().is_none());
    }
}
