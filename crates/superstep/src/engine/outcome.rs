//! What a body may return, and what `run` and `split` make of it (X7).

use super::pending::{Local, Pending};
use crate::error::{BoxError, Error, ErrorKind};
use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    ffi::{CString, OsStr, OsString},
    marker::PhantomData,
    num::{NonZero, Saturating, Wrapping},
    ops::{Bound, ControlFlow, Range, RangeInclusive},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, RwLock},
    time::{Duration, Instant, SystemTime},
};

/// What the body of a [`run`](crate::run) or of a [`split`](crate::Group::split) may return, and the `T` that comes
/// out.
///
/// A `Result` is taken apart: its value comes out, and its error, on whatever processor, is the error of the whole run
/// or of the split. The error may be any that the standard library can box, so `?`, `anyhow`, `String` and `&str` work.
/// Everything else that is [`Plain`] comes out as it is.
///
/// ```
/// use superstep::{Config, Sum};
///
/// let parse = |texts: [&'static str; 2]| {
///     Config::new().procs(2).run(move |g| {
///         let number: u32 = texts[g.rank()].parse()?;
///         Ok::<_, std::num::ParseIntError>(g.step(|s| s.reduce(number, Sum)))
///     })
/// };
/// assert_eq!(parse(["3", "4"]).unwrap(), 7);
/// let error = parse(["3", "x"]).unwrap_err();
/// assert!(error.to_string().contains("rank 1 returned an error: invalid digit found in string"));
/// ```
#[diagnostic::on_unimplemented(
    message = "a body cannot return `{Self}` as it is",
    label = "the body returns `{Self}`",
    note = "return `Local(value)`, or write `impl superstep::Plain for ..` for a type of your own",
    note = "a `Result` is taken apart if its error is a `std::error::Error` that is `Send`, `Sync` and `'static`, an \
            `anyhow::Error` or a text"
)]
pub trait Outcome<T> {
    /// The value, or why there is none.
    ///
    /// ```
    /// use superstep::Outcome;
    ///
    /// assert_eq!(7.outcome().unwrap(), 7);
    /// assert_eq!(Ok::<_, String>(7).outcome().unwrap(), 7);
    /// assert_eq!(Err::<u8, _>("no").outcome().unwrap_err().to_string(), "no");
    /// ```
    fn outcome(self) -> Result<T, BoxError>;

    /// Whether there may be no value. Where there always is one, nobody waits at the end of a run to hear of errors.
    ///
    /// ```
    /// use superstep::Outcome;
    ///
    /// assert!(!<u8 as Outcome<u8>>::MAY_FAIL);
    /// assert!(<Result<u8, String> as Outcome<u8>>::MAY_FAIL);
    /// ```
    const MAY_FAIL: bool = true;
}

/// A value that comes out of a body as it is: numbers, texts, collections, options, tuples of up to twelve.
///
/// A type of the program's own says that it is one, or is wrapped in [`Local`]:
///
/// ```
/// use superstep::{Config, Local, Plain};
///
/// #[derive(Debug, PartialEq)]
/// struct Count(usize);
///
/// assert_eq!(Config::new().procs(2).run(|g| Local(Count(g.size()))).unwrap(), Count(2));
///
/// impl Plain for Count {}
/// assert_eq!(Config::new().procs(2).run(|g| Count(g.size())).unwrap(), Count(2));
/// ```
pub trait Plain {}

impl<T: Plain> Outcome<T> for T {
    const MAY_FAIL: bool = false;

    fn outcome(self) -> Result<T, BoxError> {
        Ok(self)
    }
}

impl<T, E: Into<BoxError>> Outcome<T> for Result<T, E> {
    fn outcome(self) -> Result<T, BoxError> {
        self.map_err(Into::into)
    }
}

impl<T> Outcome<T> for Local<T> {
    const MAY_FAIL: bool = false;

    fn outcome(self) -> Result<T, BoxError> {
        Ok(self.0)
    }
}

/// Gives the type `!` a name, which it does not have yet in stable Rust.
#[doc(hidden)]
pub trait Returns {
    /// It.
    type Value;
}

impl<R> Returns for fn() -> R {
    type Value = R;
}

/// The type of an expression that has no value, such as `panic!()`, which may be all that a body is.
pub(super) type Never = <fn() -> ! as Returns>::Value;

impl Outcome<()> for Never {
    const MAY_FAIL: bool = false;

    fn outcome(self) -> Result<(), BoxError> {
        self
    }
}

macro_rules! plain {
    ($([$($generics:tt)*] $type:ty;)*) => { $(
        impl<$($generics)*> Plain for $type {}
    )* };
}

plain! {
    [] (); [] bool; [] char; [] String; [] Box<str>;
    [] u8; [] u16; [] u32; [] u64; [] u128; [] usize; [] i8; [] i16; [] i32; [] i64; [] i128; [] isize;
    [] f32; [] f64; [] NonZero<u32>; [] NonZero<u64>; [] NonZero<usize>;
    [T] Wrapping<T>; [T] Saturating<T>;
    ['a, T: ?Sized] &'a T; ['a, T: ?Sized] &'a mut T; ['a, T: ToOwned + ?Sized] Cow<'a, T>;
    [T] Vec<T>; [T] Box<[T]>; [T, const N: usize] [T; N]; [T] Option<T>; [T] VecDeque<T>; [T] LinkedList<T>;
    [T] BinaryHeap<T>;
    [T] Box<T>; [T: ?Sized] Rc<T>; [T: ?Sized] Arc<T>; [T] Cell<T>; [T] RefCell<T>; [T] Mutex<T>; [T] RwLock<T>;
    [K, V, S] HashMap<K, V, S>; [T, S] HashSet<T, S>; [K, V] BTreeMap<K, V>; [T] BTreeSet<T>;
    [T] Reverse<T>; [T] Range<T>; [T] RangeInclusive<T>; [T] Bound<T>; [B, C] ControlFlow<B, C>;
    [T: ?Sized] PhantomData<T>;
    [] Duration; [] Instant; [] SystemTime; [] std::cmp::Ordering; [] std::thread::ThreadId; [] std::process::ExitCode;
    [] OsString; [] CString; [] PathBuf; [] Box<OsStr>; [] Box<Path>; [] std::any::TypeId; [] std::io::ErrorKind;
    [] ErrorKind; [] Error; [T] Pending<T>;
    [A] (A,); [A, B] (A, B); [A, B, C] (A, B, C); [A, B, C, D] (A, B, C, D); [A, B, C, D, E] (A, B, C, D, E);
    [A, B, C, D, E, F] (A, B, C, D, E, F); [A, B, C, D, E, F, G] (A, B, C, D, E, F, G);
    [A, B, C, D, E, F, G, H] (A, B, C, D, E, F, G, H); [A, B, C, D, E, F, G, H, I] (A, B, C, D, E, F, G, H, I);
    [A, B, C, D, E, F, G, H, I, J] (A, B, C, D, E, F, G, H, I, J);
    [A, B, C, D, E, F, G, H, I, J, K] (A, B, C, D, E, F, G, H, I, J, K);
    [A, B, C, D, E, F, G, H, I, J, K, L] (A, B, C, D, E, F, G, H, I, J, K, L);
}
