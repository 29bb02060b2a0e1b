//! What `.cargo/mutants.toml` leaves alone. It has two lists: globs of files, and expressions for names.

use std::{
    io::Write,
    process::{Command, Stdio},
    thread,
};

/// Reads the strings of one list.
fn list(config: &str, name: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let Some((_, list)) = config.split_once(&format!("\n{name} = [")) else { return strings };
    for line in list.lines().map(str::trim).take_while(|&line| line != "]") {
        if let Some(string) = line.strip_prefix('"').and_then(|rest| rest.rsplit_once('"')) {
            strings.push(string.0.replace("\\\\", "\\"));
        }
    }
    strings
}

/// A glob as an expression for a whole path.
fn expression_of(glob: &str) -> String {
    let all = glob.replace('.', "\\.").replace("**/", "\0").replace("**", "\u{1}").replace('*', "[^/]*");
    format!("^{}$", all.replace('\0', "(.*/)?").replace('\u{1}', ".*"))
}

/// Those of some lines that match one of the expressions, or those that match none.
fn matching(lines: &[String], expressions: &[String], wanted: bool) -> Vec<String> {
    if expressions.is_empty() {
        return if wanted { Vec::new() } else { lines.to_vec() };
    }
    let mut grep = Command::new("grep");
    grep.arg(if wanted { "-E" } else { "-vE" });
    for expression in expressions {
        grep.args(["-e", expression]);
    }
    let mut grep = grep.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("there is grep");
    let (mut input, text) = (grep.stdin.take().expect("it is piped"), lines.join("\n"));
    let writer = thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = grep.wait_with_output().expect("grep ends");
    writer.join().expect("a writer does not panic");
    assert!(output.status.code().is_some_and(|code| code < 2), "grep knows these expressions: {expressions:?}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Those of all files that the globs name.
pub(crate) fn named(files: &[String], globs: &[String]) -> Vec<String> {
    let expressions: Vec<String> = globs.iter().map(|glob| expression_of(glob)).collect();
    matching(files, &expressions, true)
}

/// The files that are not left alone.
pub(crate) fn files(config: &str, files: &[String]) -> Vec<String> {
    let expressions: Vec<String> = list(config, "exclude_globs").iter().map(|glob| expression_of(glob)).collect();
    matching(files, &expressions, false)
}

/// The names that are not left alone.
pub(crate) fn names(config: &str, names: &[String]) -> Vec<String> {
    matching(names, &list(config, "exclude_re"), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_names_are_left_alone_by_the_lists() {
        let config = "# why\nexclude_globs = [\n  # why\n  \"a/**/t.rs\",\n  \"b/m*.rs\",\n]\nexclude_re = [\n  \"x \\\\| y\",\n]\n";
        let some = ["a/t.rs", "a/b/t.rs", "b/mach.rs", "b/c/m.rs", "a/b/u.rs"].map(str::to_owned);
        assert_eq!(files(config, &some), ["b/c/m.rs", "a/b/u.rs"]);
        assert_eq!(names(config, &["x | y".to_owned(), "x".to_owned()]), ["x"]);
        assert_eq!(named(&some, &["a/**".to_owned()]), ["a/t.rs", "a/b/t.rs", "a/b/u.rs"]);
    }
}
