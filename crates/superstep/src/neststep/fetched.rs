//! Elements that a step reads, fetched before it began.

use super::{
    chunk::Chunk,
    explain::explain,
    listed::Listed,
    port::{Port, line, section_of},
    state::refuse,
};
use crate::{
    engine::{Combine, Element, Pending, Step},
    error::ErrorKind,
    memory::{Array, Distribution, Place, Section, Span},
    panics,
};
use rustc_hash::FxHashMap;
use std::{
    cell::{Cell, OnceCell, RefCell},
    panic::Location,
};

/// What a step will read of one array: filled by the inspector, which walks the step's loops before it begins.
#[derive(Debug)]
pub struct Wanted {
    at: RefCell<Listed>,
    /// The last ones.
    chunk: Chunk<128>,
    sections: RefCell<Vec<Span>>,
    /// Whether the step reads just these, in this order.
    is_sure: Cell<bool>,
}

/// Sections on their way.
type PendingSections<T> = Vec<Pending<Vec<T>>>;

/// Runs an inspector, which must not change anything of the program.
pub fn inspect(inspector: impl Fn()) {
    inspector();
}

/// Runs a part of an inspector to which the step may never come. If it panics, the step would at the same place, if it
/// came there: so nothing more is asked for, and nobody hears of it.
pub fn perhaps(part: impl FnOnce()) {
    panics::attempt(part);
}

/// What has methods that may be called before the step as well, to see what has to be fetched: nothing of it changes
/// behind a shared reference, as a `Cell` or a channel does. Where a program ends here, it calls the method before the
/// step, and keeps what it returns in a variable.
pub trait MayBeCalledTwice {}

impl<T: Sync + ?Sized> MayBeCalledTwice for T {}

/// Refuses anything else.
pub fn called_twice(_: &(impl MayBeCalledTwice + ?Sized)) {}

impl Wanted {
    /// Begins with room that an earlier step has left.
    pub fn new<T: Element>(port: &Port<T>) -> Self {
        Self {
            at: RefCell::new(port.spare_list()),
            chunk: Chunk::new(),
            sections: RefCell::default(),
            is_sure: Cell::new(false),
        }
    }

    /// Asks for an element. One that does not exist is for the step itself to complain of.
    #[inline]
    pub fn want<T: Element, D: Distribution, const N: usize>(&self, a: &Array<T, D, N>, at: impl Place<N>) {
        let Some(index) = number(a, at) else { return };
        if !self.chunk.push(index) {
            self.empty_chunk();
            self.chunk.push(index);
        }
    }

    /// Asks for the elements of a loop, which asks for nothing else. In the place of one that does not exist it asks
    /// for the first one.
    #[inline]
    pub fn want_each<T: Element, D: Distribution, P: Place<N>, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        places: impl Iterator<Item = P>,
    ) {
        if a.is_empty() {
            return;
        }
        self.empty_chunk();
        self.at.borrow_mut().extend(places.map(|at| number(a, at).unwrap_or_default()));
    }

    /// The same where nothing else is asked for, and the step reads one of them in each round of the loop, all in this
    /// order if its rounds are steady. Then it need not look where the next one is.
    #[inline]
    pub fn want_steadily<T: Element, D: Distribution, P: Place<N>, const N: usize>(
        &self,
        a: &Array<T, D, N>,
        (are_steady, places): (bool, impl Iterator<Item = P>),
    ) {
        let mut exist = true;
        self.want_each(
            a,
            places.map(|at| {
                let at = at.indices();
                exist &= at.iter().zip(a.shape()).all(|(&at, extent)| at < extent);
                at
            }),
        );
        self.is_sure.set(are_steady && exist);
    }

    #[inline(never)]
    fn empty_chunk(&self) {
        self.at.borrow_mut().extend(self.chunk.drain());
    }

    /// Asks for a section.
    pub fn want_section<T: Element, D: Distribution>(&self, a: &Array<T, D>, section: impl Section<1>) {
        self.sections.borrow_mut().extend(section.spans(&a.shape()).ok().map(|[span]| span));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.empty_chunk();
        self.at.borrow_mut().clear();
        self.sections.borrow_mut().clear();
        self.is_sure.set(false);
    }

    /// Has the boundary of `s` read all of it.
    #[track_caller]
    pub fn send<T: Element, D: Distribution>(
        &self,
        s: &Step,
        a: &Array<T, D>,
        port: &Port<T>,
    ) -> (Option<Pending<Vec<T>>>, PendingSections<T>) {
        let sections = self.sections.borrow().iter().map(|&span| s.mirror(a, section_of(span))).collect::<Vec<_>>();
        explain(s, sections.len(), ("fetches", "sections"), port.name());
        (self.send_places(s, a, port), sections)
    }

    /// The same for an array of several dimensions, which has no sections.
    #[track_caller]
    pub fn send_places<T: Element, D: Distribution, const N: usize>(
        &self,
        s: &Step,
        a: &Array<T, D, N>,
        port: &Port<T>,
    ) -> Option<Pending<Vec<T>>> {
        self.empty_chunk();
        let at = self.at.borrow();
        explain(s, at.len(), ("fetches", "elements"), port.name());
        (at.len() > 0).then(|| match &*at {
            Listed::Short(at) => s.gather_listed(a, at, port.spare_values()),
            Listed::Long(at) => s.gather_into(a, at, port.spare_values()),
        })
    }
}

