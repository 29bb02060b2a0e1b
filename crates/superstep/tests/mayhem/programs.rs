//! The program that faults happen to: it goes through all phases, and stays in the one that was asked for until it is
//! told to go on.

use crate::{
    case::{Fault, PHASES, Phase, ROUNDS},
    harm::harm,
};
use std::{env, path::PathBuf, process, thread, time::Duration};
use superstep::{Group, Max, Sum};

/// Runs the program, and ends the process as a program of its own would.
#[test]
#[ignore = "a program that the other tests start"]
fn program() {
    let plan = Plan::read();
    if let Err(error) = superstep::run(|g| phases(g, &plan)) {
        println!("error {:?} {error}", error.kind());
        process::exit(1);
    }
    process::exit(0);
}

/// What happens to which processors, and where.
struct Plan {
    phase: Phase,
    /// What victims do to themselves.
    fault: Option<Fault>,
    victims: Vec<usize>,
    round: usize,
    /// The file that lets the program go on.
    go: PathBuf,
}

fn setting(name: &str) -> String {
    env::var(format!("SUPERSTEP_TEST_{name}")).unwrap_or_else(|_| panic!("a test has set {name}"))
}

impl Plan {
    fn read() -> Self {
        let number = |text: &str| text.parse::<usize>().expect("a number");
        let fault = setting("FAULT");
        Self {
            phase: PHASES[number(&setting("PHASE"))],
            fault: crate::case::FAULTS.into_iter().find(|known| known.is_own() && format!("{known:?}") == fault),
            victims: setting("VICTIMS").split(',').map(number).collect(),
            round: number(&setting("ROUND")),
            go: setting("GO").into(),
        }
    }

    /// Whether the rounds of a phase are over, as this processor sees it.
    fn is_over(&self, phase: Phase, round: usize) -> bool {
        round >= ROUNDS && (phase != self.phase || self.go.exists()) && !self.awaits_end(phase)
    }

    /// Whether a thread is about to end a process while its processor waits.
    fn awaits_end(&self, phase: Phase) -> bool {
        use Fault::{Abort, Exit, Replace, Starve};
        phase == Phase::Boundary && self.phase == phase && matches!(self.fault, Some(Abort | Exit | Replace | Starve))
    }

    /// A processor is in a round of a phase: it says so the first time, and does to itself what it has to.
    fn reach(&self, phase: Phase, rank: usize, round: usize) {
        if phase != self.phase {
            return;
        }
        if round == 0 {
            println!("at {rank} {}", process::id());
        }
        if round == self.round && self.victims.contains(&rank) {
            self.fault.iter().for_each(|&fault| harm(fault));
        }
    }

