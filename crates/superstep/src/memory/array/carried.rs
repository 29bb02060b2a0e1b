//! Long runs of writes on their way to owners in other processes: out of the writer's vectors, and straight into the
//! owner's.

use super::{
    part::Part,
    writes::{Home, Letter, Run},
};
use crate::{
    engine::{Awaited, Carrying, Element, Sent, damaged},
    error::Result,
};
use std::cell::RefMut;

/// A run that is carried to `to`, the one with this number in its record.
pub(super) struct Leaving<T: Element> {
    pub(super) to: usize,
    pub(super) number: usize,
    pub(super) run: Run<T>,
}

/// The runs that go out of a part's hands and those that come for it.
struct Moving<'a, T: Element> {
    /// The array's number.
    array: u32,
    leaving: RefMut<'a, Vec<Leaving<T>>>,
    #[expect(clippy::vec_box, reason = "a letter travels in its box")]
    incoming: RefMut<'a, Vec<Box<Letter<T>>>>,
    len: usize,
    home: &'a Home<T>,
}

impl<T: Element, M> Part<T, M> {
    /// What is carried from here or here.
    pub(super) fn carried(&self, array: u32, len: usize) -> Option<Box<dyn Carrying + '_>> {
        let (leaving, incoming) = (self.leaving.borrow_mut(), self.incoming.borrow_mut());
        let is_any = !leaving.is_empty() || incoming.iter().any(|letter| !letter.carried.is_empty());
        is_any.then(|| Box::new(Moving { array, leaving, incoming, len, home: &self.home }) as Box<dyn Carrying + '_>)
    }
}

/// Where a piece stands among all that one member carries to another: both know its array, its run, and which of the
/// run's two vectors it is.
fn order(array: u32, run: usize, vector: usize) -> u64 {
    u64::from(array) << 32 | (run as u64) << 1 | vector as u64
}

impl<T: Element> Carrying for Moving<'_, T> {
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result {
        let array = self.array;
        for Leaving { to, number, run } in self.leaving.iter() {
            for (vector, bytes) in run.writes.vectors().into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
                out.push((order(array, *number, vector), *to, bytes));
            }
        }
        for letter in self.incoming.iter_mut() {
            let Letter { runs, from, carried, .. } = &mut **letter;
            for (number, run) in runs.iter_mut().enumerate().filter(|(number, _)| carried.contains(number)) {
                let vectors = run.writes.vectors_mut().into_iter().enumerate();
                for (vector, bytes) in vectors.filter(|(_, bytes)| !bytes.is_empty()) {
                    into.push((order(array, number, vector), *from, bytes));
                }
            }
        }
        Ok(())
    }

    fn done(&mut self) -> Result {
        let mut spares = self.home.spares();
        self.leaving.drain(..).for_each(|leaving| spares.keep_run(leaving.run));
        drop(spares);
        for letter in self.incoming.iter_mut() {
            let Letter { runs, carried, .. } = &mut **letter;
            if carried.drain(..).any(|number| !runs[number].fits(self.len)) {
                return Err(damaged());
            }
        }
        Ok(())
    }
}
