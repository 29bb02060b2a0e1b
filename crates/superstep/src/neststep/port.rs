//! What a processor writes to a distributed array in a step, and what it has mirrored of it.

use super::{
    added::Added,
    explain::explain,
    listed::Listed,
    own::{self, Marks, Own},
    state::{Mode, bodies, refuse, state},
    values::Values,
};
use crate::{
    engine::{Any, Combine, Element, Pending, Rule, Step},
    error::ErrorKind,
    memory::{Array, Distribution, Place, Section, Span, Strided, strided},
};
use rustc_hash::FxHashMap;
use std::{
    any,
    borrow::Cow,
    cell::{Cell, RefCell},
    fmt,
    ops::RangeInclusive,
    panic::Location,
    rc::Rc,
};

/// One processor's traffic with one distributed array.
pub struct Port<T: Element> {
    name: Cell<&'static str>,
    len: usize,
    out: RefCell<Out<T>>,
    /// Contributions, which go there too.
    added: Added<T>,
    /// Whether the step reads what it writes.
    is_tracking: Cell<bool>,
    /// Whether the step both assigns elements and combines them; then nothing goes to `out` before it ends.
    is_mixing: Cell<bool>,
    own: RefCell<FxHashMap<usize, Own<T>>>,
    /// Sections to be mirrored at the next boundary.
    wanted: RefCell<Vec<Span>>,
    mirrors: RefCell<Vec<Mirrored<T>>>,
    spare: RefCell<(Listed, Vec<T>)>,
}

struct Mirrored<T> {
    /// For the body of this number.
    body: u64,
    span: Span,
    values: Vec<T>,
}

/// What goes to the owners at the boundary, in the order of issue.
struct Out<T: Element> {
    at: Vec<usize>,
    values: Vec<T>,
    /// Sections, and how many single elements were assigned before.
    sections: Vec<(usize, Span, Vec<T>)>,
}

impl<T: Element> Out<T> {
    fn clear(&mut self) {
        self.at.clear();
        self.values.clear();
        self.sections.clear();
    }
}

impl<T: Element> Default for Out<T> {
    fn default() -> Self {
        Self { at: Vec::new(), values: Vec::new(), sections: Vec::new() }
    }
}

impl<T: Element> fmt::Debug for Port<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Port({})", self.name())
    }
}

/// This processor's port to an array; `name` is what the program calls it.
#[track_caller]
pub fn port<T: Element, D: Distribution, const N: usize>(a: &Array<T, D, N>, name: &'static str) -> Rc<Port<T>> {
    let make = || {
        Rc::new(Port::<T> {
            name: Cell::new(name),
            len: a.len(),
            out: RefCell::default(),
            added: Added::new(),
            is_tracking: Cell::new(false),
            is_mixing: Cell::new(false),
            own: RefCell::default(),
            wanted: RefCell::default(),
            mirrors: RefCell::default(),
            spare: RefCell::default(),
        }) as Rc<dyn any::Any>
    };
    let port = Rc::clone(a.annex().get_or_init(make)).downcast::<Port<T>>();
    let port = port.unwrap_or_else(|_| refuse(ErrorKind::NotMember, "an array has two ports", Location::caller()));
    port.name.set(name);
    port
}

/// The number of an element in row-major order. In one dimension nothing is checked yet.
#[inline]
#[track_caller]
pub(super) fn line<T: Element, D: Distribution, const N: usize>(a: &Array<T, D, N>, at: impl Place<N>) -> usize {
    if N == 1 { at.indices()[0] } else { a.index(at) }
}

/// A span as a section.
pub(super) fn section_of(span: Span) -> Strided {
    match (span.count, span.step) {
        (0, _) => strided(span.first..span.first, 1),
        (count, by @ 1..) => strided(span.first..=span.index(count - 1), by),
        (count, by) => strided(RangeInclusive::new(span.first, span.index(count - 1)), by),
    }
}

