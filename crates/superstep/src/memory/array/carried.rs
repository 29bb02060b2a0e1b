//! Long runs of writes on their way to owners in other processes: out of the writer's vectors, and straight into the
//! owner's.

use super::{
    part::Part,
    writes::{Home, Letter, Run, Writes},
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
fn order(array: u32, run: usize, vector: u64) -> u64 {
    u64::from(array) << 32 | (run as u64) << 1 | vector
}

impl<T: Element> Carrying for Moving<'_, T> {
    fn pieces<'a>(&'a mut self, out: &mut Vec<Sent<'a>>, into: &mut Vec<Awaited<'a>>) -> Result {
        let array = self.array;
        for Leaving { to, number, run } in self.leaving.iter() {
            let mut push = |vector: u64, bytes: &'a [u8]| out.push((order(array, *number, vector), *to, bytes));
            match &run.writes {
                Writes::One(places, _) => push(0, bytemuck::cast_slice(places)),
                Writes::Each(places, values) => {
                    push(0, bytemuck::cast_slice(places));
                    push(1, bytemuck::cast_slice(values));
                }
                Writes::Stretch(values) => push(1, bytemuck::cast_slice(values)),
                Writes::Whole(buffer) => push(1, bytemuck::cast_slice(buffer.as_slice())),
            }
        }
        for letter in self.incoming.iter_mut() {
            let Letter { runs, from, carried, .. } = &mut **letter;
            for (number, run) in runs.iter_mut().enumerate().filter(|(number, _)| carried.contains(number)) {
                let mut push =
                    |vector: u64, bytes: &'a mut [u8]| into.push((order(array, number, vector), *from, bytes));
                match &mut run.writes {
                    Writes::One(places, _) => push(0, bytemuck::cast_slice_mut(places)),
                    Writes::Each(places, values) => {
                        push(0, bytemuck::cast_slice_mut(places));
                        push(1, bytemuck::cast_slice_mut(values));
                    }
                    Writes::Stretch(values) => push(1, bytemuck::cast_slice_mut(values)),
                    Writes::Whole(_) => return Err(damaged()),
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
