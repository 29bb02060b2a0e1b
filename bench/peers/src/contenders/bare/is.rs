//! IS: every thread counts its keys, and adds up the counts of some values.

use super::{Member, read, team, write};
use crate::{Sample, contenders::huge};
use std::{ops::Range, sync::RwLock};
use superstep_programs::nas::{Class, Value, is};

/// What a thread has that others read.
#[derive(Default)]
struct Part {
    keys: RwLock<Vec<u32>>,
    counts: RwLock<Vec<u32>>,
    ranks: RwLock<Vec<u32>>,
}

pub(crate) fn run(class: Class, threads: usize) -> Sample {
    let parts: Vec<Part> = (0..threads).map(|_| Part::default()).collect();
    team(threads, |member| {
        let (len, most, iterations) = is::size(class);
        let (places, values) = (member.share(len), member.share(most));
        let mine = &parts[member.rank];
        *write(&mine.keys) = huge::copied(&is::keys(places.clone(), most));
        *write(&mine.counts) = huge::zeroed(most);
        *write(&mine.ranks) = huge::zeroed(values.len());
        let (mut seconds, mut is_right) = (0.0, true);
        for iteration in 0..=iterations {
            let i = iteration.max(1);
            let (taken, ()) = member.timed(|| {
                let mut keys = write(&mine.keys);
                for (place, key) in is::changes(i, most) {
                    if places.contains(&place) {
                        keys[place - places.start] = key;
                    }
                }
                is::count(&keys, &mut write(&mine.counts));
                drop(keys);
                member.meet();
                rank(member, &parts, values.clone());
            });
            seconds += if iteration == 0 { 0.0 } else { taken };
            let block =
                |count: usize, at: usize| (0..threads).find(|&rank| super::share(count, rank, threads).contains(&at));
            let rank_at = |place: usize| {
                let owner = block(len, place).expect("it is a place");
                let key = read(&parts[owner].keys)[place - super::share(len, owner, threads).start] as usize;
                let owner = block(most, key).expect("it is a value");
                read(&parts[owner].ranks)[key - super::share(most, owner, threads).start]
            };
            is_right &= is::values(class, i, rank_at).iter().all(Value::is_right);
            member.meet();
        }
        (seconds, is_right)
    })
}

/// The ranks of this thread's values.
fn rank(member: &Member<'_>, parts: &[Part], values: Range<usize>) {
    let mut ranks = write(&parts[member.rank].ranks);
    ranks.copy_from_slice(&read(&parts[0].counts)[values.clone()]);
    for part in &parts[1..] {
        for (rank, count) in ranks.iter_mut().zip(&read(&part.counts)[values.clone()]) {
            *rank += count;
        }
    }
    let here = is::add_up(&mut ranks);
    member.say(|said| said.push(f64::from(here)));
    let before: u32 = (0..member.rank).map(|rank| member.said_by(rank)[0] as u32).sum();
    ranks.iter_mut().for_each(|rank| *rank += before);
}
