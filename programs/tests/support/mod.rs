//! Running a program everywhere.

#![allow(dead_code)] // each test takes what it needs

pub(crate) mod launch;

use superstep::{Config, Fabric, Group};
use superstep_programs::{Fact, Summary, Trouble};

/// Where programs run that need no launcher. Most inputs of the tests have fewer things than 40 somewhere.
const PLACES: [(Fabric, usize); 9] = [
    (Fabric::Threads, 1),
    (Fabric::Threads, 2),
    (Fabric::Threads, 3),
    (Fabric::Threads, 8),
    (Fabric::Threads, 40),
    (Fabric::Procs, 2),
    (Fabric::Procs, 5),
    (Fabric::Sim { seed: 1, shares_memory: false }, 3),
    (Fabric::Sim { seed: 2, shares_memory: true }, 5),
];

/// Runs a program everywhere. It must be right, and find the same; returns what.
#[track_caller]
pub(crate) fn same_everywhere(
    run: impl Fn(&mut Group) -> Result<Summary, Trouble> + Sync,
) -> Vec<(&'static str, Fact)> {
    let found = everywhere(run);
    for ((fabric, procs), facts) in &found {
        assert_eq!(facts, &found[0].1, "{procs} on {fabric:?} beside one thread");
    }
    found[0].1.clone()
}

/// A place, and what was found there.
type Found = ((Fabric, usize), Vec<(&'static str, Fact)>);

/// Runs a program everywhere. It must be right.
#[track_caller]
pub(crate) fn everywhere(run: impl Fn(&mut Group) -> Result<Summary, Trouble> + Sync) -> Vec<Found> {
    let on = |(fabric, procs): (Fabric, usize)| {
        let summary = Config::new().procs(procs).fabric(fabric).run(&run);
        let summary = summary.unwrap_or_else(|error| panic!("{procs} on {fabric:?}: {error}"));
        assert!(summary.is_right(), "{procs} on {fabric:?}: {summary}");
        ((fabric, procs), summary.facts().to_vec())
    };
    PLACES.map(on).to_vec()
}

/// The error that a program has, which is the same on several fabrics.
#[track_caller]
pub(crate) fn error_of(run: impl Fn(&mut Group) -> Result<Summary, Trouble> + Sync) -> String {
    let on = |(fabric, procs): (Fabric, usize)| {
        let outcome = Config::new().procs(procs).fabric(fabric).run_all(|g| run(g).map(drop));
        outcome.expect_err("the program fails").to_string()
    };
    let errors = PLACES[1..].iter().map(|&place| on(place)).collect::<Vec<_>>();
    assert!(errors[0].lines().count() == 1, "one line: {}", errors[0]);
    errors[0].clone()
}

/// A count among the facts.
#[track_caller]
pub(crate) fn count(facts: &[(&'static str, Fact)], name: &str) -> i128 {
    match facts.iter().find(|(its, _)| *its == name) {
        Some((_, Fact::Count(count))) => *count,
        other => panic!("{name} is {other:?}"),
    }
}
