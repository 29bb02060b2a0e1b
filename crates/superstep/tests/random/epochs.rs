//! Epochs: trees of remote methods, and volatile cells.

use crate::{ignore, slips::SLIP};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use superstep::{Answer, Epoch, Fold, Group, Handle, Max, Object, Sum, Tuning, VolatileArray};
use superstep_model::{
    CellDeed, Epoch as Planned, Kind, LEVELS, Mistake, Op, Request, Together, Told, Verb, Work, blur,
};

/// How often a representative was asked, and a sum that does not depend on the order.
#[derive(Default)]
pub(crate) struct Seen {
    count: u64,
    sum: u64,
}

/// What each processor has sent, in order.
type Log = BTreeMap<usize, Vec<u64>>;

/// The objects of a group.
pub(crate) struct Objects {
    levels: Vec<Object<Seen>>,
    log: Object<Log>,
    tally: Object<u64>,
}

impl Objects {
    pub(crate) fn new(g: &mut Group) -> Self {
        let levels = (0..LEVELS).map(|_| g.object(Seen::default())).collect();
        Self { levels, log: g.object(Log::new()), tally: g.object(0) }
    }

    /// The object of the last level.
    fn last(&self) -> &Object<Seen> {
        &self.levels[LEVELS - 1]
    }

    fn seen(&self, told: &mut Vec<Told>) {
        let mut seen: Vec<(u64, u64)> =
            self.levels.iter().map(|level| level.with(|seen| (seen.count, seen.sum))).collect();
        seen.push((self.tally.with(|tally| *tally), 0));
        told.push(Told::Seen(seen));
        self.log.with(|log| {
            for (&source, sent) in log.iter() {
                told.push(Told::Elements([source as u64].into_iter().chain(sent.iter().copied()).collect()));
            }
        });
    }
}

/// Volatile cells, and which of them is this processor's.
pub(crate) struct Cells {
    cells: VolatileArray<u64>,
    mine: usize,
}

impl Cells {
    pub(crate) fn new(g: &mut Group, owner: usize) -> Self {
        Self { cells: g.volatile_array(owner, 1 + g.size(), 0), mine: 1 + g.rank() }
    }
}

/// What a group has for its epochs.
type Kept<'a> = (&'a [Objects], &'a [Cells]);

/// The objects of all levels, as methods get them.
#[derive(Clone, Serialize, Deserialize)]
struct Levels(Vec<Handle<Seen>>);

/// One that makes no further ones: methods wait for these alone.
fn leaf(seen: &mut Seen, _: &Epoch, value: u64) -> u64 {
    seen.count += 1;
    seen.sum = seen.sum.wrapping_add(blur(value));
    value
}

fn request(seen: &mut Seen, e: &Epoch, (asked, level, levels): (Request, usize, Levels)) -> u64 {
    let mut answer = leaf(seen, e, asked.value);
    let mut open = Vec::new();
    for child in asked.children {
        let last = &levels.0[LEVELS - 1];
        match child.verb {
            Verb::Send => e.send(child.to, &levels.0[level + 1], (child, level + 1, levels.clone()), forget),
            Verb::Text => send_text(e, child, level + 1, &levels),
            Verb::Ask => open.push(e.ask(child.to, last, child.value, leaf)),
            Verb::Call => answer = answer.wrapping_add(e.call(child.to, last, child.value, leaf)),
        }
    }
    open.into_iter().fold(answer, |answer, asked| answer.wrapping_add(e.take(asked)))
}

fn forget(seen: &mut Seen, e: &Epoch, args: (Request, usize, Levels)) {
    request(seen, e, args);
}

/// The number travels as a text, and with it all that follows goes another way.
fn send_text(e: &Epoch, mut asked: Request, level: usize, levels: &Levels) {
    let (to, text) = (asked.to, std::mem::take(&mut asked.value).to_string());
    e.send(to, &levels.0[level], (text, asked, level, levels.clone()), |seen, e, (text, mut asked, level, levels)| {
        asked.value = text.parse().expect("it was a number");
        request(seen, e, (asked, level, levels));
    });
}

fn note(log: &mut Log, _: &Epoch, (source, value): (usize, u64)) {
    log.entry(source).or_default().push(value);
}

/// Makes a mistake in an epoch.
fn in_epoch(e: &Epoch, mistake: Mistake, object: &Object<Seen>) {
    match mistake {
        Mistake::MethodPanics { to } => e.send(to, object, (), |_, _, ()| panic!("{SLIP}")),
        Mistake::RequestToNobody => e.send(e.size(), object, (), |_, _, ()| ()),
        _ => {}
    }
}

/// What a body is told: at once, or by an answer.
enum Heard {
    Now(u64),
    Later(Answer<u64>),
}

