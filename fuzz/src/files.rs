//! Files, as a user may name them: each is read, or refused with an error that names it.

use std::{fs, path::PathBuf, sync::LazyLock};
use superstep::{Block, Config, Cyclic, ErrorKind, Group, Result, Sum};

static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| PathBuf::from(format!("/dev/shm/superstep-fuzz-files-{}", std::process::id())));

/// The readers.
pub const READERS: [fn(&mut Group) -> Result; 7] = [
    |g| g.read_npy::<i16, Cyclic, 1>(&*FILE).map(drop),
    |g| g.read_npy::<f64, Block, 2>(&*FILE).map(drop),
    |g| g.read_matrix::<f64, Block, Cyclic>(&*FILE, Sum).map(drop),
    |g| g.read_edges::<Block>(&*FILE).map(drop),
    |g| g.read_weighted_edges::<u32, Cyclic>(&*FILE, Sum).map(drop),
    |g| g.read_records(&*FILE, 3).map(drop),
    lines,
];

/// Reads these bytes with one of the readers; the first two say with which, and on how many processors.
pub fn files(bytes: &[u8]) {
    let &[which, procs, ref bytes @ ..] = bytes else { return };
    fs::write(&*FILE, bytes).expect("there is room for a file");
    let outcome = Config::new().procs(1 + usize::from(procs) % 3).run(READERS[usize::from(which) % READERS.len()]);
    fs::remove_file(&*FILE).expect("it is there");
    if let Err(error) = outcome {
        assert!(matches!(error.kind(), ErrorKind::File | ErrorKind::OutOfMemory), "{error}");
        assert!(
            error.kind() == ErrorKind::OutOfMemory || error.to_string().contains("superstep-fuzz-files"),
            "{error}"
        );
    }
}

/// All lines are there, in their order.
fn lines(g: &mut Group) -> Result {
    let mine: Vec<Vec<u8>> = g.read_lines(&*FILE)?.iter().map(<[u8]>::to_vec).collect();
    let all = g.step(|s| s.collect(mine)).concat();
    let whole = fs::read(&*FILE).expect("it is there");
    let count = all.len();
    assert!(all.join(&b'\n') == whole.strip_suffix(b"\n").unwrap_or(&whole) || count == 0, "{all:?}");
    assert_eq!(g.each_line(&*FILE, |_| Ok::<_, String>(()))?, count as u64);
    Ok(())
}
