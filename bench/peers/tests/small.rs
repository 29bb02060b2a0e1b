//! Everybody does everything, at a tiny size.

use std::process::Command;

#[test]
fn every_answer_of_every_contender_is_right() {
    let output = Command::new(env!("CARGO_BIN_EXE_superstep-peers"))
        .args(["--small", "--json"])
        .output()
        .expect("the program can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect();
    for peer in ["raw", "std", "rayon", "rdst", "voracious", "sprs", "rustfft", "lamellar", "superstep"] {
        let is_there = peer != "lamellar" || cfg!(feature = "lamellar");
        assert!(!is_there || lines.iter().any(|line| line["peer"] == peer), "{peer} takes part");
    }
    for line in &lines {
        assert_eq!(line["verified"], true, "{line}");
    }
}
