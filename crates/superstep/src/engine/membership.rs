//! Who this processor is in a group, and where in the program it is.

use super::fingerprint::Sites;
use crate::error::{Error, ErrorKind, Result, place};
use fabric::{Circle, Name, Pen};
use std::{
    cell::Cell,
    fmt,
    panic::Location,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
};

/// What the processor is doing in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Between two steps.
    Between,
    /// In the body of a step.
    Step,
    /// In the body of a split: the group waits for its subgroups.
    Split,
    /// In an epoch: remote methods run.
    Epoch,
    /// The group is over for this processor.
    Ended,
}

/// What the members of a group make together besides the group itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Joint {
    /// The circle of a subgroup, by the subgroup's number.
    Subgroup,
    /// The circles of those who stay when others leave.
    Rest,
    /// Something of a tenant, by the tenant's number.
    Tenant,
}

/// One try at one step: the group by its number in this process, the step, and how many tries were abandoned before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StepMark {
    group: u64,
    pub(super) step: u64,
    attempt: u32,
}

/// How many groups there have been in this process.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// How many sites are remembered.
const TRAIL: usize = 8;

/// A processor's place in one group: its rank, the way there from the root group, the step, and the site.
pub(crate) struct Membership {
    pub(super) id: usize,
    /// This processor's number in the whole run.
    pub(crate) processor: usize,
    pub(crate) depth: usize,
    pub(super) parent: Option<Rc<Membership>>,
    /// A fingerprint of the way from the root group to this one, the same on every member. What has to be exact goes by
    /// [`name`](Self::name) and by `number`.
    pub(crate) key: u64,
    /// No other group of this process has it.
    pub(super) number: u64,
    rank: Cell<usize>,
    size: Cell<usize>,
    steps: Cell<u64>,
    /// How many steps were begun and abandoned.
    abandoned: Cell<u32>,
    phase: Cell<Phase>,
    /// Where the current or last step began.
    site: Cell<&'static Location<'static>>,
    /// Where steps before that began; see [`came_by`](Self::came_by).
    trail: [Cell<&'static Location<'static>>; TRAIL],
    trod: Cell<usize>,
    sites: Sites,
    /// Writes down where this processor is, for those who wait for it.
    pub(crate) pen: Pen,
}

impl Membership {
    /// The membership in a new group, whose end of the fabric `circle` is.
    pub(super) fn new(
        circle: &dyn Circle,
        parent: Option<Rc<Membership>>,
        (id, key): (usize, u64),
        site: &'static Location<'static>,
        first_step: u64,
    ) -> Self {
        Self {
            id,
            processor: parent.as_ref().map_or_else(|| circle.rank(), |parent| parent.processor),
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            parent,
            key,
            number: GROUPS.fetch_add(1, Ordering::Relaxed),
            rank: Cell::new(circle.rank()),
            size: Cell::new(circle.size()),
            steps: Cell::new(first_step),
            abandoned: Cell::new(0),
            phase: Cell::new(Phase::Between),
            site: Cell::new(site),
            trail: std::array::from_fn(|_| Cell::new(site)),
            trod: Cell::new(0),
            sites: Sites::default(),
            pen: circle.pen(),
        }
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank.get()
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.size.get()
    }

