//! How often each claim has run, on which fabric and with how many processors.
//!
//! Whoever carries the claims to a fabric keeps a tally, and leaves it among the others in `target/claims`. All of them
//! together are the table `target/claims.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// A call that runs a claim: the name of the claim, and the place of the call.
pub(crate) type Call = (String, String);

/// How often something has run, by the number of processors.
type Sizes = BTreeMap<usize, u64>;

/// What has run on a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    calls: BTreeMap<Call, Sizes>,
}

impl Tally {
    /// Adds a record: a line for each call, with its claim, its place, and each number of processors with how often.
    pub(crate) fn add(&mut self, record: &str) {
        for line in record.lines() {
            let [claim, place, sizes @ ..] = &line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
            let ran = self.calls.entry(((*claim).to_owned(), (*place).to_owned())).or_default();
            for size in sizes {
                let (size, times) = size.split_once(':').unwrap_or_else(|| panic!("{line:?}"));
                let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("{line:?}"));
                *ran.entry(number(size) as usize).or_default() += number(times);
            }
        }
    }

    /// The record that comes to the same.
    fn record(&self) -> String {
        let mut text = String::new();
        for ((claim, place), ran) in &self.calls {
            let sizes: Vec<String> = ran.iter().map(|(size, times)| format!(" {size}:{times}")).collect();
            writeln!(text, "{claim} {place}{}", sizes.concat()).expect("a text can be written");
        }
        text
    }

    /// How many calls have run.
    pub(crate) fn calls(&self) -> usize {
        self.calls.values().filter(|ran| !ran.is_empty()).count()
    }

    /// Which of these claims have not run: those that were never called, and those with a call that ran with no number
    /// of processors.
    pub(crate) fn missing(&self, claims: &BTreeSet<String>) -> BTreeSet<String> {
        let is_whole = |claim: &String| {
            let mut calls = self.calls.iter().filter(|((name, _), _)| name == claim).peekable();
            calls.peek().is_some() && calls.all(|(_, ran)| !ran.is_empty())
        };
        claims.iter().filter(|claim| !is_whole(claim)).cloned().collect()
    }

    /// How often a claim has run, with how many processors.
    fn sizes(&self, claim: &str) -> Sizes {
        let mut sum = Sizes::new();
        for (_, ran) in self.calls.iter().filter(|((name, _), _)| name == claim) {
            for (&size, times) in ran {
                *sum.entry(size).or_default() += times;
            }
        }
        sum
    }

    fn claims(&self) -> BTreeSet<&str> {
        self.calls.keys().map(|(claim, _)| claim.as_str()).collect()
    }
}

/// One tally for each fabric, by its name.
type Tallies = BTreeMap<String, Tally>;

/// Leaves the tally of a fabric, and writes the table of all that were left.
pub(crate) fn leave(fabric: &str, tally: &Tally) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder");
    let folder = target.join("claims");
    fs::create_dir_all(&folder).expect("a folder can be made");
    fs::write(folder.join(fabric), tally.record()).expect("a file can be written");
    fs::write(target.join("claims.md"), table(&left(&folder))).expect("a file can be written");
}

/// What was left in a folder.
fn left(folder: &Path) -> Tallies {
    let entries = fs::read_dir(folder).expect("the folder can be read").flatten().map(|entry| entry.path());
    let read = |path: PathBuf| {
        let mut tally = Tally::default();
        tally.add(&fs::read_to_string(&path).expect("the file can be read"));
        (path.file_name().expect("a file has a name").to_string_lossy().into_owned(), tally)
    };
    entries.map(read).collect()
}

/// The table: a line for each claim, and a column for each fabric, with how often it ran on which number of processors.
fn table(tallies: &Tallies) -> String {
    let claims: BTreeSet<&str> = tallies.values().flat_map(Tally::claims).collect();
    let names: Vec<&str> = tallies.keys().map(String::as_str).collect();
    let mut text = format!("# How often each claim ran\n\n{} claims. ", claims.len());
    text += "A cell has each number of processors, and how often if that is more than once; \"-\" is never.\n\n";
    let columns = format!("| claim | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    text += &columns;
    for claim in claims {
        write!(text, "| {claim} |").expect("a text can be written");
        for tally in tallies.values() {
            let cell: Vec<String> = tally
                .sizes(claim)
                .iter()
                .map(|(size, &times)| if times > 1 { format!("{size}×{times}") } else { size.to_string() })
                .collect();
            write!(text, " {} |", if cell.is_empty() { "-".to_owned() } else { cell.join(" ") })
                .expect("a text can be written");
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_claim_that_did_not_run_is_missing() {
    let claims: BTreeSet<String> = ["ran", "half", "never", "unheard"].map(str::to_owned).into();
    let mut tally = Tally::default();
    tally.add("ran a.rs:1 3:1\nran a.rs:2\nhalf b.rs:1 2:1\nhalf b.rs:2\nnever c.rs:1\n");
    tally.add("ran a.rs:2 2:4 3:1\nran a.rs:1 3:1\n");
    let missing: Vec<String> = tally.missing(&claims).into_iter().collect();
    assert_eq!(missing, ["half", "never", "unheard"]);
    assert_eq!(tally.calls(), 3);
    let mut again = Tally::default();
    again.add(&tally.record());
    assert_eq!(again, tally);
    let table = table(&[("processes".to_owned(), tally), ("threads".to_owned(), Tally::default())].into());
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).collect();
    let expected =
        ["| claim | processes | threads |", "| half | 2 | - |", "| never | - | - |", "| ran | 2×4 3×3 | - |"];
    assert_eq!(lines, expected);
}