fn perform(e: &Epoch, work: &Work, (objects, cells): Kept<'_>, levels: &Levels, me: usize) -> Option<Heard> {
    let log = || &objects.last().expect("there are objects").log;
    match work {
        Work::Request(asked) => {
            let (to, args) = (asked.to, (asked.clone(), 0, levels.clone()));
            match asked.verb {
                Verb::Send => e.send(to, &levels.0[0], args, forget),
                Verb::Text => send_text(e, asked.clone(), 0, levels),
                Verb::Ask => return Some(Heard::Later(e.ask(to, &levels.0[0], args, request))),
                Verb::Call => return Some(Heard::Now(e.call(to, &levels.0[0], args, request))),
            }
        }
        Work::Log { to, value } => e.send(*to, log(), (me, *value), note),
        Work::LogAll { value } => e.send_all(log(), (me, *value), note),
        Work::Add { cells: at, value } => ignore(e.fetch_add(&cells[*at].cells.at(0), *value)),
        Work::Cell { cells: at, deed } => {
            let cell = cells[*at].cells.at(cells[*at].mine);
            return Some(Heard::Now(match *deed {
                CellDeed::Load => e.load(&cell),
                CellDeed::FetchAdd(value) => e.fetch_add(&cell, value),
                CellDeed::CompareExchange(current, new) => {
                    e.compare_exchange(&cell, current, new).unwrap_or_else(|before| before)
                }
                CellDeed::Store(value) => {
                    let before = e.load(&cell);
                    e.store(&cell, value);
                    before
                }
            }));
        }
        Work::Poll => e.poll(),
        Work::Flush => e.flush(),
    }
    None
}

fn together(e: &Epoch, together: &Together, tally: &Object<u64>) -> Option<u64> {
    fn add(tally: &mut u64, _: &Epoch, value: u64) -> u64 {
        *tally = tally.wrapping_add(value);
        *tally
    }
    match together {
        Together::Broadcast { root, value } => {
            let given = (e.rank() == *root).then_some(*value);
            e.broadcast(*root, tally, given, |tally: &mut u64, _: &Epoch, value| *tally = tally.wrapping_add(value));
            None
        }
        Together::Reduce { op, values } => {
            let mine = values[e.rank()];
            Some(match op {
                Op::Sum => e.reduce(tally, mine, add, Sum),
                Op::Max => e.reduce(tally, mine, add, Max),
                _ => e.reduce(tally, mine, add, Fold(|x, y| *x = Kind::Whole.combine(Op::Note, *x, *y))),
            })
        }
    }
}

fn tuning(number: usize) -> Tuning {
    match number {
        0 => Tuning::new(),
        1 => Tuning::new().near(0, 1).far(0, 1).window(1).poll_every(1),
        2 => Tuning::new().near(200, 5).far(200, 5).window(2).poll_every(7),
        _ => Tuning::new().near(64, 2).far(64, 2).window(1).poll_every(2),
    }
}

/// Runs an epoch as processor `me` of the root group, perhaps with a mistake in it.
pub(crate) fn epoch(
    g: &mut Group,
    planned: &Planned,
    kept: Kept<'_>,
    (me, mistake): (usize, Option<Mistake>),
    told: &mut Vec<Told>,
) {
    let (objects, cells) = (kept.0.last(), kept.1);
    let levels = Levels(objects.iter().flat_map(|objects| &objects.levels).map(Object::handle).collect());
    let mut reduced = Vec::new();
    let heard: Vec<Heard> = g.epoch_with(tuning(planned.tuning).nesting(10_000), |e| {
        if let Some((mistake, objects)) = mistake.zip(objects) {
            in_epoch(e, mistake, objects.last());
        }
        let works = &planned.works[e.rank()];
        let heard: Vec<Heard> = works.iter().filter_map(|work| perform(e, work, kept, &levels, me)).collect();
        for one in &planned.together {
            reduced.extend(together(e, one, &objects.expect("there are objects").tally));
        }
        // Some answers are waited for, and some are there when the epoch has ended.
        let take = |(at, heard)| match heard {
            Heard::Later(answer) if at % 2 == 0 => Heard::Now(e.take(answer)),
            heard => heard,
        };
        heard.into_iter().enumerate().map(take).collect()
    });
    let value = |heard: Heard| match heard {
        Heard::Now(value) => value,
        Heard::Later(answer) => answer.value(),
    };
    told.push(Told::Elements(heard.into_iter().map(value).collect()));
    told.extend(reduced.into_iter().map(|sum| Told::Elements(vec![sum])));
    kept.0.iter().for_each(|objects| objects.seen(told));
    if planned.looks.is_empty() {
        return;
    }
    told.extend(g.epoch(|e| {
        let look = |&at: &usize| {
            let cells = &cells[at].cells;
            Told::Elements((0..cells.len()).map(|at| e.load(&cells.at(at))).collect())
        };
        planned.looks.iter().map(look).collect::<Vec<_>>()
    }));
}