/// The number of an element in row-major order, if it exists.
#[inline]
fn number<T: Element, D: Distribution, const N: usize>(a: &Array<T, D, N>, at: impl Place<N>) -> Option<usize> {
    let (at, shape) = (at.indices(), a.shape());
    let mut index = 0;
    for dimension in 0..N {
        if at[dimension] >= shape[dimension] {
            return None;
        }
        index = index * shape[dimension] + at[dimension];
    }
    Some(index)
}

/// What came of it. The step reads its elements in the order in which the inspector has asked for them, so that the
/// next one is nearly always where the last one ended.
#[derive(Debug)]
pub struct Fetched<T: Element> {
    at: Listed,
    values: Vec<T>,
    /// Where each index is, once an element was not the next one.
    places: OnceCell<FxHashMap<usize, usize>>,
    sections: Vec<(Span, Vec<T>)>,
    is_sure: bool,
}

/// Where a step reads what it has fetched: the element that comes next. It is a variable of the step, so that a loop
/// keeps all of it in registers.
#[derive(Debug)]
pub struct Cursor<'a, T> {
    /// What was asked for, where that is in 32 bits each.
    at: &'a [u32],
    values: &'a [T],
    next: usize,
    /// Whether nothing but the next one is ever read.
    is_sure: bool,
}

impl<T: Element> Fetched<T> {
    /// What was asked for, and what came.
    pub fn new(wanted: Wanted, (values, sections): (Option<Vec<T>>, Vec<Vec<T>>)) -> Self {
        let Wanted { at, sections: spans, is_sure, .. } = wanted;
        Self {
            at: at.into_inner(),
            values: values.unwrap_or_default(),
            places: OnceCell::new(),
            sections: spans.into_inner().into_iter().zip(sections).collect(),
            is_sure: is_sure.get(),
        }
    }

    /// Nothing was asked for.
    pub fn none() -> Self {
        let (at, values) = (Listed::Long(Vec::new()), Vec::new());
        Self { at, values, places: OnceCell::new(), sections: Vec::new(), is_sure: false }
    }

