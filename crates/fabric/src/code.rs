//! Functions that another process of the same build can be told to call.
//!
//! A closure that captures nothing is a type without size, and what is compiled for it lies at a fixed distance from
//! everything else in the executable. So an [`Entry`] that describes it is named by its distance from an anchor, and
//! every process of the build finds it there, wherever the system has put the program. Nothing is registered.
//!
//! # Invariants
//!
//! - **N1** An entry is made by [`entry`] alone, as a constant of the program. One that is found by name lies inside
//!   the memory that the program was loaded to, begins with the mark, and says itself which task it is for.
//! - **N2** A type without size, of which a value was handed to [`entry`] in some process of the build, has one value
//!   in all of them.

use std::{
    any::TypeId,
    ffi::{c_int, c_void},
    ops::Range,
    sync::OnceLock,
};

/// What an entry is called with.
pub trait Task: 'static {
    /// The arguments.
    type Of<'a>;
}

/// What can be called: a type without size.
pub trait Act<K: Task>: Copy + Send + 'static {
    /// Does it.
    fn act(&self, with: K::Of<'_>);
}

/// The beginning of an entry: bytes that stand nowhere else.
const MARK: [u64; 2] = [0x7365_7065_7473_7265, 0xD1CE_5EED_0B5E_55ED];

/// Something that can be called in every process of a build.
#[repr(C, align(8))]
pub struct Entry<K: Task> {
    mark: [u64; 2],
    task: fn() -> TypeId,
    call: for<'a> fn(K::Of<'a>),
}

impl<K: Task> std::fmt::Debug for Entry<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Entry")
    }
}

/// Where distances are counted from.
static ANCHOR: u64 = MARK[0];

/// The entry of something that captures nothing; that is checked when the program is built.
///
/// ```
/// use fabric::code::{Act, Entry, Task, entry};
///
/// struct Adding;
/// impl Task for Adding { type Of<'a> = (&'a mut u32, u32); }
/// #[derive(Clone, Copy)]
/// struct Add;
/// impl Act<Adding> for Add {
///     fn act(&self, (sum, x): (&mut u32, u32)) { *sum += x }
/// }
/// let name = entry::<Adding, Add>(Add).name();            // travels as a number
/// let found = Entry::<Adding>::find(name).unwrap();
/// let mut sum = 1;
/// found.call((&mut sum, 2));
/// assert_eq!(sum, 3);
/// assert!(Entry::<Adding>::find(name + 8).is_none());
/// ```
#[inline]
pub fn entry<K: Task, X: Act<K>>(_: X) -> &'static Entry<K> {
    const {
        assert!(size_of::<X>() == 0, "what is called in another process must not capture anything");
    }
    const { &Entry { mark: MARK, task: TypeId::of::<K>, call: act::<K, X> } }
}

fn act<K: Task, X: Act<K>>(with: K::Of<'_>) {
    // SAFETY: N2: X has no size, and it has a value.
    let x = unsafe { std::ptr::NonNull::<X>::dangling().read() };
    x.act(with);
}

impl<K: Task> Entry<K> {
    /// Calls it.
    #[inline]
    pub fn call(&self, with: K::Of<'_>) {
        (self.call)(with);
    }

    /// Its name in every process of this build.
    pub fn name(&'static self) -> u64 {
        (std::ptr::from_ref(self).addr()).wrapping_sub((&raw const ANCHOR).addr()) as u64
    }

    /// The entry with this name, if there is one for this task.
    pub fn find(name: u64) -> Option<&'static Self> {
        let address = (&raw const ANCHOR).addr().wrapping_add(usize::try_from(name).ok()?);
        let end = address.checked_add(size_of::<Self>())?;
        let is_inside = |part: &Range<usize>| part.start <= address && end <= part.end;
        if !address.is_multiple_of(align_of::<Self>()) || !parts().iter().any(is_inside) {
            return None;
        }
        let mark = (&raw const ANCHOR).with_addr(address).cast::<[u64; 2]>();
        // SAFETY: the address is aligned and lies in memory of the program that can be read.
        if unsafe { mark.read() } != MARK {
            return None;
        }
        // SAFETY: N1: only entries begin with the mark, and they are constants. Which task this one is for is asked of
        // it before anything else; the parts before `call` are alike for all tasks.
        let found = unsafe { &*mark.cast::<Self>() };
        ((found.task)() == TypeId::of::<K>()).then_some(found)
    }
}

/// The memory that the program, or the library that this is in, was loaded to.
pub(crate) fn parts() -> &'static [Range<usize>] {
    static PARTS: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let mut found: Vec<Range<usize>> = Vec::new();
        // SAFETY: `note` is given the vector that it expects, which nobody else uses meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
        found
    })
}

/// Notes the parts of the object that has the anchor.
///
/// # Safety
///
/// `info` describes an object that is loaded, and `found` is a vector of ranges that nobody else uses.
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let info = unsafe { &*info };
    // SAFETY: the caller's promise.
    let found = unsafe { &mut *found.cast::<Vec<Range<usize>>>() };
    // SAFETY: the system says so many headers lie there.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_R != 0);
    let parts: Vec<Range<usize>> = loaded
        .map(|header| {
            let start = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
            start..start.saturating_add(header.p_memsz as usize)
        })
        .collect();
    let anchor = (&raw const ANCHOR).addr();
    if !parts.iter().any(|part| part.contains(&anchor)) {
        return 0;
    }
    *found = parts;
    1
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
    #[derive(Clone, Copy)]
    struct Twice;
    impl Act<Numbers> for Twice {
        fn act(&self, x: &mut u32) {
            *x *= 2;
        }
    }
    impl Act<Words> for Twice {
        fn act(&self, x: &mut String) {
            *x = x.repeat(2);
        }
    }

    #[test]
    fn an_entry_is_found_by_its_name_and_for_its_task_alone() {
        let (numbers, words) = (entry::<Numbers, _>(Twice), entry::<Words, _>(Twice));
        let mut x = 4;
        Entry::<Numbers>::find(numbers.name()).unwrap().call(&mut x);
        assert_eq!(x, 8);
        assert!(Entry::<Numbers>::find(words.name()).is_none());
        assert!(Entry::<Words>::find(numbers.name()).is_none());
    }

    #[test]
    fn no_other_number_names_an_entry() {
        let name = entry::<Numbers, _>(Twice).name();
        for other in [0, 1, name.wrapping_add(1), name.wrapping_add(8), name ^ (1 << 40), u64::MAX, u64::MAX / 2] {
            assert!(Entry::<Numbers>::find(other).is_none(), "{other:#x}");
        }
    }
}
