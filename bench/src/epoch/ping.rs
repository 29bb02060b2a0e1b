//! Kernel `ping`: 24 bytes there and 24 back, by a call, by two raw rings, and by MPI.

use super::PROCS;
use crate::{
    clock::{on_all, timed},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{ring::Ring, team::team},
    report::Target,
};
use std::hint::spin_loop;
use superstep::Config;

const KERNEL: &str = "ping";

/// Calls before the clock starts.
const CHECKS: u64 = 100;

type Message = [u64; 3];

fn ball(number: u64) -> Message {
    [number, !number, number << 32]
}

/// What is sent back.
#[inline]
fn returned([a, b, c]: Message) -> Message {
    [a + 1, b, c]
}

/// `balls` calls of the first processor to the second, which waits for the epoch's end meanwhile.
fn call(config: &Config, balls: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let count = g.object(0_u64);
        let (mut is_right, mut seconds) = (true, 0.0);
        g.epoch(|e| {
            if e.rank() > 0 {
                return;
            }
            let mut play = |number| {
                let back = e.call(1, &count, ball(number), |count, _, ball| {
                    *count += 1;
                    returned(ball)
                });
                is_right &= back == returned(ball(number));
            };
            (1..=CHECKS).for_each(&mut play);
            seconds = timed(balls, play);
        });
        let played = count.with(|count| *count);
        let expected = if g.rank() == 1 { CHECKS + balls } else { 0 };
        (seconds, is_right && played == expected, digest(&[played]))
    })
}

/// The same by two rings between two threads.
fn rings(balls: u64) -> Sample {
    let (there, back) = (Ring::new(), Ring::new());
    team(2, |rank| {
        let mut is_right = true;
        let (out, into) = if rank == 0 { (&there, &back) } else { (&back, &there) };
        let (mut out, mut into) = (out.writer(), into.reader());
        let mut next = || loop {
            match into.pop() {
                Some(message) => return message,
                None => spin_loop(),
            }
        };
        let mut play = |number| {
            if rank == 0 {
                is_right &= out.push(ball(number)) && next() == returned(ball(number));
            } else {
                is_right &= out.push(returned(next()));
            }
        };
        (1..=CHECKS).for_each(&mut play);
        let seconds = timed(balls, play);
        Sample::by_hand(seconds, is_right)
    })
}

/// The same by MPI itself.
fn by_mpi(bounce: fn(Message) -> Message, balls: u64) -> Sample {
    let mut is_right = true;
    let mut play = |number| is_right &= bounce(ball(number)) == returned(ball(number));
    (1..=CHECKS).for_each(&mut play);
    let seconds = timed(balls, play);
    Sample::by_hand(seconds, is_right)
}

/// Plans the contest: against rings between threads, and against MPI where every processor is a process of it.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let procs = options.procs.unwrap_or(PROCS);
    let config = options.config(procs);
    let mut contest = Contest::of_times(KERNEL, procs).raw("call/raw-ring", |balls| Ok(rings(balls)));
    if let Some(bounce) = options.bounce.filter(|_| options.in_one_process(procs) == 1) {
        contest = contest.by_mpi("call/raw-mpi", move |balls| Ok(by_mpi(bounce, balls)));
    }
    let contest = contest
        .superstep("call", options, move |balls| call(&config, balls))
        .claim("call", ["call/raw-ring"], Target::AtMost(2.0))
        .claim("call", ["call/raw-mpi"], Target::AtMost(2.5));
    vec![contest]
}
