//! The empty step on as many processors as asked for, on threads and on forked processes, by turns with a barrier that
//! yields: `bench/held_back.sh` takes cores away meanwhile. What a `bsp_sync` takes is measured by a program in C. Its
//! path is the second argument.

use std::{
    env,
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};
use superstep::{Config, Fabric};

const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(300);
/// So many waits pass between two looks at the clock.
const WAITS: u64 = 64;

/// The last to count itself lets the others go on, who yield meanwhile.
#[derive(Default)]
struct Barrier {
    arrived: AtomicUsize,
    turn: AtomicU64,
}

impl Barrier {
    fn wait(&self, size: usize, turn: u64) {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == size {
            self.arrived.store(0, Ordering::Relaxed);
            self.turn.store(turn, Ordering::Release);
        }
        while self.turn.load(Ordering::Acquire) < turn {
            thread::yield_now();
        }
    }
}

/// Seconds of a wait at a barrier that yields.
fn yielding(size: usize) -> f64 {
    let (barrier, is_over, began) = (Barrier::default(), AtomicBool::new(false), Instant::now());
    let member = |rank: usize| {
        let mut turn = 0;
        while !is_over.load(Ordering::Relaxed) {
            for _ in 0..WAITS {
                turn += 1;
                barrier.wait(size, turn);
            }
            if rank == 0 {
                is_over.store(began.elapsed() > ROUND, Ordering::Relaxed);
            }
            // So that all look at the same answer.
            turn += 1;
            barrier.wait(size, turn);
        }
        turn
    };
    let turns = thread::scope(|scope| {
        let threads: Vec<_> = (0..size).map(|rank| scope.spawn(move || member(rank))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).max()
    });
    began.elapsed().as_secs_f64() / turns.unwrap_or(1) as f64
}

/// Seconds of an empty step.
fn empty_step(size: usize, fabric: Fabric) -> superstep::Result<f64> {
    Config::new().procs(size).fabric(fabric).run(|g| {
        let began = Instant::now();
        loop {
            (0..WAITS).for_each(|_| g.step(|_| ()));
            let goes_on = (g.rank() == 0).then(|| began.elapsed() < ROUND);
            if !g.step(|s| s.broadcast(0, goes_on)) {
                return began.elapsed().as_secs_f64() / g.steps() as f64;
            }
        }
    })
}

/// Seconds of a `bsp_sync`, by the microseconds that the program says.
fn bsp_sync(size: usize, program: &str) -> f64 {
    let said = Command::new(program).arg(size.to_string()).output().expect("the program can be started");
    String::from_utf8_lossy(&said.stdout).trim().parse::<f64>().expect("it says a number") / 1e6
}

fn main() -> superstep::Result {
    let mut arguments = env::args().skip(1);
    let size = arguments.next().and_then(|size| size.parse().ok()).expect("a number of processors");
    let program = arguments.next().expect("the program in C");
    let mut found = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        found[0].push(yielding(size));
        found[1].push(empty_step(size, Fabric::Threads)?);
        found[2].push(empty_step(size, Fabric::Procs)?);
        found[3].push(bsp_sync(size, &program));
    }
    let [barrier, threads, processes, sync] = found.map(|mut times| {
        times.sort_by(f64::total_cmp);
        1e6 * times[ROUNDS / 2]
    });
    let all = [
        ("a barrier that yields", barrier),
        ("a step on threads", threads),
        ("a step on processes", processes),
        ("a bsp_sync", sync),
    ];
    for (name, median) in all {
        println!("  {name:24} {median:10.2} µs, {:6.2} times the barrier", median / barrier);
    }
    Ok(())
}
