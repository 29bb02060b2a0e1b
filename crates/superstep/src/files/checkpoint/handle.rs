//! What a program calls.

use super::{
    super::{
        disk,
        together::{Call, Trouble, by_leader, named, same_path},
    },
    generations::Folder,
    manifest::{Manifest, Part},
    occasions::{Every, Occasions},
    save::{Copied, Save},
    writer::{Work, Writing, Written},
};
use crate::{
    engine::{Core, Group, Or, mix},
    error::{ErrorKind, Result},
};
use fabric::signals::Listening;
use std::{fmt, panic::Location, path::Path, rc::Rc};

/// What a group keeps on the disk, so that a program can go on where it was.
///
/// Made by [`Group::checkpoint`]; [`guide::checkpoints`](crate::guide::checkpoints) shows it in a loop.
///
/// ```
/// use superstep::{Block, Config, files::One};
///
/// # let dir = std::env::temp_dir().join(format!("superstep-doc-checkpoint-{}", std::process::id()));
/// let run = |procs: usize| Config::new().procs(procs).run(|g| {
///     let (u, done) = (g.array::<f64, Block>(100), One::new(0));
///     let mut saved = g.checkpoint(&dir)?;
///     saved.add("u", &u);
///     saved.add("done", &done);
///     saved.restore(g)?;
///     for _ in 0..5 {                                               // as far as this run comes
///         u.forall_mut(|_, x| *x += 1.0);
///         done.set(done.get() + 1);
///     }
///     saved.save(g)?;
///     Ok::<_, superstep::Error>((done.get(), g.step(|s| s.mirror(&u, 99..100))[0]))
/// });
/// assert_eq!(run(2).unwrap(), (5, 5.0));
/// assert_eq!(run(3).unwrap(), (10, 10.0));                          // it went on, on another number of processors
/// # std::fs::remove_dir_all(&dir).unwrap();
/// ```
pub struct Checkpoint<'a> {
    /// The group that it is of.
    core: Rc<Core>,
    pub(super) folder: Folder,
    pub(super) parts: Vec<(String, &'a dyn Save)>,
    /// The save that is under way.
    begun: Option<Begun>,
    /// Whether the next turn has to save, because the one that should have could not.
    is_owed: bool,
    pub(super) occasions: Occasions,
    /// From the first turn on: a program that never turns is ended by a signal as any other.
    signals: Option<Listening>,
    pub(super) generation: Option<u64>,
    pub(super) damaged: Vec<(u64, String)>,
}

/// A save that is under way.
struct Begun {
    number: u64,
    writing: Writing,
    parts: Vec<Part>,
    /// How many members write.
    writers: usize,
}

/// What members tell each other at a turn.
const IS_ASKED: u8 = 1;
const IS_TO_END: u8 = 2;
const IS_BUSY: u8 = 4;

impl Group {
    /// Opens the checkpoint in a folder, which is made if it is not there. Collective.
    ///
    /// Every process must see the folder under the same path. A subgroup saves in a folder of its own in it, named by
    /// its [path](Self::path).
    ///
    /// From the first [`turn`](Checkpoint::turn) on `SIGUSR1` asks for a save at the next one, and the first `SIGTERM`
    /// for a last one, unless the program makes something else of these signals.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-open-{}", std::process::id()));
    /// let found = superstep::Config::new().procs(2).run(|g| {
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.restore(g)
    /// });
    /// assert_eq!(found, Ok(false));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// l.
    ///
    /// # Errors
    ///
    /// [`File`](ErrorKind::File) if the folder cannot be made, [`BadConfig`](ErrorKind::BadConfig) if
    /// `SUPERSTEP_CHECKPOINT` makes no sense; on all members.
    #[track_caller]
    pub fn checkpoint<'a>(&mut self, dir: impl AsRef<Path>) -> Result<Checkpoint<'a>> {
        let folder = Folder::of_group(dir.as_ref(), &self.path());
        let site = Location::caller();
        same_path(self, dir.as_ref());
        let every = by_leader(self, || {
            named(disk::make_folder(&folder.path), "made", &folder.path)?;
            Ok(Every::of_environment())
        })?;
        let every = every.map_err(|wrong| self.core().error(ErrorKind::BadConfig, wrong, site))?;
        Ok(Checkpoint {
            core: Rc::clone(self.core()),
            folder,
            parts: Vec::new(),
            begun: None,
            is_owed: false,
            occasions: Occasions::new(every, self),
            signals: None,
            generation: None,
            damaged: Vec::new(),
        })
    }
}

