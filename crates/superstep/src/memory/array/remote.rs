//! Gathers from owners that cannot be reached.
//!
//! The places are sorted by owner, as those of a scatter are, and each owner is asked for its own. Then the values of
//! all owners are taken in turn: who wanted which place first is what the list of indices says, so nothing is looked up
//! twice and nothing travels but places and values.

use super::{
    answers::{Asked, LONG, SHORT, WHOLE},
    layout::Map,
    part::Part,
    reads::{Gather, Indices, Lenders},
};
use crate::{
    engine::{Address, Element, Outbox, Record, damaged, push_words},
    error::Result,
};
use fabric::Reach;

impl<T: Element, M: Map> Gather<T, M> {
    /// Asks the owners that cannot be reached for what is needed of them. What of one owner would be more than all it
    /// has travels as all it has: then no element travels twice.
    pub(super) fn ask(&mut self, item: u32, number: u32, outbox: &mut Outbox) {
        let Some(part) = self.part.clone() else { return };
        let reaches = part.owned.reaches.borrow();
        if self.is_flat || reaches.iter().zip(&part.lens).all(|(reach, &len)| reach.is_some() || len == 0) {
            return;
        }
        let mut ask = |owner: usize, form: u64, places: &[u8]| {
            let expected = places.len() + 16;
            outbox.push_sized(owner, Address::Object(number), Record::Mirror, expected, |out| {
                push_words(out, &[u64::from(item), form]);
                out.extend_from_slice(places);
            });
        };
        if part.windows > 1 {
            return self.ask_far(&part, &reaches, ask);
        }
        self.sort_by_owner(&part);
        for (owner, places) in self.places.iter().enumerate() {
            // Beyond so many places, a place and a value each are more than all values.
            let limit = part.lens[owner] * size_of::<T>() / (size_of::<T>() + 4) + 1;
            self.asked.push(if places.is_empty() || reaches[owner].is_some() {
                Asked::Nothing
            } else if places.len() >= limit {
                ask(owner, WHOLE, &[]);
                Asked::Whole(Vec::new())
            } else {
                ask(owner, SHORT, bytemuck::cast_slice(places));
                Asked::InOrder(places.len(), Vec::new())
            });
        }
    }

    fn sort_by_owner(&mut self, part: &Part<T, M>) {
        let owners = part.lens.len();
        let share = self.at.len() / owners;
        let mut spares = part.home.spares();
        self.places.extend((0..owners).map(|_| spares.places(share)));
        drop(spares);
        // Few are not worth a look at every owner.
        if share >= 64 {
            self.places.iter_mut().for_each(|places| fabric::make_room(places, share + share / 16));
        }
        let (locator, places) = (part.locator(), &mut self.places[..]);
        let mut sort = |index: usize| {
            let (owner, at) = locator.locate(index);
            places[owner].push(at as u32);
        };
        match &self.at {
            Indices::Short(all) => fabric::chunks(all).flatten().for_each(|&index| sort(index as usize)),
            Indices::Long(all) => fabric::chunks(all).flatten().for_each(|&index| sort(index)),
        }
    }

    /// Takes the values of all owners in turn.
    pub(super) fn load_remote(&mut self, part: &Part<T, M>) -> Result {
        let reaches = part.owned.reaches.borrow();
        let lenders = Lenders::new(&reaches, self.site);
        let mut answers: Vec<Vec<T>> = Vec::with_capacity(self.places.len());
        for (places, asked) in self.places.iter().zip(&mut self.asked) {
            let owner = answers.len();
            if let Asked::InOrder(_, values) = asked {
                answers.push(std::mem::take(values));
                continue;
            }
            let mut values = part.home.spares().values(places.len());
            fabric::make_room(&mut values, places.len());
            match asked {
                Asked::Whole(all) => {
                    fabric::load(all, places, &mut values);
                    part.home.spares().keep_values(std::mem::take(all));
                }
                _ if places.is_empty() => {}
                _ => fabric::load(&lenders.lend(owner)?.ok_or_else(damaged)?, places, &mut values),
            }
            answers.push(values);
        }
        let mut into = std::mem::take(&mut self.into);
        into.clear();
        fabric::make_room(&mut into, self.at.len());
        let (locator, mut turns) = (part.locator(), answers.iter().map(|values| values.iter()).collect::<Vec<_>>());
        let turns = &mut turns[..];
        let mut take = |index: usize| turns[locator.locate(index).0].next().copied().unwrap_or_else(T::zeroed);
        match &self.at {
            Indices::Short(all) => {
                for chunk in fabric::chunks(all) {
                    into.extend(chunk.iter().map(|&index| take(index as usize)));
                }
            }
            Indices::Long(all) => into.extend(all.iter().map(|&index| take(index))),
        }
        let mut spares = part.home.spares();
        for (values, places) in answers.into_iter().zip(self.places.drain(..)) {
            spares.keep_values(values);
            spares.keep_places(places);
        }
        self.values = Some(into);
        Ok(())
    }

    /// Asks where a place may have more than 32 bits.
    fn ask_far(&mut self, part: &Part<T, M>, reaches: &[Option<Reach<T>>], mut ask: impl FnMut(usize, u64, &[u8])) {
        let mut places: Vec<Vec<u64>> = vec![Vec::new(); part.lens.len()];
        let mut note = |index: usize| {
            let (owner, at) = part.locate(index);
            if reaches[owner].is_none() {
                places[owner].push(at as u64);
            }
        };
        match &self.at {
            Indices::Short(all) => all.iter().for_each(|&index| note(index as usize)),
            Indices::Long(all) => all.iter().for_each(|&index| note(index)),
        }
        for (owner, places) in places.iter().enumerate() {
            self.asked.push(if places.is_empty() {
                Asked::Nothing
            } else {
                ask(owner, LONG, bytemuck::cast_slice(places));
                Asked::InOrder(places.len(), Vec::new())
            });
        }
    }
}
