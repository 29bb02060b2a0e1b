//! Which faults are tried, and what is said of those that do not end as they should.

use crate::{
    case::{Case, FAULTS, Ground, PHASES},
    driver::{run, undisturbed},
    judge,
    launched::Launcher,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, process,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// What has been tried.
#[derive(Default)]
struct Tally {
    total: usize,
    phases: BTreeSet<String>,
    wrong: Vec<String>,
    /// The longest that an end took, for each kind.
    slowest: BTreeMap<String, Duration>,
}

impl Tally {
    fn add(&mut self, case: &Case, (took, wrong): (Duration, Option<String>)) {
        self.total += 1;
        self.phases.insert(format!("{:?}", case.phase));
        self.wrong.extend(wrong);
        let slowest = self.slowest.entry(format!("{:?}", case.fault)).or_default();
        *slowest = took.max(*slowest);
    }
}

/// Runs a case, and says how long its end took, and what was wrong with it.
fn try_case(case: &Case, seed: u64, expected: &str) -> (Duration, Option<String>) {
    let name = case.name();
    let token = format!("{}-{:?}-{name}-{seed}", process::id(), case.ground).replace(['(', ')'], "");
    let (took, why) = match run(case, &token) {
        Ok(ended) => (ended.took, judge::wrong(case, &ended, expected)),
        Err(why) => (Duration::ZERO, Some(why)),
    };
    let test = match case.ground {
        Ground::Forked => "forked",
        Ground::Under(Launcher::OpenMpi) => "of_open_mpi",
        Ground::Under(Launcher::Mpich) => "of_mpich",
    };
    let variables = format!("SUPERSTEP_RANDOM_SEED={seed} SUPERSTEP_FAULTS={name}");
    let replay = format!("replay: {variables} cargo test -p superstep --test mayhem {test}");
    (took, why.map(|why| format!("{case:?}: {why}\n{replay}\n")))
}

/// How many runs are under way at once: most of the time they wait.
fn at_once(ground: Ground) -> usize {
    if ground == Ground::Forked { 4 } else { 2 }
}

/// Tries faults of all kinds on a ground. `SUPERSTEP_FAULTS` says how many of each kind in each phase, or names one
/// kind and phase; else there is one of each kind in a phase that the seed chooses.
pub(crate) fn campaign(ground: Ground) {
    let first = number("SUPERSTEP_RANDOM_SEED").unwrap_or(1);
    let asked = env::var("SUPERSTEP_FAULTS").unwrap_or_default();
    let expected = |size: usize| {
        let token = format!("{}-{ground:?}-{size}", process::id()).replace(['(', ')'], "");
        if size < 2 { String::new() } else { undisturbed(size, &token) }
    };
    let expected: Vec<String> = (0..=6).map(expected).collect();
    let mut all = Vec::new();
    for fault in FAULTS {
        for phase in PHASES {
            all.push((fault, Some(phase)));
        }
    }
    let (times, all) = if asked.is_empty() {
        (1, FAULTS.map(|fault| (fault, None)).to_vec())
    } else if let Ok(times) = asked.parse() {
        (times, all)
    } else {
        all.retain(|(fault, phase)| phase.is_some_and(|phase| format!("{fault:?}-{phase:?}") == asked));
        assert!(!all.is_empty(), "SUPERSTEP_FAULTS is {asked}; it must be a number, or a kind and a phase: Kill-Epoch");
        (1, all)
    };
    let count = times * all.len();
    let (next, tally) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    thread::scope(|scope| {
        for _ in 0..at_once(ground) {
            scope.spawn(|| {
                while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < count) {
                    let ((fault, phase), seed) = (all[at % all.len()], first + at as u64);
                    let case = Case::new(ground, seed, fault, phase);
                    let tried = try_case(&case, seed, &expected[case.size]);
                    tally.lock().expect("nobody panics here").add(&case, tried);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("nobody panics here");
    let Tally { total, phases, wrong, slowest } = tally;
    assert!(wrong.is_empty(), "{} of {total} faults did not end as they should:\n{}", wrong.len(), wrong.join("\n"));
    let (kinds, phases) = (slowest.len(), phases.len());
    let slowest: Vec<String> = slowest.iter().map(|(kind, took)| format!("{kind} {:.2}", took.as_secs_f64())).collect();
    let what = format!("{total} faults of {kinds} kinds in {phases} phases on {ground:?}");
    println!("{what}, all ended as they should; the slowest, in s: {}", slowest.join(", "));
}
