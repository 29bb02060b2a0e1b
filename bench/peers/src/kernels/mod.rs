//! What the work is: inputs, right answers, and who does it.

mod gather;
mod histogram;
pub(crate) mod k_means;
mod mpi;
mod nas;
mod permute;
mod pick;
mod prefix;
pub(crate) mod random_access;
mod sort;
mod spmv;
mod transpose;

pub(crate) mod access;
pub(crate) mod dense;
pub(crate) mod gap;
pub(crate) mod group;
pub(crate) mod keys;
pub(crate) mod permutation;
pub(crate) mod terms;
pub(crate) mod walk;
pub(crate) mod words;

use crate::{contest::Stage, failure::Failure};
use access::{Accesses, Shape};
use superstep_programs::nas::Class;

/// A kind of work.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// What it does, in a sentence.
    pub(crate) about: &'static str,
    /// Makes the inputs, of each size in turn, and holds the contests.
    pub(crate) hold: fn(&mut Stage, &Sizes) -> Result<(), Failure>,
}

/// Every kernel there is.
pub(crate) const KERNELS: &[Kernel] = &[
    Kernel { name: "gap", about: "The GAP suite: six kernels on a Kronecker graph.", hold: gap::hold },
    Kernel {
        name: "histogram",
        about: "Random elements of a distributed table are increased, by one or by a value each.",
        hold: histogram::hold,
    },
    Kernel { name: "gather", about: "Random elements of a distributed table are read.", hold: gather::hold },
    Kernel {
        name: "random-access",
        about: "Words of a distributed table are changed by `Xor`, where a stream of numbers says.",
        hold: random_access::hold,
    },
    Kernel { name: "words", about: "The words of a text are counted; most are rare.", hold: words::hold },
    Kernel { name: "k-means", about: "Points are divided into clusters around their means.", hold: k_means::hold },
    Kernel {
        name: "permute",
        about: "`target[permutation[i]] = source[i]` for a random permutation.",
        hold: permute::hold,
    },
    Kernel { name: "sort", about: "Keys are sorted; floats by `total_cmp`.", hold: sort::hold },
    Kernel { name: "prefix", about: "Each element becomes the sum of all up to it, in place.", hold: prefix::hold },
    Kernel {
        name: "pick",
        about: "Some of many numbers are picked: by a function, each once, or the largest.",
        hold: pick::hold,
    },
    Kernel { name: "group", about: "Values are added up by key; keys are any numbers.", hold: group::hold },
    Kernel { name: "walk", about: "Containers on one processor, against plain code on one thread.", hold: walk::hold },
    Kernel {
        name: "transpose",
        about: "A dense matrix is transposed into another; every element is counted as read and written once.",
        hold: transpose::hold,
    },
    Kernel { name: "spmv", about: "A sparse matrix of random columns, by rows, times a vector.", hold: spmv::hold },
    Kernel {
        name: "mpi",
        about: "Two processes under Open MPI's `mpirun`; *raw* is C and MPI by hand.",
        hold: mpi::hold,
    },
    Kernel {
        name: "nas",
        about: "Kernels of the NAS parallel benchmarks, verified as the suite does; *raw* are the same loops on bare \
                threads, or C and MPI by hand.",
        hold: nas::hold,
    },
];

/// How large everything is. Lengths are of the whole, unless they say otherwise.
pub(crate) struct Sizes {
    tables_per_proc: &'static [usize],
    accesses_per_proc: usize,
    permuted_per_proc: usize,
    sorted: &'static [usize],
    summed: &'static [usize],
    picked: &'static [usize],
    largest: usize,
    /// Graphs of the GAP suite have two to this power of vertices.
    scale: u32,
    grouped: &'static [usize],
    /// How many different keys there are.
    keys: usize,
    /// Tables of two to the power of this words.
    random_access: &'static [u32],
    /// How many words a text has.
    words: usize,
    points: usize,
    vertices: &'static [usize],
    updates: usize,
    side: usize,
    rows: usize,
    per_row: usize,
    /// How many words go from one process to another, and how often.
    moved_words: usize,
    moves: usize,
    /// How often processes meet.
    meetings: usize,
    class: Class,
}

impl Sizes {
    pub(crate) const FULL: Self = Self {
        tables_per_proc: &[1_000_000, 10_000_000],
        accesses_per_proc: 10_000_000,
        permuted_per_proc: 10_000_000,
        sorted: &[10_000_000, 50_000_000],
        summed: &[10_000_000, 50_000_000],
        picked: &[10_000_000, 50_000_000],
        largest: 1000,
        scale: 18,
        grouped: &[10_000_000, 50_000_000],
        keys: 1_000_000,
        random_access: &[20, 23],
        words: 10_000_000,
        points: 1_000_000,
        vertices: &[1 << 16, 1 << 20],
        updates: 10_000_000,
        side: 4096,
        rows: 1_000_000,
        per_row: 16,
        moved_words: 1 << 20,
        moves: 50,
        meetings: 100_000,
        class: Class::A,
    };
    /// The smaller of the sizes alone.
    pub(crate) const BRIEF: Self = Self {
        tables_per_proc: &[10_000_000],
        sorted: &[10_000_000],
        summed: &[10_000_000],
        picked: &[10_000_000],
        grouped: &[10_000_000],
        random_access: &[23],
        vertices: &[1 << 16],
        ..Self::FULL
    };
    /// Odd enough that nothing divides by chance.
    pub(crate) const SMALL: Self = Self {
        tables_per_proc: &[1_001, 5_003],
        accesses_per_proc: 20_011,
        permuted_per_proc: 3_001,
        sorted: &[5_003, 20_011],
        summed: &[5_003, 20_011],
        picked: &[5_003, 20_011],
        largest: 11,
        scale: 7,
        grouped: &[5_003, 20_011],
        keys: 1_001,
        random_access: &[1, 10],
        words: 20_011,
        points: 1_003,
        vertices: &[101, 1_001],
        updates: 20_011,
        side: 70,
        rows: 1_001,
        per_row: 5,
        moved_words: 1_001,
        moves: 3,
        meetings: 101,
        class: Class::S,
    };
}

impl Sizes {
    /// Random accesses to a table of each size, drawn one after the other.
    fn accesses(&self) -> impl Iterator<Item = Accesses> {
        let shapes = self.tables_per_proc.iter().map(|&block| Shape { block, count: self.accesses_per_proc });
        shapes.map(Accesses::random)
    }
}

/// A count as people say it.
fn count(number: usize) -> String {
    if number.is_multiple_of(1_000_000) { format!("{} million", number / 1_000_000) } else { number.to_string() }
}