    /// Where a step begins to read.
    pub fn cursor(&self) -> Cursor<'_, T> {
        Cursor { at: self.at.short(), values: &self.values, next: 0, is_sure: self.is_sure }
    }

    /// The element as it was before the step.
    #[inline]
    #[track_caller]
    pub fn get<D: Distribution, const N: usize>(
        &self,
        cursor: &mut Cursor<'_, T>,
        a: &Array<T, D, N>,
        port: &Port<T>,
        at: impl Place<N>,
    ) -> T {
        self.look(cursor, a, port, line(a, at), Location::caller())
    }

    /// The element as this processor sees it, which may have written it in this step.
    #[inline]
    #[track_caller]
    pub fn get_own<D: Distribution, const N: usize>(
        &self,
        cursor: &mut Cursor<'_, T>,
        a: &Array<T, D, N>,
        port: &Port<T>,
        at: impl Place<N>,
        op: impl Combine<T>,
    ) -> T {
        let (index, site) = (line(a, at), Location::caller());
        port.own(index, op, || self.look(cursor, a, port, index, site))
    }

    #[inline]
    fn look<D: Distribution, const N: usize>(
        &self,
        cursor: &mut Cursor<'_, T>,
        a: &Array<T, D, N>,
        port: &Port<T>,
        index: usize,
        site: &Location<'_>,
    ) -> T {
        if cursor.is_sure
            && let Some(&value) = cursor.values.get(cursor.next)
        {
            debug_assert_eq!(self.at.get(cursor.next), Some(index), "the loop has gone another way");
            fabric::ask_on(&cursor.values[cursor.next]);
            cursor.next += 1;
            return value;
        }
        if let (Some(&at), Some(&value)) = (cursor.at.get(cursor.next), cursor.values.get(cursor.next))
            && at as usize == index
        {
            cursor.next += 1;
            return value;
        }
        let (value, next) = self.find(cursor.next, a, port, index, site);
        cursor.next = next;
        value
    }

    /// The element, wherever it is: the value depends on the index alone. And where the next one may be then.
    #[cold]
    #[inline(never)]
    fn find<D: Distribution, const N: usize>(
        &self,
        next: usize,
        a: &Array<T, D, N>,
        port: &Port<T>,
        index: usize,
        site: &Location<'_>,
    ) -> (T, usize) {
        if self.at.get(next) == Some(index) {
            return (self.values[next], next + 1);
        }
        let places = self.places.get_or_init(|| self.at.iter().enumerate().map(|(at, index)| (index, at)).collect());
        match places.get(&index) {
            // From here on the next one may be right again.
            Some(&at) => (self.values[at], at + 1),
            None => (port.elsewhere(a, index, site), next),
        }
    }

    /// A section as it was before the step, with what this processor has written to it since.
    #[track_caller]
    pub fn section<D: Distribution>(
        &self,
        a: &Array<T, D>,
        port: &Port<T>,
        section: impl Section<1>,
        op: impl Combine<T>,
    ) -> Vec<T> {
        let site = Location::caller();
        let span = match section.spans(&a.shape()) {
            Ok([span]) => span,
            Err((kind, what)) => refuse(kind, &what, site),
        };
        if span.count == 0 {
            return Vec::new();
        }
        let found = self.sections.iter().find(|(other, _)| *other == span).map(|(_, values)| values.clone());
        let mut values = found.unwrap_or_else(|| port.section(a, span, site));
        port.write_own(span, &mut values, op);
        values
    }

    /// Copies a section there, as [`section`](Self::section) has it.
    #[track_caller]
    pub fn copy_section<D: Distribution>(
        &self,
        a: &Array<T, D>,
        port: &Port<T>,
        section: impl Section<1>,
        op: impl Combine<T>,
        into: &mut [T],
    ) {
        let site = Location::caller();
        let span = match section.spans(&a.shape()) {
            Ok([span]) => span,
            Err((kind, what)) => refuse(kind, &what, site),
        };
        if span.count != into.len() {
            let what = format!("{} elements of `{}` for {} places", span.count, port.name(), into.len());
            refuse(ErrorKind::BadLength, &what, site);
        }
        if span.count == 0 {
            return;
        }
        match self.sections.iter().find(|(other, _)| *other == span) {
            Some((_, values)) => into.copy_from_slice(values),
            None => port.copy_section(a, span, into, site),
        }
        port.write_own(span, into, op);
    }

    /// Leaves its room for a later step.
    pub fn give_back(self, port: &Port<T>) {
        port.keep(self.at, self.values);
    }
}
