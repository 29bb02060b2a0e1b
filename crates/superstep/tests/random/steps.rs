//! Supersteps.

use crate::{
    arrays::cut,
    calls, ignore,
    slips::SLIP,
    things::{Scope, Things},
    typed::{Pair, Read, Typed},
    words::{self, Came, Come},
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use superstep::{Checked, Error, ErrorKind, Fold, Group, Local, Max, Result, Same, Step, Sum};
use superstep_model::{Act, Fault, Misuse, Plan, Step as Planned, Told};

/// What the body of a step hands back, and what comes of it.
type Handed = (Vec<Read>, Vec<Came>, Local<Vec<Told>>);
type Back = (Vec<ReadBack>, Vec<Come>, Vec<Told>);
type ReadBack = (Option<Vec<u16>>, Option<Vec<u64>>, Option<Vec<f64>>, Option<Vec<i32>>, Option<Vec<Pair>>);

/// Steps at one of several places in this file, so that members at different stages are at different places. Only where
/// it may fail, an error comes back.
#[expect(clippy::match_same_arms, reason = "each arm is another place")]
fn step_at(g: &mut Group, number: usize, may_fail: bool, body: &mut dyn FnMut(&Step) -> Handed) -> Result<Back> {
    Ok(match number % 4 {
        _ if may_fail => return g.try_step(body),
        0 => g.step(body),
        1 => g.step(body),
        2 => g.step(body),
        _ => g.step(body),
    })
}

/// Lives through a step, the stage of this number, in a run that looks for conflicts or does not.
pub(crate) fn step(
    g: &mut Group,
    step: &Planned,
    (number, is_checked): (usize, bool),
    scope: &Scope<'_>,
    told: &mut Vec<Told>,
) {
    let (me, may_fail) = (g.rank(), step.fault.is_some() || is_checked);
    let plan = &step.plans[me];
    if plan.abandons {
        let mut unwinds = |s: &Step| -> Handed {
            let _handed = body(s, plan, step, scope);
            resume_unwind(Box::new("once more"))
        };
        let caught = catch_unwind(AssertUnwindSafe(|| step_at(g, number, may_fail, &mut unwinds).is_ok()));
        assert!(caught.is_err(), "a body that unwinds ends no step");
    }
    let (mut own, mut borrow) = (Vec::new(), None);
    let stepped = step_at(g, number, may_fail, &mut |s| {
        let (reads, calls, Local(refused)) = body(s, plan, step, scope);
        scope.own(&mut own);
        borrow = match step.fault {
            Some(Fault::Borrows { rank, area }) if rank == me => Some(scope.things.areas[area].local()),
            _ => None,
        };
        (reads, calls, Local(refused))
    });
    drop(borrow);
    told.append(&mut own);
    match stepped {
        Ok((reads, calls, mut refused)) => {
            told.append(&mut refused);
            told.extend(reads.into_iter().map(read));
            told.extend(calls.into_iter().map(words::told));
            told.extend(scope.things.queues.iter().map(|queue| Told::Messages(queue.drain().collect())));
        }
        Err(error) => {
            let is_meant = step.fault.is_some_and(|fault| failed(&error) == Told::Failed(fault.kind().to_owned()));
            let error = if is_meant && !error.to_string().contains(SLIP) { failed(&error) } else { conflict(error) };
            told.extend(plan.acts.iter().filter_map(|act| match act {
                Act::Refused(misuse) => Some(Told::Failed(misuse.kind().to_owned())),
                _ => None,
            }));
            told.push(error);
        }
    }
}

/// What a conflict tells; any other error ends the run.
pub(crate) fn conflict(error: Error) -> Told {
    if error.kind() == ErrorKind::Conflict { failed(&error) } else { resume_unwind(Box::new(error)) }
}

pub(crate) fn failed(error: &Error) -> Told {
    Told::Failed(format!("{:?}", error.kind()))
}

fn read(back: ReadBack) -> Told {
    fn bits<T: Typed>(values: Vec<T>) -> Vec<u64> {
        values.into_iter().map(T::bits).collect()
    }
    let area = back.0.map(|values| values.into_iter().map(u64::from).collect());
    let array = back.1.or(back.2.map(bits)).or(back.3.map(bits)).or(back.4.map(bits));
    Told::Elements(area.or(array).expect("it is one of them"))
}

fn body(s: &Step, plan: &Plan, step: &Planned, scope: &Scope<'_>) -> Handed {
    let (mut reads, mut refused) = (Vec::new(), Vec::new());
    for act in &plan.acts {
        if let Act::Refused(misuse) = act {
            refused.push(failed(&refuse(s, *misuse, scope)));
        } else {
            reads.extend(perform(s, act, scope));
        }
    }
    let calls = step.calls.iter().filter_map(|call| calls::call(s, call, scope.things)).collect();
    if let Some(fault) = step.fault {
        fail(s, fault, scope.things);
    }
    (reads, calls, Local(refused))
}

/// Does what an act says; a read hands back what it will have read.
fn perform(s: &Step, act: &Act, scope: &Scope<'_>) -> Option<Read> {
    let Things { areas, queues, .. } = scope.things;
    match act {
        Act::Put { to, area, at, values, is_given: false } => s.put(*to, values, &areas[*area], *at),
        Act::Put { to, area, at, values, is_given: true } => s.hp_put(*to, values.clone(), &areas[*area], *at),
        Act::MoveOut { area, range, to, into, at } => {
            s.hp_put(*to, (&areas[*area], range.clone()), &areas[*into], *at);
        }
        Act::MoveIn { from, area, range, into, at } => {
            s.hp_get(*from, &areas[*area], range.clone(), &areas[*into], *at);
        }
        Act::Get { from, area, cut: at } => {
            return Some((Some(s.get(*from, &areas[*area], cut(*at))), None, None, None, None));
        }
        Act::Send { queue, to, tag, text } => s.send(*to, &queues[*queue], *tag, text.clone()),
        Act::Write { level, variable, value } => scope.above(*level).variables[*variable].set(value),
        Act::Own { area, at, value } => areas[*area].local_mut()[*at] = *value,
        Act::Array { array, deed } => return scope.things.array(*array).perform(s, deed),
        Act::Refused(_) => unreachable!("it is tried elsewhere"),
    }
    None
}

/// Tries what is refused at the call.
pub(crate) fn refuse(s: &Step, misuse: Misuse, scope: &Scope<'_>) -> Error {
    let (nobody, Things { areas, queues, .. }) = (s.size(), scope.things);
    match misuse {
        Misuse::PutToNobody { area } => s.try_put(nobody, &[1], &areas[area], 0).err(),
        Misuse::PutBeyond { area, to } => s.try_put(to, &[1], &areas[area], areas[area].len_of(to)).err(),
        Misuse::GetFromNobody { area } => s.try_get(nobody, &areas[area], 0..1).err(),
        Misuse::GetBeyond { area, from } => s.try_get(from, &areas[area], 0..=areas[area].len_of(from)).err(),
        Misuse::MoveBeyond { area, to } => s.try_hp_put(to, vec![1, 2], &areas[area], areas[area].len_of(to)).err(),
        Misuse::SendToNobody { queue } => s.try_send(nobody, &queues[queue], 0, String::new()).err(),
        Misuse::PutToOuter { level, area } => s.try_put(0, &[1], &scope.above(level).areas[area], 0).err(),
        Misuse::GatherBeyond { array }
        | Misuse::ScatterBeyond { array }
        | Misuse::ScatterTooFew { array }
        | Misuse::MirrorBeyond { array }
        | Misuse::UseLost { array } => return scope.things.array(array).misuse(s, misuse),
    }
    .expect("the call is wrong")
}

/// Does what makes the step fail for all.
fn fail(s: &Step, fault: Fault, things: &Things<'_>) {
    let me = s.rank();
    match fault {
        Fault::Differs { rank } => ignore(s.reduce(u64::from(me == rank), Same)),
        Fault::Overflows => ignore(s.reduce(u64::MAX, Checked(Sum))),
        Fault::Brings { rank } => ignore(s.agree(if me == rank { Err("it is so") } else { Ok(()) })),
        Fault::OperatorPanics => ignore(s.reduce(0, Fold(|_: &mut u64, _: &u64| resume_unwind(Box::new("it cannot"))))),
        Fault::OtherVerb { rank } => ignore(if me == rank { s.prefix(0u64, Sum) } else { s.reduce(0u64, Sum) }),
        Fault::OtherOperator { rank } => ignore(if me == rank { s.reduce(0u64, Max) } else { s.reduce(0u64, Sum) }),
        Fault::ElementOverflows { array, rank } if me == rank => things.line(array).overflow(s),
        Fault::ElementOverflows { .. } | Fault::Borrows { .. } => {}
    }
}
