//! The table of what was named, and the secret that names are made with. The invariants are those of [`code`](super).

use super::images::Images;
use crate::{lock::lock, secret::Secret};
use std::{
    any::TypeId,
    collections::{HashMap, hash_map::Entry as Place},
    sync::{LazyLock, Mutex, MutexGuard},
};

/// A name, and where the two functions lie: the number of an image and the place in it, twice.
pub type Description = [u64; 5];

/// Why a description is of no use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No process of the run has made it, or it was made for another task.
    Damaged,
    /// It names code of an image that this process has not loaded, or of which it has another build.
    Missing,
}

/// An entry of some task.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) task: TypeId,
    pub(super) functions: [fn(); 2],
}

/// What this process knows of entries and their names.
pub(crate) struct Directory {
    secret: Secret,
    images: Images,
    /// The process that has listed the images.
    process: u32,
    pub(super) known: HashMap<u64, Known>,
    /// What was described with this secret, by task and places.
    described: HashMap<(TypeId, [usize; 2]), Description>,
}

static DIRECTORY: LazyLock<Mutex<Directory>> = LazyLock::new(|| Mutex::new(Directory::new()));

impl Directory {
    fn new() -> Self {
        let mut images = Images::default();
        images.refresh();
        Self {
            secret: Secret::draw(),
            images,
            process: std::process::id(),
            known: HashMap::new(),
            described: HashMap::new(),
        }
    }

    /// Opens it. A panic while it was open did no harm: each change is one insertion.
    pub(super) fn open() -> MutexGuard<'static, Self> {
        lock(&DIRECTORY)
    }

    /// Lists the images again, unless this process is a forked copy: another thread may have been listing them at the
    /// fork, and would never finish here.
    fn refresh(&mut self) {
        if self.process == std::process::id() {
            self.images.refresh();
        }
    }

    /// The number of the image that has code at this address, and the place in it.
    pub(super) fn locate(&mut self, address: usize) -> Option<[u64; 2]> {
        self.images.place(address).or_else(|| {
            self.images.refresh();
            self.images.place(address)
        })
    }

    pub(super) fn describe(&mut self, entry: Known) -> Option<Description> {
        let key = (entry.task, entry.functions.map(|function| function as usize));
        if let Some(description) = self.described.get(&key) {
            return Some(*description);
        }
        self.refresh();
        let [thunk, function] = entry.functions;
        let ([a, b], [c, d]) = (self.locate(thunk as usize)?, self.locate(function as usize)?);
        let description = [self.secret.number((entry.task, [a, b, c, d])), a, b, c, d];
        self.note(description[0], entry)?;
        self.described.insert(key, description);
        Some(description)
    }

    pub(super) fn learn(&mut self, task: TypeId, description: Description) -> Result<&Known, Refusal> {
        let [given, a, b, c, d] = description;
        if !self.known.contains_key(&given) {
            if self.secret.number((task, [a, b, c, d])) != given {
                return Err(Refusal::Damaged);
            }
            self.refresh();
            let found = |images: &Images| Some([images.address([a, b])?, images.address([c, d])?]);
            let addresses = found(&self.images).or_else(|| {
                self.images.refresh();
                found(&self.images)
            });
            // SAFETY: N2 and N3: some process of the run has functions at these places of these images.
            let functions = addresses.ok_or(Refusal::Missing)?.map(|address| unsafe { function_at(address) });
            self.note(given, Known { task, functions }).ok_or(Refusal::Damaged)?;
        }
        self.known.get(&given).filter(|known| known.task == task).ok_or(Refusal::Damaged)
    }

    fn adopt(&mut self, secret: Secret) {
        if self.secret != secret {
            self.secret = secret;
            self.described.clear();
        }
    }

    /// Notes an entry under a name, unless that is another one's.
    fn note(&mut self, name: u64, entry: Known) -> Option<()> {
        match self.known.entry(name) {
            Place::Vacant(place) => {
                place.insert(entry);
                Some(())
            }
            Place::Occupied(place) => {
                let known = place.get();
                let is_same = |at: usize| known.functions[at] as usize == entry.functions[at] as usize;
                (known.task == entry.task && is_same(0) && is_same(1)).then_some(())
            }
        }
    }
}

/// # Safety
///
/// There is a function at this address.
unsafe fn function_at(address: usize) -> fn() {
    let code = std::ptr::with_exposed_provenance::<()>(address);
    // SAFETY: the caller's promise; a function pointer is an address, and this one is called in its own type only.
    unsafe { std::mem::transmute::<*const (), fn()>(code) }
}

/// The secret that names of this process are made with.
pub(crate) fn secret() -> Secret {
    Directory::open().secret
}

/// Makes names with the secret of another process from now on, so that the two understand each other. Names that are
/// known stay known.
pub(crate) fn adopt(secret: Secret) {
    Directory::open().adopt(secret);
}

/// Holds the directory while the process is forked: a thread that had it open would never close it in the copy.
pub(crate) fn hold() -> MutexGuard<'static, Directory> {
    Directory::open()
}

/// Where code at this address lies in the program, the same in every process of one build: the number of its executable
/// or library, and the place in it. Zeros where there is no code that others could know of.
///
/// ```
/// let at = |function: fn()| fabric::code::place_of(function as usize);
/// assert_ne!(at(|| println!("this")), at(|| println!("that")));
/// assert_eq!(fabric::code::place_of(0), [0, 0]);
/// ```
pub fn place_of(address: usize) -> [u64; 2] {
    Directory::open().locate(address).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() {}

    fn other() {
        std::hint::black_box(());
    }

    #[test]
    fn a_name_stays_with_the_first_entry_that_has_it() {
        let mut directory = Directory::new();
        let known = |task, functions| Known { task, functions };
        let (task, foreign) = (TypeId::of::<u8>(), TypeId::of::<u16>());
        let (one, other): (fn(), fn()) = (one, other);
        assert_eq!(directory.note(7, known(task, [one, other])), Some(()));
        assert_eq!(directory.note(7, known(task, [one, other])), Some(()));
        for changed in [
            known(foreign, [one, other]),
            known(task, [other, other]),
            known(task, [one, one]),
            known(foreign, [other; 2]),
        ] {
            assert_eq!(directory.note(7, changed), None);
        }
        assert_eq!(directory.note(8, known(foreign, [other; 2])), Some(()));
    }

    #[test]
    fn names_are_made_with_the_secret_that_was_adopted_and_old_ones_stay_known() {
        let mut directory = Directory::new();
        let (one, other): (fn(), fn()) = (one, other);
        let (task, secret) = (TypeId::of::<u8>(), Secret([1, 2]));
        let entry = Known { task, functions: [one, other] };
        let before = directory.describe(entry).unwrap();
        directory.adopt(secret);
        let after = directory.describe(entry).unwrap();
        assert!(before[0] != after[0] && before[1..] == after[1..], "the same entry has another name");
        assert_eq!(after[0], secret.number((task, [after[1], after[2], after[3], after[4]])));
        assert!(directory.learn(task, before).is_ok() && directory.learn(task, after).is_ok());
    }
}
