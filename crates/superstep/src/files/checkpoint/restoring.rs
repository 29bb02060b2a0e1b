//! Takes what was kept.

use super::{
    super::together::{Call, Trouble, by_leader, together},
    handle::Checkpoint,
    manifest::{Flaw, Manifest, What},
    reader::flaw_of,
    save::Stored,
};
use crate::{engine::Group, error::Result};
use std::panic::Location;

impl Checkpoint<'_> {
    /// Takes everything from the newest whole generation; false if none was ever saved. Collective.
    ///
    /// All of a generation is read and checked before any of it is taken. One that is damaged is named on standard
    /// error, and the one before is taken; [`damaged`](Self::damaged) names it as well.
    ///
    /// ```
    /// # let dir = std::env::temp_dir().join(format!("superstep-doc-restore-{}", std::process::id()));
    /// let run = || superstep::Config::new().procs(2).run(|g| {
    ///     let words = g.hash_map::<String, u32>();
    ///     let mut saved = g.checkpoint(&dir)?;
    ///     saved.add("words", &words);
    ///     let is_there = saved.restore(g)?;
    ///     g.epoch(|e| if e.rank() == 0 { words.update(e, "the".into(), 1, |count, more| *count += more) });
    ///     saved.save(g)?;
    ///     Ok::<_, superstep::Error>((is_there, g.epoch(|e| words.get(e, &"the".into()))))
    /// });
    /// assert_eq!(run(), Ok((false, Some(1))));
    /// assert_eq!(run(), Ok((true, Some(2))));
    /// # std::fs::remove_dir_all(&dir).unwrap();
    /// ```
    ///
    /// # Cost
    ///
    /// Each processor reads 1 / p of it twice, once to check it.
    ///
    /// # Errors
    ///
    /// [`File`](crate::ErrorKind::File), on all members, if there are generations and none is whole, if names, types or
    /// shapes differ from those that were saved, or if another number of processors has saved something that is each
    /// one's own.
    #[track_caller]
    pub fn restore(&mut self, g: &mut Group) -> Result<bool> {
        let _call = Call::of(Location::caller());
        self.check(g)?;
        self.finish(g)?;
        let numbers = by_leader(g, || Ok(self.folder.saved()?.0))?;
        self.damaged.clear();
        for number in numbers {
            match self.look(g, number)? {
                Err(Flaw::Damaged(what)) => self.note_damage(g, number, what),
                Err(Flaw::Newer(what)) => {
                    let what = format!("generation {number} in {}: {what}", self.folder.path.display());
                    together(g, Err::<(), _>(what))?;
                }
                Ok(manifest) => {
                    self.take(g, number, &manifest)?;
                    return Ok(true);
                }
            }
        }
        let none_is_whole = self.damaged.first().map(|(number, what)| {
            format!("no generation in {} is whole; of generation {number} {what}", self.folder.path.display())
        });
        together(g, none_is_whole.map_or(Ok(false), Err))
    }

    /// What a generation holds, or what is wrong with it. Collective.
    #[track_caller]
    fn look(&self, g: &mut Group, number: u64) -> Result<Result<Manifest, Flaw>> {
        let manifest = match by_leader(g, || Ok(self.folder.manifest(number)))? {
            Ok(manifest) => manifest,
            flaw => return Ok(flaw),
        };
        let mine = flaw_of(&self.folder.generation(number), &manifest, (g.rank(), g.size()));
        let first = |one: &mut Option<String>, other: &Option<String>| {
            if one.is_none() {
                one.clone_from(other);
            }
        };
        let flaw = g.try_step(|s| s.reduce(mine, first))?;
        Ok(flaw.map_or(Ok(manifest), |what| Err(Flaw::Damaged(what))))
    }

    fn note_damage(&mut self, g: &Group, number: u64, what: String) {
        if g.is_leader() {
            let path = self.folder.path.display();
            eprintln!("superstep: generation {number} in {path} is damaged and passed over: {what}");
        }
        self.damaged.push((number, what));
    }

    #[track_caller]
    fn take(&mut self, g: &mut Group, number: u64, manifest: &Manifest) -> Result {
        let generation = self.folder.generation(number);
        let fits = self.fits(g, manifest).map_err(|what| format!("{}: {what}", generation.display()));
        together(g, fits)?;
        let stored_of = |part| Stored::new(&generation, part, manifest.processors);
        let mut checked = self.parts.iter().zip(&manifest.parts);
        let fits = checked.try_for_each(|((name, part), stored)| {
            part.check(g, &stored_of(stored)).map_err(|what| format!("{}: `{name}` {what}", generation.display()))
        });
        together(g, fits)?;
        for ((_, part), stored) in self.parts.iter().zip(&manifest.parts) {
            part.restore(g, &stored_of(stored))?;
        }
        self.generation = Some(number);
        self.occasions.begin_again(g);
        Ok(())
    }

    /// Refuses what is not what the program has named.
    fn fits(&self, g: &Group, manifest: &Manifest) -> Result<(), Trouble> {
        let name_of = |at: usize| manifest.parts.get(at).map(|part| part.name.as_str());
        if let Some(at) = (0..self.parts.len()).find(|&at| name_of(at) != Some(&self.parts[at].0)) {
            let (asked, there) = (&self.parts[at].0, name_of(at).map_or("nothing".into(), |name| format!("`{name}`")));
            return Err(format!("`{asked}` is asked for, and {there} was saved in its place"));
        }
        if let Some(name) = name_of(self.parts.len()) {
            return Err(format!("`{name}` was saved, and nobody asks for it"));
        }
        for ((name, part), stored) in self.parts.iter().zip(&manifest.parts) {
            let (asked, there) = (part.what(), &stored.what);
            if (&asked.kind, &asked.of) != (&there.kind, &there.of) {
                let [there, asked] = [there, &asked].map(What::in_words);
                return Err(format!("`{name}` was saved as {there}, and {asked} is asked for"));
            }
            if there.size != 0 && asked.size != there.size {
                let sizes = [there.size, asked.size];
                return Err(format!(
                    "`{name}` was saved with elements of {} bytes, and has {} now",
                    sizes[0], sizes[1]
                ));
            }
            if asked.shape != there.shape {
                return Err(format!("`{name}` was saved with shape {:?}, and has {:?} now", there.shape, asked.shape));
            }
            if part.is_each_ones() && manifest.processors != g.size() {
                let (then, now) = (manifest.processors, g.size());
                return Err(format!(
                    "`{name}` is of each of {then} processors, and there are {now} now; start as many again, or keep \
                     in an array what should survive that"
                ));
            }
        }
        Ok(())
    }
}
