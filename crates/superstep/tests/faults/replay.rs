//! A seed decides everything, and decides it again.

use crate::{outcome, programs::PROGRAMS, replayed, seeds, simulated};
use std::{collections::BTreeSet, env, process::Command};
use superstep::sim::{Faults, Trace};

/// The traces of all programs under a seed, and how they ended.
fn traces(seed: u64) -> Vec<String> {
    let all = ["", "delay,stall", "crash", "damage", "cut", "garble", "memory", "delay,stall,crash,damage,cut,memory"];
    let mut found = Vec::new();
    for (name, program) in PROGRAMS {
        for faults in all.map(|text| text.parse::<Faults>().unwrap()) {
            for shares_memory in [false, true] {
                let trace = Trace::new();
                let ended = outcome(&simulated(3, seed, shares_memory).faults(faults).trace(&trace), program);
                let words = replayed(name, 3, seed, shares_memory, faults);
                found.push(format!("{words}\n{}{ended:?}\n", trace.text()));
            }
        }
    }
    found
}

#[test]
fn the_same_seed_gives_the_same_trace_byte_for_byte() {
    let mut different = BTreeSet::new();
    for seed in seeds(2) {
        let (first, second) = (traces(seed), traces(seed));
        for (first, second) in first.iter().zip(&second) {
            let at = first.lines().zip(second.lines()).position(|(a, b)| a != b);
            assert!(first == second, "{}\ndiffers in line {at:?}", first.lines().next().unwrap());
        }
        different.extend(first);
    }
    assert!(different.len() > 200, "seeds and faults make a difference");
}

/// Prints a number for each of the traces of a seed, for a process that compares them with its own.
#[test]
#[ignore = "started by another test"]
fn prints_its_traces() {
    println!("{}", digests());
}

fn digests() -> String {
    let lines = traces(1).into_iter().map(|trace| format!("digest {} {:016x}", trace.len(), digest(&trace)));
    lines.collect::<Vec<_>>().join("\n")
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

#[test]
fn another_process_has_the_same_traces() {
    let this = env::current_exe().unwrap();
    let mut command = Command::new(this);
    command.args(["--exact", "--ignored", "--nocapture", "replay::prints_its_traces"]);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The first line may stand behind the name of the test.
    let theirs = text.lines().filter_map(|line| line.find("digest").map(|at| &line[at..]));
    let (theirs, mine) = (theirs.collect::<Vec<_>>().join("\n"), digests());
    let first = mine.lines().zip(theirs.lines()).position(|(a, b)| a != b);
    assert!(mine == theirs, "trace {first:?} differs:\n{text}");
}

#[test]
fn a_trace_says_who_did_what_when_and_where() {
    let trace = Trace::new();
    let config = simulated(3, 9, false).faults(Faults::STALL | Faults::DELAY).trace(&trace);
    let line = line!() + 2;
    let run = config.run(|g| {
        g.step(|s| {
            s.work(500);
            s.exchange(vec![1u64; s.size()])
        });
    });
    run.unwrap();
    let (text, place) = (trace.text(), format!("in step 0 of group 0 ({}:{line})", file!()));
    for words in [
        &format!("processor 2 meets 2 others {place}"),
        &format!("processor 0 works 500 operations {place}"),
        &format!("3 processors have met {place}: w = 500, h = "),
        "processor 1 sends a tray of ",
        " bytes to processor 2",
        "processor 0 takes a contribution of ",
        "processor 1 ends",
        " us late",
        " stalls for ",
    ] {
        assert!(text.contains(words), "`{words}` is not in\n{text}");
    }
    assert!(text.lines().all(|line| line.contains(" us  ")), "{text}");
}

#[test]
fn a_trace_tells_of_a_crash_and_who_hears_of_it() {
    let crashed = |seed: &u64| {
        let trace = Trace::new();
        let run = simulated(3, *seed, false).faults(Faults::CRASH).trace(&trace).run(|g| {
            for _ in 0..5 {
                g.step(|_| ());
            }
        });
        run.err().map(|error| (error.to_string(), trace.text()))
    };
    let (error, text) = (0..100).find_map(|seed| crashed(&seed)).expect("some seed has a crash");
    assert!(text.contains(" crashes "), "{text}");
    assert_eq!(text.matches(&format!("hears that {error}")).count(), 2, "{text}");
}
