//! The programs of `programs/`, which check their own answers.

use crate::workshop::{C89, Start, build_fortran, here, run};
use std::{fs, path::PathBuf};

/// The programs with this ending, by name.
fn all(ending: &str) -> Vec<(String, PathBuf)> {
    let files = fs::read_dir(here().join("programs")).expect("there are programs");
    let mut found: Vec<(String, PathBuf)> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .map(|path| (path.file_stem().expect("it has a name").to_string_lossy().into_owned(), path))
        .collect();
    found.sort();
    found
}

fn check(program: &std::path::Path, name: &str, start: Start) {
    // One asks for the number of processes.
    let outcome = run(start.command(program, 3).args(if name == "hello_init" { &[][..] } else { &["3"] }), "3\n");
    let is_good = outcome.code == Some(0) && outcome.err.is_empty();
    assert!(is_good && outcome.out.contains(&format!("{name}: ok")), "{name}, {start:?}: {outcome:#?}");
}

#[test]
fn programs_in_c_find_their_answers_right() {
    let programs = all("c");
    assert!(programs.len() >= 14, "only {} programs", programs.len());
    for (name, source) in programs {
        let program = C89.build(&format!("{name}-c"), &[source], false);
        for start in Start::ALL {
            check(&program, &name, start);
        }
    }
}

#[test]
fn programs_in_fortran_find_their_answers_right() {
    let programs: Vec<_> = all("f90").into_iter().chain(all("f")).collect();
    assert!(programs.len() >= 9, "only {} programs", programs.len());
    for (name, source) in programs {
        let program = build_fortran(&format!("{name}-f"), &source);
        for start in Start::ALL {
            check(&program, &name, start);
        }
    }
}
