//! Lamellar: a world of processes, started anew for each round.
//!
//! Its processing elements are processes that share memory, so this program starts itself once for each of them, with
//! the environment that lamellar's launcher would give it. Each prints one line: how long it took, and the digest of
//! its part of the answer.
//!
//! Without the feature `lamellar` it is not there, and takes part in nothing.

#[cfg(feature = "lamellar")]
mod arrays;
#[cfg(feature = "lamellar")]
mod messages;
#[cfg(feature = "lamellar")]
mod process;
pub(crate) mod task;

use crate::{PROCS, Sample, failure::Failure, kernels::access::Shape};
use clap::ValueEnum;
use std::{
    env,
    process::{Child, Command, Output, Stdio, id},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};
use task::{Part, Task};

/// A world that takes longer has lost a member and would wait for it for ever.
const PATIENCE: Duration = Duration::from_secs(180);
/// How often the members are looked after: seldom enough not to disturb them.
const LOOK: Duration = Duration::from_millis(20);
/// What a process may share, in bytes; only what is used is there.
const HEAP_BYTES: usize = 2 << 30;

/// The processes of a world. They are gone when this is.
struct World(Vec<Child>);

impl Drop for World {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended already cannot be ended, and that is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Takes a part in a task, in a process of its own.
pub(crate) fn run(part: &Part) -> Result<(), Failure> {
    let (task, shape) = (part.task, part.shape());
    #[cfg(feature = "lamellar")]
    return {
        process::run(task, shape);
        Ok(())
    };
    #[cfg(not(feature = "lamellar"))]
    Err(Failure::new(format!("{task:?} of {shape:?}: this program was built without lamellar")))
}

/// Lets a fresh world do a task once.
pub(crate) fn play(task: Task, shape: Shape) -> Result<Sample, Failure> {
    static JOBS: AtomicUsize = AtomicUsize::new(0);
    // Names the shared memory, so it differs between all worlds on this machine.
    let job = id() as usize * 10_000 + JOBS.fetch_add(1, Ordering::Relaxed);
    let mut world = World(Vec::new());
    for rank in 0..PROCS {
        world.0.push(start(rank, job, task, shape).map_err(Failure::new)?);
    }
    wait(&mut world.0)?;
    let samples = world.0.drain(..).map(|child| {
        let output = child.wait_with_output().map_err(Failure::new)?;
        sample(&output).ok_or_else(|| Failure::new(complaint(&output)))
    });
    Ok(Sample::of_all(samples.collect::<Result<Vec<_>, _>>()?))
}

fn start(rank: usize, job: usize, task: Task, shape: Shape) -> std::io::Result<Child> {
    let task = task.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    Command::new(env::current_exe()?)
        .args(["lamellar-pe", &task, &shape.block.to_string(), &shape.count.to_string()])
        .env("LAMELLAR_BACKEND", "shmem")
        .env("LAMELLAR_THREADS", "1")
        .env("LAMELLAR_NUM_PES", PROCS.to_string())
        .env("LAMELLAR_PE_ID", rank.to_string())
        .env("LAMELLAR_JOB_ID", job.to_string())
        .env("LAMELLAR_HEAP_SIZE", HEAP_BYTES.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Waits until all have ended well. If one fails, the others would wait for it.
fn wait(children: &mut [Child]) -> Result<(), Failure> {
    let start = Instant::now();
    loop {
        let mut is_done = true;
        for child in children.iter_mut() {
            match child.try_wait().map_err(Failure::new)? {
                Some(status) if !status.success() => {
                    return Err(Failure::new(format!("a process ended with {status}")));
                }
                Some(_) => {}
                None => is_done = false,
            }
        }
        if is_done {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err(Failure::new(format!("no answer in {} seconds", PATIENCE.as_secs())));
        }
        thread::sleep(LOOK);
    }
}

/// What a process has found; lamellar may have printed lines of its own.
fn sample(output: &Output) -> Option<Sample> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.lines().find_map(|line| line.strip_prefix(task::ANSWER))?.split_whitespace();
    Some(Sample::of_answer(words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    format!("a process gave no answer: {}", text.lines().last().unwrap_or("it said nothing"))
}
