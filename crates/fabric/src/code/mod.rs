//! Functions that another process of the same build can be told to call.
//!
//! A function lies at a fixed place of the object that it was linked into, the executable or a shared library. So it
//! has a name that every process understands which has loaded that object in the same build: which object, and where in
//! it. An [`Entry`] is two functions: one of this library, compiled for a task, and one that a program has handed over,
//! which the first calls. Nothing but functions is named, and no value is made in one process because another has it: a
//! closure becomes a function pointer only if it captures nothing.
//!
//! The first letter that names an entry describes it: a name of 64 bits, and the places of its functions. The name is a
//! keyed hash of all that and of the task, and the key is a secret of the run. Whoever reads a description checks it
//! and notes the entry in a table; from then on the name is enough. So damaged bytes name nothing, or something that
//! was named before for the same task.
//!
//! # Invariants
//!
//! - **N1** The first function of an entry is `thunk::<K, X>` for some `X`, and the second one is the raw form of an
//!   `X::Pointer` that some process of the run has handed to [`Entry::new`].
//! - **N2** A name is the hash of a description, a task and the secret. Only [`Entry::describe`] gives one away, so a
//!   description with the right name was made there, for that task, by a process of the run.
//! - **N3** Two loaded objects with the same number are the same build: what lies at a place of the one lies at the
//!   same place of the other. Who unloads an object has promised that nothing in it is called any more.

mod book;
mod objects;

use book::{Book, Known};
use std::{any::TypeId, marker::PhantomData};

pub(crate) use book::{adopt, hold, secret};
pub(crate) use objects::program;

/// Where code at this address lies in the program, the same in every process of one build: the number of its executable
/// or library, and the place in it. Zeros where there is no code that others could know of.
///
/// ```
/// let at = |function: fn()| fabric::code::place_of(function as usize);
/// assert_ne!(at(|| println!("this")), at(|| println!("that")));
/// assert_eq!(fabric::code::place_of(0), [0, 0]);
/// ```
pub fn place_of(address: usize) -> [u64; 2] {
    book::Book::open().locate(address).unwrap_or_default()
}

/// What an entry is called with.
pub trait Task: 'static {
    /// The arguments.
    type Of<'a>;
}

/// What functions of a program look like: the types of their arguments and of their result.
pub trait Shape: 'static {
    /// The first argument.
    type On<'a>;
    /// The second argument.
    type With<'a>;
    /// The third argument, if there is one.
    type Args;
    /// The result.
    type Answer;
}

/// A function pointer.
///
/// # Safety
///
/// A value is a function pointer, or nothing at all. `of` turns what `raw` has returned into the same value, in this
/// process or in another one that has the function elsewhere.
pub unsafe trait Pointer: Copy + Send + Sync + 'static {
    /// The pointer without its type.
    fn raw(self) -> fn();

    /// The pointer again.
    ///
    /// # Safety
    ///
    /// `raw` comes from a value of this type, in some process of the run.
    unsafe fn of(raw: fn()) -> Self;
}

/// A function of two arguments.
pub struct Two<S: Shape>(pub for<'a, 'b> fn(S::On<'a>, S::With<'b>) -> S::Answer);
/// A function of three arguments.
pub struct Three<S: Shape>(pub for<'a, 'b> fn(S::On<'a>, S::With<'b>, S::Args) -> S::Answer);

macro_rules! pointers {
    ($($name:ident)*) => { $(
        impl<S: Shape> Clone for $name<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S: Shape> Copy for $name<S> {}
        impl<S: Shape> std::fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0 as usize)
            }
        }
        // SAFETY: it holds a function pointer, which keeps its bits on the way.
        unsafe impl<S: Shape> Pointer for $name<S> {
            #[inline]
            fn raw(self) -> fn() {
                // SAFETY: function pointers of all types have the same form; this one is called in its own type only.
                unsafe { std::mem::transmute_copy(&self.0) }
            }

            #[inline]
            unsafe fn of(raw: fn()) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { std::mem::transmute_copy(&raw) })
            }
        }
    )* };
}

pointers!(Two Three);

// SAFETY: it is nothing at all.
unsafe impl Pointer for () {
    fn raw(self) -> fn() {
        nothing
    }

    unsafe fn of(_: fn()) -> Self {}
}

/// Stands where an entry has no function of a program.
fn nothing() {}

/// What an entry does: something of this library, with a function of a program or without one.
pub trait Act<K: Task>: 'static {
    /// The function of the program; `()` if there is none.
    type Pointer: Pointer;

    /// Does it.
    fn act(function: Self::Pointer, with: K::Of<'_>);
}

