//! Where in a NestStep program this processor is.

use crate::{
    engine::Group,
    error::{Error, ErrorKind, place},
};
use std::{cell::Cell, panic::Location};

/// What the program may do here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Between steps: nothing shared may be written.
    Outside,
    /// In the body of a step that has no other inside.
    Body,
    /// In the body of a step that has split the group.
    Nested,
}

#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) mode: Mode,
    /// The depth of the innermost group that is active.
    pub(super) depth: usize,
}

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State { mode: Mode::Outside, depth: 0 }) };
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

pub(super) fn state() -> State {
    STATE.get()
}

/// How many bodies of steps have ended: what was mirrored for one of them is not for the next.
pub(super) fn bodies() -> u64 {
    STEPS.get()
}

/// The body of a step, while it runs. It ends when this is dropped, in whatever way.
#[derive(Debug)]
#[must_use = "the body ends with it"]
pub struct Inside(State);

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "depth {}", self.depth)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        STATE.set(self.0);
        STEPS.set(STEPS.get().wrapping_add(1));
    }
}

/// Enters the body of a step.
#[track_caller]
pub fn inside(group: &Group) -> Inside {
    enter(State { mode: Mode::Body, depth: group.depth() })
}

/// Enters the body of a step that has split the group; `group` is the subgroup.
#[track_caller]
pub fn within(group: &Group) -> Inside {
    enter(State { mode: Mode::Nested, depth: group.depth() })
}

#[track_caller]
fn enter(state: State) -> Inside {
    let before = STATE.get();
    if before.mode == Mode::Body {
        let what = "a step begins in the body of a step that has not split the group; end that one first";
        refuse(ErrorKind::StepMismatch, what, Location::caller());
    }
    Inside(STATE.replace(state))
}

/// Raises an error of the program.
#[cold]
pub(super) fn refuse(kind: ErrorKind, what: &str, site: &Location<'_>) -> ! {
    Error::placed(kind, format!("{what} ({})", place(site))).raise()
}

/// What a replicated variable or array is tied to, and whether this processor has written its copy in this step.
#[derive(Debug)]
pub(super) struct Copied {
    depth: usize,
    name: &'static str,
    pub(super) is_written: bool,
}

impl Copied {
    pub(super) fn new(group: &Group, name: &'static str) -> Self {
        Self { depth: group.depth(), name, is_written: false }
    }

    /// Whether a group of this depth is the one that declared it.
    pub(super) fn is_of(&self, depth: usize) -> bool {
        depth == self.depth
    }

    /// The copy is written now.
    #[inline]
    #[track_caller]
    pub(super) fn write(&mut self) {
        if !self.is_written {
            check_open(self.depth, &|| format!("`{}`", self.name));
            self.is_written = true;
        }
    }

    /// Whether something is left of a step of the group that has not ended.
    pub(super) fn is_left(&self, group: &Group) -> bool {
        self.is_written && self.is_of(group.depth())
    }

    /// Refuses a write that the translator has not seen.
    #[track_caller]
    pub(super) fn check(&self, group: &Group) {
        if self.is_left(group) {
            let what = format!("`{}` was changed by a method that should not change it; assign to it", self.name);
            refuse(ErrorKind::OutsideStep, &what, Location::caller());
        }
    }
}

/// Refuses a write to what belongs to a group of this depth, unless a step of that group is open.
#[track_caller]
pub(super) fn check_open(depth: usize, what: &dyn Fn() -> String) {
    let State { mode, depth: here } = STATE.get();
    let is_open = match mode {
        Mode::Outside => false,
        Mode::Body => true,
        Mode::Nested => here > depth,
    };
    if !is_open {
        let what = format!("{} is written outside of any step; write it in a step's body", what());
        refuse(ErrorKind::OutsideStep, &what, Location::caller());
    }
}
