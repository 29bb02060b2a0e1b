//! The table of what was named, and the secret that names are made with.

use super::{Description, Refusal, objects::Objects};
use std::{
    any::TypeId,
    collections::{HashMap, hash_map::Entry as Place},
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

/// An entry of some task.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) task: TypeId,
    pub(super) functions: [fn(); 2],
}

/// What this process knows of entries and their names.
pub(crate) struct Book {
    secret: [u64; 2],
    objects: Objects,
    /// The process that has listed the objects.
    process: u32,
    known: HashMap<u64, Known>,
    /// What was described with this secret, by task and places.
    described: HashMap<(TypeId, [usize; 2]), Description>,
}

static BOOK: LazyLock<Mutex<Book>> = LazyLock::new(|| Mutex::new(Book::new()));

/// A number that nobody can guess.
fn draw() -> u64 {
    RandomState::new().hash_one("superstep")
}

impl Book {
    fn new() -> Self {
        let mut objects = Objects::default();
        objects.refresh();
        Self {
            secret: [draw(), draw()],
            objects,
            process: std::process::id(),
            known: HashMap::new(),
            described: HashMap::new(),
        }
    }

    /// Whatever panicked while it was open, each change to it is one insertion.
    pub(super) fn open() -> MutexGuard<'static, Self> {
        BOOK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known(&self, name: u64) -> Option<&Known> {
        self.known.get(&name)
    }

    /// Lists the objects again. A process that was forked by one with several threads does so only if it must: another
    /// thread may have been at it, and would never come to an end in the copy.
    fn refresh(&mut self) {
        if self.process == std::process::id() {
            self.objects.refresh();
        }
    }

    fn place(&mut self, function: fn()) -> Option<[u64; 2]> {
        self.locate(function as usize)
    }

    /// The number of the object that has code at this address, and the place in it.
    pub(super) fn locate(&mut self, address: usize) -> Option<[u64; 2]> {
        self.objects.place(address).or_else(|| {
            self.objects.refresh();
            self.objects.place(address)
        })
    }

    pub(super) fn describe(&mut self, entry: Known) -> Option<Description> {
        let key = (entry.task, entry.functions.map(|function| function as usize));
        if let Some(description) = self.described.get(&key) {
            return Some(*description);
        }
        self.refresh();
        let [thunk, function] = entry.functions;
        let ([a, b], [c, d]) = (self.place(thunk)?, self.place(function)?);
        let description = [name(self.secret, entry.task, [a, b, c, d]), a, b, c, d];
        self.note(description[0], entry)?;
        self.described.insert(key, description);
        Some(description)
    }

    pub(super) fn learn(&mut self, task: TypeId, description: Description) -> Result<&Known, Refusal> {
        let [given, a, b, c, d] = description;
        if !self.known.contains_key(&given) {
            if name(self.secret, task, [a, b, c, d]) != given {
                return Err(Refusal::Damaged);
            }
            self.refresh();
            let found = |objects: &Objects| Some([objects.address([a, b])?, objects.address([c, d])?]);
            let addresses = found(&self.objects).or_else(|| {
                self.objects.refresh();
                found(&self.objects)
            });
            // SAFETY: N2 and N3: some process of the run has functions at these places of these objects.
            let functions = addresses.ok_or(Refusal::Missing)?.map(|address| unsafe { function_at(address) });
            self.note(given, Known { task, functions }).ok_or(Refusal::Damaged)?;
        }
        self.known(given).filter(|known| known.task == task).ok_or(Refusal::Damaged)
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

/// The name of what lies at these places and is for this task.
#[expect(deprecated, reason = "the one keyed hash of the standard library whose key can be chosen")]
pub(super) fn name([low, high]: [u64; 2], task: TypeId, places: [u64; 4]) -> u64 {
    let mut hasher = std::hash::SipHasher::new_with_keys(low, high);
    task.hash(&mut hasher);
    places.hash(&mut hasher);
    hasher.finish()
}

/// The secret that names of this process are made with.
pub(crate) fn secret() -> [u64; 2] {
    Book::open().secret
}

/// Makes names with the secret of another process from now on, so that the two understand each other. Names that are
/// known stay known.
pub(crate) fn adopt(secret: [u64; 2]) {
    let mut book = Book::open();
    if book.secret != secret {
        book.secret = secret;
        book.described.clear();
    }
}

/// Keeps the book closed while the process is forked: another thread that had it open would never close it in the copy.
pub(crate) fn hold() -> MutexGuard<'static, Book> {
    Book::open()
}
