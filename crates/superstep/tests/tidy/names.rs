//! One convention for the names of the library's calls and the order of their arguments; `CONTRIBUTING.md` has it in
//! words.

use crate::{none, source::sources};

/// A public function of the library.
struct Call {
    file: String,
    name: String,
    /// The name and the type of each argument but `self`.
    arguments: Vec<(String, String)>,
}

impl Call {
    fn place(&self) -> String {
        format!("{}: {}", self.file, self.name)
    }

    /// Whether its first argument is a rank.
    fn begins_with_a_rank(&self) -> bool {
        self.arguments.first().is_some_and(is_rank)
    }
}

fn is_rank((name, kind): &(String, String)) -> bool {
    kind == "usize" && ["root", "to", "from", "rank", "owner"].contains(&name.as_str())
}

/// What stands between the bracket at the beginning of `text` and the one that closes it.
fn inside(text: &str) -> &str {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[1..at];
        }
    }
    panic!("a bracket is not closed in {text:.80}")
}

/// The parts of a list, at the commas that are in no brackets.
fn parts(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The public functions of the library that its documentation shows.
fn calls() -> Vec<Call> {
    let mut calls = Vec::new();
    for source in sources().into_iter().filter(|source| source.path.starts_with("crates/superstep/src/")) {
        // An arrow is no bracket.
        let code = source.code.replace("->", "  ");
        for (at, _) in code.match_indices("pub fn ") {
            let before: Vec<&str> = code[..at].lines().rev().skip(1).take_while(|line| !line.contains('}')).collect();
            let attributes = before.iter().take_while(|line| line.trim().starts_with("#["));
            if attributes.into_iter().any(|line| line.contains("doc(hidden)")) {
                continue;
            }
            let call = &code[at + "pub fn ".len()..];
            let (name, rest) = call.split_at(call.find(['<', '(']).expect("a function has arguments"));
            let rest = if rest.starts_with('<') { &rest[inside(rest).len() + 2..] } else { rest };
            let arguments = parts(inside(rest)).into_iter().filter_map(|part| part.split_once(':'));
            let arguments = arguments.map(|(name, kind)| {
                (name.trim().trim_start_matches("mut ").to_owned(), kind.split_whitespace().collect())
            });
            calls.push(Call { file: source.path.clone(), name: name.to_owned(), arguments: arguments.collect() });
        }
    }
    assert!(calls.len() > 150, "{} calls are fewer than there are", calls.len());
    calls
}

/// Those with this ending, each with the calls of the same file that are called the same without it.
fn with_base<'a>(calls: &'a [Call], ending: &'a str) -> impl Iterator<Item = (&'a Call, Vec<&'a Call>)> {
    calls.iter().filter_map(move |call| {
        let base = call.name.strip_suffix(ending)?;
        Some((call, calls.iter().filter(|other| other.file == call.file && other.name == base).collect()))
    })
}

#[test]
fn a_rank_comes_first() {
    let wrong = |call: &&Call| {
        // In an epoch a container's call begins with it, and names places in the container.
        let is_of_a_container = call.arguments.first().is_some_and(|(name, _)| name == "e");
        !is_of_a_container && call.arguments.iter().skip(1).any(is_rank)
    };
    let found: Vec<String> = calls().iter().filter(wrong).map(Call::place).collect();
    none(&found, "a rank that a call names is its first argument");
}

#[test]
fn what_goes_to_one_or_comes_from_one_names_it() {
    let wrong = |call: &&Call| {
        let says_so = call.name.ends_with("_to") || call.name.ends_with("_from");
        call.name.ends_with("_at") || says_so && !call.begins_with_a_rank()
    };
    let found: Vec<String> = calls().iter().filter(wrong).map(Call::place).collect();
    none(&found, "`_to` and `_from` are for one rank, which comes first; `at` is a place and no ending");
}

#[test]
fn with_means_one_more_argument() {
    let calls = calls();
    let wrong = |(call, bases): &(&Call, Vec<&Call>)| {
        !bases.iter().any(|base| base.arguments.len() + 1 == call.arguments.len())
    };
    let found: Vec<String> = with_base(&calls, "_with").filter(wrong).map(|(call, _)| call.place()).collect();
    none(&found, "`x_with` is `x` with one more argument");
}

#[test]
fn into_means_a_vector_that_is_given() {
    let calls = calls();
    let wrong = |(call, bases): &(&Call, Vec<&Call>)| {
        let is_vector = call.arguments.last().is_some_and(|(_, kind)| kind.contains("Vec<"));
        !is_vector || !bases.iter().any(|base| base.arguments[..] == call.arguments[..call.arguments.len() - 1])
    };
    let found: Vec<String> = with_base(&calls, "_into").filter(wrong).map(|(call, _)| call.place()).collect();
    none(&found, "`x_into` is `x` with a vector as its last argument");
}

#[test]
fn try_takes_what_is_taken_without_it() {
    let calls = calls();
    let mut found = Vec::new();
    for call in &calls {
        let Some(base) = call.name.strip_prefix("try_") else { continue };
        let is_like = |other: &Call| other.name == base && other.file == call.file && other.arguments == call.arguments;
        if !calls.iter().any(is_like) {
            found.push(call.place());
        }
    }
    none(&found, "`try_x` has the arguments of `x`");
}

#[test]
fn loops_over_what_one_owns_have_one_name() {
    let mut found = Vec::new();
    for call in calls().iter().filter(|call| !call.file.ends_with("/testing.rs")) {
        let lends = call.arguments.iter().any(|(_, kind)| kind.contains("FnMut(") && kind.contains(",&mut"));
        let is_loop = call.name.starts_with("forall");
        if call.name.contains("for_each") || is_loop && lends != call.name.contains("_mut") {
            found.push(call.place());
        }
    }
    none(&found, "a loop is a `forall`, and one that lends what may be changed a `forall_mut`");
}
