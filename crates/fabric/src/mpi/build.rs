//! Which build of a program this is.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
};

/// A number for the executable that runs: from the mark that its linker has left, or else from all its bytes.
pub(super) fn id() -> u64 {
    let Ok(mut file) = File::open("/proc/self/exe") else { return 0 };
    linker_mark(&mut file).unwrap_or_else(|| {
        let mut bytes = Vec::new();
        let is_read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
        is_read.map_or(0, |_| mix(&bytes))
    })
}

fn mix(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    })
}

/// The kind of a header that leads to notes, and that of the note we look for.
const NOTE: u32 = 4;
const BUILD_ID: u32 = 3;

/// The build id of an ELF file of 64 bits, if its linker has left one.
fn linker_mark(file: &mut File) -> Option<u64> {
    let mut head = [0; 64];
    file.read_exact(&mut head).ok()?;
    if head[..5] != *b"\x7fELF\x02" {
        return None;
    }
    let word = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let half = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (table, count) = (word(&head, 32)?, u16::from_le_bytes([head[56], head[57]]));
    let mut entries = vec![0; 56 * usize::from(count)];
    file.seek(SeekFrom::Start(table)).ok()?;
    file.read_exact(&mut entries).ok()?;
    for entry in entries.chunks_exact(56).filter(|entry| half(entry, 0) == Some(NOTE)) {
        let mut notes = vec![0; usize::try_from(word(entry, 32)?).ok()?.min(1 << 16)];
        file.seek(SeekFrom::Start(word(entry, 8)?)).ok()?;
        file.read_exact(&mut notes).ok()?;
        let mut at = 0;
        while let (Some(name), Some(text), Some(kind)) = (half(&notes, at), half(&notes, at + 4), half(&notes, at + 8))
        {
            let (name, text) = (name as usize, text as usize);
            let start = at + 12 + name.next_multiple_of(4);
            if kind == BUILD_ID && notes.get(at + 12..at + 16) == Some(b"GNU\0") {
                return notes.get(start..start + text).map(mix);
            }
            at = start + text.next_multiple_of(4);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_has_one_number_and_other_bytes_have_another() {
        assert_eq!(id(), id());
        assert_ne!(id(), 0);
        assert_ne!(mix(b"a"), mix(b"b"));
        assert_ne!(mix(b"a"), mix(b"a\0"));
    }
}
