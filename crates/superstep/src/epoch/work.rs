//! What a request comes to where it runs: an entry of the program, called with a run of arguments.
//!
//! A run is any number of requests that follow each other to one processor with the same method and object. Its method
//! is found once, and then the arguments are worked off in a loop that was compiled for them.

use super::{Epoch, deed::Deed, letter::Block, object, running::Running};
use crate::{
    engine::{Value, damaged, decode_next},
    error::{Error, ErrorKind, Result},
};
use fabric::{
    Tray,
    code::{Act, Entry, Task},
};
use std::{
    any::{Any, type_name},
    cell::Cell,
    marker::PhantomData,
    rc::Rc,
};

/// The task of every method: to work off a run.
pub(super) struct Serving;

impl Task for Serving {
    type Of<'a> = Work<'a>;
}

/// The entry of a method.
pub(super) type Entrance = Entry<Serving>;

/// The arguments of a run: a vector that was moved here, or bytes and how many arguments they hold.
pub(super) enum Arguments {
    Moved(Box<dyn Any + Send>),
    Encoded { bytes: Rc<Vec<u8>>, at: std::ops::Range<usize>, count: u64 },
}

/// A run that is to be worked off.
pub(super) struct Work<'a> {
    pub(super) epoch: &'a Epoch,
    pub(super) from: usize,
    /// The name of the object.
    pub(super) object: u64,
    /// The number of the first question, if answers are asked for.
    pub(super) ticket: Option<u64>,
    pub(super) arguments: Arguments,
    /// How many requests of the run have not begun.
    pub(super) left: &'a Cell<usize>,
    /// What becomes of it.
    pub(super) outcome: &'a mut Result,
}

/// A method without an answer.
pub(super) struct Sent<D>(PhantomData<fn() -> D>);
/// A method with an answer.
pub(super) struct Asked<D>(PhantomData<fn() -> D>);

impl<D: Deed<Answer = ()>> Act<Serving> for Sent<D> {
    type Pointer = D::Pointer;

    fn act(function: D::Pointer, work: Work<'_>) {
        let epoch = work.epoch;
        work.run::<D::On, D::Args>(D::name(), |object, _, arguments| D::run(function, object, epoch, arguments));
    }
}

impl<D: Deed<Answer: Value>> Act<Serving> for Asked<D> {
    type Pointer = D::Pointer;

    fn act(function: D::Pointer, work: Work<'_>) {
        let (epoch, from, first) = (work.epoch, work.from, work.ticket.unwrap_or_default());
        let is_alone = work.left.get() == 1;
        work.run::<D::On, D::Args>(D::name(), |object, at, arguments| {
            let answer = D::run(function, object, epoch, arguments);
            epoch.answer(from, first + at, answer, is_alone);
        });
    }
}

/// What stands for a method whose code this process does not have.
pub(super) struct Absent;

impl Act<Serving> for Absent {
    type Pointer = ();

    fn act((): (), work: Work<'_>) {
        let what = format!(
            "rank {} has sent a method whose code is in a library that rank {} has not loaded, or has in another \
             build; load the same libraries in every process",
            work.from,
            work.epoch.rank()
        );
        *work.outcome = Err(work.epoch.error(ErrorKind::BuildMismatch, &what));
    }
}

