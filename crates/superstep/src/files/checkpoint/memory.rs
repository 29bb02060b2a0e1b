//! Arrays, paged arrays, shared variables and areas in checkpoints.
//!
//! The elements of an array stand in its file row by row, as in a file of `write_raw`; so whoever reads them need not
//! know who has written them.

use super::{
    super::{
        arrays::{self, Placed, Straight, straightened},
        together::{Trouble, by_leader, together},
    },
    manifest::What,
    save::{Bytes, Copied, Elements, Save, Stored},
};
use crate::{
    engine::{Element, Group, Leader, Value, encode},
    error::Result,
    memory::{Area, Array, Block, Distribution, Paged, Shared},
};
use std::{any::type_name, panic::Location};

const STRAIGHT: Placed = Placed { begin: 0, turned: None };

/// The stretches of an array, each where it stands in the file.
fn stretches<T: Element, D: Distribution, const N: usize>(a: &Array<T, D, N>) -> Copied {
    let (local, mut pieces) = (a.local(), Vec::new());
    a.stretches(|offset, index, count| {
        let bytes: &[u8] = bytemuck::cast_slice(&local[offset..offset + count]);
        pieces.push(((index * size_of::<T>()) as u64, Box::new(bytes.to_vec()) as Bytes));
    });
    Copied { pieces: Ok(pieces) }
}

impl<T: Element, D: Distribution, const N: usize> Save for Array<T, D, N> {
    fn what(&self) -> What {
        What {
            kind: "array".into(),
            of: type_name::<T>().into(),
            size: size_of::<T>(),
            shape: self.shape().into(),
            distribution: format!("{:?}", self.distribution()),
        }
    }

    fn copy(&self, g: &mut Group, site: &'static Location<'static>) -> Result<Copied> {
        self.check_whole(g.core(), site)?;
        let straight = straightened(g, self)?;
        let Some(Straight { first, values }) = straight else { return Ok(stretches(self)) };
        if values.is_empty() {
            return Ok(Copied { pieces: Ok(Vec::new()) });
        }
        Ok(Copied { pieces: Ok(vec![((first * size_of::<T>()) as u64, Box::new(Elements(values)) as Bytes)]) })
    }

    fn check(&self, _: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        from.has_bytes(self.len() * size_of::<T>())
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        let mine = from.open();
        let file = together(g, mine)?;
        arrays::read(g, (from.path(), &file), STRAIGHT, self)
    }
}

impl<T: Element, const N: usize> Save for Paged<T, N> {
    fn what(&self) -> What {
        What {
            kind: "paged array".into(),
            of: type_name::<T>().into(),
            size: size_of::<T>(),
            shape: self.shape().into(),
            distribution: format!("blocks of {:?}", self.block()),
        }
    }

    fn copy(&self, g: &mut Group, site: &'static Location<'static>) -> Result<Copied> {
        self.check_home(g.core(), site)?;
        let straight = g.try_array_with::<T, _, N>(self.shape(), Block::new())?;
        g.try_step(|s| {
            for block in self.owned() {
                s.update(&straight, block.clone(), &self.read_section(block));
            }
        })?;
        Ok(stretches(&straight))
    }

    fn check(&self, _: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        from.has_bytes(self.shape().iter().product::<usize>() * size_of::<T>())
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        self.check_home(g.core(), Location::caller())?;
        let straight = g.try_array_with::<T, _, N>(self.shape(), Block::new())?;
        let mine = from.open();
        let file = together(g, mine)?;
        arrays::read(g, (from.path(), &file), STRAIGHT, &straight)?;
        let blocks: Vec<_> = self.owned().collect();
        let found =
            g.try_step(|s| blocks.iter().map(|block| s.mirror(&straight, block.clone())).collect::<Vec<_>>())?;
        for (block, values) in blocks.into_iter().zip(found) {
            self.write_section(block, &values);
        }
        Ok(())
    }
}

impl<T: Value> Save for Shared<T> {
    fn what(&self) -> What {
        What::value::<T>("shared variable")
    }

    fn copy(&self, g: &mut Group, site: &'static Location<'static>) -> Result<Copied> {
        self.check_home(g.core(), site)?;
        Ok(Copied::of_leader(g, || {
            let mut bytes = Vec::new();
            encode(&self.get(), &mut bytes)?;
            Ok(bytes)
        }))
    }

    fn check(&self, g: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        if g.is_leader() { from.value_of::<T>(0).map(drop) } else { Ok(()) }
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        let value = by_leader(g, || from.value_of::<T>(0))?;
        g.try_step(|s| {
            self.set(value);
            s.combine(self, Leader);
        })
    }
}

impl<T: Element> Save for Area<T> {
    fn what(&self) -> What {
        What { size: size_of::<T>(), ..What::value::<T>("area") }
    }

    fn is_each_ones(&self) -> bool {
        true
    }

    fn copy(&self, g: &mut Group, site: &'static Location<'static>) -> Result<Copied> {
        self.check_home(g.core(), site)?;
        let bytes = self.try_local(site).map(|local| bytemuck::cast_slice(&local).to_vec());
        Copied::of_each(g, bytes)
    }

    fn check(&self, g: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        let bytes = from.part.of_writer(g.rank()).iter().map(|piece| piece.len).sum::<u64>() as usize;
        if bytes == self.len() * size_of::<T>() {
            return Ok(());
        }
        let (there, here) = (bytes / size_of::<T>(), self.len());
        Err(format!("has {there} elements of rank {}'s part of the area, which has {here} now", g.rank()))
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        let mine = from.of_writer(g.rank());
        let bytes = together(g, mine)?;
        bytemuck::cast_slice_mut(&mut self.local_mut()).copy_from_slice(&bytes);
        Ok(())
    }
}
