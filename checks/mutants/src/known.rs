//! Keeps what a build and the first run of its tests have shown, for as long as no file changes.

use crate::meet::Test;
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    time::Duration,
};

/// Where it is kept, beside the tree.
const KEPT: &str = "../known";

/// What is known of a tree.
pub(crate) struct Known {
    pub(crate) dropped: HashSet<u32>,
    pub(crate) tests: Vec<Test>,
}

/// All files below a folder, by their paths in it.
pub(crate) fn all_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(at) = folders.pop() {
        for path in fs::read_dir(at).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if let (Ok(name), Ok(bytes)) = (path.strip_prefix(folder), fs::read(&path)) {
                files.insert(name.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    files
}

/// Makes this folder have these files, and no others. What is as it should be is not touched, nor built again; the files
/// that will be changed are left to whoever changes them.
pub(crate) fn copy(files: &BTreeMap<String, Vec<u8>>, changed: &dyn Fn(&str) -> bool) -> Result<(), String> {
    let there = all_files(Path::new("."));
    for old in there.keys().filter(|old| !files.contains_key(*old)) {
        fs::remove_file(old).map_err(|e| format!("{old}: {e}"))?;
    }
    for (name, bytes) in files {
        let stays = there.get(name).is_some_and(|old| old == bytes || changed(name));
        if !stays {
            let folder = Path::new(name).parent().unwrap_or(Path::new(""));
            fs::create_dir_all(folder).and_then(|()| fs::write(name, bytes)).map_err(|e| format!("{name}: {e}"))?;
        }
    }
    Ok(())
}

/// A number for all that what is known depends on.
pub(crate) fn key(files: &BTreeMap<String, Vec<u8>>, globs: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (files, globs).hash(&mut hasher);
    std::env::current_exe().ok().and_then(|program| fs::read(program).ok()).hash(&mut hasher);
    hasher.finish()
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}

fn line<'a>(numbers: impl Iterator<Item = &'a u32>) -> String {
    numbers.map(u32::to_string).collect::<Vec<_>>().join(" ")
}

impl Known {
    /// Reads what is kept under a key.
    pub(crate) fn load(key: u64) -> Option<Self> {
        Self::from_text(&fs::read_to_string(KEPT).ok()?, key)
    }

    fn from_text(text: &str, key: u64) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()?.parse() != Ok(key) {
            return None;
        }
        let dropped = numbers(lines.next()?)?.into_iter().collect();
        let mut tests = Vec::new();
        while let Some(name) = lines.next() {
            let [program, takes] = numbers(lines.next()?)?[..] else { return None };
            let meets = numbers(lines.next()?)?.into_iter().collect();
            let takes = Duration::from_millis(takes.into());
            tests.push(Test { program: program as usize, name: name.to_owned(), takes, meets });
        }
        Some(Self { dropped, tests })
    }

    /// Keeps it; without it, it is found out again.
    pub(crate) fn kept(self, key: u64) -> Self {
        drop(fs::write(KEPT, self.text(key)));
        self
    }

    fn text(&self, key: u64) -> String {
        let mut text = format!("{key}\n{}\n", line(self.dropped.iter()));
        for test in &self.tests {
            text += &format!("{}\n{} {}\n", test.name, test.program, test.takes.as_millis());
            text += &format!("{}\n", line(test.meets.iter()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_under_its_key_only() {
        let test = |name: &str, meets: &[u32]| Test {
            program: 3,
            name: name.to_owned(),
            takes: Duration::from_millis(5),
            meets: meets.iter().copied().collect(),
        };
        let known = Known { dropped: HashSet::from([2, 9]), tests: vec![test("a::b", &[]), test("c", &[1, 4])] };
        let text = known.text(7);
        assert!(Known::from_text(&text, 8).is_none());
        let read = Known::from_text(&text, 7).expect("it is kept");
        assert_eq!((&read.dropped, &read.tests), (&known.dropped, &known.tests));
    }
}