impl<'a> Checkpoint<'a> {
    /// Names something that is to be kept. Every member names the same things in the same order.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-add-{}", std::process::id()));
    /// superstep::Config::new().procs(2).run(|g| {
    ///     let total = g.shared(0.0, superstep::Sum);
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.add("total", &total);
    ///     saved.save(g)
    /// }).unwrap();
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Panics
    ///
    /// If something has that name already.
    #[track_caller]
    pub fn add(&mut self, name: &str, part: &'a dyn Save) {
        if self.parts.iter().any(|(other, _)| other == name) {
            let what = format!("two things of a checkpoint are called `{name}`; give each a name of its own");
            self.core.error(ErrorKind::BadConfig, what, Location::caller()).raise();
        }
        let what = part.what();
        let words = format!("`{name}` of a checkpoint, {}", what.in_words());
        self.core.declare(mix(u64::from(crc32fast::hash(words.as_bytes())), self.parts.len() as u64));
        self.core.registry().describe(words);
        self.parts.push((name.to_owned(), part));
    }

    /// Saves everything, and returns when it is on the disk. Collective, outside of steps and epochs, which borrow the
    /// group:
    ///
    /// ```compile_fail,E0502
    /// superstep::run(|g| {
    ///     let mut saved = g.checkpoint("dir").unwrap();
    ///     g.epoch(|_| saved.save(g));
    /// });
    /// ```
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-save-all-{}", std::process::id()));
    /// let generations = superstep::Config::new().procs(2).run(|g| {
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.save(g)?;
    ///     saved.save(g)?;
    ///     Ok::<_, superstep::Error>(saved.generation())
    /// });
    /// assert_eq!(generations, Ok(Some(2)));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// One copy of what is kept, and the time of the disk; at most three boundaries for each name and for
    /// each mebibyte that is laid out anew, and four more.
    ///
    /// # Errors
    ///
    /// [`File`](ErrorKind::File), on all members, if something cannot be written. The generations before are as they
    /// were, and the group can go on.
    #[track_caller]
    pub fn save(&mut self, g: &mut Group) -> Result {
        let _call = Call::of(Location::caller());
        self.check(g)?;
        // What a save before this one has failed for does not matter if this one is whole.
        if let Err(error) = self.finish(g) {
            g.leader(|| eprintln!("superstep: the save before has failed: {error}"));
        }
        self.begin(g, Writing::here)?;
        self.finish(g)
    }

    /// Saves everything like [`save`](Self::save) and does not wait for the disk: this makes a copy, and it is written
    /// while the program goes on. Collective. One save at most is under way; this waits for one that is.
    ///
    /// It is written by and by, so that the program hardly notices, and at once as soon as somebody waits for it:
    /// [`finish`](Self::finish), another save, or one that has become due.
    ///
    /// It counts, and what went wrong is told, with the next call that is collective: [`turn`](Self::turn) if it is
    /// written by then, or [`finish`](Self::finish), which waits.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-start-{}", std::process::id()));
    /// let generations = superstep::Config::new().procs(2).run(|g| {
    ///     let u = g.array::<f64, superstep::Block>(1000);
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.add("u", &u);
    ///     saved.start(g)?;
    ///     u.forall_mut(|_, x| *x = 1.0);                                // what is saved has zeros
    ///     let before = saved.generation();
    ///     saved.finish(g)?;
    ///     Ok::<_, superstep::Error>((before, saved.generation()))
    /// });
    /// assert_eq!(generations, Ok((None, Some(1))));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    #[track_caller]
    pub fn start(&mut self, g: &mut Group) -> Result {
        let _call = Call::of(Location::caller());
        self.finish(g)?;
        self.begin(g, Writing::behind)
    }