    /// A processor waits for its end on its own, outside of all calls.
    fn linger(&self, phase: Phase, rank: usize) {
        (0..ROUNDS).for_each(|round| self.reach(phase, rank, round));
        while !self.is_over(phase, ROUNDS) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A number of which every bit depends on all that was mixed in.
fn mix(hash: u64, x: u64) -> u64 {
    (hash ^ x).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

/// Goes through all phases, in order. What comes out does not depend on how long that takes.
fn phases(g: &mut Group, plan: &Plan) {
    plan.linger(Phase::Start, g.rank());
    let mut hash = 0;
    hash = inside(g, plan, hash);
    hash = boundary(g, plan, hash);
    hash = split(g, plan, hash);
    hash = epoch(g, plan, hash);
    hash = coherence(g, plan, hash);
    if g.is_leader() {
        println!("result {hash:016x}");
    }
    if plan.fault.is_some() || plan.victims.contains(&g.rank()) {
        plan.linger(Phase::End, g.rank());
    } else {
        plan.reach(Phase::End, g.rank(), 0);
    }
}

/// Steps with messages of several lengths, and a body that takes a while.
fn inside(g: &mut Group, plan: &Plan, mut hash: u64) -> u64 {
    let (area, to) = (g.area::<u64>(1 << 12), (g.rank() + 1) % g.size());
    for round in 0.. {
        let values = vec![round as u64; 1 << (round % 13)];
        let (goes_on, sum) = g.step(|s| {
            s.put(to, &values, &area, 0);
            plan.reach(Phase::Inside, s.rank(), round);
            thread::sleep(Duration::from_micros(50));
            let is_over = plan.is_over(Phase::Inside, round);
            (s.reduce(u8::from(!is_over), Max), s.reduce((s.rank() * round) as u64, Sum))
        });
        if goes_on == 0 {
            break;
        }
        if round < ROUNDS {
            hash = mix(mix(hash, sum), area.local()[0]);
        }
    }
    hash
}

/// Steps in which all but the victims are late, so that these are at the boundary nearly all the time.
fn boundary(g: &mut Group, plan: &Plan, mut hash: u64) -> u64 {
    let me = g.rank();
    let is_victim = plan.victims.contains(&me);
    for round in 0.. {
        // One that waits can do nothing to itself, but a thread of its process can, and an operator.
        let is_fatal = is_victim && plan.phase == Phase::Boundary && round == plan.round;
        let fault = plan.fault.filter(|_| is_fatal);
        if plan.phase == Phase::Boundary && round == 0 {
            println!("at {me} {}", process::id());
        }
        let (goes_on, sum) = g.step(|s| {
            match fault {
                Some(Fault::Panic) | None => {}
                Some(fault) => drop(thread::spawn(move || harm(fault))),
            }
            if plan.phase == Phase::Boundary && !is_victim {
                thread::sleep(Duration::from_millis(1));
            }
            let is_over = plan.is_over(Phase::Boundary, round);
            let panics = u64::from(fault == Some(Fault::Panic));
            let add = |acc: &mut (u64, u64), x: &(u64, u64)| {
                assert!(acc.1 + x.1 == 0, "boom");
                acc.0 += x.0;
            };
            (s.reduce(u8::from(!is_over), Max), s.reduce(((me + round) as u64, panics), add))
        });
        if goes_on == 0 {
            break;
        }
        if round < ROUNDS {
            hash = mix(hash, sum.0);
        }
    }
    hash
}

/// Steps of two subgroups.
fn split(g: &mut Group, plan: &Plan, hash: u64) -> u64 {
    let me = g.rank();
    let mine = g.split(2, |sub| {
        let mut mine = 0;
        for round in 0.. {
            plan.reach(Phase::Split, me, round);
            let is_over = plan.is_over(Phase::Split, round);
            let (goes_on, sum) = sub.step(|s| (s.reduce(u8::from(!is_over), Max), s.reduce(me + round, Sum)));
            if goes_on == 0 {
                break;
            }
            if round < ROUNDS {
                mine = mix(mine, sum as u64);
            }
        }
        mine
    });
    g.step(|s| s.collect(mine.unwrap_or(0))).into_iter().fold(hash, mix)
}

/// Everybody calls everybody, and sends more on the way.
fn epoch(g: &mut Group, plan: &Plan, hash: u64) -> u64 {
    let sum = g.object((0u64, 0u64));
    let (me, size) = (g.rank(), g.size());
    g.epoch(|e| {
        for round in 0.. {
            plan.reach(Phase::Epoch, me, round);
            if plan.is_over(Phase::Epoch, round) {
                break;
            }
            let to = (me + 1 + round % (size - 1)) % size;
            let x = if round < ROUNDS { round as u64 } else { 0 };
            e.send(to, &sum, x, |sum, _, x| sum.0 += x);
            e.call(to, &sum, x, |sum, _, x| {
                sum.1 += 3 * x;
                sum.1
            });
        }
    });
    let (a, b) = sum.with(|sum| *sum);
    g.step(|s| s.collect(mix(a, b))).into_iter().fold(hash, mix)
}

/// Rows that all make coherent with each other.
fn coherence(g: &mut Group, plan: &Plan, mut hash: u64) -> u64 {
    let (me, size) = (g.rank(), g.size());
    let all: Vec<usize> = (0..size).collect();
    let a = g.paged::<u64, 1>([16 * size], [16]);
    for round in 0.. {
        plan.reach(Phase::Coherence, me, round);
        for turn in 0..4 {
            a.write([16 * me], (round * turn + me) as u64);
            g.cohere(&a, 0..16 * size, &all);
            let next = a.read([16 * ((me + 1) % size)]);
            assert_eq!(next, (round * turn + (me + 1) % size) as u64);
            if round < ROUNDS {
                hash = mix(hash, a.read([0]));
            }
            g.cohere(&a, 0..16 * size, &all);
        }
        let is_over = plan.is_over(Phase::Coherence, round);
        if g.step(|s| s.reduce(u8::from(!is_over), Max)) == 0 {
            break;
        }
    }
    hash
}
