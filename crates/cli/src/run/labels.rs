//! Who wrote a line, in the same way whatever the launcher: `[3] text`.
//!
//! MPICH does it so. Open MPI writes `[1,3]<stdout>:text`, the fifth with a name before the numbers and a space behind
//! the colon, and Slurm `3: text`, so their output is read here and each label is put anew.

use super::launcher::Kind;
use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, Read, Write},
};

/// Labels that are put anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    OpenMpi { is_spaced: bool },
    Slurm,
}

impl Labels {
    /// Those of a launcher, unless they are right already.
    pub(super) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Slurm => Some(Self::Slurm),
            Kind::OpenMpi { major } => Some(Self::OpenMpi { is_spaced: major >= 5 }),
            Kind::Mpich => None,
        }
    }

    /// The line with its label put anew; a line without one, as those of the launcher itself, stays as it is.
    fn anew(self, line: &[u8]) -> Cow<'_, [u8]> {
        let parts = match self {
            Self::OpenMpi { is_spaced } => open_mpi(line, is_spaced),
            Self::Slurm => slurm(line),
        };
        parts.map_or(Cow::Borrowed(line), |(rank, text)| Cow::Owned([b"[", rank, b"] ", text].concat()))
    }

    /// Copies output line by line.
    pub(super) fn copy(self, from: impl Read, mut to: impl Write) -> io::Result<()> {
        let (mut from, mut line) = (BufReader::new(from), Vec::new());
        while from.read_until(b'\n', &mut line)? > 0 {
            to.write_all(&self.anew(&line))?;
            to.flush()?;
            line.clear();
        }
        Ok(())
    }
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn open_mpi(line: &[u8], is_spaced: bool) -> Option<(&[u8], &[u8])> {
    let inside = line.strip_prefix(b"[")?;
    let end = inside.iter().position(|&byte| byte == b']')?;
    let rank = inside[..end].rsplit(|&byte| byte == b',').next().filter(|rank| rank.len() < end && is_number(rank))?;
    let after = &inside[end + 1..];
    let text = [&b"<stdout>:"[..], b"<stderr>:"].into_iter().find_map(|stream| after.strip_prefix(stream))?;
    let text = if is_spaced { text.strip_prefix(b" ").unwrap_or(text) } else { text };
    Some((rank, text))
}

fn slurm(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let rank = line[..colon].trim_ascii_start();
    let text = line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]);
    is_number(rank).then_some((rank, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(labels: Labels, text: &str) -> String {
        let mut copy = Vec::new();
        labels.copy(text.as_bytes(), &mut copy).expect("memory can be written");
        String::from_utf8(copy).expect("it was text")
    }

    #[test]
    fn labels_are_the_same_whatever_the_launcher() {
        let old =
            copied(Labels::OpenMpi { is_spaced: false }, "[1,0]<stdout>:a: b\n[1,12]<stderr>: c\n[1,1]<stdout>:\n");
        assert_eq!(old, "[0] a: b\n[12]  c\n[1] \n");
        let new = copied(Labels::OpenMpi { is_spaced: true }, "[prterun-vm-71@1,3]<stdout>: a\n");
        assert_eq!(new, "[3] a\n");
        assert_eq!(copied(Labels::Slurm, " 0: a\n11: b: c\n"), "[0] a\n[11] b: c\n");
    }

    #[test]
    fn what_has_no_label_stays_as_it_is() {
        let own = "-----\nmpirun noticed [1,0] that\n[vm:12] error\n[1]<stdout>:x\n[1,x]<stdout>:y\nno end";
        assert_eq!(copied(Labels::OpenMpi { is_spaced: false }, own), own);
        assert_eq!(copied(Labels::Slurm, "srun: error: 3: x\n"), "srun: error: 3: x\n");
    }
}
