//! Something that can be called in every process of a build. The invariants are those of [`code`](super).

use super::{
    directory::{Description, Directory, Known, Refusal},
    pointer::Pointer,
};
use std::{any::TypeId, marker::PhantomData};

/// What an entry is called with.
pub trait Task: 'static {
    /// The arguments.
    type Of<'a>;
}

/// What an entry does: something of this library, with a function of a program or without one.
pub trait Act<K: Task>: 'static {
    /// The function of the program; `()` if there is none.
    type Pointer: Pointer;

    /// Does it.
    fn act(function: Self::Pointer, with: K::Of<'_>);
}

/// Calls the function it is made for. SAFETY of a call: the pointer beside it is of the type it was made for.
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
        Directory::open().describe(Known { task: TypeId::of::<K>(), functions: [thunk, self.function] })
    }

    /// The entry with this name, if it was described here or learned, and for this task.
    pub fn find(name: u64) -> Option<Self> {
        Self::of(Directory::open().known.get(&name)?)
    }

    /// The entry that a process of this run has described; its name is known from now on.
    ///
    /// # Errors
    ///
    /// If no process of the run has described it for this task, or if it is in an object that is not loaded here.
    pub fn learn(description: Description) -> Result<Self, Refusal> {
        let mut directory = Directory::open();
        let known = directory.learn(TypeId::of::<K>(), description)?;
        Self::of(known).ok_or(Refusal::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            directory::secret,
            pointer::{Shape, Two},
        },
        *,
    };
    use crate::secret::Secret;

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
        let copy = more;
        assert_eq!(more, copy);
        let [more, less] = [more, less].map(|entry| entry.describe().unwrap());
        assert_ne!(more[0], less[0]);
        let mut x = 5;
        for description in [more, more, less] {
            Entry::<Numbers>::learn(description).unwrap().call(&mut x);
        }
        assert_eq!(x, 6);
    }

    fn is_genuine(secret: Secret, task: TypeId, [given, a, b, c, d]: Description) -> bool {
        secret.number((task, [a, b, c, d])) == given
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
        // No image is that long. Its beginning will not do: some linkers put the headers beside the code.
        let far = u64::MAX;
        let others =
            [[object ^ 1, place, object, place], [object, place, object ^ 1, place], [object, far, object, far]];
        for places in others {
            let [a, b, c, d] = places;
            let description = [secret().number((task, places)), a, b, c, d];
            assert_eq!(Entry::<Numbers>::learn(description), Err(Refusal::Missing), "{places:x?}");
        }
    }

    /// A name of another run, or one that was made before the processes met, is worth nothing.
    #[test]
    fn the_secret_of_the_run_is_part_of_a_name() {
        let description = Entry::<Words>::new::<Twice>(()).describe().unwrap();
        assert!(is_genuine(secret(), TypeId::of::<Words>(), description));
        assert!(!is_genuine(Secret([1, 2]), TypeId::of::<Words>(), description));
    }
}
