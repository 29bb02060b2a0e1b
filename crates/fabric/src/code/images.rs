//! The images that are loaded into this process: the executable and its shared libraries.
//!
//! # Invariants
//!
//! - **O1** While the system lists an image it stays loaded, and its headers and the readable memory that they
//!   describe can be read.

use crate::wire::Reader;
use std::{
    ffi::{c_int, c_void},
    ops::Range,
};

struct Image {
    /// A hash of the build id that its linker has left, or else of all its code.
    id: u64,
    /// The address that its places count from.
    base: usize,
    /// Where code can be run.
    code: Vec<Range<usize>>,
}

/// The images that were loaded when they were listed last.
#[derive(Default)]
pub(super) struct Images {
    listed: Vec<Image>,
    /// How many were ever loaded and unloaded.
    changes: [u64; 2],
    is_listing: bool,
}

impl Images {
    /// Lists them again, if any was loaded or unloaded since.
    pub(super) fn refresh(&mut self) {
        // Miri does not list them: all functions of a program are in one, wherever they are.
        if cfg!(miri) {
            let whole = 1..usize::MAX;
            self.listed = vec![Image { id: 1, base: 0, code: vec![whole] }];
            return;
        }
        self.is_listing = false;
        // SAFETY: `note` is given what it expects, which nobody else uses meanwhile.
        unsafe { libc::dl_iterate_phdr(Some(note), std::ptr::from_mut(self).cast()) };
    }

    /// The number of the image that has code at this address, and the place in it.
    pub(super) fn place(&self, address: usize) -> Option<[u64; 2]> {
        let image = self.listed.iter().find(|image| image.code.iter().any(|code| code.contains(&address)))?;
        Some([image.id, address.wrapping_sub(image.base) as u64])
    }

    /// Where the code at this place of an image is.
    pub(super) fn address(&self, [id, place]: [u64; 2]) -> Option<usize> {
        let image = self.listed.iter().find(|image| image.id == id)?;
        let address = image.base.wrapping_add(usize::try_from(place).ok()?);
        image.code.iter().any(|code| code.contains(&address)).then_some(address)
    }
}

/// A number for the build of the executable.
pub(crate) fn program() -> u64 {
    let mut images = Images::default();
    images.refresh();
    // The system lists it first.
    images.listed.first().map_or(0, |image| image.id)
}

/// Adds an image to the list, which is emptied first if it is out of date.
///
/// # Safety
///
/// `info` describes an image that is loaded, and `found` are images that nobody else uses.
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let info = unsafe { &*info };
    // SAFETY: the caller's promise.
    let found = unsafe { &mut *found.cast::<Images>() };
    let changes = [info.dlpi_adds, info.dlpi_subs];
    if found.changes != changes {
        *found = Images { listed: Vec::new(), changes, is_listing: true };
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
        // SAFETY: O1; the part lies in memory of the image that can be read, and nobody writes to code and notes.
        is_readable.then(|| unsafe { std::slice::from_raw_parts(part.start as *const u8, part.len()) })
    };
    let notes = headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
    let mark = notes.map(range).filter_map(read).find_map(linker_mark);
    let code: Vec<Range<usize>> = loaded(libc::PF_X).collect();
    let id = mark.unwrap_or_else(|| code.iter().cloned().filter_map(read).fold(0, mix));
    found.listed.push(Image { id, base, code });
    0
}

fn mix(start: u64, bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(start ^ bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    })
}

/// The type of the note that a linker leaves.
const BUILD_ID: u32 = 3;

/// A number for the build id among these notes, if it is there.
fn linker_mark(notes: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(notes);
    while let Ok([name, text, note_type]) = reader.get::<[u32; 3]>() {
        let mut field = |len: u32| reader.bytes((len as usize).next_multiple_of(4)).ok();
        let (owner, mark) = (field(name)?, field(text)?);
        if note_type == BUILD_ID && owner.starts_with(b"GNU\0") {
            return Some(mix(0, &mark[..text as usize]));
        }
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
    #[cfg_attr(miri, ignore = "Miri does not list images")]
    fn code_has_a_place_in_its_object_and_nothing_else_has() {
        let mut images = Images::default();
        images.refresh();
        let listed = images.listed.len();
        images.refresh();
        assert_eq!(images.listed.len(), listed);
        let (here, there) = (program as *const () as usize, libc::getpid as *const () as usize);
        for address in [here, there] {
            assert_eq!(images.address(images.place(address).unwrap()), Some(address));
        }
        let ([program, _], [library, _]) = (images.place(here).unwrap(), images.place(there).unwrap());
        assert_eq!(program, super::program());
        assert_ne!(program, library, "the system's library is an image of its own");
        let stack = 0;
        assert_eq!(images.place((&raw const stack).addr()), None);
        assert_eq!(images.place(BUILD_IDS.as_ptr().addr()), None);
        assert_eq!(images.address([program, u64::MAX]), None);
        assert_eq!(images.address([program ^ 1, 0]), None);
    }

    /// Something that can be written to, and so is no code.
    static BUILD_IDS: [std::sync::atomic::AtomicU64; 1] = [std::sync::atomic::AtomicU64::new(0)];

    #[test]
    fn the_linkers_mark_is_found_among_other_notes() {
        let note = |note_type: u32, text: &[u8]| {
            let mut note = [4u32, text.len() as u32, note_type].map(u32::to_le_bytes).concat();
            note.extend_from_slice(b"GNU\0");
            note.extend_from_slice(text);
            note.resize(note.len().next_multiple_of(4), 0);
            note
        };
        let notes = [note(1, b"abc"), note(BUILD_ID, b"12345")].concat();
        let mark = mix(0, b"12345");
        assert_eq!(linker_mark(&notes), Some(mark));
        assert_eq!(linker_mark(&note(1, b"abc")), None);
        for end in 0..notes.len() {
            assert!(linker_mark(&notes[..end]).is_none_or(|found| found == mark), "{end}");
        }
    }
}
