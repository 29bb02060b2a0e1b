//! The house rules that a compiler does not know, as tests of the source.

#![forbid(unsafe_code)]

mod circles;
mod dead;
mod names;
mod papers;
mod source;
mod systems;

use source::{is_of_a_name, sources};

/// Each module of the library, lowest first. A module may name only itself and those before it.
const LAYERS: [&[&str]; 8] = [
    &["derived", "error", "panics", "sim"],
    &["engine"],
    &["memory", "epoch"],
    &["algo"],
    &["algorithms", "files"],
    &["launch", "neststep"],
    &["testing"],
    &["guide"],
];

/// Where unsafe code may stand.
const UNSAFE_PLACES: [&str; 16] = [
    "crates/bsp/src/",
    "crates/derive/src/",
    "crates/fabric/src/ahead.rs",
    "crates/bsp/tests/ground.rs",
    "crates/fabric/src/code/",
    "crates/fabric/src/mapping.rs",
    "crates/fabric/src/memory.rs",
    "crates/fabric/src/mpi/",
    "crates/fabric/src/pages/",
    "crates/fabric/src/processes.rs",
    "crates/fabric/src/procs/",
    "crates/fabric/src/region/",
    "crates/fabric/src/system/",
    "crates/fabric/src/threads/",
    "crates/superstep/tests/allocations.rs",
    "crates/superstep/tests/mayhem/closing.rs",
];

const LINES_MAX: usize = 600;
const COLUMNS_MAX: usize = 120;

/// Fails with everything that was found, one place per line.
#[track_caller]
fn none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}\n", found.join("\n"));
}

/// A line without what follows `//`.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Whether `text` has `word` as a word of its own.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let after = &text[at + word.len()..];
        !text[..at].ends_with(is_of_a_name) && !after.starts_with(is_of_a_name)
    })
}

