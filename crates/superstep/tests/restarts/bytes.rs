//! Issue 20: no damaged byte is ever taken for data.

use crate::Folder;
use std::{fs, path::PathBuf};
use superstep::{
    Array, Config, Cyclic, ErrorKind, Fabric, Group,
    containers::HashMap,
    files::{Checkpoint, Each, One},
};

/// The files of a folder, and of those in it.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] }).collect()
}

/// What the program keeps.
struct Kept {
    a: Array<u32, Cyclic>,
    x: One<u32>,
    mine: Each<u32>,
    table: HashMap<u32, u32>,
}

impl Kept {
    fn new(g: &mut Group) -> Self {
        Self { a: g.array(9), x: One::new(0), mine: Each::new(0), table: g.hash_map() }
    }

    fn open(&self, g: &mut Group, folder: &Folder) -> superstep::Result<Checkpoint<'_>> {
        let mut saved = g.checkpoint(&folder.0)?;
        saved.add("a", &self.a);
        saved.add("x", &self.x);
        saved.add("mine", &self.mine);
        saved.add("table", &self.table);
        Ok(saved)
    }
}

/// What a restore gives: the generation, and the values if they fit together.
fn restored(g: &mut Group, folder: &Folder) -> superstep::Result<(Option<u64>, u32)> {
    let kept = Kept::new(g);
    let mut saved = kept.open(g, folder)?;
    saved.restore(g)?;
    let value = kept.x.get();
    assert!(kept.a.local().iter().all(|&element| element == value));
    assert_eq!(kept.mine.get(), value);
    kept.table.forall_mut(|key, entry| assert_eq!((*key, *entry), (value, value)));
    assert_eq!(kept.table.count(g), usize::from(value > 0));
    Ok((saved.generation(), value))
}

fn save(g: &mut Group, folder: &Folder, values: &[u32]) -> superstep::Result {
    let kept = Kept::new(g);
    let mut saved = kept.open(g, folder)?;
    for &value in values {
        kept.a.forall_mut(|_, element| *element = value);
        kept.x.set(value);
        kept.mine.set(value);
        kept.table.clear();
        g.step(|_| ());
        g.epoch(|e| {
            if e.rank() == 0 {
                kept.table.insert(e, value, value);
            }
        });
        saved.save(g)?;
    }
    Ok(())
}

/// A bit of each byte of the newest generation: the one before is taken, and never other values.
#[test]
fn every_byte_of_a_checkpoint_is_watched_over() {
    let config = Config::new().procs(2).fabric(Fabric::Threads);
    let folder = Folder::new();
    config.run(|g| save(g, &folder, &[1, 2])).unwrap();
    let (mut flips, the_one_before) = (0, Ok((Some(1), 1)));
    for path in files(folder.0.join("generation-000002")) {
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            assert_eq!(config.run(|g| restored(g, &folder)), the_one_before, "byte {at} of {}", path.display());
            flips += 1;
        }
        for cut in [0, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(config.run(|g| restored(g, &folder)), the_one_before, "{cut} bytes of {}", path.display());
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(config.run(|g| restored(g, &folder)), the_one_before, "without {}", path.display());
        fs::write(&path, &whole).unwrap();
    }
    assert!(flips > 1000, "{flips}");
    assert_eq!(config.run(|g| restored(g, &folder)), Ok((Some(2), 2)));
}

/// Where one generation is all there is, a flipped bit is an error.
#[test]
fn one_generation_that_is_damaged_is_refused() {
    let config = Config::new().procs(2).fabric(Fabric::Threads);
    let folder = Folder::new();
    config.run(|g| save(g, &folder, &[1])).unwrap();
    for path in files(folder.0.clone()) {
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[whole.len() / 2] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = config.run(|g| restored(g, &folder)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File, "{error}");
        assert!(error.to_string().contains("no generation in "), "{error}");
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(config.run(|g| restored(g, &folder)), Ok((Some(1), 1)));
}
