//! Starting a program again that has lost a process.
//!
//! What tells a loss from an error of the program's own: what was started was killed by a signal that nobody ends a
//! program by, its exit code is one that launchers have where a process was, or a process of the run has written a line
//! to the file that the variable [`NOTE`] names, as the library does where a run ends with `PeerLost`.

use super::launcher::Kind;
use std::{env, fs, path::PathBuf, process};

/// The variable that names the file to which a process writes that another one was lost.
pub(super) const NOTE: &str = "SUPERSTEP_LOSS_NOTE";

/// Signals by which processes are lost; those that a user ends them by are not among them.
const FATAL: [u8; 7] = [4, 5, 6, 7, 8, 9, 11];

/// How what was started has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) code: u8,
    /// Whether this command has passed a signal on that was to end it.
    pub(super) is_told: bool,
}

impl Ended {
    /// Whether it was for the loss of a process, as far as this tells; `launcher` has started it, if one has.
    pub(super) fn is_lost(self, launcher: Option<Kind>) -> bool {
        // Hydra exits with the signal itself, gives up, or is ended by SIGPIPE while it tells a process that is gone; a
        // program that exits with one of these is taken for lost.
        let is_hydras = launcher == Some(Kind::Mpich) && [6, 9, 11, 128 + 13, 255].contains(&self.code);
        let signal = self.code.saturating_sub(128);
        !self.is_told && (is_hydras || FATAL.contains(&signal))
    }
}

/// The file for such notes, which is gone when this is.
pub(super) struct Note(PathBuf);

impl Note {
    pub(super) fn new() -> Self {
        Self(env::temp_dir().join(format!("superstep-loss-{}", process::id())))
    }

    pub(super) fn path(&self) -> String {
        self.0.display().to_string()
    }

    /// Whether a process was said to be lost since it was asked last.
    pub(super) fn take(&self) -> bool {
        fs::remove_file(&self.0).is_ok()
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_from_an_error_and_from_a_wish() {
        let ended = |code| Ended { code, is_told: false };
        let open_mpi = Some(Kind::OpenMpi { major: 4 });
        assert!(ended(137).is_lost(open_mpi) && ended(139).is_lost(None) && ended(9).is_lost(Some(Kind::Mpich)));
        assert!(ended(141).is_lost(Some(Kind::Mpich)));
        for code in [0, 1, 2, 9, 101, 130, 138, 141, 143] {
            assert!(!ended(code).is_lost(open_mpi), "{code}");
        }
        assert!(!ended(1).is_lost(Some(Kind::Mpich)) && !ended(15).is_lost(Some(Kind::Mpich)));
        assert!(!Ended { is_told: true, ..ended(137) }.is_lost(open_mpi));
    }

    #[test]
    fn a_note_is_taken_once_and_leaves_nothing() {
        let note = Note::new();
        assert!(!note.take());
        fs::write(&note.0, "lost").unwrap();
        assert!(note.take() && !note.take());
    }
}
