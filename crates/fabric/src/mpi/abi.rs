//! What differs between implementations of MPI: names, constants, and where a status keeps its source.
//!
//! Three are known by their published constants: Open MPI, MPICH with its kin (Intel, MVAPICH, Cray), and the standard
//! ABI of MPI 5. Handles pass as words: an address in Open MPI and in the standard ABI, an `int` in MPICH, which a
//! register holds as well.

use super::dynamic::Library;
use std::ffi::c_int;

/// What a status needs at most, in words of 32 bits.
pub(super) type Status = [c_int; 16];

/// The constants of one MPI.
#[derive(Clone, Copy, Debug)]
pub(super) struct Abi {
    pub(super) name: &'static str,
    pub(super) world: usize,
    pub(super) byte: usize,
    pub(super) word: usize,
    pub(super) sum: usize,
    /// What lets a call return an error.
    pub(super) errors_return: usize,
    pub(super) any_source: c_int,
    /// The level of thread support in which calls are made by one thread at a time.
    pub(super) serialized: c_int,
    /// Which word of a status is the source.
    pub(super) source: usize,
}

impl Abi {
    /// Finds out which MPI a library is, by what it has and what it says of itself.
    pub(super) fn of(library: &Library, version: &str) -> Option<Self> {
        if let Some(world) = library.address("ompi_mpi_comm_world") {
            return Some(Self {
                name: "Open MPI",
                world,
                byte: library.address("ompi_mpi_byte")?,
                word: library.address("ompi_mpi_uint64_t")?,
                sum: library.address("ompi_mpi_op_sum")?,
                errors_return: library.address("ompi_mpi_errors_return")?,
                any_source: -1,
                serialized: 2,
                source: 0,
            });
        }
        if library.name.contains("mpi_abi") {
            return Some(Self {
                name: "MPI 5 ABI",
                world: 0x101,
                byte: 0x247,
                word: 0x259,
                sum: 0x21,
                errors_return: 0x143,
                any_source: -1,
                serialized: 2048,
                source: 0,
            });
        }
        // MPICH and those made of it share one ABI, and say so.
        let kin = ["MPICH", "Intel(R) MPI", "MVAPICH"];
        kin.iter().any(|name| version.contains(name)).then_some(Self {
            name: "MPICH",
            world: 0x4400_0000,
            byte: 0x4c00_010d,
            word: 0x4c00_083e,
            sum: 0x5800_0003,
            errors_return: 0x5400_0001,
            any_source: -2,
            serialized: 2,
            source: 2,
        })
    }
}
