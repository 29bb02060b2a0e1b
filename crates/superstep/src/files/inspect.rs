//! What is in a file or a folder that the library has written, for the command `superstep inspect`.

pub use super::checkpoint::{Copied, Flaw, Folder, Manifest, Part, Piece, Stored, What};

use super::{
    checkpoint::flaw_of,
    disk::File,
    header::{self, Header},
    together::{Trouble, named},
};
use std::path::{Path, PathBuf};

/// The checkpoint in a folder.
pub fn folder(path: &Path) -> Folder {
    Folder { path: path.to_owned() }
}

/// Reads all of a generation: what is not as it was written, if anything.
pub fn verify(folder: &Folder, number: u64, manifest: &Manifest) -> Option<String> {
    flaw_of(&folder.generation(number), manifest, (0, 1))
}

/// What an `.npy` file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy {
    /// The file.
    pub path: PathBuf,
    /// What `NumPy` calls its elements, without the order of their bytes.
    pub kind: String,
    /// Whether the highest byte of a number comes first.
    pub is_big: bool,
    /// How many elements it has in each dimension.
    pub shape: Vec<usize>,
    /// How many bytes there are, header and all.
    pub bytes: u64,
    /// How many the header asks for, if that can be counted.
    pub asked: Option<u64>,
}

/// Looks at the header and at the length of an `.npy` file.
pub fn npy(path: &Path) -> Result<Npy, Trouble> {
    let file = named(File::open(path), "read", path)?;
    let start = &mut [0; 12];
    let read = named(file.read_some(start, 0), "read", path)?;
    let refuse = |what: String| format!("{} {what}", path.display());
    let mut head = vec![0; header::needed(&start[..read]).map_err(refuse)?];
    named(file.read(&mut head, 0), "read", path)?;
    let found = Header::parse(&head).map_err(refuse)?;
    let size = found.kind.get(1..).and_then(|size| size.parse::<u64>().ok());
    let asked = size.and_then(|size| found.elements()?.checked_mul(size)?.checked_add(found.begin));
    let bytes = named(file.len(), "read", path)?;
    Ok(Npy { path: path.to_owned(), kind: found.kind, is_big: found.is_big, shape: found.shape, bytes, asked })
}