    #[track_caller]
    fn begin(&mut self, g: &mut Group, write: fn(Work) -> Writing) -> Result {
        self.check(g)?;
        let site = Location::caller();
        // What is still borrowed is told here, where the program's call is known.
        g.try_step(|_| ())?;
        let (mut files, mut parts) = (Vec::new(), Vec::new());
        for (at, (name, part)) in self.parts.iter().enumerate() {
            let file = file_name(at, name);
            parts.push(Part {
                name: name.clone(),
                what: part.what(),
                file: file.clone(),
                bytes: 0,
                pieces: Vec::new(),
            });
            let Copied { pieces } = part.copy(g, site)?;
            files.push((file, Copied { pieces: pieces.map_err(|why| format!("`{name}` cannot be saved: {why}")) }));
        }
        let names: Vec<String> = parts.iter().map(|part| part.file.clone()).collect();
        let number = by_leader(g, || self.folder.begin(&names))?;
        let work = Work { rank: g.rank(), folder: self.folder.generation(number), files };
        self.begun = Some(Begun { number, writing: write(work), parts, writers: g.size() });
        self.occasions.begin_again(g);
        self.is_owed = false;
        Ok(())
    }

    /// Waits until the save that is under way is on the disk; nothing if there is none. Collective.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-finish-{}", std::process::id()));
    /// superstep::Config::new().procs(2).run(|g| {
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.start(g)?;
    ///     saved.finish(g)
    /// }).unwrap();
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save).
    #[track_caller]
    pub fn finish(&mut self, g: &mut Group) -> Result {
        let _call = Call::of(Location::caller());
        self.check(g)?;
        let Some(Begun { number, writing, parts, writers }) = self.begun.take() else { return Ok(()) };
        let mine = writing.end();
        let all = g.try_step(|s| s.collect_to(0, mine))?;
        let (size, group) = (g.size(), g.path());
        by_leader(g, || {
            let outcome = if size < writers {
                let path = self.folder.generation(number);
                Err(format!("{} cannot be completed: a member that has begun to write it has left", path.display()))
            } else {
                gathered(parts, all.unwrap_or_default())
                    .and_then(|parts| self.folder.complete(number, &Manifest::new(size, group, parts)))
            };
            match outcome {
                Ok(()) => {
                    let damaged: Vec<u64> = self.damaged.iter().map(|(number, _)| *number).collect();
                    self.folder.clean(number, &damaged);
                }
                Err(_) => self.folder.remove(number),
            }
            outcome
        })?;
        self.generation = Some(number);
        Ok(())
    }

    /// Saves if it is time: if `SUPERSTEP_CHECKPOINT` says so, or a signal has asked for it. Collective; for every turn
    /// of a loop. Says whether it has begun to save.
    ///
    /// `SUPERSTEP_CHECKPOINT` is `every 10 min`, or with `s`, `h` or `steps`. It and `SIGUSR1` have the writing done
    /// while the program goes on, as [`start`](Self::start) does. After a `SIGTERM`, which batch systems send some time
    /// before they kill, everything is on the disk when this returns an error; so a program that passes it on ends.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-turn-{}", std::process::id()));
    /// let has_saved = superstep::Config::new().procs(2).run(|g| {
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     let mut has_saved = false;
    ///     for _ in 0..10 {
    ///         g.step(|_| ());
    ///         has_saved |= saved.turn(g)?;
    ///     }
    ///     Ok::<_, superstep::Error>(has_saved)
    /// });
    /// assert_eq!(has_saved, Ok(false));                                 // nobody has asked for it
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// l, if there is nothing to do.
    ///
    /// # Errors
    ///
    /// As [`save`](Self::save), for the save before as well; and [`AskedToEnd`](ErrorKind::AskedToEnd) after a
    /// `SIGTERM`.
    #[track_caller]
    pub fn turn(&mut self, g: &mut Group) -> Result<bool> {
        self.check(g)?;
        let signals = self.signals.get_or_insert_with(Listening::new);
        let [saves, ends] = signals.asked().map(|count| count > 0);
        let is_due = saves || g.is_leader() && self.occasions.is_due(g);
        let is_busy = self.begun.as_ref().is_some_and(|begun| !begun.writing.is_done());
        let mine = [(is_due, IS_ASKED), (ends, IS_TO_END), (is_busy, IS_BUSY)];
        let mine = mine.into_iter().map(|(is, flag)| if is { flag } else { 0 }).sum::<u8>();
        let all = g.try_step(|s| s.reduce(mine, Or))?;
        self.is_owed |= all & IS_ASKED != 0;
        if all & IS_ASKED != 0 {
            signals.saved();
        }
        if all & IS_TO_END != 0 {
            self.save(g)?;
            let (number, path) = (self.generation.unwrap_or_default(), self.folder.path.display());
            let what = format!("a signal has asked the program to end; generation {number} in {path} is saved");
            return Err(g.core().error(ErrorKind::AskedToEnd, what, Location::caller()));
        }
        if all & IS_BUSY != 0 {
            if let (true, Some(begun)) = (self.is_owed, &self.begun) {
                begun.writing.hurry();
            }
            return Ok(false);
        }
        self.finish(g)?;
        let is_owed = self.is_owed;
        if is_owed {
            self.start(g)?;
        }
        Ok(is_owed)
    }

    /// The generation that was last saved to the end or restored, the same on all members.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-generation-{}", std::process::id()));
    /// let none = superstep::Config::new().procs(2).run(|g| {
    ///     Ok::<_, superstep::Error>(g.checkpoint(&dir)?.generation())
    /// });
    /// assert_eq!(none, Ok(None));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    pub fn generation(&self) -> Option<u64> {
        self.generation
    }

    /// The generations that [`restore`](Self::restore) has found damaged, each with what is wrong with it; the same on
    /// all members. They go with the next save.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-damaged-{}", std::process::id()));
    /// let damaged = superstep::Config::new().procs(2).run(|g| {
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.save(g)?;
    ///     saved.save(g)?;
    ///     g.leader(|| std::fs::write(dir.join("generation-000002/manifest.json"), "no more").unwrap());
    ///     g.step(|_| ());
    ///     saved.restore(g)?;
    ///     Ok::<_, superstep::Error>((saved.generation(), saved.damaged().len()))
    /// });
    /// assert_eq!(damaged, Ok((Some(1), 1)));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    pub fn damaged(&self) -> &[(u64, String)] {
        &self.damaged
    }

    /// Refuses another group than the one that has opened it.
    #[track_caller]
    pub(super) fn check(&self, g: &Group) -> Result {
        g.core().check_member(&self.core, "checkpoint", Location::caller())
    }
}

/// What the file of something is called: its number, and as much of its name as every system takes.
fn file_name(at: usize, name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("{at}-{}", name.chars().take(40).map(plain).collect::<String>())
}

/// Puts together what all members have written, or the trouble of the lowest rank that has some.
fn gathered(mut parts: Vec<Part>, all: Vec<Result<Written, Trouble>>) -> Result<Vec<Part>, Trouble> {
    for written in all {
        for (part, pieces) in parts.iter_mut().zip(written?) {
            part.bytes += pieces.iter().map(|piece| piece.len).sum::<u64>();
            part.pieces.extend(pieces);
        }
    }
    Ok(parts)
}

impl fmt::Debug for Checkpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.parts.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "Checkpoint of {names:?} in {}", self.folder.path.display())
    }
}
