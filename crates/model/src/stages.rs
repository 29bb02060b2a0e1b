//! Epochs and coherence, as stages of a group.

use crate::{
    asynchronous::{Epoch, PagedOp, Together, Verb, Work},
    model::{Group, Model},
    paged::Calls,
    told::Told,
    value::{Value, total},
};

impl Model {
    /// Runs an epoch. It begins with a boundary. Where all look at cells, another one follows for that.
    pub(crate) fn epoch(&mut self, epoch: &Epoch) {
        let group = self.group_mut();
        group.close();
        let mut told: Vec<Vec<Told>> = Vec::new();
        for (rank, works) in epoch.works.iter().enumerate() {
            told.push(vec![Told::Elements(works.iter().filter_map(|work| perform(group, rank, work)).collect())]);
        }
        for together in &epoch.together {
            if let Some(sum) = collective(group, together) {
                for told in &mut told {
                    told.push(Told::Elements(vec![sum]));
                }
            }
        }
        for objects in &group.objects {
            for (seen, told) in objects.seen.iter().zip(&mut told) {
                told.push(Told::Seen(seen.levels.iter().copied().chain([(seen.tally, 0)]).collect()));
                told.extend(seen.log.iter().map(|(&source, sent)| {
                    Told::Elements([source as u64].into_iter().chain(sent.iter().copied()).collect())
                }));
            }
        }
        let look = |&cells: &usize| Told::Elements(group.cells[cells].values.clone());
        let cells: Vec<Told> = epoch.looks.iter().map(look).collect();
        if !cells.is_empty() {
            group.close();
        }
        for (processor, told) in group.members.clone().into_iter().zip(told) {
            told.into_iter().chain(cells.clone()).for_each(|told| self.tell(processor, told));
        }
        self.tell_place();
    }

    /// A stage of operations on paged arrays: after each, those who took part look at the array.
    pub(crate) fn cohere(&mut self, ops: &[PagedOp]) {
        let mut calls = Calls::default();
        for op in ops {
            let group = self.group_mut();
            calls.perform(&mut group.paged, op);
            let (array, ranks) = match op {
                PagedOp::Write { array, rank, .. }
                | PagedOp::WriteRun { array, rank, .. }
                | PagedOp::Forget { array, rank, .. }
                | PagedOp::Prefetch { array, rank, .. }
                | PagedOp::Limit { array, rank, .. } => (*array, vec![*rank]),
                PagedOp::Call { array, ranks, .. } => (*array, ranks.clone()),
                PagedOp::Finish { call, rank, .. } => (calls.0[*call].array, vec![*rank]),
            };
            for rank in ranks {
                let (told, member) =
                    (Told::Sights(self.group().paged[array].sights[rank].clone()), self.group().members[rank]);
                self.tell(member, told);
            }
        }
        self.tell_place();
    }
}

/// What a body does, and what it is told by it.
fn perform(group: &mut Group, rank: usize, work: &Work) -> Option<u64> {
    let (me, objects) = (group.members[rank], group.objects.last_mut());
    match work {
        Work::Request(request) => {
            let answer = objects?.run(request, 0);
            matches!(request.verb, Verb::Ask | Verb::Call).then_some(answer)
        }
        Work::Log { to, value } => {
            objects?.seen[*to].log.entry(me).or_default().push(*value);
            None
        }
        Work::LogAll { value } => {
            objects?.seen.iter_mut().for_each(|seen| seen.log.entry(me).or_default().push(*value));
            None
        }
        Work::Add { cells, value } => {
            let common = &mut group.cells[*cells].values[0];
            *common = common.wrapping_add(*value);
            None
        }
        Work::Cell { cells, deed } => Some(group.cells[*cells].change(me, *deed)),
        Work::Poll | Work::Flush => None,
    }
}

/// What all do together: each adds to its tally, and a reduction tells them what the tallies come to.
fn collective(group: &mut Group, together: &Together) -> Option<u64> {
    let objects = group.objects.last_mut()?;
    match together {
        Together::Broadcast { value, .. } => {
            objects.seen.iter_mut().for_each(|seen| seen.tally = seen.tally.wrapping_add(*value));
            None
        }
        Together::Reduce { op, values } => {
            let mut given = Vec::new();
            for (seen, value) in objects.seen.iter_mut().zip(values) {
                seen.tally = seen.tally.wrapping_add(*value);
                given.push(Some(Value::Number(seen.tally)));
            }
            match total(&given, *op) {
                Some(Value::Number(sum)) => Some(sum),
                _ => unreachable!("everybody gives a number"),
            }
        }
    }
}
