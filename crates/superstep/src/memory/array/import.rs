//! Parts of an array as arrays of subgroups (G7).

use super::{
    Array,
    layout::{self, Distribution},
    operator::Operator,
};
use crate::{
    engine::{
        Any, By, Core, Element, Every, Group, Handover, Mine, Occasion, Outcome, Pending, Phase, Split, Splitting,
        Step, Subgroup, Weighted, hash_numbers, run_split, type_hash,
    },
    error::{ErrorKind, Result},
    memory::section::Span,
};
use std::{collections::VecDeque, ops::Range, panic::Location, rc::Rc};

/// The way of parts of an array into subgroups.
const IMPORT: Occasion = Occasion::new("import of an array");

impl Group {
    /// Splits, hands each subgroup its part of `array` as an array of its own, and writes that back at the end.
    ///
    /// `part` says on which section each subgroup works, by its number. It must say the same on all members, and
    /// sections of different subgroups must not overlap. The array of a subgroup has the same sort of distribution,
    /// over its own processors; [`Irregular`](crate::Irregular) becomes as even as it can be. Otherwise it is a
    /// [`split`](Self::split), and returns what that does.
    ///
    /// ```
    /// use superstep::{Block, Config};
    ///
    /// let values = Config::new().procs(4).run(|g| {
    ///     let a = g.array::<usize, Block>(8);
    ///     g.split_on(2, &a, |id| if id == 0 { 0..3 } else { 3..8 }, |sub, part| {
    ///         part.forall_mut(|i, x| *x = 10 * (sub.id() + 1) + i);
    ///     });
    ///     g.step(|s| s.mirror(&a, ..))
    /// });
    /// assert_eq!(values.unwrap(), [10, 11, 12, 20, 21, 22, 23, 24]);
    /// ```
    ///
    /// # Cost
    ///
    /// Two boundaries more than a split on the way in, and n / p g each way for n words.
    ///
    /// # Panics
    ///
    /// If a section is not one of the array, if two overlap, or if another group made the array;
    /// [`try_split_on`](Self::try_split_on) returns the error.
    #[track_caller]
    pub fn split_on<T, D, H, F, R, V>(
        &mut self,
        how: H,
        array: &Array<T, D>,
        part: impl Fn(usize) -> Range<usize>,
        body: F,
    ) -> Option<V>
    where
        T: Element,
        D: Distribution,
        R: Outcome<V>,
        F: FnOnce(&mut Group, &Array<T, D>) -> R,
        H: Splitting<F, R, Array<T, D>>,
    {
        self.import(how, array, &part, body, Location::caller()).unwrap_or_else(|error| error.raise())
    }

    /// Splits like [`split_on`](Self::split_on), and returns the group's error if there is one.
    ///
    /// ```
    /// use superstep::{Block, Config, ErrorKind};
    ///
    /// let kind = Config::new().procs(2).run(|g| {
    ///     let a = g.array::<u8, Block>(8);
    ///     g.try_split_on(2, &a, |id| id..id + 2, |_, _| ()).unwrap_err().kind()
    /// });
    /// assert_eq!(kind.unwrap(), ErrorKind::ExportConflict);
    /// ```
    #[track_caller]
    pub fn try_split_on<T, D, H, F, R, V>(
        &mut self,
        how: H,
        array: &Array<T, D>,
        part: impl Fn(usize) -> Range<usize>,
        body: F,
    ) -> Result<Option<V>>
    where
        T: Element,
        D: Distribution,
        R: Outcome<V>,
        F: FnOnce(&mut Group, &Array<T, D>) -> R,
        H: Splitting<F, R, Array<T, D>>,
    {
        self.import(how, array, &part, body, Location::caller())
    }

    fn import<T, D, H, F, R, V>(
        &self,
        how: H,
        array: &Array<T, D>,
        part: &dyn Fn(usize) -> Range<usize>,
        body: F,
        site: &'static Location<'static>,
    ) -> Result<Option<V>>
    where
        T: Element,
        D: Distribution,
        R: Outcome<V>,
        H: Splitting<F, R, Array<T, D>>,
    {
        array.check_whole(self.core(), site)?;
        let mut handover =
            Imports { array, part, sections: Vec::new(), waiting: VecDeque::new(), done: Vec::new(), open: None };
        run_split(self.core(), how, body, &mut handover, site)
    }
}

macro_rules! forms {
    ($($bound:ident $call:tt: $($type:ty),*;)*) => { $($(
        impl<T: Element, D: Distribution, R, F> Splitting<F, R, Array<T, D>> for $type
        where
            F: $bound(&mut Group, &Array<T, D>) -> R,
        {
            fn plan(&self) -> Split<'_> {
                (*self).into()
            }

            fn call(body: &mut Option<F>, group: &mut Group, with: &Array<T, D>) -> R {
                body.$call().expect("a body runs once unless it can run again")(group, with)
            }
        }
    )*)* };
}
forms! {
    FnOnce take: usize, Weighted<'_>, By;
    FnMut as_mut: Every, Split<'_>;
}

/// This processor's part of a section that a subgroup works on.
struct Import<T, D> {
    section: Range<usize>,
    distribution: D,
    /// The elements, in the order in which they lie in the subgroup's array.
    values: Vec<T>,
    /// Where they belong: their first index in the parent's array, and how many follow.
    stretches: Vec<(usize, usize)>,
}

