//! Those who do the work: a folder for each peer, with a file for each kind of work. By hand it is done in
//! `superstep_bench`.

pub(crate) mod bare;
pub(crate) mod graph;
pub(crate) mod lamellar;
pub(crate) mod mpi;
pub(crate) mod petgraph;
pub(crate) mod raw;
pub(crate) mod rayon;
pub(crate) mod rustfft;
pub(crate) mod single;
pub(crate) mod sprs;
pub(crate) mod superstep;

pub(crate) use superstep_bench::raw::huge;