type Thunk<K> = for<'a> unsafe fn(fn(), <K as Task>::Of<'a>);

/// Something that can be called in every process of a build.
///
/// ```
/// use fabric::code::{Act, Entry, Shape, Task, Two};
///
/// struct Changing;
/// impl Task for Changing { type Of<'a> = (&'a mut u32, u32); }
///
/// struct Change;
/// impl Shape for Change { type On<'a> = &'a mut u32; type With<'a> = u32; type Args = (); type Answer = (); }
/// impl Act<Changing> for Change {
///     type Pointer = Two<Change>;
///     fn act(function: Two<Change>, (sum, x): (&mut u32, u32)) { (function.0)(sum, x) }
/// }
///
/// let entry = Entry::<Changing>::new::<Change>(Two(|sum, x| *sum += x));
/// let description = entry.describe().unwrap();            // travels as numbers
/// let found = Entry::<Changing>::learn(description).unwrap();
/// let mut sum = 1;
/// found.call((&mut sum, 2));
/// assert_eq!(sum, 3);
/// assert!(Entry::<Changing>::find(description[0]).is_some());
/// assert!(Entry::<Changing>::find(description[0] + 1).is_none());
/// ```
pub struct Entry<K: Task> {
    thunk: Thunk<K>,
    function: fn(),
    _of: PhantomData<K>,
}

impl<K: Task> Clone for Entry<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: Task> Copy for Entry<K> {}

/// Entries that are equal do the same. Those that do the same may differ: a function may have been compiled twice.
impl<K: Task> PartialEq for Entry<K> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.places() == other.places()
    }
}
impl<K: Task> Eq for Entry<K> {}

impl<K: Task> std::fmt::Debug for Entry<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Entry({:#x?})", self.places())
    }
}

/// A name, and where the two functions lie: the number of an object and the place in it, twice.
pub type Description = [u64; 5];

/// Why a description is of no use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No process of the run has made it, or it was made for another task.
    Damaged,
    /// It names code of an object that this process has not loaded, or of which it has another build.
    Missing,
}

/// # Safety
///
/// `function` is the raw form of an `X::Pointer`.
unsafe fn thunk<K: Task, X: Act<K>>(function: fn(), with: K::Of<'_>) {
    // SAFETY: the caller's promise.
    let pointer = unsafe { X::Pointer::of(function) };
    X::act(pointer, with);
}

impl<K: Task> Entry<K> {
    /// The entry that does `X` with a function.
    #[inline]
    pub fn new<X: Act<K>>(function: X::Pointer) -> Self {
        Self { thunk: thunk::<K, X>, function: function.raw(), _of: PhantomData }
    }

    /// Calls it.
    #[inline]
    pub fn call(self, with: K::Of<'_>) {
        // SAFETY: N1.
        unsafe { (self.thunk)(self.function, with) };
    }

    /// Where its functions lie in this process.
    #[inline]
    pub fn places(self) -> [usize; 2] {
        [self.thunk as usize, self.function as usize]
    }

    fn of(known: &Known) -> Option<Self> {
        (known.task == TypeId::of::<K>()).then(|| {
            // SAFETY: N1 and N2: it was noted for this task, and so it is a thunk of it.
            let thunk = unsafe { std::mem::transmute_copy::<fn(), Thunk<K>>(&known.functions[0]) };
            Self { thunk, function: known.functions[1], _of: PhantomData }
        })
    }

    /// What another process has to be told once; none if one of the functions lies in no object that is loaded. In this
    /// process the name is known from now on.
    pub fn describe(self) -> Option<Description> {
        // SAFETY: function pointers of all types have the same form.
        let thunk = unsafe { std::mem::transmute_copy::<Thunk<K>, fn()>(&self.thunk) };
        Book::open().describe(Known { task: TypeId::of::<K>(), functions: [thunk, self.function] })
    }

    /// The entry with this name, if it was described here or learned, and for this task.
    pub fn find(name: u64) -> Option<Self> {
        Self::of(Book::open().known(name)?)
    }

