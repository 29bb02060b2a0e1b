//! Containers in checkpoints: each processor writes what it has, and whoever reads it deals it out.

use super::{
    super::together::{Trouble, together},
    manifest::What,
    save::{Copied, Save, Stored},
};
use crate::{
    algo::containers::{Graph, HashMap, Packed, Vector},
    engine::{Group, Value},
    error::Result,
};
use std::{any::type_name, hash::Hash, panic::Location};

fn what<C: Packed>(container: &C) -> What {
    What {
        kind: C::WHAT.into(),
        of: type_name::<C::Contents>().into(),
        size: 0,
        shape: container.fixed_len().into_iter().collect(),
        distribution: String::new(),
    }
}

fn copy<C: Packed>(container: &C, g: &mut Group, site: &'static Location<'static>) -> Result<Copied> {
    container.check_home(g.core(), site)?;
    let mut bytes = Vec::new();
    let packed = container.pack(&mut bytes).map(|()| bytes);
    Copied::of_each(g, packed)
}

/// This processor's share of what was kept.
fn read<C: Packed>(container: &C, g: &Group, from: &Stored<'_>) -> Result<C::Contents, Trouble> {
    let writers = from.writers_of(g.rank(), g.size());
    let parts = writers.map(|rank| from.of_writer(rank)).collect::<Result<Vec<_>, _>>();
    parts.and_then(|parts| container.read(&parts).map_err(|_| from.is_no(C::WHAT)))
}

fn restore<C: Packed>(container: &C, g: &mut Group, from: &Stored<'_>) -> Result {
    let mine = read(container, g, from);
    let contents = together(g, mine)?;
    container.deal_out(g, contents, from.writers == g.size())
}

macro_rules! saves {
    ($($container:ty where [$($generics:tt)*];)*) => { $(
        impl<$($generics)*> Save for $container {
            fn what(&self) -> What {
                what(self)
            }

            fn copy(&self, g: &mut Group, site: &'static Location<'static>) -> Result<Copied> {
                copy(self, g, site)
            }

            fn check(&self, g: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
                read(self, g, from).map(drop)
            }

            fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
                restore(self, g, from)
            }
        }
    )* };
}

saves! {
    Vector<T> where [T: Value];
    HashMap<K, V> where [K: Value + Hash + Eq, V: Value];
    Graph<V, E> where [V: Value, E: Value];
}
