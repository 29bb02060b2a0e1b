//! The kernels of the NAS benchmarks have their official answers, on every fabric and on any number of processors.

mod support;

use superstep::{Config, Fabric, Local};
use superstep_programs::nas::{self, Class, Kernel};
use support::launch::{in_every_way, on_threads, printed, stderr};

const THREADS: Fabric = Fabric::Threads;
const SIMULATED: Fabric = Fabric::Sim { seed: 1, shares_memory: false };
/// Like threads, but by turns.
const BY_TURNS: Fabric = Fabric::Sim { seed: 2, shares_memory: true };

#[track_caller]
fn verified(fabric: Fabric, procs: usize, kernel: Kernel) -> Vec<u64> {
    let outcome = Config::new().procs(procs).fabric(fabric).run(|g| Local(nas::run(g, kernel, Class::S))).unwrap();
    assert!(outcome.is_right() && !outcome.values.is_empty(), "{procs} on {fabric:?}: {outcome}");
    outcome.values.iter().map(|value| value.found.to_bits()).collect()
}

/// As many processors have the same bits on every fabric.
#[track_caller]
fn verified_everywhere(kernel: Kernel) {
    for procs in [1, 2, 7] {
        verified(THREADS, procs, kernel);
    }
    let bits = verified(THREADS, 3, kernel);
    assert_eq!(verified(Fabric::Procs, 3, kernel), bits);
    assert_eq!(verified(SIMULATED, 3, kernel), bits);
    verified(BY_TURNS, 5, kernel);
    verified(SIMULATED, 17, kernel);
}

#[test]
fn integers_are_ranked() {
    verified_everywhere(Kernel::Is);
}

#[test]
fn an_eigenvalue_is_found() {
    verified_everywhere(Kernel::Cg);
}

#[test]
fn a_cube_is_solved_grid_by_grid() {
    verified_everywhere(Kernel::Mg);
    // There are more processors than planes of the second largest grid.
    verified(THREADS, 20, Kernel::Mg);
}

#[test]
fn a_cube_is_transformed() {
    verified_everywhere(Kernel::Ft);
    // There are more processors than planes.
    verified(THREADS, 70, Kernel::Ft);
}

#[test]
fn pairs_are_counted() {
    verified(THREADS, 5, Kernel::Ep);
}

#[test]
fn a_value_that_is_not_the_official_one_is_told() {
    let outcome = Config::new().procs(2).run(|g| Local(nas::run(g, Kernel::Mg, Class::S)));
    let mut outcome = outcome.unwrap();
    outcome.values[0].found *= 1.0 + 1e-7;
    assert!(!outcome.is_right() && outcome.to_string().contains("UNSUCCESSFUL"));
}

/// What a line of JSON says, without how long it took.
fn answers(printed: &str) -> Vec<serde_json::Value> {
    let answer = |line: &str| {
        let mut answer: serde_json::Value = serde_json::from_str(line).expect("every line is an object");
        let object = answer.as_object_mut().expect("every line is an object");
        object.remove("seconds").and(object.remove("mops")).expect("it says how long it took");
        answer
    };
    printed.lines().map(answer).collect()
}

#[test]
fn the_command_has_the_same_answers_on_threads_forked_simulated_and_under_both_launchers() {
    for kernel in ["is", "cg", "mg", "ft"] {
        let found = in_every_way(&["nas", kernel, "s", "--json"]);
        let expected = answers(&printed(&found[0].1));
        assert!(expected.len() == 1 && expected[0]["procs"] == 4 && expected[0]["verified"] == true, "{expected:?}");
        for (way, output) in &found {
            assert_eq!(answers(&printed(output)), expected, "{kernel}, {way}");
        }
    }
}

#[test]
fn the_command_speaks_as_the_suite_does() {
    let printed = printed(&on_threads(2, &["nas", "MG"]));
    for line in [
        " MG Benchmark Completed.",
        " Class           =                        S",
        " Size            =             32 x 32 x 32",
        " Iterations      =                        4",
        " Verification    =               SUCCESSFUL",
        "   norm of the residual 5.3077070057",
    ] {
        assert!(printed.lines().any(|its| its.starts_with(line)), "{line} in {printed}");
    }
}

#[test]
fn wrong_input_is_refused_in_one_line() {
    for (args, word) in
        [(["nas", "lu", "S"], "ep, is, cg"), (["nas", "cg", "Z"], "'Z'"), (["nas", "cg", "--no"], "--no")]
    {
        let output = on_threads(2, &args);
        let message = stderr(&output);
        assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{args:?}: {message}");
        assert!(message.contains(word), "{args:?}: {message}");
    }
}