/// Which layer a file of the library belongs to; `lib.rs` stands above all.
fn layer_of(path: &str) -> Option<usize> {
    let inside = path.strip_prefix("crates/superstep/src/")?;
    let module = inside.split(['/', '.']).next()?;
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The names that a `use crate::{..}` tree, or a path, has right behind `crate::`.
fn named_modules(text: &str) -> Vec<(usize, String)> {
    let word = |text: &str| text.chars().take_while(|&letter| is_of_a_name(letter)).collect::<String>();
    let mut named = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        if text[..at].ends_with(is_of_a_name) {
            continue;
        }
        let line_of = |at: usize| text[..at].lines().count().max(1);
        let behind = at + "crate::".len();
        if !text[behind..].starts_with('{') {
            named.push((line_of(at + 1), word(&text[behind..])));
            continue;
        }
        let (mut depth, mut is_start) = (0, true);
        for (offset, letter) in text[behind..].char_indices() {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => is_start = true,
                _ if letter.is_whitespace() => {}
                _ if depth == 1 && is_start => {
                    named.push((line_of(behind + offset + 1), word(&text[behind + offset..])));
                    is_start = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    named
}

#[test]
fn a_module_names_only_those_below_it() {
    let mut found = Vec::new();
    for source in sources() {
        let Some(layer) = layer_of(&source.path) else { continue };
        let code = source.text.lines().map(code).collect::<Vec<_>>().join("\n");
        for (line, name) in named_modules(&code) {
            let other = LAYERS.iter().position(|layer| layer.contains(&name.as_str()));
            if other.is_some_and(|other| other > layer) {
                found.push(format!("{}:{line} names `{name}`", source.path));
            }
        }
    }
    none(&found, "a module names only those before it, in the order error, engine, memory, algo, launch, testing");
}

#[test]
fn every_module_of_the_library_has_its_layer() {
    let above = ["crates/superstep/src/lib.rs"];
    let found: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("crates/superstep/src/") && !above.contains(&source.path.as_str()))
        .filter(|source| layer_of(&source.path).is_none())
        .map(|source| source.path.clone())
        .collect();
    none(&found, "each module stands in one of the layers");
}

#[test]
fn unsafe_code_stands_only_where_it_may_and_says_why_it_is_sound() {
    let mut found = Vec::new();
    for source in sources() {
        let may = UNSAFE_PLACES.iter().any(|place| source.path.starts_with(place));
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in source.lines() {
            let code = code(line).replace('"', " ");
            // The rules about it name it as well.
            if !has_word(&code, "unsafe") || source.path.starts_with("crates/superstep/tests/tidy/") {
                continue;
            }
            if !may {
                found.push(format!("{}:{number} has unsafe code", source.path));
            }
            let needs_note = code.contains("unsafe {") || code.contains("unsafe impl");
            let above = &lines[(number - 1).saturating_sub(3)..number];
            if needs_note && !above.iter().any(|line| line.contains("SAFETY:")) {
                found.push(format!("{}:{number} has no SAFETY note in the three lines above it", source.path));
            }
        }
    }
    none(&found, "unsafe code is kept in a few places and each one says why it is sound");
}

#[test]
fn crates_that_need_no_unsafe_code_forbid_it() {
    let sources = sources();
    let mut found = Vec::new();
    for (name, mains) in [
        ("superstep", &["crates/superstep/src/lib.rs"][..]),
        ("cli", &["crates/cli/src/main.rs", "crates/cli/src/lib.rs"]),
        ("model", &["crates/model/src/lib.rs"]),
        ("bench", &["bench/src/main.rs", "bench/src/lib.rs"]),
        ("programs", &["programs/src/main.rs", "programs/src/lib.rs"]),
    ] {
        let mains: Vec<_> = sources.iter().filter(|source| mains.contains(&source.path.as_str())).collect();
        assert!(!mains.is_empty(), "{name} has a root module");
        for main in mains.iter().filter(|main| !main.text.contains("#![forbid(unsafe_code)]")) {
            found.push(main.path.clone());
        }
    }
    none(&found, "these roots of crates forbid unsafe code");
}

#[test]
fn files_and_lines_are_of_a_size_to_be_read() {
    let mut found = Vec::new();
    for source in sources() {
        let count = source.lines().count();
        if count > LINES_MAX {
            found.push(format!("{} has {count} lines", source.path));
        }
        // The row of a table cannot be broken.
        let is_row = |line: &str| line.trim_start().trim_start_matches(['/', '!']).trim_start().starts_with('|');
        let is_long = |line: &str| line.chars().count() > COLUMNS_MAX && !is_row(line);
        for (number, line) in source.lines().filter(|(_, line)| is_long(line)) {
            found.push(format!("{}:{number} has {} columns", source.path, line.chars().count()));
        }
    }
    none(&found, "a file has at most 600 lines and a line at most 120 columns");
}

#[test]
fn nothing_is_left_to_be_done() {
    // In two halves, so that this file keeps its own rule.
    let words = [("to", "do!"), ("unimple", "mented!"), ("FIX", "ME"), ("db", "g!"), ("XX", "X")];
    let mut found = Vec::new();
    for source in sources() {
        for (number, line) in source.lines() {
            for word in words.map(|(head, tail)| format!("{head}{tail}")) {
                if has_word(line, &word) {
                    found.push(format!("{}:{number} says {word}", source.path));
                }
            }
        }
    }
    none(&found, "what is not done is not in the source");
}

#[test]
fn every_module_opens_with_its_purpose() {
    let found: Vec<String> = sources()
        .iter()
        .filter(|source| source.path.contains("/src/"))
        // A page of its own opens the module that it is about.
        .filter(|source| !["//! ", "#![doc = include_str!("].iter().any(|opening| source.text.starts_with(opening)))
        .map(|source| source.path.clone())
        .collect();
    none(&found, "a module opens with a line that says what it is for");
}
