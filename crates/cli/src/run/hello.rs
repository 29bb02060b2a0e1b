//! A tiny program to try launchers with: every processor says who it is.

use crate::failure::Failure;
use std::{
    process::{self, ExitCode},
    thread,
    time::Duration,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Hello {
    /// End with this exit code.
    #[arg(long, value_name = "CODE", default_value_t = 0)]
    exit: u8,
    /// Let the processor of this rank panic.
    #[arg(long, value_name = "RANK")]
    panic: Option<usize>,
    /// Let rank 0 sleep while the others wait for it, until a signal comes.
    #[arg(long)]
    wait: bool,
    /// Say this as well.
    words: Vec<String>,
}

pub(crate) fn run(hello: &Hello) -> Result<ExitCode, Failure> {
    superstep::run(|world| {
        let (rank, size) = (world.rank(), world.size());
        let mut words = vec![format!("hello from {rank} of {size} in process {}", process::id())];
        words.extend(hello.words.iter().map(|word| format!("[{word}]")));
        println!("{}", words.join(" "));
        world.step(|_| ());
        assert!(hello.panic != Some(rank), "rank {rank} panics as it was told to");
        if hello.wait && world.is_leader() {
            println!("waiting");
            loop {
                thread::sleep(Duration::from_secs(3600));
            }
        }
        world.step(|_| ());
    })
    .map_err(Failure::failed)?;
    Ok(ExitCode::from(hello.exit))
}
