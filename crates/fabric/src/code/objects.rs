//! The objects that are loaded into this process: the executable and its shared libraries.
//!
//! # Invariants
//!
//! - **O1** While the system lists an object it stays loaded, and its headers and the readable memory that they
//!   describe can be read.

use std::{
    ffi::{c_int, c_void},
    ops::Range,
};

/// An object that is loaded.
struct Object {
    /// A number for its build: from the mark that its linker has left, or else from all its code.
    id: u64,
    /// What its places are counted from.
    base: usize,
    /// Where code can be run.
    code: Vec<Range<usize>>,
}

/// The objects that were loaded when they were listed last.
#[derive(Default)]
pub(super) struct Objects {
    listed: Vec<Object>,
    /// How many were ever loaded and unloaded.
    changes: [u64; 2],
    /// Whether they are being listed.
    is_listing: bool,
}

impl Objects {
    /// Lists them again, if any was loaded or unloaded since.
    pub(super) fn refresh(&mut self) {
        self.is_listing = false;
        // SAFETY: `note` is given what it expects, which nobody else uses meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(note), std::ptr::from_mut(self).cast()) };
    }

    /// The number of the object that has code at this address, and the place in it.
    pub(super) fn place(&self, address: usize) -> Option<[u64; 2]> {
        let object = self.listed.iter().find(|object| object.code.iter().any(|code| code.contains(&address)))?;
        Some([object.id, address.wrapping_sub(object.base) as u64])
    }

    /// Where the code at this place of an object is.
    pub(super) fn address(&self, [id, place]: [u64; 2]) -> Option<usize> {
        let object = self.listed.iter().find(|object| object.id == id)?;
        let address = object.base.wrapping_add(usize::try_from(place).ok()?);
        object.code.iter().any(|code| code.contains(&address)).then_some(address)
    }
}

/// A number for the build of the executable.
pub(crate) fn program() -> u64 {
    let mut objects = Objects::default();
    objects.refresh();
    // The system lists it first.
    objects.listed.first().map_or(0, |object| object.id)
}

/// Adds an object to the list; the list is made anew if it is not of now.
///
/// # Safety
///
/// `info` describes an object that is loaded, and `found` are objects that nobody else uses.
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let info = unsafe { &*info };
    // SAFETY: the caller's promise.
    let found = unsafe { &mut *found.cast::<Objects>() };
    let changes = [info.dlpi_adds, info.dlpi_subs];
    if found.changes != changes {
        *found = Objects { listed: Vec::new(), changes, is_listing: true };
    } else if !found.is_listing {
        return 1;
    }
    // SAFETY: O1; the system says so many headers lie there.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let base = info.dlpi_addr as usize;
    let range = |header: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.saturating_add(header.p_memsz as usize)
    };
    let loaded = |flag: u32| {
        let is_it = move |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & flag == flag;
        headers.iter().filter(is_it).map(range)
    };
    let read = |part: Range<usize>| {
        let is_readable = loaded(libc::PF_R).any(|loaded| loaded.start <= part.start && part.end <= loaded.end);
        // SAFETY: O1; the part lies in memory of the object that can be read, and nobody writes to code and notes.
        is_readable.then(|| unsafe { std::slice::from_raw_parts(part.start as *const u8, part.len()) })
    };
    let notes = headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
    let mark = notes.map(range).filter_map(read).find_map(linker_mark);
    let code: Vec<Range<usize>> = loaded(libc::PF_X).collect();
    let id = mark.unwrap_or_else(|| code.iter().cloned().filter_map(read).fold(0, mix));
    found.listed.push(Object { id, base, code });
    0
}

fn mix(start: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(start ^ bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    })
}

/// The kind of the note that a linker leaves.
const BUILD_ID: u32 = 3;

/// A number for the build id among these notes, if it is there.
fn linker_mark(notes: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(u32::from_le_bytes(notes.get(at..at + 4)?.try_into().ok()?));
    let mut at = 0;
    while let (Some(name), Some(text), Some(kind)) = (number(at), number(at + 4), number(at + 8)) {
        let (name, text) = (name as usize, text as usize);
        let start = at + 12 + name.next_multiple_of(4);
        if kind == BUILD_ID && notes.get(at + 12..at + 16) == Some(b"GNU\0") {
            return notes.get(start..start + text).map(|mark| mix(0, mark));
        }
        at = start + text.next_multiple_of(4);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_one_number_and_other_bytes_have_another() {
        assert_eq!(program(), program());
        assert_ne!(program(), 0);
        assert_ne!(mix(0, b"a"), mix(0, b"b"));
        assert_ne!(mix(0, b"a"), mix(0, b"a\0"));
    }

    #[test]
    fn code_has_a_place_in_its_object_and_nothing_else_has() {
        let mut objects = Objects::default();
        objects.refresh();
        let listed = objects.listed.len();
        objects.refresh();
        assert_eq!(objects.listed.len(), listed);
        let (here, there) = (program as *const () as usize, libc::getpid as *const () as usize);
        for address in [here, there] {
            assert_eq!(objects.address(objects.place(address).unwrap()), Some(address));
        }
        let ([program, _], [library, _]) = (objects.place(here).unwrap(), objects.place(there).unwrap());
        assert_eq!(program, super::program());
        assert_ne!(program, library, "the system's library is an object of its own");
        let stack = 0;
        assert_eq!(objects.place((&raw const stack).addr()), None);
        assert_eq!(objects.place(BUILD_IDS.as_ptr().addr()), None);
        assert_eq!(objects.address([program, u64::MAX]), None);
        assert_eq!(objects.address([program ^ 1, 0]), None);
    }

    /// Something that can be written to, and so is no code.
    static BUILD_IDS: [std::sync::atomic::AtomicU64; 1] = [std::sync::atomic::AtomicU64::new(0)];

    #[test]
    fn the_linkers_mark_is_found_among_other_notes() {
        let note = |kind: u32, text: &[u8]| {
            let mut note = [4u32, text.len() as u32, kind].map(u32::to_le_bytes).concat();
            note.extend_from_slice(b"GNU\0");
            note.extend_from_slice(text);
            note.resize(note.len().next_multiple_of(4), 0);
            note
        };
        let notes = [note(1, b"abc"), note(BUILD_ID, b"12345")].concat();
        assert_eq!(linker_mark(&notes), Some(mix(0, b"12345")));
        assert_eq!(linker_mark(&note(1, b"abc")), None);
        for end in 0..notes.len() {
            let _ = linker_mark(&notes[..end]);
        }
    }
}
