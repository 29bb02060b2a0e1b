//! Programs as texts: one line for each thing that somebody does.

use crate::program::{Body, Program, Stage, Step};
use std::fmt::{self, Debug, Display, Formatter};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "program of {} processors, first step {}", self.procs, self.first_step)?;
        body(f, &self.body, 1)
    }
}

fn line(f: &mut Formatter<'_>, depth: usize, what: impl Display) -> fmt::Result {
    writeln!(f, "{:width$}{what}", "", width = 2 * depth)
}

/// What somebody does, each on a line of its own.
fn list(f: &mut Formatter<'_>, depth: usize, who: impl Display, what: &[impl Debug]) -> fmt::Result {
    what.iter().try_for_each(|one| line(f, depth, format_args!("{who}: {one:?}")))
}

fn body(f: &mut Formatter<'_>, all: &Body, depth: usize) -> fmt::Result {
    for (number, stage) in all.stages.iter().enumerate() {
        match stage {
            Stage::Make(made) => line(f, depth, format_args!("{number} make {made:?}"))?,
            Stage::Leave(ranks) => line(f, depth, format_args!("{number} ranks {ranks:?} leave"))?,
            Stage::Step(step) => {
                line(f, depth, format_args!("{number} step"))?;
                acts(f, step, depth + 1)?;
            }
            Stage::Split { how, on, bodies } => {
                line(f, depth, format_args!("{number} split {how:?}"))?;
                if let Some((array, sections)) = on {
                    line(f, depth + 1, format_args!("on array {array}, sections {sections:?}"))?;
                }
                for (id, inner) in bodies.iter().enumerate().filter(|(_, inner)| !inner.stages.is_empty()) {
                    line(f, depth + 1, format_args!("subgroup {id}"))?;
                    body(f, inner, depth + 2)?;
                }
            }
            Stage::Epoch(epoch) => {
                line(f, depth, format_args!("{number} epoch with tuning {}", epoch.tuning))?;
                for (rank, works) in epoch.works.iter().enumerate() {
                    list(f, depth + 1, format_args!("rank {rank}"), works)?;
                }
                list(f, depth + 1, "all", &epoch.together)?;
            }
            Stage::Paged(ops) => {
                line(f, depth, format_args!("{number} pages"))?;
                ops.iter().try_for_each(|op| line(f, depth + 1, format_args!("{op:?}")))?;
            }
            Stage::Halo(halo) => line(f, depth, format_args!("{number} {halo:?}"))?,
            Stage::Permute { dst, src, to } => {
                line(f, depth, format_args!("{number} permute array {src} into array {dst} by {to:?}"))?;
            }
        }
    }
    Ok(())
}

fn acts(f: &mut Formatter<'_>, step: &Step, depth: usize) -> fmt::Result {
    for (rank, plan) in step.plans.iter().enumerate() {
        list(f, depth, format_args!("rank {rank}"), &plan.acts)?;
        if plan.abandons {
            line(f, depth, format_args!("rank {rank}: unwinds, and begins again"))?;
        }
    }
    list(f, depth, "all", &step.calls)?;
    step.fault.iter().try_for_each(|fault| line(f, depth, format_args!("fails: {fault:?}")))
}
