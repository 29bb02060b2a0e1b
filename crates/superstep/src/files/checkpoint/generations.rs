//! The folders that generations are in.

use super::{
    super::{
        disk::{self, File},
        together::{Trouble, named},
    },
    manifest::{Flaw, Manifest},
};
use std::{
    io,
    path::{Path, PathBuf},
};

const MANIFEST: &str = "manifest.json";
/// What a manifest is called while it is written.
const MANIFEST_PART: &str = ".manifest.json.part";
const GENERATION: &str = "generation-";
/// What the folder of a subgroup is called, before its number.
const GROUP: &str = "group-";
/// How many generations are kept.
const KEPT: usize = 2;
/// Nobody has more in a manifest; a longer one is none.
const LONGEST: u64 = 1 << 30;

/// Where a group has its generations.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder itself.
    pub path: PathBuf,
}

impl Folder {
    /// That of the group with this path, of those that save in `dir`: the root group has `dir` itself.
    pub(super) fn of_group(dir: &Path, group: &str) -> Self {
        let path = group.split('/').skip(1).fold(dir.to_owned(), |path, id| path.join(format!("{GROUP}{id}")));
        Self { path }
    }

    /// Those of subgroups that have saved here, by number.
    pub fn subgroups(&self) -> Result<Vec<Self>, Trouble> {
        let mut ids: Vec<usize> =
            self.names()?.iter().filter_map(|name| name.strip_prefix(GROUP)?.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids.iter().map(|id| Self { path: self.path.join(format!("{GROUP}{id}")) }).collect())
    }

    fn names(&self) -> Result<Vec<String>, Trouble> {
        named(disk::names_in(&self.path), "read", &self.path)
    }

    /// Where a generation lies.
    pub fn generation(&self, number: u64) -> PathBuf {
        self.path.join(format!("{GENERATION}{number:06}"))
    }

    /// The numbers of all generations, the newest first, those without a manifest as well.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, Trouble> {
        let names = self.names()?;
        let number = |name: &String| name.strip_prefix(GENERATION)?.parse().ok();
        let is_ours = |name: &String, number: u64| self.generation(number).ends_with(name);
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|name| number(name).filter(|&number| is_ours(name, number))).collect();
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        Ok(numbers)
    }

    fn has_manifest(&self, number: u64) -> Result<bool, Trouble> {
        let path = self.generation(number);
        Ok(named(disk::names_in(&path), "read", &path)?.iter().any(|name| name == MANIFEST))
    }

    /// The numbers of those that were saved to the end, the newest first, and of those that were not.
    pub fn saved(&self) -> Result<(Vec<u64>, Vec<u64>), Trouble> {
        let (mut saved, mut begun) = (Vec::new(), Vec::new());
        for number in self.numbers()? {
            // What cannot be looked at is not passed over in silence. A file of that name holds nothing.
            let is_saved = self.has_manifest(number).unwrap_or_else(|_| self.generation(number).is_dir());
            if is_saved { &mut saved } else { &mut begun }.push(number);
        }
        Ok((saved, begun))
    }

    /// What a generation says that it holds.
    pub fn manifest(&self, number: u64) -> Result<Manifest, Flaw> {
        let path = self.generation(number).join(MANIFEST);
        let read = || {
            let file = File::open(&path)?;
            let (len, mut text) = (file.len()?.min(LONGEST) as usize, Vec::new());
            if !fabric::try_make_room(&mut text, len) {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            file.append(&mut text, len, 0).map(|()| text)
        };
        let text = named(read(), "read", &path).map_err(Flaw::Damaged)?;
        Manifest::parse(&text)
    }

    /// Makes the folder of the next generation, with empty files of these names.
    pub(super) fn begin(&self, files: &[String]) -> Result<u64, Trouble> {
        let mut number = self.numbers()?.first().copied().unwrap_or(0);
        let path = loop {
            let last = self.generation(number);
            number = number.checked_add(1).ok_or_else(|| format!("{} has the last number there is", last.display()))?;
            let path = self.generation(number);
            match disk::make_new_folder(&path) {
                // Another program saves here, which nobody should have it do: no file is of both.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break named(made, "written", &path).map(|()| path)?,
            }
        };
        let made = named(files.iter().try_for_each(|file| File::create(&path.join(file)).map(drop)), "written", &path);
        if made.is_err() {
            self.remove(number);
        }
        made.map(|()| number)
    }

    /// Makes a generation count, when all that it holds is on the disk.
    pub(super) fn complete(&self, number: u64, manifest: &Manifest) -> Result<(), Trouble> {
        let (path, text) = (self.generation(number), manifest.text());
        manifest.check().map_err(|what| format!("{} cannot be completed: its manifest {what}", path.display()))?;
        let write = || {
            disk::sync_folder(&path)?;
            let part = path.join(MANIFEST_PART);
            let file = File::create(&part)?;
            file.write(text.as_bytes(), 0)?;
            file.sync()?;
            disk::rename(&part, &path.join(MANIFEST))?;
            disk::sync_folder(&path)?;
            disk::sync_folder(&self.path)
        };
        named(write(), "written", &path)
    }

    /// Removes the generations before this one that nobody needs: those that were not saved to the end or are damaged,
    /// and whole ones beyond those that are kept. What cannot be removed stays until the next time.
    pub(super) fn clean(&self, newest: u64, damaged: &[u64]) {
        let Ok(numbers) = self.numbers() else { return };
        let mut kept = 0;
        for number in numbers.into_iter().filter(|&number| number <= newest) {
            match self.has_manifest(number) {
                Ok(true) if kept < KEPT && !damaged.contains(&number) => kept += 1,
                Ok(_) if number < newest => self.remove(number),
                // What cannot be looked at stands in nobody's way.
                _ => {}
            }
        }
    }

    /// Removes a generation: first what makes it count.
    pub(super) fn remove(&self, number: u64) {
        let path = self.generation(number);
        let remove = || {
            let mut names = disk::names_in(&path)?;
            names.sort_by_key(|name| name != MANIFEST);
            names.iter().try_for_each(|name| disk::remove(&path.join(name)))?;
            disk::remove_folder(&path)
        };
        // Whatever is left of it does not count.
        let _ = remove();
    }
}
