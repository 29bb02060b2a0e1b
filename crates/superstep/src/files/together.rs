//! All go on, or all have the same error.

use crate::{
    engine::{Group, Value},
    error::{ErrorKind, Result},
};
use std::{cell::Cell, io, panic::Location, path::Path};

thread_local! {
    /// The call of the program that is under way, where another one than the nearest is to be named.
    static CALL: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// As long as it lives, errors name this call of the program: what is kept is reached through a trait, and places do
/// not come through that.
pub(super) struct Call(Option<&'static Location<'static>>);

impl Call {
    pub(super) fn of(site: &'static Location<'static>) -> Self {
        Self(CALL.replace(Some(site)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALL.set(self.0);
    }
}

/// The call of the program that errors name.
#[track_caller]
fn called() -> &'static Location<'static> {
    let nearest = Location::caller();
    CALL.get().unwrap_or(nearest)
}

/// What has gone wrong with a file, in words that name it.
pub(super) type Trouble = String;

/// Names the file in what the system says.
pub(super) fn named<T>(outcome: io::Result<T>, verb: &str, path: &Path) -> Result<T, Trouble> {
    outcome.map_err(|error| format!("{} cannot be {verb}: {error}", path.display()))
}

/// Ends what each member has done for itself: all go on with what they have, or all have the error of the lowest rank
/// that has one.
#[track_caller]
pub(super) fn together<T>(g: &mut Group, mine: Result<T, Trouble>) -> Result<T> {
    let site = called();
    let (value, trouble) = match mine {
        Ok(value) => (Some(value), None),
        Err(trouble) => (None, Some(trouble)),
    };
    let outcome = g.try_step(|s| {
        if let Some(trouble) = &trouble {
            s.core.fail_with(s.core.error(ErrorKind::File, trouble, site));
        }
    });
    outcome.map(|()| value.expect("whoever has none has failed the step"))
}

/// Lets the leader do something, and tells all what came of it.
#[track_caller]
pub(super) fn by_leader<T: Value>(g: &mut Group, work: impl FnOnce() -> Result<T, Trouble>) -> Result<T> {
    let site = called();
    let mine = g.is_leader().then(work);
    let told = g.try_step(|s| s.broadcast(0, mine))?;
    told.map_err(|trouble| g.core().error(ErrorKind::File, trouble, site))
}

/// How many numbers a row needs while a matrix or a graph is made.
pub(super) const NUMBERS: usize = 6;

/// Has the next boundary see that all members name the same file.
#[track_caller]
pub(super) fn same_path(g: &Group, path: &Path) {
    let name = crc32fast::hash(path.as_os_str().as_encoded_bytes());
    g.core().declare_call([u64::from(name)], &format!("the file {}", path.display()), Location::caller());
}

/// Refuses a file that says so many rows, columns or vertices that there is no memory for what each of them needs,
/// which is so many numbers. Collective.
#[track_caller]
pub(super) fn has_room(g: &mut Group, path: &Path, (count, what): (usize, &str), numbers: usize) -> Result {
    let here = (count / g.size() + 1).saturating_mul(numbers);
    let mine = if fabric::try_make_room(&mut Vec::<usize>::new(), here) {
        Ok(())
    } else {
        Err(format!("{} has {count} {what}, for which there is no memory", path.display()))
    };
    together(g, mine)
}
