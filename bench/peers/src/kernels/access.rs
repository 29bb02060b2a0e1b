//! Random accesses to a table that is distributed by blocks: the input of `histogram` and `gather`.

use crate::{PROCS, Random, mix};

/// How large a table is and how often it is accessed, per processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// How many elements each processor has.
    pub(crate) block: usize,
    /// How many accesses each processor makes.
    pub(crate) count: usize,
}

impl Shape {
    /// How many elements all processors have.
    pub(crate) fn table(self) -> usize {
        self.block * PROCS
    }

    /// How many accesses all processors make.
    pub(crate) fn accesses(self) -> usize {
        self.count * PROCS
    }

    /// The global indices that a processor accesses, all of them in the table.
    pub(crate) fn indices(self, rank: usize) -> Vec<usize> {
        let mut random = Random::of_rank(1, rank);
        (0..self.count).map(|_| random.below(self.table())).collect()
    }

    /// The values that a processor adds.
    pub(crate) fn values(self, rank: usize) -> Vec<u64> {
        let mut random = Random::of_rank(2, rank);
        (0..self.count).map(|_| random.next()).collect()
    }
}

/// What a table that is only read holds at an index.
pub(crate) fn element(index: usize) -> u64 {
    mix(index as u64)
}

/// What every processor accesses.
///
/// - **A1** Each index is below `shape.table()`; nothing but [`Accesses::random`] and [`Accesses::made`] makes one.
/// - **A2** Each processor has `shape.count` indices, and as many values or none.
pub(crate) struct Accesses {
    shape: Shape,
    indices: [Vec<usize>; PROCS],
    values: [Vec<u64>; PROCS],
}

impl Accesses {
    pub(crate) fn random(shape: Shape) -> Self {
        let indices = std::array::from_fn(|rank| shape.indices(rank));
        Self { shape, indices, values: Default::default() }
    }

    /// Indices and values that are made for each processor, as many as the shape says (A1, A2).
    pub(crate) fn made(shape: Shape, make: impl Fn(usize) -> (Vec<usize>, Vec<u64>)) -> Self {
        let made: [_; PROCS] = std::array::from_fn(make);
        let is_right = |(indices, values): &(Vec<usize>, Vec<u64>)| {
            let lens = [indices.len(), values.len()];
            lens == [shape.count; 2] && indices.iter().all(|&index| index < shape.table())
        };
        assert!(made.iter().all(is_right), "accesses fit their shape");
        let (mut indices, mut values) = (std::array::from_fn(|_| Vec::new()), std::array::from_fn(|_| Vec::new()));
        for (rank, made) in made.into_iter().enumerate() {
            (indices[rank], values[rank]) = made;
        }
        Self { shape, indices, values }
    }

    /// The same with a value for each index.
    pub(crate) fn with_values(self) -> Self {
        let values = std::array::from_fn(|rank| self.shape.values(rank));
        Self { values, ..self }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// All indices and values, by processor.
    pub(crate) fn all(&self) -> (&[Vec<usize>], &[Vec<u64>]) {
        (&self.indices, &self.values)
    }

    pub(crate) fn indices(&self, rank: usize) -> &[usize] {
        &self.indices[rank]
    }

    pub(crate) fn values(&self, rank: usize) -> &[u64] {
        &self.values[rank]
    }
}