impl<T: Element> Port<T> {
    pub(super) fn name(&self) -> &'static str {
        self.name.get()
    }

    /// Begins a step, which may read what it writes. Nothing is left of a step that has not ended (X6).
    pub fn begin(&self, is_tracking: bool) {
        self.is_tracking.set(is_tracking);
        self.is_mixing.set(false);
        self.added.clear();
        self.out.borrow_mut().clear();
        self.own.borrow_mut().clear();
        self.wanted.borrow_mut().clear();
    }

    /// Says that the step which has just begun both assigns elements and combines them.
    pub fn mix(&self) {
        self.is_tracking.set(true);
        self.is_mixing.set(true);
    }

    /// Tells everybody what was written by a step that both assigns and combines. It comes before `send`.
    #[track_caller]
    pub fn both(&self, s: &Step) -> Pending<Vec<Marks>> {
        s.collect(own::marks(&self.own.borrow()))
    }

    /// Refuses elements that one processor has assigned and another has combined.
    pub fn check_both(&self, all: &[Marks]) {
        own::check(self.name(), all);
    }

    /// Assigns an element.
    #[inline]
    #[track_caller]
    pub fn assign<D: Distribution, const N: usize>(&self, a: &Array<T, D, N>, at: impl Place<N>, value: T) {
        let site = Location::caller();
        let index = self.check(line(a, at), site);
        if self.is_tracking.get() {
            self.own.borrow_mut().insert(index, Own::assigned(value, site));
            if self.is_mixing.get() {
                return;
            }
        }
        let mut out = self.out.borrow_mut();
        out.at.push(index);
        out.values.push(value);
    }

    /// Contributes to an element, by the array's own operator.
    #[inline]
    #[track_caller]
    pub fn add<D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Place<N>,
        value: T,
        op: impl Combine<T>,
    ) {
        self.add_at(a, line(a, at), value, op, Location::caller());
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn added(&self) -> &Added<T> {
        &self.added
    }

    pub(super) fn add_at<D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        index: usize,
        value: T,
        op: impl Combine<T>,
        site: &'static Location<'static>,
    ) {
        let index = self.check(index, site);
        if self.is_tracking.get() {
            self.own.borrow_mut().entry(index).or_insert_with(|| Own::at(site)).add(value);
            if self.is_mixing.get() {
                return;
            }
        }
        self.added.push(a, index, value, op);
    }

    #[inline]
    fn check(&self, index: usize, site: &Location<'_>) -> usize {
        if index >= self.len {
            let what = format!("index {index} of `{}`, an array of {}", self.name(), self.len);
            refuse(ErrorKind::IndexOutOfRange, &what, site);
        }
        index
    }

    /// Assigns a section.
    #[track_caller]
    pub fn assign_section<D: Distribution>(
        &self,
        a: &Array<T, D>,
        section: impl Section<1>,
        values: &(impl Values<T> + ?Sized),
    ) {
        let site = Location::caller();
        let span = match section.spans(&a.shape()) {
            Ok([span]) => span,
            Err((kind, what)) => refuse(kind, &what, site),
        };
        let values = values.values(span.count);
        if span.count != values.len() {
            let what = format!("{} values for {} elements of `{}`", values.len(), span.count, self.name());
            refuse(ErrorKind::BadLength, &what, site);
        }
        if self.is_tracking.get() {
            let own = span.indices().zip(values.iter()).map(|(index, &value)| (index, Own::assigned(value, site)));
            self.own.borrow_mut().extend(own);
            if self.is_mixing.get() {
                return;
            }
        }
        let mut out = self.out.borrow_mut();
        let before = out.at.len();
        let values = match values {
            Cow::Owned(values) => values,
            Cow::Borrowed(values) => {
                let mut room = a.room(values.len());
                room.extend_from_slice(values);
                room
            }
        };
        out.sections.push((before, span, values));
    }

    /// Assigns this processor's part of another array to the elements of the same numbers.
    #[track_caller]
    pub fn assign_all<D: Distribution, E: Distribution>(&self, a: &Array<T, D>, source: &Array<T, E>) {
        if source.len() != self.len {
            let what = format!("{} elements for the {} of `{}`", source.len(), self.len, self.name());
            refuse(ErrorKind::BadLength, &what, Location::caller());
        }
        let local = source.local();
        source.stretches(|offset, first, count| {
            self.assign_section(a, first..first + count, &local[offset..offset + count]);
        });
    }

    /// Assigns this processor's part of another array to the elements that `to` names.
    #[track_caller]
    pub fn permute<D: Distribution, E: Distribution>(
        &self,
        a: &Array<T, D>,
        source: &Array<T, E>,
        to: &Array<usize, E>,
    ) {
        if source.len() != self.len || to.len() != self.len {
            let what = format!("{} elements to {} places of `{}`", source.len(), to.len(), self.name());
            refuse(ErrorKind::BadLength, &what, Location::caller());
        }
        for (&value, &place) in source.local().iter().zip(to.local().iter()) {
            self.assign(a, place, value);
        }
    }

    /// An element that is here, as this processor sees it.
    #[track_caller]
    pub fn get<D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        at: impl Place<N>,
        op: impl Combine<T>,
    ) -> T {
        let (index, site) = (line(a, at), Location::caller());
        self.own(index, op, || self.elsewhere(a, index, site))
    }

    /// What this processor has made of an element in this step.
    #[inline]
    pub(super) fn own(&self, index: usize, op: impl Combine<T>, before: impl FnOnce() -> T) -> T {
        let own = self.own.borrow();
        match own.get(&index) {
            None => before(),
            Some(own) => own.value(op, before),
        }
    }

    /// An element that was not fetched: it may be owned or mirrored.
    pub(super) fn elsewhere<D: Distribution, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        index: usize,
        site: &Location<'_>,
    ) -> T {
        let place = a.place(self.check(index, site));
        if a.is_owned(place) {
            return a.get(place);
        }
        self.mirrored(index).unwrap_or_else(|| not_there(self.name(), index, a.owner(place), site))
    }

    fn mirrored(&self, index: usize) -> Option<T> {
        let body = bodies();
        self.mirrors.borrow().iter().rev().filter(|mirror| mirror.body == body).find_map(|mirror| {
            let span = mirror.span.upwards();
            let offset = index.checked_sub(span.first)?;
            let number = offset / span.step.unsigned_abs();
            let is_in = offset % span.step.unsigned_abs() == 0 && number < span.count;
            let at = if mirror.span == span { number } else { span.count.wrapping_sub(number + 1) };
            is_in.then(|| mirror.values[at])
        })
    }

    /// A section that was not fetched: each of its elements may be owned or mirrored.
    pub(super) fn section<D: Distribution>(&self, a: &Array<T, D>, span: Span, site: &Location<'_>) -> Vec<T> {
        self.with_mirror(span, <[T]>::to_vec)
            .unwrap_or_else(|| span.indices().map(|index| self.elsewhere(a, index, site)).collect())
    }

    /// Copies such a section.
    pub(super) fn copy_section<D: Distribution>(
        &self,
        a: &Array<T, D>,
        span: Span,
        into: &mut [T],
        site: &Location<'_>,
    ) {
        if self.with_mirror(span, |values| into.copy_from_slice(values)).is_none() {
            for (index, place) in span.indices().zip(into) {
                *place = self.elsewhere(a, index, site);
            }
        }
    }

    /// Looks at a section that was mirrored as a whole for this body.
    fn with_mirror<R>(&self, span: Span, look: impl FnOnce(&[T]) -> R) -> Option<R> {
        let (body, mirrors) = (bodies(), self.mirrors.borrow());
        let mirror = mirrors.iter().rev().find(|mirror| mirror.body == body && mirror.span == span)?;
        Some(look(&mirror.values))
    }

    /// Writes what this processor has made of the elements of a section in this step over what they were before.
    pub(super) fn write_own(&self, span: Span, values: &mut [T], op: impl Combine<T>) {
        if !self.own.borrow().is_empty() {
            for (index, value) in span.indices().zip(values) {
                *value = self.own(index, op, || *value);
            }
        }
    }

    /// Asks for a section to be mirrored at the next boundary.
    #[track_caller]
    pub fn mirror<D: Distribution>(&self, a: &Array<T, D>, section: impl Section<1>) {
        match section.spans(&a.shape()) {
            Ok([span]) => self.wanted.borrow_mut().push(span),
            Err((kind, what)) => refuse(kind, &what, Location::caller()),
        }
    }

    /// Hands everything to the boundary of `s`.
    #[track_caller]
    pub fn send<D: Distribution, C: Combine<T>>(&self, s: &Step, a: &Array<T, D>, op: C) -> Vec<Pending<Vec<T>>> {
        let sections = std::mem::take(&mut self.out.borrow_mut().sections);
        explain(s, sections.len(), ("stores", "sections"), self.name());
        if op.rule() == Rule::Fold {
            let mut out = self.out.borrow_mut();
            for (before, span, values) in sections.into_iter().rev() {
                out.at.splice(before..before, span.indices());
                out.values.splice(before..before, values);
            }
        } else {
            let mut out = self.out.borrow_mut();
            let mut done = 0;
            for (before, span, values) in sections {
                s.scatter(a, &out.at[done..before], &out.values[done..before], op);
                s.update_giving(a, span, values, op);
                done = before;
            }
            out.at.drain(..done);
            out.values.drain(..done);
        }
        self.send_places(s, a, op);
        self.wanted.borrow().iter().map(|&span| s.mirror(a, section_of(span))).collect()
    }

    /// The same for an array of several dimensions, which has no sections.
    #[track_caller]
    pub fn send_places<D: Distribution, const N: usize, C: Combine<T>>(&self, s: &Step, a: &Array<T, D, N>, op: C) {
        let mut out = self.out.borrow_mut();
        if self.is_mixing.take() {
            let own::Sorted { assigned, added: (places, values) } = own::sort_out(&self.own.borrow(), op);
            (out.at, out.values) = assigned;
            for (index, value) in places.into_iter().zip(values) {
                self.added.push(a, index, value, op);
            }
        }
        let Out { at, values, .. } = &mut *out;
        explain(s, at.len() + self.added.len(), ("stores", "elements"), self.name());
        if op.rule() == Rule::Fold {
            // What is assigned takes the place of the old value, and then combines with what others assign.
            keep_last(at, values);
            if !at.is_empty() {
                let Some(none) = op.identity() else {
                    let what = format!("elements of `{}` combine by a function and are not assigned", self.name());
                    refuse(ErrorKind::Conflict, &what, Location::caller());
                };
                let mut cleared = a.loose(Any, Some(none));
                a.collect_loose(&mut cleared, at.iter().copied(), &[]);
                s.scatter_loose(a, cleared);
            }
            s.scatter(a, at, values, op);
            self.added.send(s, a, op);
        } else {
            s.scatter(a, at, values, op);
        }
        out.clear();
        self.own.borrow_mut().clear();
        self.is_tracking.set(false);
    }

    /// Takes what the boundary has mirrored.
    pub fn settle(&self, mirrored: Vec<Vec<T>>) {
        let (body, mut mirrors) = (bodies(), self.mirrors.borrow_mut());
        mirrors.retain(|mirror| mirror.body == body);
        let spans = std::mem::take(&mut *self.wanted.borrow_mut());
        mirrors.extend(spans.into_iter().zip(mirrored).map(|(span, values)| Mirrored { body, span, values }));
    }

    pub(super) fn spare_list(&self) -> Listed {
        Listed::for_array(self.len, std::mem::take(&mut self.spare.borrow_mut().0))
    }

    pub(super) fn spare_values(&self) -> Vec<T> {
        std::mem::take(&mut self.spare.borrow_mut().1)
    }

    pub(super) fn keep(&self, at: Listed, values: Vec<T>) {
        *self.spare.borrow_mut() = (at, values);
    }
}

