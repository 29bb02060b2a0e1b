//! Values of a program that a checkpoint keeps.

use super::{
    super::together::{Trouble, by_leader, together},
    manifest::What,
    save::{Copied, Save, Stored},
};
use crate::{
    engine::{Group, Value, encode},
    error::Result,
};
use std::{any::type_name, cell::RefCell, panic::Location};

/// A value of the leader's that a [`Checkpoint`](super::Checkpoint) keeps; after a
/// [`restore`](super::Checkpoint::restore) all processors have it.
///
/// ```
/// use superstep::{Config, files::One};
///
/// # let dir = std::env::temp_dir().join(format!("superstep-doc-one-{}", std::process::id()));
/// let done = |asked: usize| Config::new().procs(2).run_all(|g| {
///     let done = One::new(0);
///     let mut saved = g.checkpoint(&dir)?;
///     saved.add("done", &done);
///     saved.restore(g)?;
///     done.set(done.get() + asked);
///     saved.save(g)?;
///     Ok::<_, superstep::Error>(done.get())
/// });
/// assert_eq!((done(3).unwrap(), done(4).unwrap()), (vec![3, 3], vec![7, 7]));
/// # std::fs::remove_dir_all(&dir).unwrap();
/// ```
#[derive(Debug)]
pub struct One<T>(RefCell<T>);

/// A value of each processor that a [`Checkpoint`](super::Checkpoint) keeps. Nobody can say whose it is on another
/// number of processors, so that is refused; what should survive it is kept in an array.
///
/// ```
/// use superstep::{Config, files::Each};
///
/// # let dir = std::env::temp_dir().join(format!("superstep-doc-each-{}", std::process::id()));
/// let run = |procs: usize| Config::new().procs(procs).run_all(|g| {
///     let mine = Each::new(10 * g.rank());
///     let mut saved = g.checkpoint(&dir)?;
///     saved.add("mine", &mine);
///     if !saved.restore(g)? { mine.set(mine.get() + 1); saved.save(g)?; mine.set(0) }
///     Ok::<_, superstep::Error>(mine.get())
/// });
/// assert_eq!((run(2).unwrap(), run(2).unwrap()), (vec![0, 0], vec![1, 11]));
/// assert!(run(3).unwrap_err().to_string().contains("`mine` is of each of 2 processors"));
/// # std::fs::remove_dir_all(&dir).unwrap();
/// ```
#[derive(Debug)]
pub struct Each<T>(RefCell<T>);

macro_rules! lends {
    ($name:ident) => {
        impl<T: Value> $name<T> {
            /// Makes one of this value.
            ///
            /// ```
            #[doc = concat!("assert_eq!(superstep::files::", stringify!($name), "::new(5).get(), 5);")]
            /// ```
            pub fn new(value: T) -> Self {
                Self(RefCell::new(value))
            }

            /// A clone of the value.
            ///
            /// ```
            #[doc = concat!("assert_eq!(superstep::files::", stringify!($name), "::new('x').get(), 'x');")]
            /// ```
            pub fn get(&self) -> T {
                self.0.borrow().clone()
            }

            /// Makes `value` the value.
            ///
            /// ```
            #[doc = concat!("let count = superstep::files::", stringify!($name), "::new(0);")]
            /// count.set(count.get() + 1);
            /// assert_eq!(count.get(), 1);
            /// ```
            pub fn set(&self, value: T) {
                // What was there is dropped when nothing is borrowed: that may be code of the program.
                drop(self.0.replace(value));
            }

            fn bytes(&self) -> Result<Vec<u8>> {
                let mut bytes = Vec::new();
                encode(&*self.0.borrow(), &mut bytes)?;
                Ok(bytes)
            }
        }
    };
}

lends!(One);
lends!(Each);

impl<T: Value> Save for One<T> {
    fn what(&self) -> What {
        What::value::<T>("value of the leader")
    }

    fn copy(&self, g: &mut Group, _: &'static Location<'static>) -> Result<Copied> {
        Ok(Copied::of_leader(g, || self.bytes()))
    }

    fn check(&self, g: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        if g.is_leader() { from.value_of::<T>(0).map(drop) } else { Ok(()) }
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        self.set(by_leader(g, || from.value_of(0))?);
        Ok(())
    }
}

impl<T: Value> Save for Each<T> {
    fn what(&self) -> What {
        What::value::<T>("value of each processor")
    }

    fn is_each_ones(&self) -> bool {
        true
    }

    fn copy(&self, g: &mut Group, _: &'static Location<'static>) -> Result<Copied> {
        Copied::of_each(g, self.bytes())
    }

    fn check(&self, g: &Group, from: &Stored<'_>) -> Result<(), Trouble> {
        from.value_of::<T>(g.rank()).map(drop)
    }

    fn restore(&self, g: &mut Group, from: &Stored<'_>) -> Result {
        let mine = from.value_of(g.rank());
        self.set(together(g, mine)?);
        Ok(())
    }
}

impl What {
    /// Something that has no shape and lies in no special way.
    pub(super) fn value<T>(kind: &str) -> Self {
        Self { kind: kind.into(), of: type_name::<T>().into(), size: 0, shape: Vec::new(), distribution: String::new() }
    }
}
