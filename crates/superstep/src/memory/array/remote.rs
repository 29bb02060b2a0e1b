//! Gathers from owners that cannot be reached.
//!
//! Places are sorted by owner, and each owner is asked for its own. The list of indices then says whose value comes
//! next, so nothing is looked up twice, and only places and values travel.

use super::{
    answers::{Asked, LONG, SHORT, WHOLE},
    layout::Map,
    part::Part,
    reads::{Gather, Lenders, Read},
};
use crate::{
    engine::{Address, Element, Outbox, Tag, damaged},
    error::Result,
};
use fabric::{Reach, wire::Writer as _};

impl<T: Element, M: Map> Read<T, M, Gather> {
    /// Asks the owners that cannot be reached. A whole part travels where single places and values would be longer.
    pub(super) fn ask(&mut self, part: &Part<T, M>, item: u32, number: u32, outbox: &mut Outbox) {
        let reaches = part.owned.reaches.borrow();
        if self.wanted.is_flat || reaches.iter().zip(&part.lens).all(|(reach, &len)| reach.is_some() || len == 0) {
            return;
        }
        let mut ask = |owner: usize, form: u64, places: &[u8]| {
            let expected = places.len() + 16;
            outbox.push_sized(owner, Address::Tenant(number), Tag::ReadAfter, expected, |out| {
                out.put([u64::from(item), form]);
                out.extend_from_slice(places);
            });
        };
        if part.windows > 1 {
            return self.ask_far(part, &reaches, ask);
        }
        self.sort_by_owner(part);
        for (owner, places) in self.wanted.places.iter().enumerate() {
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
        let share = self.wanted.at.len() / owners;
        let mut spares = part.pool.spares();
        self.wanted.places.extend((0..owners).map(|_| spares.places.take(share)));
        drop(spares);
        // Few are not worth a look at every owner.
        if share >= 64 {
            self.wanted.places.iter_mut().for_each(|places| fabric::make_room(places, share + share / 16));
        }
        let (locator, places) = (part.locator(), &mut self.wanted.places[..]);
        self.wanted.at.each(|index| {
            let (owner, at) = locator.locate(index);
            places[owner].push(at as u32);
        });
    }

    /// Takes the values of all owners in turn.
    pub(super) fn load_remote(&mut self, part: &Part<T, M>) -> Result<Vec<T>> {
        let reaches = part.owned.reaches.borrow();
        let lenders = Lenders { reaches: &reaches, site: self.site };
        let mut answers: Vec<Vec<T>> = Vec::with_capacity(self.wanted.places.len());
        for (places, asked) in self.wanted.places.iter().zip(&mut self.asked) {
            let owner = answers.len();
            if let Asked::InOrder(_, values) = asked {
                answers.push(std::mem::take(values));
                continue;
            }
            let mut values = part.pool.spares().values.take(places.len());
            fabric::make_room(&mut values, places.len());
            match asked {
                Asked::Whole(all) => {
                    fabric::load(all, places, &mut values);
                    part.pool.spares().values.keep(std::mem::take(all));
                }
                _ if places.is_empty() => {}
                _ => fabric::load(&lenders.lend(owner)?.ok_or_else(damaged)?, places, &mut values),
            }
            answers.push(values);
        }
        let mut into = self.take_into(self.wanted.at.len());
        let (locator, mut turns) = (part.locator(), answers.iter().map(|values| values.iter()).collect::<Vec<_>>());
        let turns = &mut turns[..];
        let take = |index: usize| turns[locator.locate(index).0].next().copied().unwrap_or_else(T::zeroed);
        self.wanted.at.look_up(&mut into, take);
        let mut spares = part.pool.spares();
        for (values, places) in answers.into_iter().zip(self.wanted.places.drain(..)) {
            spares.values.keep(values);
            spares.places.keep(places);
        }
        Ok(into)
    }

    /// Asks where a place may have more than 32 bits.
    fn ask_far(&mut self, part: &Part<T, M>, reaches: &[Option<Reach<T>>], mut ask: impl FnMut(usize, u64, &[u8])) {
        let mut places: Vec<Vec<u64>> = vec![Vec::new(); part.lens.len()];
        self.wanted.at.each(|index| {
            let (owner, at) = part.locate(index);
            if reaches[owner].is_none() {
                places[owner].push(at as u64);
            }
        });
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
