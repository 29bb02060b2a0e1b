//! Issue 20: no damaged byte is ever taken for data.

use crate::Folder;
use std::{fs, path::PathBuf};
use superstep::{
    Config, Cyclic, ErrorKind, Fabric, Group,
    files::{Each, One},
};

/// The files of a folder, and of those in it.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] }).collect()
}

/// What a restore gives: the generation, and the values if they fit together.
fn restored(g: &mut Group, folder: &Folder) -> superstep::Result<(Option<u64>, u32)> {
    let (a, x, mine) = (g.array::<u32, Cyclic>(9), One::new(0), Each::new(0));
    let table = g.hash_map::<u32, u32>();
    let mut saved = g.checkpoint(&folder.0)?;
    saved.add("a", &a);
    saved.add("x", &x);
    saved.add("mine", &mine);
    saved.add("table", &table);
    saved.restore(g)?;
    let value = x.get();
    assert!(a.local().iter().all(|&element| element == value));
    assert_eq!(mine.get(), value);
    table.forall_mut(|key, entry| assert_eq!((*key, *entry), (value, value)));
    assert_eq!(table.count(g), usize::from(value > 0));
    Ok((saved.generation(), value))
}

fn save(g: &mut Group, folder: &Folder, values: &[u32]) -> superstep::Result {
    let (a, x, mine) = (g.array::<u32, Cyclic>(9), One::new(0), Each::new(0));
    let table = g.hash_map::<u32, u32>();
    let mut saved = g.checkpoint(&folder.0)?;
    saved.add("a", &a);
    saved.add("x", &x);
    saved.add("mine", &mine);
    saved.add("table", &table);
    for &value in values {
        a.forall_mut(|_, element| *element = value);
        x.set(value);
        mine.set(value);
        table.clear();
        g.step(|_| ());
        g.epoch(|e| {
            if e.rank() == 0 {
                table.insert(e, value, value);
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
