//! Sparse matrices in the format of `MatrixMarket`.

use super::{
    disk::File,
    lines::{bad_line, each_line_behind},
    share::lines,
    together::{NUMBERS, Trouble, by_leader, has_room, named, same_path, together},
    words::{number, value, words},
};
use crate::{
    algo::sparse::Sparse,
    engine::{Combine, Element, Group, Sum},
    error::Result,
    memory::Distribution,
};
use serde::{Deserialize, Serialize};
use std::{path::Path, str::FromStr};

/// How much of a file is read for the lines before the entries; comments may take some of it.
const HEAD: usize = 1 << 20;

/// What stands before the entries.
#[derive(Clone, Serialize, Deserialize)]
struct Head {
    shape: [usize; 2],
    entries: u64,
    is_symmetric: bool,
    /// Whether entries have no values.
    is_pattern: bool,
    /// Where they begin: after so many bytes, and so many lines.
    begin: (u64, u64),
}

impl Head {
    fn read(path: &Path) -> Result<Self, Trouble> {
        let mut bytes = vec![0; HEAD];
        let read = File::open(path).and_then(|file| file.read_some(&mut bytes, 0));
        let read = named(read, "read", path)?;
        let refuse = |number, what: &str| bad_line(path, number, what);
        // A line that is cut off is not looked at.
        let whole = if read < HEAD { read } else { memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1) };
        let (mut at, mut head) = (0u64, None);
        for (count, line) in (1..).zip(lines(&bytes[..whole])) {
            at = (at + line.len() as u64 + 1).min(whole as u64);
            let Some((is_symmetric, is_pattern)) = head else {
                head = Some(banner(line).map_err(|what| refuse(1, &what))?);
                continue;
            };
            if line.starts_with(b"%") || line.trim_ascii().is_empty() {
                continue;
            }
            let mut words = words(line);
            let mut next = || words.next().and_then(number);
            let (Some(rows), Some(columns), Some(entries), None) = (next(), next(), next(), next()) else {
                return Err(refuse(count, "how many rows, columns and entries there are is not said by three numbers"));
            };
            let shape = [rows as usize, columns as usize];
            if is_symmetric && rows != columns {
                return Err(refuse(count, "a symmetric matrix has as many rows as columns"));
            }
            return Ok(Self { shape, entries, is_symmetric, is_pattern, begin: (at, count) });
        }
        Err(format!("{} does not say how many rows and columns it has, within its first {HEAD} bytes", path.display()))
    }
}

/// What the first line says: whether the matrix is symmetric, and whether entries have no values.
fn banner(line: &[u8]) -> Result<(bool, bool), String> {
    let line = line.to_ascii_lowercase();
    let said: Vec<&[u8]> = words(&line).collect();
    let [b"%%matrixmarket", b"matrix", format, field, symmetry] = said[..] else {
        return Err("it does not begin with %%MatrixMarket matrix".into());
    };
    let refuse = |what: &[u8]| format!("{} matrices are not read", String::from_utf8_lossy(what));
    if format != b"coordinate" {
        return Err(refuse(format));
    }
    let is_pattern = match field {
        b"real" | b"double" | b"integer" => false,
        b"pattern" => true,
        _ => return Err(refuse(field)),
    };
    match symmetry {
        b"general" => Ok((false, is_pattern)),
        b"symmetric" => Ok((true, is_pattern)),
        _ => Err(refuse(symmetry)),
    }
}

impl Group {
    /// Reads a [sparse matrix](Sparse) from a `MatrixMarket` file (`.mtx`): coordinate, real, integer or pattern,
    /// general or symmetric. Collective.
    ///
    /// Entries of a pattern are one. Of a symmetric matrix both halves are made. Entries for one place are combined by
    /// `op`, in the order of the file.
    ///
    /// ```
    /// use superstep::{Block, Config, Sum};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-matrix-{}.mtx", std::process::id()));
    /// std::fs::write(&path, "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 2.5\n3 1 -1\n").unwrap();
    /// let (shape, entries) = Config::new().procs(2).run(|g| {
    ///     let a = g.read_matrix::<f64, Block, Block>(&path, Sum)?;
    ///     Ok::<_, superstep::Error>((a.shape(), a.len(g)))
    /// }).unwrap();
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!((shape, entries), ([3, 3], 3));
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads its share of the lines; then as [`sparse`](Self::sparse).
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read, if it holds another sort of
    /// matrix, or for the first line that is no entry, with its number.
    #[track_caller]
    pub fn read_matrix<T, D, E>(&mut self, path: impl AsRef<Path>, op: impl Combine<T>) -> Result<Sparse<T, D, E>>
    where
        T: Element + FromStr + From<bool>,
        D: Distribution + Default,
        E: Distribution + Default,
    {
        let path = path.as_ref();
        same_path(self, path);
        let head = by_leader(self, || Head::read(path))?;
        has_room(self, path, (head.shape[0], "rows"), NUMBERS)?;
        has_room(self, path, (head.shape[1], "columns"), 1)?;
        let (rows, columns) = (self.try_array::<u8, D>(head.shape[0])?, self.try_array::<u8, E>(head.shape[1])?);
        let (mut entries, mut count) = (Vec::new(), 0u64);
        each_line_behind(self, path, head.begin, |line| {
            if !line.starts_with(b"%") && !line.trim_ascii().is_empty() {
                let (i, j, value) = entry::<T>(line, &head)?;
                count += 1;
                entries.push((i, j, value));
                if head.is_symmetric && i != j {
                    entries.push((j, i, value));
                }
            }
            Ok::<_, String>(())
        })?;
        let all = self.try_step(|s| s.reduce(count, Sum))?;
        let says = if all == head.entries {
            Ok(())
        } else {
            Err(format!("{} has {all} entries, and says that there are {}", path.display(), head.entries))
        };
        together(self, says)?;
        Ok(self.sparse(&rows, &columns, &entries, op))
    }
}

/// The row, the column and the value that a line names.
fn entry<T: FromStr + From<bool>>(line: &[u8], head: &Head) -> Result<(usize, usize, T), String> {
    let mut words = words(line);
    let mut place = |most: usize, what: &str| {
        let found = words.next().and_then(number).ok_or_else(|| format!("there is no {what}"))?;
        if found == 0 || found > most as u64 {
            return Err(format!("{what} {found} of {most}"));
        }
        Ok(found as usize - 1)
    };
    let (i, j) = (place(head.shape[0], "row")?, place(head.shape[1], "column")?);
    let found = if head.is_pattern { T::from(true) } else { value(words.next())? };
    match words.next() {
        None => Ok((i, j, found)),
        Some(more) => Err(format!("{} behind the entry", String::from_utf8_lossy(more))),
    }
}
