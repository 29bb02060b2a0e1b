//! Lives through a program as one of its processors, and writes down what it is told.

use crate::{
    arrays::Held,
    epochs, ignore, pages,
    slips::{self, Next, Slip},
    steps,
    things::{Scope, Slot, Things},
};
use std::borrow::Cow;
use superstep::{Group, Split};
use superstep_model::{Body, How, Program, Stage, Told};

/// A processor's way through a program.
pub(crate) struct Life<'p> {
    /// Its number in the root group.
    me: usize,
    pub(crate) told: Vec<Told>,
    slip: Option<&'p Slip>,
    /// Whether the run looks for conflicts, so that any step may fail.
    is_checked: bool,
    /// The stage and the number of each subgroup on the way to the group at hand.
    trail: Vec<(usize, usize)>,
}

/// Lives through a whole program, perhaps with a mistake in it, or in a run that looks for conflicts.
pub(crate) fn live(
    g: &mut Group,
    program: &Program,
    slip: Option<&Slip>,
    is_checked: bool,
) -> Result<Vec<Told>, String> {
    let mut life = Life { me: g.rank(), told: Vec::new(), slip, is_checked, trail: Vec::new() };
    life.body(g, &program.body, None, None)?;
    Ok(life.told)
}

fn place(g: &Group) -> Told {
    Told::Place { path: g.path(), rank: g.rank(), size: g.size(), steps: g.steps() }
}

impl Life<'_> {
    fn body(
        &mut self,
        g: &mut Group,
        body: &Body,
        outer: Option<&Scope<'_>>,
        lent: Option<&dyn Held>,
    ) -> Result<(), String> {
        let mut things = Things { arrays: lent.into_iter().map(Slot::Lent).collect(), ..Things::default() };
        self.told.push(place(g));
        for (number, stage) in body.stages.iter().enumerate() {
            let mut stage = Cow::Borrowed(stage);
            let slip = self.slip.filter(|slip| slip.is_here(&self.trail, number, g.rank()));
            if let Some(slip) = slip {
                let scope = Scope { things: &things, outer };
                match slips::slip(g, slip, &stage, &scope)? {
                    Next::This => {}
                    Next::Instead(other) => stage = Cow::Owned(*other),
                    Next::Skip => continue,
                    Next::End => return Ok(()),
                }
            }
            match &*stage {
                Stage::Leave(ranks) if ranks.contains(&g.rank()) => return Ok(()),
                Stage::Leave(_) => continue,
                Stage::Make(made) => things.make(g, made),
                Stage::Step(step) => {
                    let scope = Scope { things: &things, outer };
                    steps::step(g, step, (number, self.is_checked), &scope, &mut self.told);
                }
                Stage::Split { how, on, bodies } => {
                    let choices = match how {
                        How::By(_, choices) => choices[g.rank()],
                        _ => None,
                    };
                    let split = match how {
                        How::Even(count) => Split::Even(*count),
                        How::Every(count) => Split::Every(*count),
                        How::Weighted(weights) => Split::Weighted(weights),
                        How::By(count, _) => Split::By(*count, choices),
                    };
                    let scope = Scope { things: &things, outer };
                    let mut inner = |sub: &mut Group, lent: Option<&dyn Held>| {
                        self.trail.push((number, sub.id()));
                        let ended = self.body(sub, &bodies[sub.id()], Some(&scope), lent);
                        self.trail.pop();
                        ended
                    };
                    match on {
                        None => ignore(g.split(split, |sub: &mut Group| inner(sub, None))),
                        Some((array, sections)) => {
                            things.line(*array).split(g, split, sections, &mut |sub, part| inner(sub, Some(part)));
                        }
                    }
                }
                Stage::Epoch(epoch) => {
                    let mistake = slip.map(|slip| slip.mistake);
                    let kept = (&things.objects[..], &things.cells[..]);
                    epochs::epoch(g, epoch, kept, (self.me, mistake), &mut self.told);
                }
                Stage::Paged(ops) => pages::pages(g, &things.paged, ops, &mut self.told),
                Stage::Halo(halo) => self.told.push(Told::Elements(things.array(halo.array).halo(g, halo))),
                Stage::Permute { dst, src, to } => {
                    let permuted = things.line(*dst).permute(g, things.line(*src), to);
                    if let Err(error) = permuted {
                        self.told.push(steps::conflict(error));
                    }
                }
            }
            self.told.push(place(g));
            if matches!(*stage, Stage::Step(_) | Stage::Split { .. } | Stage::Permute { .. } | Stage::Halo(_)) {
                Scope { things: &things, outer }.own(&mut self.told);
            }
        }
        Ok(())
    }
}