    /// The entry that a process of this run has described; its name is known from now on.
    ///
    /// # Errors
    ///
    /// If no process of the run has described it for this task, or if it is in an object that is not loaded here.
    pub fn learn(description: Description) -> Result<Self, Refusal> {
        let mut book = Book::open();
        let known = book.learn(TypeId::of::<K>(), description)?;
        Self::of(known).ok_or(Refusal::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers;
    impl Task for Numbers {
        type Of<'a> = &'a mut u32;
    }
    struct Words;
    impl Task for Words {
        type Of<'a> = &'a mut String;
    }
    struct Twice;
    impl Act<Numbers> for Twice {
        type Pointer = ();
        fn act((): (), x: &mut u32) {
            *x *= 2;
        }
    }
    impl Act<Words> for Twice {
        type Pointer = ();
        fn act((): (), x: &mut String) {
            *x = x.repeat(2);
        }
    }
    struct Changed;
    impl Shape for Changed {
        type On<'a> = &'a mut u32;
        type With<'a> = ();
        type Args = ();
        type Answer = ();
    }
    impl Act<Numbers> for Changed {
        type Pointer = Two<Self>;
        fn act(function: Two<Self>, x: &mut u32) {
            (function.0)(x, ());
        }
    }

    #[test]
    fn an_entry_is_learned_and_then_found_by_its_name_and_for_its_task_alone() {
        let (numbers, words) = (Entry::<Numbers>::new::<Twice>(()), Entry::<Words>::new::<Twice>(()));
        let (numbers, words) = (numbers.describe().unwrap(), words.describe().unwrap());
        let mut x = 4;
        Entry::<Numbers>::learn(numbers).unwrap().call(&mut x);
        Entry::<Numbers>::find(numbers[0]).unwrap().call(&mut x);
        assert_eq!(x, 16);
        let mut word = "ab".to_owned();
        Entry::<Words>::learn(words).unwrap().call(&mut word);
        assert_eq!(word, "abab");
        assert!(Entry::<Numbers>::find(words[0]).is_none());
        assert!(Entry::<Words>::find(numbers[0]).is_none());
        assert_eq!(Entry::<Words>::learn(numbers), Err(Refusal::Damaged));
    }

    #[test]
    fn functions_of_one_shape_have_names_of_their_own() {
        let [more, less] = [|x: &mut u32, ()| *x += 1, |x: &mut u32, ()| *x -= 1]
            .map(|function: fn(&mut u32, ())| Entry::<Numbers>::new::<Changed>(Two::<Changed>(function)));
        assert_ne!(more, less);
        let [more, less] = [more, less].map(|entry| entry.describe().unwrap());
        assert_ne!(more[0], less[0]);
        let mut x = 5;
        for description in [more, more, less] {
            Entry::<Numbers>::learn(description).unwrap().call(&mut x);
        }
        assert_eq!(x, 6);
    }

    fn is_genuine(secret: [u64; 2], task: TypeId, [given, a, b, c, d]: Description) -> bool {
        book::name(secret, task, [a, b, c, d]) == given
    }

    /// X5, X10: whatever numbers come, nothing is called that nobody has described.
    #[test]
    fn no_other_numbers_name_an_entry() {
        let description = Entry::<Numbers>::new::<Changed>(Two(|x, ()| *x = 7)).describe().unwrap();
        for word in 0..5 {
            for bit in 0..64 {
                let mut changed = description;
                changed[word] ^= 1 << bit;
                if word == 0 {
                    assert!(Entry::<Numbers>::find(changed[0]).is_none());
                }
                // What is known by its name is not described again.
                assert_eq!(Entry::<Numbers>::learn(changed).is_ok(), word > 0, "{word} {bit}");
                assert!(!is_genuine(secret(), TypeId::of::<Numbers>(), changed), "{word} {bit}");
            }
        }
        for other in [0, 1, u64::MAX, u64::MAX / 2] {
            assert!(Entry::<Numbers>::find(other).is_none(), "{other:#x}");
            assert_eq!(Entry::<Numbers>::learn([other; 5]), Err(Refusal::Damaged));
        }
    }

    /// What a process of the run has described may still lie in a library that is not loaded here, or is no code.
    #[test]
    fn code_of_an_object_that_is_not_loaded_is_missing() {
        let task = TypeId::of::<Numbers>();
        let [_, object, place, ..] = Entry::<Numbers>::new::<Twice>(()).describe().unwrap();
        for places in [[object ^ 1, place, object, place], [object, place, object ^ 1, place], [object, 0, object, 0]] {
            let [a, b, c, d] = places;
            let description = [book::name(secret(), task, places), a, b, c, d];
            assert_eq!(Entry::<Numbers>::learn(description), Err(Refusal::Missing), "{places:x?}");
        }
    }

    /// A name of another run, or one that was made before the processes met, is worth nothing.
    #[test]
    fn the_secret_of_the_run_is_part_of_a_name() {
        let description = Entry::<Words>::new::<Twice>(()).describe().unwrap();
        assert!(is_genuine(secret(), TypeId::of::<Words>(), description));
        assert!(!is_genuine([1, 2], TypeId::of::<Words>(), description));
    }
}
