//! The files of a folder, and the part of them that a processor reads.

use crate::{Trouble, parts::part};
use std::{
    ffi::OsString,
    fmt::Display,
    fs::{self, DirEntry, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};
use superstep::Group;

/// The path of a file, and how many bytes it has.
pub(super) type Listed = (OsString, u64);

/// So many bytes are read to see where a word ends.
const MORE: usize = 4096;

fn told(path: &Path, error: impl Display) -> Trouble {
    format!("{}: {error}", path.display()).into()
}

/// All files of a folder, and of those in it, in the order of their names; or the one file of this path. Collective.
pub(super) fn listed(g: &mut Group, path: &Path) -> Result<Vec<Listed>, Trouble> {
    // Two that look may see different files, so one does.
    let mut files = Vec::new();
    let looked = g.leader(|| look(path, &mut files)).transpose().map(|_| files);
    let files = g.try_step(|s| s.agree(looked))?;
    let told = g.is_leader().then_some(files);
    Ok(g.step(|s| s.broadcast(0, told)))
}

fn look(path: &Path, files: &mut Vec<Listed>) -> Result<(), Trouble> {
    let about = fs::metadata(path).map_err(|error| told(path, error))?;
    if about.is_file() {
        files.push((path.into(), about.len()));
        return Ok(());
    }
    if !about.is_dir() {
        return Err(told(path, "neither a file nor a folder"));
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>);
    let mut entries = entries.map_err(|error| told(path, error))?;
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(|error| told(&entry.path(), error))?;
        // A link may lead back to where it stands.
        if kind.is_dir() || kind.is_file() {
            look(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// Reads the words that begin in this processor's part of all bytes of these files. Collective.
pub(super) fn read(g: &mut Group, files: &[Listed]) -> Result<Vec<u8>, Trouble> {
    let bytes = files.iter().map(|file| file.1 as usize).sum();
    let mine = part(bytes, g.rank(), g.size());
    let (mut text, mut begin) = (Vec::with_capacity(mine.len() + MORE), 0);
    let mut read = || {
        for (path, len) in files {
            let (first, end) = (begin, begin + *len as usize);
            begin = end;
            let (from, to) = (mine.start.max(first), mine.end.min(end));
            if from < to {
                let path = Path::new(path);
                words_between(path, (from - first) as u64, (to - first) as u64, &mut text)
                    .map_err(|error| told(path, error))?;
                // A file's end is the end of a word.
                text.push(b'\n');
            }
        }
        Ok::<_, Trouble>(())
    };
    let outcome = read();
    g.try_step(|s| s.agree(outcome))?;
    Ok(text)
}

/// Appends all words of a file that begin between two places.
fn words_between(path: &Path, from: u64, to: u64, text: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(path)?;
    // The byte before tells whether the first word begins here.
    let before = from.saturating_sub(1);
    file.seek(SeekFrom::Start(before))?;
    let start = text.len();
    let wanted = (to - before) as usize;
    text.resize(start + wanted, 0);
    let got = file.read_exact(&mut text[start..]);
    got.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::other("the file is shorter than it was when it was listed"),
        _ => error,
    })?;
    // What continues a word of somebody else's is theirs.
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let skipped = if from == 0 { 0 } else { text[start..].iter().position(is_space).unwrap_or(wanted) };
    if skipped == wanted {
        text.truncate(start);
        return Ok(());
    }
    text[start..start + skipped].fill(b' ');
    // What the last word goes on with is mine.
    let mut more = [0; MORE];
    while text.last().is_some_and(|byte| !byte.is_ascii_whitespace()) {
        let count = file.read(&mut more)?;
        if count == 0 {
            break;
        }
        let end = more[..count].iter().position(is_space).map_or(count, |end| end + 1);
        text.extend_from_slice(&more[..end]);
    }
    Ok(())
}
