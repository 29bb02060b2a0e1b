//! `programs gap` as its users meet it: files, words, and what is refused.

use crate::support::launch::{in_every_way, on_threads, printed, stderr};
use std::{fs, path::Path};

/// A file of this name in the folder of these tests.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("files can be written there");
    path.to_str().expect("the path is a text").to_owned()
}

/// What a line says of the answer, without the time.
#[track_caller]
fn answer(line: &str) -> String {
    let (answer, _) = line.rsplit_once("; ").unwrap_or_else(|| panic!("a time in {line}"));
    let facts = answer.split_once(": verified; ").unwrap_or_else(|| panic!("a verdict in {line}")).1;
    facts.to_owned()
}

fn gap(args: &[&str]) -> String {
    printed(&on_threads(3, &[&["gap"], args].concat())).lines().map(|line| answer(line) + "\n").collect()
}

#[test]
fn the_answers_are_the_same_on_threads_on_processes_simulated_under_both_mpis_and_mixed() {
    for kernel in ["bfs", "sssp", "pr", "cc", "bc", "tc"] {
        let all = in_every_way(&["gap", kernel, "--scale", "8", "--degree", "5"]);
        let answers: Vec<(&str, String)> =
            all.iter().map(|(name, output)| (*name, answer(printed(output).trim()))).collect();
        for (name, found) in &answers {
            assert_eq!(found, &answers[0].1, "{kernel}: {name}");
        }
    }
}

#[test]
fn lists_of_edges_are_read_and_lead_one_way_unless_that_is_asked_for() {
    // Twice the same, a loop, a comment, and a vertex without edges.
    let path = &file("way.el", "# a way\n0 1\n1 2\n0 1\n2 2\n2 0\n4 2\n");
    assert_eq!(
        gap(&["bfs", "--file", path, "--source", "0"]),
        "vertices 5, edges 4, trial 0, source 0, reached 3, depth 2, sum of levels 3\n"
    );
    assert_eq!(
        gap(&["bfs", "--file", path, "--source", "0", "-s"]),
        "vertices 5, edges 8, trial 0, source 0, reached 4, depth 2, sum of levels 4\n"
    );
    assert_eq!(
        gap(&["bfs", "--file", path, "--source", "3"]),
        "vertices 5, edges 4, trial 0, source 3, reached 1, depth 0, sum of levels 0\n"
    );
    assert_eq!(gap(&["cc", "--file", path]), "vertices 5, edges 8, trial 0, components 2, largest 4\n");
    assert_eq!(gap(&["tc", "--file", path, "--symmetrize"]), "vertices 5, edges 8, trial 0, triangles 1\n");
    let ranks = gap(&["pr", "--file", path, "--iterations", "1"]);
    assert!(ranks.contains("highest 2:0.3700000 0:0.2000000 1:0.2000000 3:0.0300000 4:0.0300000"), "{ranks}");
}

#[test]
fn lengths_are_read_and_drawn_where_there_are_none() {
    let path = &file("roads.wel", "0 1 7\n1 2 5\n0 2 100\n0 1 9\n");
    assert_eq!(
        gap(&["sssp", "--file", path, "--source", "0", "--delta", "3"]),
        "vertices 3, edges 3, trial 0, source 0, reached 3, longest distance 12, sum of distances 19\n"
    );
    assert_eq!(
        gap(&["sssp", "--file", path, "--source", "2", "-s"]),
        "vertices 3, edges 6, trial 0, source 2, reached 3, longest distance 12, sum of distances 17\n"
    );
    assert!(gap(&["bfs", "--file", path, "--source", "0"]).contains("reached 3, depth 1,"));
    let bare = &file("bare.el", "0 1\n1 2\n");
    let drawn = gap(&["sssp", "--file", bare, "--source", "0"]);
    assert_eq!(drawn, gap(&["sssp", "--file", bare, "--source", "0", "--delta", "1"]));
    assert_ne!(drawn, gap(&["sssp", "--file", bare, "--source", "0", "--seed", "5"]));
}

#[test]
fn matrices_are_graphs() {
    let head = "%%MatrixMarket matrix coordinate";
    let symmetric = &file("symmetric.mtx", &format!("{head} pattern symmetric\n4 4 3\n2 1\n3 1\n3 2\n"));
    assert_eq!(gap(&["tc", "--file", symmetric]), "vertices 4, edges 6, trial 0, triangles 1\n");
    assert!(gap(&["sssp", "--file", symmetric, "--source", "3"]).contains("reached 1, longest distance 0,"));
    let general = &file("general.mtx", &format!("{head} integer general\n3 3 2\n1 2 4\n2 3 6\n"));
    assert!(gap(&["sssp", "--file", general, "--source", "0"]).contains("longest distance 10, sum of distances 14"));
}

#[test]
fn an_object_is_printed_for_each_trial() {
    let text = printed(&on_threads(2, &["gap", "bfs", "--scale", "5", "--trials", "2", "--json"]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (trial, line) in lines.iter().enumerate() {
        let object: serde_json::Value = serde_json::from_str(line).expect("every line is an object");
        let said = ["program", "procs", "verified", "vertices", "trial"].map(|name| object[name].clone());
        assert_eq!(serde_json::json!(said), serde_json::json!(["gap bfs", 2, true, 32, trial]));
        assert!(object["sum_of_levels"].is_u64() && object["seconds"].is_f64(), "{line}");
    }
    let unchecked = printed(&on_threads(2, &["gap", "cc", "--scale", "5", "--unchecked"]));
    assert!(unchecked.contains("gap cc: not checked; "), "{unchecked}");
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let empty = &file("empty.el", "# nothing\n");
    let word = &file("word.el", "0 1\n1 x\n");
    let oblong = &file("oblong.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n");
    let half = &file("half.wel", "0 1 0.5\n");
    let way = &file("one-way.el", "0 1\n");
    let cases: [(&[&str], &str); 8] = [
        (&["bfs", "--file", "/nowhere/graph.el"], "/nowhere/graph.el"),
        (&["bfs", "--file", "/nowhere/graph.txt"], ".el, .wel or .mtx"),
        (&["cc", "--file", empty], "no vertices"),
        (&["pr", "--file", word], "line 2"),
        (&["bfs", "--file", oblong], "2 rows and 3 columns"),
        (&["sssp", "--file", half], "whole number"),
        (&["tc", "--file", way], "--symmetrize"),
        (&["bfs", "--scale", "3", "--source", "8"], "from 0 to 7"),
    ];
    for (args, words) in cases {
        let output = on_threads(2, &[&["gap"], args].concat());
        let message = stderr(&output);
        assert_eq!((output.status.code(), message.lines().count()), (Some(1), 1), "{args:?}: {message}");
        assert!(message.contains(words) && output.stdout.is_empty(), "{args:?}: {message}");
    }
    for (name, output) in in_every_way(&["gap", "cc", "--file", "/nowhere/graph.el"]) {
        let message = stderr(&output);
        assert!(!output.status.success(), "{name}");
        assert_eq!(message.matches("programs: ").count(), 1, "{name}: {message}");
    }
    for args in [&["gap", "bfs", "--scale", "32"][..], &["gap", "sssp", "--delta", "0"], &["gap", "dfs"]] {
        assert_eq!(on_threads(1, args).status.code(), Some(2), "{args:?}");
    }
}