    #[inline]
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.phase.get()
    }

    #[inline]
    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// Where the current or last step began.
    #[inline]
    pub(crate) fn site(&self) -> &'static Location<'static> {
        self.site.get()
    }

    /// A fingerprint of the step at hand: its site and its number.
    #[inline]
    pub(super) fn marks(&self) -> (u64, u64) {
        (self.sites.hash(self.site.get()), self.steps.get())
    }

    /// The name of what the members make together now, the same on each of them. It goes by the step and by nothing
    /// that one of them could have counted alone, such as a call that was refused there.
    pub(crate) fn name(&self, what: Joint, part: u64) -> Name {
        Name { serial: self.steps.get(), purpose: what as u32, part }
    }

    /// The way from the root group to this one, such as `0/1/0/2`.
    pub(crate) fn path(&self) -> String {
        let mut ids = Vec::new();
        let mut next = Some(self);
        while let Some(group) = next {
            ids.push(group.id.to_string());
            next = group.parent.as_deref();
        }
        ids.reverse();
        ids.join("/")
    }

    /// Enters a step at `site`.
    #[inline]
    pub(super) fn begin(&self, site: &'static Location<'static>, phase: Phase) {
        let last = self.site.replace(site);
        if !std::ptr::eq(last, site) {
            // A loop around one step leaves no more than one trace.
            self.trail[self.trod.get() % TRAIL].set(last);
            self.trod.set(self.trod.get().wrapping_add(1));
        }
        self.phase.set(phase);
        self.pen.enter(self.steps.get(), self.site_key(site), |out| self.say_where(out, "", site));
    }

    /// The step at hand, or the one that comes next.
    #[inline]
    pub(super) fn step_mark(&self) -> StepMark {
        StepMark { group: self.number, step: self.steps.get(), attempt: self.abandoned.get() }
    }

    /// The step that has just closed.
    #[inline]
    pub(super) fn closed_mark(&self) -> StepMark {
        StepMark { step: self.steps.get().wrapping_sub(1), ..self.step_mark() }
    }

    /// Counts a step that will not reach its boundary, and may be begun again.
    pub(super) fn count_abandoned(&self) {
        self.abandoned.set(self.abandoned.get().wrapping_add(1));
        self.phase.set(Phase::Between);
    }

    /// Counts a step whose boundary was held.
    #[inline]
    pub(super) fn count_step(&self) {
        self.steps.set(self.steps.get().wrapping_add(1));
        self.pen.leave(self.steps.get());
        self.phase.set(Phase::Between);
    }

    pub(super) fn renumber(&self, rank: usize, size: usize) {
        self.rank.set(rank);
        self.size.set(size);
    }

    /// Writes down that this processor is at `site`, in something that is no step; `what` says in what.
    pub(crate) fn go_to(&self, what: &'static str, site: &'static Location<'static>) {
        let key = self.site_key(site) ^ what.len() as u64;
        self.pen.go_to(key, |out| self.say_where(out, what, site));
    }

    /// The last few sites at which steps began before this one, the latest first and each once. What a helper does is
    /// at the helper's site; these say where in the program it was called.
    pub(super) fn came_by(&self) -> Vec<String> {
        let trod = self.trod.get();
        let mut sites = vec![self.site.get()];
        for back in 1..=trod.min(TRAIL) {
            let site = self.trail[trod.wrapping_sub(back) % TRAIL].get();
            if !sites.contains(&site) {
                sites.push(site);
            }
        }
        sites.into_iter().skip(1).take(3).map(place).collect()
    }

    /// Stands for a site in this group.
    #[inline]
    fn site_key(&self, site: &'static Location<'static>) -> u64 {
        self.key ^ std::ptr::from_ref(site).addr() as u64
    }

    /// A site in this group in words, as it stands behind a step's number.
    #[cold]
    fn say_where(&self, out: &mut dyn fmt::Write, what: &str, site: &Location<'_>) -> fmt::Result {
        // Of a group that is very deep only the last numbers, so that going down costs the same at any depth.
        const LAST: usize = 16;
        let mut ids = [0; LAST];
        let mut next = Some(self);
        for id in ids.iter_mut().rev() {
            *id = next.map_or(0, |group| group.id);
            next = next.and_then(|group| group.parent.as_deref());
        }
        out.write_str(if next.is_some() { "of group …" } else { "of group " })?;
        for (at, id) in ids[LAST - LAST.min(self.depth + 1)..].iter().enumerate() {
            write!(out, "{}{id}", if at > 0 || next.is_some() { "/" } else { "" })?;
        }
        write!(out, "{what} ({}:{})", site.file(), site.line())
    }

    /// The beginning of an error about this step.
    pub(crate) fn in_step(&self, what: impl fmt::Display) -> String {
        self.message(self.steps.get(), what)
    }

    fn message(&self, step: u64, what: impl fmt::Display) -> String {
        format!("step {step} of group {}: {what}", self.path())
    }

    /// An error that says where it happened.
    #[cold]
    pub(crate) fn error(&self, kind: ErrorKind, what: impl fmt::Display, site: &Location<'_>) -> Error {
        Error::placed(kind, format!("{} ({})", self.in_step(what), place(site)))
    }

    /// An error about the step that has just closed.
    pub(crate) fn closed_error(&self, kind: ErrorKind, what: impl fmt::Display) -> Error {
        let step = self.steps.get().wrapping_sub(1);
        Error::placed(kind, format!("{} ({})", self.message(step, what), place(self.site.get())))
    }

    /// The error with its site, which an operator that failed did not know.
    pub(super) fn placed(&self, error: Error) -> Error {
        self.placed_at(error, self.site.get())
    }

    /// The same for a call at `site`.
    pub(crate) fn placed_at(&self, error: Error, site: &Location<'_>) -> Error {
        if error.is_placed() { error } else { self.error(error.kind(), &error, site) }
    }

    /// Refuses a rank that is not in the group.
    #[inline]
    pub(crate) fn check_rank(&self, rank: usize, site: &Location<'_>) -> Result {
        if rank < self.size.get() { Ok(()) } else { Err(self.bad_rank(rank, site)) }
    }

    #[cold]
    fn bad_rank(&self, rank: usize, site: &Location<'_>) -> Error {
        let size = self.size.get();
        let what = format!("rank {rank} named in a group of {size}; ranks run from 0 to {}", size - 1);
        self.error(ErrorKind::RankOutOfRange, what, site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn a_place_in_a_group_says_the_way_there_and_has_a_key_of_its_own() {
        let outcome = Config::new().procs(1).run(|g| {
            let (here, there) = (Location::caller(), Location::caller());
            let say = |member: &Membership| {
                let mut text = String::new();
                member.say_where(&mut text, ", waiting", here).map(|()| text)
            };
            let keys = |member: &Membership| [member.site_key(here), member.site_key(there)];
            assert_eq!(say(g.core()), Ok(format!("of group 0, waiting ({})", place(here))));
            let outer = keys(g.core());
            g.split(1, |sub| {
                assert_eq!(say(sub.core()), Ok(format!("of group 0/0, waiting ({})", place(here))));
                let inner = keys(sub.core());
                assert!(outer[0] != outer[1] && inner[0] != inner[1] && outer[0] != inner[0]);
            });
        });
        assert_eq!(outcome, Ok(()));
    }
}
