//! PageRank of the GAP suite under MPI: superstep's, and C by hand.

use super::{ANSWER, launch, program};
use crate::{
    Sample,
    contenders::superstep,
    failure::Failure,
    kernels::gap::{ITERATIONS, Rows, TOLERANCE, options},
};
use clap::Args;
use std::{env, fs, io::Write, path::PathBuf, process};

/// A process's part in ranking a graph that is drawn.
#[derive(Args, Debug)]
pub(crate) struct Part {
    scale: u32,
}

/// Takes part, and prints what came of it.
pub(crate) fn run(part: &Part) -> Result<(), Failure> {
    let sample = ::superstep::run(|g| ::superstep::Local(superstep::gap::ranks_of(g, &options(part.scale))));
    let Sample { seconds, digest, .. } = sample.map_err(Failure::new)?;
    println!("{ANSWER}{seconds} {digest}");
    Ok(())
}

/// Lets superstep do it once.
pub(crate) fn superstep(rows: &Rows) -> Result<Sample, Failure> {
    let this = env::current_exe().map_err(Failure::new)?;
    launch(&this, &["gap-rank".to_owned(), rows.options.scale.to_string()])
}

/// A graph in a file that the program in C reads; it goes when this does.
pub(crate) struct File(PathBuf);

impl File {
    pub(crate) fn new(rows: &Rows) -> Result<Self, Failure> {
        let file = Self(env::temp_dir().join(format!("superstep-peers-{}.rows", process::id())));
        let mut to = fs::File::create(&file.0).map_err(Failure::new)?;
        let starts: Vec<u64> = rows.starts.iter().map(|&start| start as u64).collect();
        let bytes: [&[u8]; 2] = [bytemuck::cast_slice(&starts), bytemuck::cast_slice(&rows.targets)];
        bytes.iter().try_for_each(|bytes| to.write_all(bytes)).map_err(Failure::new)?;
        Ok(file)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Whoever cannot remove it has a file too many, and right figures.
        let _ = fs::remove_file(&self.0);
    }
}

/// Lets C by hand do it once, and be right if `highest` have the highest scores. It says only whether that is so; the
/// digest is 1 then.
pub(crate) fn by_hand(rows: &Rows, file: &File, highest: &[usize]) -> Result<Sample, Failure> {
    let mut words = vec![rows.vertices().to_string(), file.0.display().to_string()];
    words.extend([ITERATIONS.to_string(), TOLERANCE.to_string()]);
    words.extend(highest.iter().map(usize::to_string));
    launch(&program("gap")?, &words)
}
