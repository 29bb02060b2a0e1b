//! Checks that a generation holds what was written.

use super::{
    super::disk::File,
    manifest::{Manifest, Part, Piece},
};
use std::{io, path::Path};

/// How many bytes are read at once.
const CHUNK: usize = 1 << 20;

/// Checks a generation, or every `of`-th of its pieces from number `first` on: what is not as it was written, if
/// anything.
pub(in crate::files) fn flaw_of(generation: &Path, manifest: &Manifest, (first, of): (usize, usize)) -> Option<String> {
    let mut number = 0;
    manifest.parts.iter().find_map(|part| {
        let mine = part.pieces.iter().filter(|_| {
            number += 1;
            (number - 1) % of == first
        });
        let mine: Vec<&Piece> = mine.collect();
        let path = generation.join(&part.file);
        let outcome = look_at(&path, part, &mine).unwrap_or_else(|why| Some(format!("cannot be read: {why}")));
        outcome.map(|what| format!("{} {what}", path.display()))
    })
}

fn look_at(path: &Path, part: &Part, pieces: &[&Piece]) -> io::Result<Option<String>> {
    let file = File::open(path)?;
    let len = file.len()?;
    if len != part.bytes {
        return Ok(Some(format!("has {len} bytes in place of {}", part.bytes)));
    }
    let mut chunk = Vec::new();
    for piece in pieces {
        let (mut hasher, mut at) = (crc32fast::Hasher::new(), 0);
        while at < piece.len {
            chunk.resize((piece.len - at).min(CHUNK as u64) as usize, 0);
            file.read(&mut chunk, piece.offset + at)?;
            hasher.update(&chunk);
            at += chunk.len() as u64;
        }
        if hasher.finalize() != piece.crc32 {
            let end = piece.offset + piece.len;
            return Ok(Some(format!("is not as it was written between bytes {} and {end}", piece.offset)));
        }
    }
    Ok(None)
}
