//! A sample sort: keys go to whoever sorts their range.

use super::{on_all, timed};
use crate::{PROCS, contenders::huge, Sample, digest, kernels::keys::Key};
use ::superstep::{Group, Result, Sum};

/// How many keys of each processor are looked at to find the splitters.
const SAMPLE: usize = 8_192;

pub(crate) fn sample_sort<K: Key>(keys: &[K]) -> Result<Sample> {
    on_all(|g| {
        let share = keys.len().div_ceil(PROCS);
        let mine = &keys[g.rank() * share..keys.len().min((g.rank() + 1) * share)];
        // The memory that keys are sent from, and where they are sorted.
        let mut round = || {
            let room = (0..g.size()).map(|_| emptied(huge::copied(mine))).collect();
            let part = emptied(huge::copied(keys));
            timed(g, |g| sorted(g, mine, room, part))
        };
        round();
        let (seconds, part) = round();
        let first = g.step(|s| s.prefix(part.len(), Sum));
        Sample::of_answer(seconds, digest(first, part))
    })
}

fn emptied<K>(mut vector: Vec<K>) -> Vec<K> {
    vector.clear();
    vector
}

fn sorted<K: Key>(g: &mut Group, mine: &[K], mut room: Vec<Vec<K>>, mut part: Vec<K>) -> Vec<K> {
    let splitters = splitters(g, mine);
    for key in mine {
        let target = splitters.iter().filter(|splitter| key.rank() >= splitter.rank()).count();
        room[target].push(*key);
    }
    for run in g.step(|s| s.exchange(room)) {
        part.extend_from_slice(&run);
    }
    K::sort(&mut part);
    part
}

/// One key fewer than there are processors, evenly spaced in a sample of all keys.
fn splitters<K: Key>(g: &mut Group, mine: &[K]) -> Vec<K> {
    let sample: Vec<K> = mine.iter().step_by(mine.len().div_ceil(SAMPLE)).copied().collect();
    let mut all = g.step(|s| s.collect(sample)).concat();
    K::sort(&mut all);
    (1..g.size()).map(|rank| all[rank * all.len() / g.size()]).collect()
}