/// Says that an index did not come in time.
#[cold]
fn not_there(name: &str, index: usize, owner: usize, site: &Location<'_>) -> ! {
    let what = format!(
        "element {index} of `{name}` belongs to rank {owner} and was neither fetched nor mirrored; write \
         `mirror({name}[..]);` before the step"
    );
    refuse(ErrorKind::NotMirrored, &what, site)
}

/// Of several values for one place, keeps the last, where the first was.
fn keep_last<T: Copy>(at: &mut Vec<usize>, values: &mut Vec<T>) {
    let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
    let mut kept = 0;
    for number in 0..at.len() {
        let (index, value) = (at[number], values[number]);
        let place = *seen.entry(index).or_insert(kept);
        (at[place], values[place]) = (index, value);
        kept = kept.max(place + 1);
    }
    at.truncate(kept);
    values.truncate(kept);
}

/// Writes an element where the program does not say whether a step is open.
#[track_caller]
pub fn store<T: Element, D: Distribution, const N: usize>(
    a: &Array<T, D, N>,
    name: &'static str,
    at: impl Place<N>,
    value: T,
) {
    if state().mode == Mode::Body {
        port(a, name).assign(a, at, value);
    } else {
        a.set(at, value);
    }
}

/// Contributes to an element where the program does not say whether a step is open.
#[track_caller]
pub fn add<T: Element, D: Distribution, const N: usize>(
    a: &Array<T, D, N>,
    name: &'static str,
    at: impl Place<N>,
    value: T,
    op: impl Combine<T>,
) {
    if state().mode == Mode::Body {
        port(a, name).add(a, at, value, op);
    } else {
        let mut sum = a.get(at);
        op.combine(&mut sum, &value);
        a.set(at, sum);
    }
}