/// What a split on an array carries along.
struct Imports<'a, T: Element, D: Distribution> {
    array: &'a Array<T, D>,
    part: &'a dyn Fn(usize) -> Range<usize>,
    /// The section of each subgroup.
    sections: Vec<Range<usize>>,
    waiting: VecDeque<Import<T, D>>,
    open: Option<Import<T, D>>,
    done: Vec<Import<T, D>>,
}

impl<T: Element, D: Distribution> Imports<'_, T, D> {
    /// Refuses sections that are none of the array's, or that overlap. All members see the same sections.
    fn check(&self, core: &Core) -> Result {
        let len = self.array.len();
        for (id, section) in self.sections.iter().enumerate() {
            if section.start > section.end || section.end > len {
                let what = format!("subgroup {id} imports section {section:?} of an array of {len}");
                return Err(core.closed_error(ErrorKind::SectionMismatch, what));
            }
        }
        let mut order: Vec<usize> = (0..self.sections.len()).filter(|&id| !self.sections[id].is_empty()).collect();
        order.sort_by_key(|&id| self.sections[id].start);
        for pair in order.windows(2) {
            let (first, second) = (&self.sections[pair[0]], &self.sections[pair[1]]);
            if first.end > second.start {
                let what = format!(
                    "subgroups {} and {} import sections {first:?} and {second:?}, which overlap and are written back",
                    pair[0], pair[1]
                );
                return Err(core.closed_error(ErrorKind::ExportConflict, what));
            }
        }
        Ok(())
    }

    fn plan(&self, subgroup: &Subgroup) -> Import<T, D> {
        let (section, size) = (self.sections[subgroup.id].clone(), subgroup.members.len());
        let distribution = self.array.distribution.resized(section.len(), size);
        let mut stretches = Vec::new();
        // What cannot be laid out so is refused when the array is made.
        if let Ok(map) = distribution.lay(&[section.len()], size) {
            layout::stretches(&map, subgroup.rank, |_, unit, count| stretches.push((section.start + unit, count)));
        }
        Import { section, distribution, values: Vec::new(), stretches }
    }
}

impl<T: Element, D: Distribution> Handover for Imports<'_, T, D> {
    type Item = Array<T, D>;

    fn declare(&mut self, core: &Core, count: usize) -> Result {
        if self.sections.try_reserve_exact(count).is_err() {
            let what = format!("there is no memory for the sections of {count} subgroups");
            return Err(core.error(ErrorKind::OutOfMemory, what, core.site()));
        }
        self.sections.extend((0..count).map(self.part));
        let ends = self.sections.iter().flat_map(|section| [section.start as u64, section.end as u64]);
        let hash = hash_numbers(ends.chain([type_hash::<Import<T, D>>(), u64::from(self.array.core.number)]));
        core.log.add_term(hash, format!("sections {:?} of array {}", self.sections, self.array.core.number));
        Ok(())
    }

    fn fetch(&mut self, core: &Rc<Core>, mine: &Mine, site: &'static Location<'static>) -> Result {
        // An owner may have left at the boundary that led here.
        self.array.check_whole(core, site)?;
        self.check(core)?;
        core.begin(site, Phase::Step);
        let step = Step { core: Rc::clone(core) };
        let mut pending: Vec<Pending<Vec<T>>> = Vec::new();
        let imports: Vec<Import<T, D>> = mine.each().map(|subgroup| self.plan(&subgroup)).collect();
        for import in &imports {
            pending.push(if let [(first, count)] = import.stretches[..] {
                step.mirror_spans(self.array, [Span { first, step: 1, count }], Vec::new(), site)
            } else {
                let mut reads = step.gatherer(self.array);
                for &(first, count) in &import.stretches {
                    (first..first + count).for_each(|index| reads.push(index));
                }
                reads.finish()
            });
        }
        core.boundary(&IMPORT)?;
        for (mut import, pending) in imports.into_iter().zip(pending) {
            import.values = core.settled(&pending);
            self.waiting.push_back(import);
        }
        Ok(())
    }

    fn unpack(&mut self, group: &mut Group, site: &'static Location<'static>) -> Result<Array<T, D>> {
        let import = self.waiting.pop_front().expect("one was fetched for each subgroup");
        let array = group.make_array([import.section.len()], import.distribution.clone(), site)?;
        let mut rest = &import.values[..];
        let mut local = array.local_mut();
        array.stretches(|offset, _, count| {
            let (values, behind) = rest.split_at(count);
            local[offset..offset + count].copy_from_slice(values);
            rest = behind;
        });
        drop(local);
        self.open = Some(import);
        Ok(array)
    }

    fn pack(&mut self, array: Array<T, D>, site: &'static Location<'static>) -> Result {
        let mut import = self.open.take().expect("it was unpacked before");
        import.values.clear();
        let Ok(local) = array.try_local(site) else {
            let what = format!(
                "rank {} still holds a borrow of its part of the array at the end of the split; drop it before the \
                 body ends",
                array.core.rank()
            );
            return Err(array.core.error(ErrorKind::StillBorrowed, what, site));
        };
        array.stretches(|offset, _, count| import.values.extend_from_slice(&local[offset..offset + count]));
        self.done.push(import);
        Ok(())
    }

    fn leave(&mut self, core: &Rc<Core>) {
        let (any, note) = (Operator::new(Any), core.note(core.site()));
        for import in self.done.drain(..) {
            let mut rest = &import.values[..];
            for (first, count) in import.stretches {
                let (values, behind) = rest.split_at(count);
                self.array.write_stretch(first, values, any, note);
                rest = behind;
            }
        }
    }
}
