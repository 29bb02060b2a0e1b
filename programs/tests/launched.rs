//! The executable says the same on threads, on forked processes, simulated, under both MPIs and mixed.

mod support;

use std::process::Output;
use support::launch::{in_every_way, on_threads, printed, stderr};

/// The line that it printed, after it has ended well.
#[track_caller]
fn line(output: &Output) -> String {
    let text = printed(output);
    assert_eq!(text.lines().count(), 1, "{text}{}", stderr(output));
    text.trim_end().to_owned()
}

/// What it printed but for the time that it took.
#[track_caller]
fn answer(output: &Output) -> String {
    line(output).rsplit_once("; ").expect("the time comes last").0.to_owned()
}

#[track_caller]
fn the_same_in_every_way(line: &str) {
    let args: Vec<&str> = line.split(' ').collect();
    let answers: Vec<_> = in_every_way(&args).iter().map(|(way, output)| (*way, answer(output))).collect();
    for (way, found) in &answers {
        assert_eq!(found, &answers[0].1, "{way}");
        assert!(found.contains(": verified; "), "{found}");
    }
}

#[test]
fn programs_of_bale_find_the_same() {
    the_same_in_every_way("bale histogram --table 1000 --updates 30000");
    the_same_in_every_way("bale gather --table 1000 --reads 30000");
    the_same_in_every_way("bale permutation --len 10000");
    the_same_in_every_way("bale toposort --rows 1000");
    the_same_in_every_way("bale triangles --vertices 500 --degree 30");
}

#[test]
fn random_access_has_no_errors() {
    the_same_in_every_way("hpcc random-access --log2 12");
}

#[test]
fn the_parallel_research_kernels_pass_their_checks() {
    the_same_in_every_way("prk stencil --size 60 --iterations 3");
    the_same_in_every_way("prk transpose --order 60 --iterations 3");
    the_same_in_every_way("prk sparse --log2 5 --iterations 3");
    the_same_in_every_way("prk synch --rows 60 --columns 50 --iterations 3");
}

#[test]
fn programs_on_data_find_the_same() {
    the_same_in_every_way("data words src/bale --top 5");
    the_same_in_every_way("data k-means --points 3000 --clusters 5 --rounds 5");
    the_same_in_every_way("data join --rows 3000 --keys 500 --names 9");
    the_same_in_every_way("data kmers --reads 200 --canonical");
}

#[test]
fn the_summary_is_an_object_if_that_is_asked_for() {
    let object = line(&on_threads(2, &["bale", "histogram", "--table", "10", "--updates", "1000", "--json"]));
    let object: serde_json::Value = serde_json::from_str(&object).expect("it is an object");
    let said = ["program", "procs", "verified", "table", "updates"].map(|name| object[name].clone());
    assert_eq!(serde_json::json!(said), serde_json::json!(["bale histogram", 2, true, 10, 1000]));
}

#[test]
fn what_makes_no_sense_is_one_line_and_fails() {
    let cases = [
        "bale histogram --table 0",
        "bale gather --table 99999999999999999999999",
        "bale permutation --len x",
        "bale toposort --rows 5000000000",
        "bale histogram --table 18446744073709551615",
        "bale permutation --len 1000000000000000000",
        "hpcc random-access --log2 64",
        "hpcc random-access --log2 50",
        "hpcc random-access --ahead 0",
        "prk stencil --size 4",
        "prk stencil --size 9999999999",
        "prk transpose --order 99999999",
        "prk sparse --log2 3 --radius 4",
        "prk sparse --log2 16",
        "prk synch --rows 1",
        "prk synch --rows 99999999999",
        "prk synch --rows 99999999 --columns 99999999",
        "data words no-such-folder",
        "data words",
        "data k-means --clusters 7 --points 3",
        "data k-means --file no-such-file",
        "data k-means --dimensions 18446744073709551615",
        "data join --left only.csv",
        "data join --left none.csv --right none.csv",
        "data kmers --k 33",
        "data kmers no-such-file",
    ];
    for case in cases {
        let output = on_threads(3, &case.split(' ').collect::<Vec<_>>());
        let message = stderr(&output);
        assert!(!output.status.success() && output.stdout.is_empty(), "{case}: {:?}", output.status);
        assert!(message.lines().count() == 1 && message.starts_with("programs: "), "{case}: {message}");
    }
}