impl Work<'_> {
    /// Does the same for each request of the run.
    #[inline]
    fn run<T: 'static, A: Value>(mut self, method: &'static str, each: impl FnMut(&mut T, u64, A)) {
        *self.outcome = self.work_off(method, each);
    }

    fn work_off<T: 'static, A: Value>(&mut self, method: &'static str, each: impl FnMut(&mut T, u64, A)) -> Result {
        let (epoch, from) = (self.epoch, self.from);
        let Some(object) = object::find::<T>(&epoch.core, self.object) else {
            let what =
                format!("a request names an object of type {} that this processor has dropped", type_name::<T>());
            return Err(epoch.error(ErrorKind::HandleMismatch, &what));
        };
        let mut value = object.value.try_borrow_mut().map_err(|_| busy(epoch, &object.describe()))?;
        if object.is_poisoned.get() {
            return Err(object.refusal(&epoch.core, "a request came for", epoch.core.site.get()));
        }
        let running = Running::begin(epoch, &object, from, method);
        let arguments = std::mem::replace(&mut self.arguments, Arguments::Moved(Box::new(())));
        match for_all(epoch, arguments, self.left, &mut *value, each) {
            Ok(()) => running.end(),
            Err(error) => {
                let what = format!("an argument of the method {method}, sent by rank {from}: {error}");
                let error = epoch.error(error.kind(), &what);
                running.fail(&error);
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Does the same for each argument.
fn for_all<T, A: Value>(
    epoch: &Epoch,
    arguments: Arguments,
    left: &Cell<usize>,
    value: &mut T,
    mut each: impl FnMut(&mut T, u64, A),
) -> Result {
    match arguments {
        Arguments::Moved(mut moved) => {
            let arguments = moved.downcast_mut::<Vec<A>>().ok_or_else(damaged)?;
            let count = arguments.len();
            for (at, argument) in arguments.drain(..).enumerate() {
                left.set(count - at - 1);
                each(value, at as u64, argument);
            }
            let bytes = OVERHEAD + arguments.capacity() * size_of::<A>();
            epoch.state.pool.borrow_mut().keep(bytes, moved);
        }
        Arguments::Encoded { bytes, at, count } => {
            let mut rest = bytes.get(at).ok_or_else(damaged)?;
            for at in 0..count {
                left.set((count - at - 1) as usize);
                each(value, at, decode_next(&mut rest)?);
            }
            if !rest.is_empty() {
                return Err(damaged());
            }
        }
    }
    Ok(())
}

#[cold]
fn busy(epoch: &Epoch, what: &str) -> Error {
    epoch.error(ErrorKind::StillBorrowed, &format!("a request came for the {what} while it was lent"))
}

/// What a vector takes up besides its elements.
const OVERHEAD: usize = 64;

/// What letters were made of that have been worked off, kept for its room: as many come as go.
#[derive(Default)]
pub(super) struct Pool {
    /// Each with the bytes that it takes up, and how many they are together.
    arguments: Vec<(usize, Box<dyn Any + Send>)>,
    bytes: usize,
    letters: Vec<(Box<Block>, Tray)>,
}

impl Pool {
    /// How many bytes of arguments are kept, and among how many vectors one of the right type is looked for.
    const MOST: usize = 4 << 20;
    const LOOKED_AT: usize = 4;
    const LETTERS: usize = 8;

    fn keep(&mut self, bytes: usize, moved: Box<dyn Any + Send>) {
        if self.bytes + bytes <= Self::MOST {
            self.bytes += bytes;
            self.arguments.push((bytes, moved));
        }
    }

    /// An empty vector.
    pub(super) fn take<A: Send + 'static>(&mut self) -> Box<dyn Any + Send> {
        let from = self.arguments.len().saturating_sub(Self::LOOKED_AT);
        let found = self.arguments[from..].iter().rposition(|(_, moved)| moved.is::<Vec<A>>());
        // One that is not wanted makes place.
        let Some((bytes, moved)) =
            found.map(|at| self.arguments.swap_remove(from + at)).or_else(|| self.arguments.pop())
        else {
            return Box::new(Vec::<A>::new());
        };
        self.bytes -= bytes;
        if found.is_some() { moved } else { Box::new(Vec::<A>::new()) }
    }

    /// Keeps what a letter was in, which is empty.
    pub(super) fn keep_letter(&mut self, block: Box<Block>, tray: Tray) {
        if self.letters.len() < Self::LETTERS {
            self.letters.push((block, tray));
        }
    }

    /// Something empty to put a letter in.
    pub(super) fn take_letter(&mut self) -> (Box<Block>, Tray) {
        self.letters.pop().unwrap_or_default()
    }
}
