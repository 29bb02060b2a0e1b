//! The sources of the workspace, and what of their text is code.

use std::{
    fs,
    path::{Path, PathBuf},
};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate lies in its workspace")
}

/// A file of the workspace: its path from the root, its text, and that of its code which is not for tests alone.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) code: String,
}

impl Source {
    /// The lines with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line))
    }
}

/// Every file of the workspace whose name ends like this, and its text, in the order of their paths.
pub(crate) fn files(ending: &str) -> Vec<(String, String)> {
    let root = root();
    let mut folders = ["crates", "bench", "programs"].map(|name| root.join(name)).to_vec();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.to_string_lossy().ends_with(ending) {
                let text = fs::read_to_string(&path).expect("sources are texts");
                let path = path.strip_prefix(&root).expect("it was found there").to_string_lossy().replace('\\', "/");
                files.push((path, text));
            }
        }
    }
    files.sort_unstable();
    files
}

/// Every Rust file of the workspace, whatever crate it is in.
pub(crate) fn sources() -> Vec<Source> {
    let sources: Vec<Source> = files(".rs")
        .into_iter()
        .map(|(path, text)| Source { path, code: without_tests(without_quotes(&text)), text })
        .collect();
    assert!(sources.len() > 30, "the workspace has more sources than {}", sources.len());
    sources
}

pub(crate) fn is_of_a_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The names in `code` and where each begins, in order.
pub(crate) fn names(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code[rest..].find(is_of_a_name)?;
        let end = code[start..].find(|letter| !is_of_a_name(letter)).map_or(code.len(), |len| start + len);
        rest = end;
        Some((start, &code[start..end]))
    })
}

/// Where what opens at `open` is closed, which is the place behind it.
pub(crate) fn closed(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (at, letter) in code[open..].char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + at + letter.len_utf8();
        }
    }
    code.len()
}

/// The text with blanks for comments and for what is quoted. Lines stay where they are.
fn without_quotes(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let find = |from: usize, what: &[char]| {
        let found = letters[from..].windows(what.len()).position(|window| window == what);
        found.map_or(letters.len(), |at| from + at + what.len())
    };
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        let ahead = |by: usize| letters.get(at + by).copied().unwrap_or(' ');
        let hashes = letters[at + 1..].iter().take_while(|&&letter| letter == '#').count();
        let is_inside = at > 0 && is_of_a_name(letters[at - 1]) && letters[at - 1] != 'b';
        let end = match letters[at] {
            '/' if ahead(1) == '/' => find(at, &['\n']) - 1,
            '/' if ahead(1) == '*' => find(at, &['*', '/']),
            'r' if !is_inside && ahead(1 + hashes) == '"' => {
                find(at + 2 + hashes, &[&['"'][..], &vec!['#'; hashes]].concat())
            }
            '"' => end_of_string(&letters, at),
            '\'' if ahead(1) == '\\' => find(at + 3, &['\'']),
            '\'' if ahead(2) == '\'' => at + 3,
            letter => {
                code.push(letter);
                at += 1;
                continue;
            }
        };
        code.extend(letters[at..end.max(at + 1)].iter().map(|&letter| if letter == '\n' { '\n' } else { ' ' }));
        at = end.max(at + 1);
    }
    code
}

fn end_of_string(letters: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < letters.len() && letters[at] != '"' {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(letters.len())
}

/// The code with blanks for what is compiled for tests alone.
fn without_tests(mut code: String) -> String {
    while let Some(start) = code.find("#[cfg(test)]").or_else(|| code.find("#[cfg(all(test")) {
        let mut item = closed(&code, start + 1);
        while code[item..].trim_start().starts_with("#[") {
            item = closed(&code, item + code[item..].find('[').expect("it was seen"));
        }
        let is_use = code[item..].trim_start().starts_with("use ");
        let last = code[item..].find(if is_use { &[';'][..] } else { &[';', '{'] }).map_or(code.len(), |at| item + at);
        let end = if code[last..].starts_with('{') { closed(&code, last) } else { last + 1 };
        let blank: String = code[start..end].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }).collect();
        code.replace_range(start..end, &blank);
    }
    code
}

#[test]
fn code_is_what_is_left_without_comments_quotes_and_tests() {
    let text = "fn f<'a>() { g(\"\\\"x\", 'y', b'\\n', r#\"z\"#) } // h\n#[cfg(test)]\n#[skip]\nmod t { fn u() {} }\nk";
    let code = without_tests(without_quotes(text));
    assert_eq!(names(&code).map(|(_, name)| name).collect::<Vec<_>>(), ["fn", "f", "a", "g", "b", "k"]);
    assert_eq!(code.lines().count(), text.lines().count());
}
