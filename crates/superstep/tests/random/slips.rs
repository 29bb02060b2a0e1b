//! Mistakes, made in one place of a program.

use crate::{
    ignore,
    things::{Scope, Things},
};
use std::ops::RangeInclusive;
use superstep::{Checked, Each, Group, Max, Same, Split, Step, Sum};
use superstep_model::{Blunder, How, Made, Mistake, Misuse, Stage};

pub(crate) use superstep_model::Slip;

/// What panics and errors of these say.
pub(crate) const SLIP: &str = "a slip";

/// What comes after a mistake, if anything does.
pub(crate) enum Next {
    /// The stage at hand.
    This,
    /// Another one in its place.
    Instead(Box<Stage>),
    /// The one after it.
    Skip,
    /// Nothing: the body ends.
    End,
}

/// The lines in which the library is called wrongly: errors name one of them.
pub(crate) const LINES: RangeInclusive<u32> = FIRST..=LAST;

const FIRST: u32 = line!();

/// Makes the mistake.
pub(crate) fn slip(g: &mut Group, slip: &Slip, stage: &Stage, scope: &Scope<'_>) -> Result<Next, String> {
    let things = scope.things;
    match slip.mistake {
        Mistake::Skip => return Ok(Next::Skip),
        Mistake::End => return Ok(Next::End),
        Mistake::Extra => g.step(|_| ()),
        Mistake::Panic => g.step(|_| -> () { panic!("{SLIP}") }),
        Mistake::Fail => return Err(SLIP.to_owned()),
        Mistake::Misuse(misuse) => g.step(|s| wrong(s, misuse, scope)),
        Mistake::Declare => drop(g.shared(0u8, Sum)),
        Mistake::WriteOutside { variable } => {
            let variable = &things.variables[variable];
            variable.set(&variable.get());
        }
        Mistake::OtherSplit | Mistake::OtherArray => return Ok(Next::Instead(Box::new(other(stage.clone())))),
        Mistake::NoSubgroups => ignore(g.split(0, |_| ())),
        Mistake::BadWeight => ignore(g.split(Split::Weighted(&[1.0, -1.0]), |_: &mut Group| ())),
        // They are made inside.
        Mistake::MethodPanics { .. } | Mistake::RequestToNobody => {}
        Mistake::ReadAbsent { array, element } => {
            let (a, [_, columns]) = (&things.paged[array], things.paged[array].shape());
            ignore(a.read([element / columns, element % columns]));
        }
        Mistake::NotInSet { array } => g.cohere(&things.paged[array], (.., ..), &[(g.rank() + 1) % g.size()]),
        Mistake::OwnerMissing { array } => g.cohere(&things.paged[array], (.., ..), &[g.rank()]),
        Mistake::Together(blunder, odd) => together(g, blunder, odd),
    }
    Ok(Next::This)
}

/// Takes a step that goes wrong because of the rank `odd`.
fn together(g: &mut Group, blunder: Blunder, odd: usize) {
    let is_odd = g.rank() == odd;
    if blunder == Blunder::Shared {
        let _variable = if is_odd { g.shared(0u8, Max) } else { g.shared(0u8, Sum) };
        return g.step(|_| ());
    }
    g.step(|s| match blunder {
        Blunder::Operator if is_odd => ignore(s.reduce(1u8, Max)),
        Blunder::Verb if is_odd => ignore(s.prefix(1u8, Sum)),
        Blunder::Type if is_odd => ignore(s.reduce(1u16, Sum)),
        Blunder::Operator | Blunder::Verb | Blunder::Type => ignore(s.reduce(1u8, Sum)),
        Blunder::Length => ignore(s.reduce(vec![1u8; 1 + usize::from(is_odd)], Each(Sum))),
        Blunder::Root => ignore(s.broadcast((odd + usize::from(is_odd)) % s.size(), Some(1u8))),
        Blunder::NoValue => ignore(s.broadcast(odd, (!is_odd).then_some(1u8))),
        Blunder::Same => ignore(s.reduce(is_odd, Same)),
        Blunder::Overflow => ignore(s.reduce(if is_odd { 255 } else { 1u8 }, Checked(Sum))),
        Blunder::OperatorPanics => ignore(s.reduce(is_odd, |_: &mut bool, _: &bool| panic!("{SLIP}"))),
        Blunder::Agree => ignore(s.agree(if is_odd { Err(SLIP) } else { Ok(()) })),
        Blunder::Deal => ignore(s.deal(odd, is_odd.then(|| vec![1u8; s.size() - 1]))),
        Blunder::Shared => unreachable!("it has no step of its own"),
    });
}

/// The same stage, but for what all members must agree on.
fn other(mut stage: Stage) -> Stage {
    match &mut stage {
        Stage::Split { how: How::By(count, _), .. } => *count += 1,
        Stage::Split { how: How::Weighted(weights), .. } => weights.push(0.25),
        Stage::Split { how, .. } => *how = How::Every(77),
        Stage::Make(Made::Array(design)) => {
            design.shape[0] += 1;
            design.sizes[0] += 1;
        }
        _ => unreachable!("it is put where others have to do the same"),
    }
    stage
}

/// Calls what is refused.
fn wrong(s: &Step, misuse: Misuse, scope: &Scope<'_>) {
    let (nobody, Things { areas, queues, .. }) = (s.size(), scope.things);
    match misuse {
        Misuse::PutToNobody { area } => s.put(nobody, &[1], &areas[area], 0),
        Misuse::PutBeyond { area, to } => s.put(to, &[1], &areas[area], areas[area].len_of(to)),
        Misuse::GetFromNobody { area } => ignore(s.get(nobody, &areas[area], 0..1)),
        Misuse::GetBeyond { area, from } => ignore(s.get(from, &areas[area], 0..=areas[area].len_of(from))),
        Misuse::MoveBeyond { area, to } => s.hp_put(to, vec![1, 2], &areas[area], areas[area].len_of(to)),
        Misuse::SendToNobody { queue } => s.send(nobody, &queues[queue], 0, String::new()),
        Misuse::PutToOuter { level, area } => s.put(0, &[1], &scope.above(level).areas[area], 0),
        Misuse::GatherBeyond { array }
        | Misuse::ScatterBeyond { array }
        | Misuse::ScatterTooFew { array }
        | Misuse::MirrorBeyond { array }
        | Misuse::UseLost { array } => scope.things.array(array).wrong(s, misuse),
    }
}

const LAST: u32 = line!();

/// Whether an error names a line in which the library is called wrongly.
pub(crate) fn names_its_line(text: &str) -> bool {
    let is_here = LINES.into_iter().any(|line| text.contains(&format!("random/slips.rs:{line}")));
    is_here
        || text.contains("random/epochs.rs:")
        || text.contains("random/arrays.rs:")
        || text.contains("random/words.rs:")
}
