//! Builds the tree with all changes, and drops the changes that do not compile until the rest does.

use crate::schema::{Placed, SWITCH, Source, to_blame};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    ops::Range,
    path::PathBuf,
    process::{Command, Stdio},
};

/// Where the switch is put.
pub(crate) const LOWEST: &str = "crates/fabric/src/lib.rs";
const PACKAGES: [&str; 4] = ["--package", "superstep-fabric", "--package", "superstep"];
const TESTS: [&str; 13] = [
    "--lib",
    "--test",
    "contract",
    "--test",
    "random",
    "--test",
    "faults",
    "--test",
    "suite",
    "--test",
    "waits",
    "--test",
    "allocations",
];

/// A program of tests, and the folder to run it in.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) folder: PathBuf,
}

/// Whether a file of the tree is not that of the sources.
pub(crate) fn is_changed(file: &str, sources: &BTreeMap<String, Source>) -> bool {
    file == LOWEST || sources.contains_key(file)
}

/// Writes the sources, by their files, and builds the tests. The changes that do not compile join those dropped.
pub(crate) fn build(
    sources: &BTreeMap<String, Source>,
    lowest: &[u8],
    dropped: &mut HashSet<u32>,
) -> Result<Vec<Program>, String> {
    let lowest = String::from_utf8_lossy(lowest).into_owned() + SWITCH;
    let mut round = |last: bool| -> Result<Option<Vec<Program>>, String> {
        loop {
            let mut placed = BTreeMap::new();
            for (file, source) in sources {
                let (text, places) = source.written(dropped);
                placed.insert(file.as_str(), places);
                write(file, if file == LOWEST { text + SWITCH } else { text })?;
            }
            if !sources.contains_key(LOWEST) {
                write(LOWEST, lowest.clone())?;
            }
            let mut cargo = Command::new("cargo");
            if last {
                cargo.args(["test", "--no-run"]).args(PACKAGES).args(TESTS);
            } else {
                cargo.arg("check").args(PACKAGES).arg("--lib");
            }
            // What the compiler warns of is no matter here.
            cargo.args(["--quiet", "--message-format=json"]).env("RUSTFLAGS", "--cap-lints allow");
            let output = cargo.stderr(Stdio::inherit()).output().map_err(|e| format!("cargo: {e}"))?;
            let messages: Vec<Value> =
                output.stdout.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
            if output.status.success() {
                return Ok(last.then(|| messages.iter().filter_map(program).collect()));
            }
            let before = dropped.len();
            let errors: Vec<&Value> =
                messages.iter().map(|m| &m["message"]).filter(|m| m["level"] == "error").collect();
            for error in &errors {
                dropped.extend(blamed(error, &placed));
            }
            println!("== {} errors; {} changes do not compile", errors.len(), dropped.len());
            if dropped.len() == before {
                let shown: Vec<&str> = errors.iter().filter_map(|error| error["rendered"].as_str()).collect();
                return Err(format!("the tree does not compile, and no change is to blame:\n{}", shown.join("\n")));
            }
        }
    };
    round(false)?;
    let mut programs = round(true)?.unwrap_or_default();
    programs.sort_by(|one, other| one.path.cmp(&other.path));
    if programs.is_empty() { Err("cargo has built no tests".to_owned()) } else { Ok(programs) }
}

/// Writes a file if it changes; what stays is not built again.
fn write(file: &str, text: String) -> Result<(), String> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(file, text).map_err(|e| format!("{file}: {e}"))
}

fn program(message: &Value) -> Option<Program> {
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let path = PathBuf::from(message["executable"].as_str()?);
    (message["profile"]["test"] == true).then_some(Program { path, folder })
}

/// The changes that a message is about: by its first spans, or those of what it adds.
fn blamed(message: &Value, placed: &BTreeMap<&str, Vec<Placed>>) -> Vec<u32> {
    let of = |spans: &Value, primary: bool| -> Vec<u32> {
        let spans = spans.as_array().into_iter().flatten().filter(|span| span["is_primary"] == primary);
        let places = spans.filter_map(|span| place(span, placed));
        places.flat_map(|(places, bytes)| to_blame(places, &bytes)).collect()
    };
    let first = of(&message["spans"], true);
    if !first.is_empty() {
        return first;
    }
    let second = of(&message["spans"], false);
    if !second.is_empty() {
        return second;
    }
    let children = message["children"].as_array().into_iter().flatten();
    children.flat_map(|child| of(&child["spans"], true)).collect()
}

/// Where a span lies in a source that is changed; that of a macro lies where it is called.
fn place<'a>(span: &Value, placed: &'a BTreeMap<&str, Vec<Placed>>) -> Option<(&'a [Placed], Range<usize>)> {
    if let Some(places) = placed.get(span["file_name"].as_str()?) {
        let bytes = span["byte_start"].as_u64()? as usize..span["byte_end"].as_u64()? as usize;
        return Some((places, bytes));
    }
    place(span["expansion"].get("span")?, placed)
}
