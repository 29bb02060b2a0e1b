//! After any other fault a run ends, with an error that says what it was, or with the right results.

use crate::{
    expected, outcome,
    programs::{PROGRAMS, Program},
    replayed, seeds, simulated,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};
use superstep::{Error, ErrorKind, Sum, sim::Faults};

const SIZES: [usize; 3] = [2, 3, 5];

/// Runs a program under many seeds, and hands each error to `check`, with its seed and size. Says how many runs ended
/// with one, and how many well.
fn try_seeds(
    (name, program): (&str, Program),
    faults: Faults,
    seeds: std::ops::Range<u64>,
    check: impl Fn(&Error, u64, usize) -> bool,
) -> [usize; 2] {
    let mut counts = [0; 2];
    for size in SIZES {
        let right = expected(size, program);
        for seed in seeds.clone() {
            for shares_memory in [false, true] {
                let words = replayed(name, size, seed, shares_memory, faults);
                match outcome(&simulated(size, seed, shares_memory).faults(faults), program) {
                    Ok(found) => {
                        assert_eq!(found, right, "{words}");
                        counts[1] += 1;
                    }
                    Err(error) => {
                        assert!(check(&error, seed, size), "{words}: {:?} {error}", error.kind());
                        counts[0] += 1;
                    }
                }
            }
        }
    }
    counts
}

pub(crate) fn is_crash(error: &Error, seed: u64, size: usize) -> bool {
    let says = |rank: usize| format!("process {rank} crashed, as seed {seed} has it");
    error.kind() == ErrorKind::PeerLost && (0..size).any(|rank| error.to_string() == says(rank))
}

pub(crate) fn is_damage(error: &Error, _: u64, size: usize) -> bool {
    let says = |rank: usize| format!("a damaged message came from processor {rank}");
    error.kind() == ErrorKind::Damaged && (0..size).any(|rank| error.to_string() == says(rank))
}

#[test]
fn a_processor_that_crashes_is_named_whatever_it_was_doing() {
    for program in PROGRAMS {
        let [failed, well] = try_seeds(program, Faults::CRASH, seeds(12), is_crash);
        println!("{}: {failed} runs were ended by a crash, {well} ended before", program.0);
        assert!(failed > 0, "{} never crashed", program.0);
    }
}

#[test]
fn crashes_are_named_also_where_packets_are_late_and_processors_stand_still() {
    for program in PROGRAMS {
        try_seeds(program, Faults::CRASH | Faults::DELAY | Faults::STALL, seeds(12), is_crash);
    }
}

#[test]
fn the_sender_of_a_damaged_packet_is_named_and_nothing_of_it_is_believed() {
    for faults in [Faults::DAMAGE, Faults::CUT] {
        for program in PROGRAMS {
            let [failed, well] = try_seeds(program, faults, seeds(8), is_damage);
            println!("{}: {failed} runs were ended by {faults}, {well} had none", program.0);
            assert!(failed > 0, "{} had no {faults}", program.0);
        }
    }
}

#[test]
fn memory_that_is_refused_is_one_error_on_all_members() {
    let is_refusal = |error: &Error, _: u64, _: usize| error.kind() == ErrorKind::OutOfMemory;
    for program in PROGRAMS {
        let [failed, well] = try_seeds(program, Faults::MEMORY, seeds(8), is_refusal);
        println!("{}: {failed} runs had no memory, {well} had enough", program.0);
        assert!(failed > 0 || !["areas", "arrays", "coherence"].contains(&program.0), "{} had memory", program.0);
    }
}

#[test]
fn threads_that_are_refused_are_an_error_of_the_run() {
    let refused = |error: &Error, _: u64, _: usize| error.kind() == ErrorKind::BadProcs;
    let [failed, well] = try_seeds(PROGRAMS[0], Faults::THREADS, 0..10, refused);
    assert!(failed > 0 && well > 0);
}

/// What nobody notices may make values wrong. It must not make the library panic, and every run ends.
#[test]
fn packets_that_are_garbled_end_a_run_with_an_error_or_make_values_wrong() {
    let (mut kinds, mut panics) = (BTreeSet::new(), BTreeMap::new());
    for (name, program) in PROGRAMS {
        for size in SIZES {
            for seed in seeds(12) {
                let words = replayed(name, size, seed, false, Faults::GARBLE);
                if let Err(error) = outcome(&simulated(size, seed, false).faults(Faults::GARBLE), program) {
                    kinds.insert(format!("{:?}", error.kind()));
                    if error.kind() == ErrorKind::Panicked {
                        // One seed for each place is enough.
                        let place = error.to_string().rsplit('(').next().unwrap_or_default().to_owned();
                        panics.entry(place).or_insert_with(|| format!("{words}: {error}"));
                    }
                }
            }
        }
    }
    assert!(panics.is_empty(), "{panics:#?}");
    assert!(kinds.contains("Damaged"), "{kinds:?}");
}

#[test]
fn all_processors_have_the_same_error_also_where_they_catch_it() {
    for faults in [Faults::CRASH, Faults::DAMAGE, Faults::CUT] {
        let mut failed = 0;
        for seed in seeds(40) {
            let seen = Mutex::new(Vec::new());
            let ended = simulated(4, seed, false).faults(faults).run(|g| {
                for _ in 0..10 {
                    let step = g.try_step(|s| (s.reduce(1u64, Sum), s.exchange(vec![1u64; s.size()])));
                    if let Err(error) = step {
                        seen.lock().unwrap().push(error.to_string());
                        return Err(error);
                    }
                }
                Ok(())
            });
            let seen = seen.into_inner().unwrap();
            match ended {
                Ok(()) => assert!(seen.is_empty(), "seed {seed}: {seen:?}"),
                Err(error) => {
                    failed += 1;
                    assert!(seen.iter().all(|text| *text == error.to_string()), "seed {seed}: {error}, but {seen:?}");
                }
            }
        }
        assert!(failed > 0, "no seed had {faults}");
    }
}

/// Seeds under which the library panicked once.
#[test]
fn garbled_packets_that_once_made_the_library_panic_are_errors() {
    for (name, size, seed) in [("areas", 2, 199), ("epochs", 2, 31)] {
        let (_, program) = PROGRAMS.into_iter().find(|(known, _)| *known == name).expect("a program");
        let error = outcome(&simulated(size, seed, false).faults(Faults::GARBLE), program).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{name}, seed {seed}: {error}");
    }
}
