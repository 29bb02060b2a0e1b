//! The images of a Linux process.
//!
//! # Invariants
//!
//! - **O1** While the system lists an image it stays loaded, and its headers and the readable memory that they
//!   describe can be read.

use super::image::{Image, Stamp, mix};
use crate::wire::Reader;
use std::{
    ffi::{c_int, c_void},
    ops::Range,
};

/// What has been listed so far.
struct Listing {
    before: Stamp,
    /// What the system has said with the first image.
    now: Stamp,
    images: Vec<Image>,
}

/// Lists the images, the executable first, unless none was loaded or unloaded since `stamp`.
pub(crate) fn list_images(stamp: &mut Stamp) -> Option<Vec<Image>> {
    let mut listing = Listing { before: *stamp, now: None, images: Vec::new() };
    // SAFETY: `note` is given what it expects, which nobody else uses meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(note), std::ptr::from_mut(&mut listing).cast()) };
    if listing.images.is_empty() {
        return None;
    }
    *stamp = listing.now;
    Some(listing.images)
}

/// Adds an image to the list, or ends it if the list before is still right.
///
/// # Safety
///
/// `info` describes an image that is loaded, and `listing` is one that nobody else uses.
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, listing: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let info = unsafe { &*info };
    // SAFETY: the caller's promise.
    let listing = unsafe { &mut *listing.cast::<Listing>() };
    // A program that is linked with nothing else says 0 of both, for ever.
    listing.now = Some([info.dlpi_adds, info.dlpi_subs]);
    if listing.now == listing.before {
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
    listing.images.push(Image { id, base, code });
    0
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

    #[test]
    fn images_are_listed_again_only_when_they_have_changed() {
        let mut stamp = None;
        let listed = list_images(&mut stamp).expect("there is an executable");
        assert!(!listed.is_empty() && stamp.is_some());
        assert_eq!(list_images(&mut stamp), None);
        stamp = stamp.map(|[loaded, unloaded]| [loaded + 1, unloaded]);
        assert_eq!(list_images(&mut stamp), Some(listed));
    }
}
