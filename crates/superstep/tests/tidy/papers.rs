//! The papers of the house are there, and the files that they name exist.

use crate::{
    none,
    source::{files, root},
};
use std::fs;

const PAPERS: [&str; 5] = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Those that follow the code through its files.
const MAPS: [&str; 2] = ["ARCHITECTURE.md", "GLOSSARY.md"];

/// How the names of files end.
const ENDINGS: [&str; 5] = [".rs", ".md", ".sh", ".c", ".h"];

#[test]
fn the_papers_of_the_house_are_there() {
    let papers = PAPERS.iter().chain(&["LICENSE-MIT", "LICENSE-APACHE"]);
    let found: Vec<String> =
        papers.filter(|name| !root().join(name).is_file()).map(|name| (*name).to_owned()).collect();
    none(&found, "these belong at the top of the workspace");
}

/// The files and folders that a paper names in quotes: what has a slash or an ending of sources in it, and no blank.
fn named(paper: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, line) in paper.lines().enumerate() {
        let quoted = line.split('`').skip(1).step_by(2);
        let is_path = |text: &&str| {
            let has_ending = ENDINGS.iter().any(|ending| text.ends_with(ending));
            (has_ending || text.contains('/')) && !text.contains([' ', '(', '<', '{']) && !text.starts_with(['/', '-'])
        };
        found.extend(quoted.filter(is_path).map(|text| (at + 1, text)));
    }
    found
}

/// A path is told from the top of the workspace, or by its end where that says which one is meant.
#[test]
fn every_file_that_a_map_names_exists() {
    let files: Vec<String> = ENDINGS.iter().flat_map(|ending| files(ending)).map(|(path, _)| path).collect();
    let mut found = Vec::new();
    for map in MAPS {
        let text = fs::read_to_string(root().join(map)).expect("it is there");
        let named = named(&text);
        assert!(!named.is_empty(), "{map} names no file");
        for (line, name) in named {
            let end = format!("/{}", name.trim_end_matches('/'));
            let is_there = root().join(name).exists()
                || files.iter().any(|path| path.ends_with(&end) || format!("/{path}").contains(&format!("{end}/")));
            if !is_there {
                found.push(format!("{map}:{line} names {name}"));
            }
        }
    }
    none(&found, "the maps name files that exist");
}
