//! The lines of a text, each on one processor.

use super::{
    aside::Aside,
    share::{self, Share},
    together::{Trouble, together},
};
use crate::{
    engine::{Group, Sum},
    error::Result,
};
use std::{fmt::Display, ops::ControlFlow, path::Path};

/// This processor's share of the lines of a file.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("superstep-doc-lines-{}.txt", std::process::id()));
/// std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
/// let all = superstep::Config::new().procs(2).run_all(|g| {
///     let lines = g.read_lines(&path)?;
///     let numbered = (lines.first_number()..).zip(&lines);
///     let texts = numbered.map(|(number, line)| format!("{number} {}", String::from_utf8_lossy(line)));
///     Ok::<_, superstep::Error>(texts.collect::<Vec<_>>())
/// });
/// # std::fs::remove_file(&path).unwrap();
/// assert_eq!(all.unwrap().concat(), ["1 one", "2 two", "3 three"]);
/// ```
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    first: u64,
}

impl Lines {
    /// The lines, without the `\n` at their ends.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-lines-iter-{}.txt", std::process::id()));
    /// std::fs::write(&path, "ab\n\nc").unwrap();
    /// let lens = superstep::Config::new().procs(1).run(|g| {
    ///     let lines = g.read_lines(&path)?;
    ///     Ok::<_, superstep::Error>(lines.iter().map(|line| line.len()).collect::<Vec<_>>())
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(lens.unwrap(), [2, 0, 1]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        share::lines(&self.bytes)
    }

    /// The number of the first of them in the file, where lines are counted from 1.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-lines-first-{}.txt", std::process::id()));
    /// std::fs::write(&path, "1\n2\n3\n4\n").unwrap();
    /// let firsts = superstep::Config::new()
    ///     .procs(2)
    ///     .run_all(|g| Ok::<_, superstep::Error>(g.read_lines(&path)?.first_number()));
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(firsts.unwrap(), [1, 3]);
    /// ```
    pub fn first_number(&self) -> u64 {
        self.first
    }

    /// All of them as they stand in the file, with their ends.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-lines-bytes-{}.txt", std::process::id()));
    /// std::fs::write(&path, "ab\nc").unwrap();
    /// let bytes = superstep::Config::new()
    ///     .procs(1)
    ///     .run(|g| Ok::<_, superstep::Error>(g.read_lines(&path)?.bytes().to_vec()));
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(bytes.unwrap(), b"ab\nc");
    /// ```
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl<'a> IntoIterator for &'a Lines {
    type Item = &'a [u8];
    type IntoIter = Box<dyn Iterator<Item = &'a [u8]> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl Group {
    /// Reads this processor's share of the lines of a text file. Collective.
    ///
    /// Lower ranks have earlier lines; each line is on one processor, and shares have about as many bytes. A line is
    /// whatever stands between two `\n`, in any encoding that has no other use for that byte.
    ///
    /// ```
    /// use superstep::{Config, Sum};
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-read-lines-{}.txt", std::process::id()));
    /// std::fs::write(&path, "to be\nor not\nto be\n").unwrap();
    /// let words = Config::new().procs(2).run(|g| {
    ///     let lines = g.read_lines(&path)?;
    ///     let words: usize = lines.iter().map(|line| line.split(|&byte| byte == b' ').count()).sum();
    ///     Ok::<_, superstep::Error>(g.step(|s| s.reduce(words, Sum)))
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert_eq!(words.unwrap(), 6);
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads its share, which stays in memory; [`each_line`](Self::each_line) keeps nothing. Three
    /// boundaries.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read.
    #[track_caller]
    pub fn read_lines(&mut self, path: impl AsRef<Path>) -> Result<Lines> {
        let share = Share::open(self, path.as_ref(), 0)?;
        let mine = share.read();
        let (bytes, count) = together(self, mine)?;
        let before = self.try_step(|s| s.prefix(count, Sum))?;
        Ok(Lines { bytes, first: before + 1 })
    }

    /// Calls `each` with every line of this processor's share of a text file, as [`read_lines`](Self::read_lines) deals
    /// them, and keeps none of them. Returns how many lines the file has. Collective.
    ///
    /// ```
    /// use superstep::Config;
    ///
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-each-line-{}.txt", std::process::id()));
    /// std::fs::write(&path, "3\n4\nfive\n").unwrap();
    /// let error = Config::new().procs(2).run(|g| {
    ///     let mut sum = 0;
    ///     g.each_line(&path, |line| {
    ///         sum += String::from_utf8_lossy(line).parse::<u64>()?;
    ///         Ok::<_, std::num::ParseIntError>(())
    ///     })
    /// });
    /// # std::fs::remove_file(&path).unwrap();
    /// assert!(error.unwrap_err().to_string().contains("line 3: invalid digit found in string"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be read, or with what `each` returns for
    /// the first line that it returns an error for, and the number of the line.
    #[track_caller]
    pub fn each_line<E: Display>(
        &mut self,
        path: impl AsRef<Path>,
        each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64> {
        each_line_behind(self, path.as_ref(), (0, 0), each)
    }

    /// Writes the lines of all members to one file, those of lower ranks first, each with a `\n` behind it. Collective.
    ///
    /// The file has its name when it is whole and on the disk, and not before.
    ///
    /// ```
    /// # let path = std::env::temp_dir().join(format!("superstep-doc-write-lines-{}.txt", std::process::id()));
    /// superstep::Config::new().procs(2).run(|g| {
    ///     let me = g.rank();
    ///     g.write_lines(&path, (0..2).map(|i| format!("{me} {i}")))
    /// }).unwrap();
    /// assert_eq!(std::fs::read_to_string(&path).unwrap(), "0 0\n0 1\n1 0\n1 1\n");
    /// # std::fs::remove_file(&path).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor writes its lines, all at once, and has them in memory before. Six boundaries.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if the file cannot be written.
    #[track_caller]
    pub fn write_lines<L: AsRef<[u8]>>(
        &mut self,
        path: impl AsRef<Path>,
        lines: impl IntoIterator<Item = L>,
    ) -> Result {
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend_from_slice(line.as_ref());
            bytes.push(b'\n');
        }
        let len = bytes.len() as u64;
        let (before, all) = self.try_step(|s| (s.prefix(len, Sum), s.reduce(len, Sum)))?;
        let aside = Aside::begin(self, path.as_ref(), all)?;
        let mine = aside.write(&bytes, before);
        aside.finish(self, mine)
    }
}

/// Visits the lines behind so many bytes of a file, in which there are so many lines.
#[track_caller]
pub(super) fn each_line_behind<E: Display>(
    g: &mut Group,
    path: &Path,
    (begin, skipped): (u64, u64),
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64> {
    let share = Share::open(g, path, begin)?;
    let (mut count, mut refused) = (0u64, None);
    let mine = share.visit(|line| {
        count += 1;
        match each(line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                refused = Some(error.to_string());
                ControlFlow::Break(())
            }
        }
    });
    // Everybody below whoever has the first refusal has counted all of its lines.
    let (before, all) = g.try_step(|s| (s.prefix(count, Sum), s.reduce(count, Sum)))?;
    let mine = mine.and(match refused {
        None => Ok(()),
        Some(error) => Err(bad_line(path, skipped + before + count, &error)),
    });
    together(g, mine)?;
    Ok(all)
}

/// What is wrong with a line.
pub(super) fn bad_line(path: &Path, number: u64, error: &str) -> Trouble {
    format!("{}, line {number}: {error}", path.display())
}
