//! The claims again, with processors that are forked processes.

use std::{env, process::Command};

/// The claims that can run there. Those that name their fabrics themselves, and one that counts in memory that all can
/// see, are left out.
const CLAIMS: [&str; 18] = [
    "abandoned::",
    "areas::",
    "array",
    "collectives::",
    "containers::",
    "epoch",
    "groups::",
    "leaving::",
    "outcomes::",
    "paged",
    "pairs::",
    "queues::",
    "refusals::",
    "shared::",
    "steps::",
    "transfers::",
    "volatile::",
    "wordings::",
];

fn suite(more: &[&str]) -> String {
    let this = env::current_exe().expect("a test has an executable");
    let mut command = Command::new(this);
    command.args(CLAIMS).args(["--skip", "the_parent_resumes", "--skip", "many_trees"]).args(more);
    command.env("SUPERSTEP_FABRIC", "procs").env("SUPERSTEP_PROCS", "3").env("RUST_BACKTRACE", "0");
    let output = command.output().expect("this executable can be started again");
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out
}

#[test]
fn every_claim_holds_on_processes() {
    let count = suite(&["--list"]).lines().filter(|line| line.ends_with(": test")).count();
    assert!(count > 200, "there are more claims than {count}");
    let out = suite(&["--test-threads=1"]);
    assert!(out.contains(&format!("test result: ok. {count} passed; 0 failed; 0 ignored")), "{out}");
}
