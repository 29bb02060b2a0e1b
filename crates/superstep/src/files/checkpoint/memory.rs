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
use std::{any::type_name, ops::Range, panic::Location};

const STRAIGHT: Placed = Placed { begin: 0, turned: None };

/// Copies the stretches of an array, each for the place where it stands in a file that has the array's first element
/// at this index.
fn stretches<T: Element, D: Distribution, const N: usize>(
    a: &Array<T, D, N>,
    first: usize,
    pieces: &mut Vec<(u64, Bytes)>,
) {
    let local = a.local();
    a.stretches(|offset, index, count| {
        let bytes: &[u8] = bytemuck::cast_slice(&local[offset..offset + count]);
        pieces.push((((first + index) * size_of::<T>()) as u64, Box::new(bytes.to_vec())));
    });
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
        let mut pieces = Vec::new();
        match straightened(g, self)? {
            None => stretches(self, 0, &mut pieces),
            Some(all) => pieces.extend(all.into_iter().map(|Straight { first, values }| {
                ((first * size_of::<T>()) as u64, Box::new(Elements(values)) as Bytes)
            })),
        }
        Ok(Copied { pieces: Ok(pieces) })
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

/// Some rows of a paged array, in an array that lies in the order of the file.
struct Rows<T: Element, const N: usize> {
    /// The index of the first element.
    first: usize,
    straight: Array<T, Block, N>,
    /// What this processor owns of them, in the paged array and in the other.
    owned: Vec<[[Range<usize>; N]; 2]>,
}

impl<T: Element, const N: usize> Rows<T, N> {
    /// The first rows of those that are taken at once.
    fn starts(g: &Group, a: &Paged<T, N>) -> impl Iterator<Item = usize> + use<T, N> {
        let row: usize = a.shape()[1..].iter().product();
        let count = if row == 0 { 0 } else { a.shape()[0] };
        (0..count).step_by(Self::at_once(g, row))
    }

    /// How many are taken at once: every processor has some of them.
    fn at_once(g: &Group, row: usize) -> usize {
        (arrays::at_once::<T>(g) / row.max(1)).max(g.size())
    }

    /// Collective.
    fn new(g: &mut Group, a: &Paged<T, N>, start: usize) -> Result<Self> {
        let (row, mut shape) = (a.shape()[1..].iter().product(), a.shape());
        let end = shape[0].min(start + Self::at_once(g, row));
        shape[0] = end - start;
        let owned = a.owned().filter_map(|mut block| {
            let (from, to) = (start.max(block[0].start), end.min(block[0].end));
            let mut moved = block.clone();
            block[0] = from..to;
            (from < to).then(|| {
                moved[0] = from - start..to - start;
                [block, moved]
            })
        });
        let owned = owned.collect();
        Ok(Self { first: start * row, straight: g.try_array_with(shape, Block::new())?, owned })
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
        let mut pieces = Vec::new();
        for start in Rows::starts(g, self) {
            let Rows { first, straight, owned } = Rows::new(g, self, start)?;
            g.try_step(|s| {
                for [block, moved] in owned {
                    s.update(&straight, moved, &self.read_section(block));
                }
            })?;
            stretches(&straight, first, &mut pieces);
        }
        Ok(Copied { pieces: Ok(pieces) })
    }

    fn check(&self, _: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        from.has_bytes(self.shape().iter().product::<usize>() * size_of::<T>())
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        self.check_home(g.core(), Location::caller())?;
        let mine = from.open();
        let file = together(g, mine)?;
        for start in Rows::starts(g, self) {
            let Rows { first, straight, owned } = Rows::new(g, self, start)?;
            let placed = Placed { begin: (first * size_of::<T>()) as u64, ..STRAIGHT };
            arrays::read(g, (from.path(), &file), placed, &straight)?;
            let found =
                g.try_step(|s| owned.iter().map(|[_, moved]| s.mirror(&straight, moved.clone())).collect::<Vec<_>>())?;
            for ([block, _], values) in owned.into_iter().zip(found) {
                self.write_section(block, &values);
            }
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
