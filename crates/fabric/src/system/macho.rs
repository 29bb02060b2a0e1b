//! What the header of an image of macOS says.

use super::image::{Image, mix};
use crate::wire::Reader;

/// How many bytes the header has; commands follow.
pub(super) const HEADER: usize = 32;

const MAGIC: u32 = 0xFEED_FACF;
/// The type of an executable.
const EXECUTE: u32 = 2;
/// The command that describes a segment.
const SEGMENT: u32 = 0x19;
/// The command with the number of the build.
const UUID: u32 = 0x1B;
/// The protection of code.
const MAY_RUN: u32 = 4;

/// How many bytes the header has with its commands, if it is one.
pub(super) fn length(header: &[u8]) -> Option<usize> {
    let [magic, _, _, _, _, commands, _, _] = Reader::new(header).get::<[u32; 8]>().ok()?;
    (magic == MAGIC).then_some(HEADER + commands as usize)
}

/// The image that has this header at this address and was moved by `slide`, and whether it is the executable.
pub(super) fn read(header: &[u8], base: usize, slide: isize) -> Option<(Image, bool)> {
    let mut reader = Reader::new(header);
    let [_, _, _, file_type, count, ..] = reader.get::<[u32; 8]>().ok()?;
    let (mut id, mut code) = (None, Vec::new());
    for _ in 0..count {
        let [command, len] = reader.get::<[u32; 2]>().ok()?;
        let body = reader.bytes((len as usize).checked_sub(8)?).ok()?;
        match command {
            UUID => id = Some(mix(0, body)),
            SEGMENT => {
                let mut segment = Reader::new(body);
                segment.bytes(16).ok()?;
                let [address, size, _, _] = segment.get::<[u64; 4]>().ok()?;
                let [_, protection] = segment.get::<[u32; 2]>().ok()?;
                if protection & MAY_RUN != 0 {
                    let start = (address as usize).wrapping_add_signed(slide);
                    code.push(start..start.saturating_add(size as usize));
                }
            }
            _ => {}
        }
    }
    // Without a number of the build the commands have to do: they say how long everything is.
    let id = id.unwrap_or_else(|| mix(0, header));
    Some((Image { id, base, code }, file_type == EXECUTE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Writer as _;

    fn segment(address: u64, size: u64, protection: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.put([SEGMENT, 72]);
        bytes.bytes(b"__SEGMENT\0\0\0\0\0\0\0");
        bytes.put([address, size, 0, size]);
        bytes.put([7, protection, 0, 0]);
        bytes
    }

    fn header(commands: &[Vec<u8>]) -> Vec<u8> {
        let body = commands.concat();
        let mut bytes = Vec::new();
        bytes.put([MAGIC, 0x0100_000C, 0, EXECUTE, commands.len() as u32, body.len() as u32, 0, 0]);
        bytes.bytes(&body);
        bytes
    }

    fn uuid(number: u8) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.put([UUID, 24]);
        bytes.bytes(&[number; 16]);
        bytes
    }

    #[test]
    fn code_is_where_a_segment_may_be_run_moved_as_the_loader_says() {
        let bytes = header(&[segment(0x1000, 0x500, 5), segment(0x2000, 0x100, 3), uuid(7)]);
        assert_eq!(length(&bytes[..HEADER]), Some(bytes.len()));
        let (image, is_program) = read(&bytes, 0x9000, 0x8000).unwrap();
        let code: Vec<_> = image.code.iter().map(|code| [code.start, code.end]).collect();
        assert_eq!((code, image.base, is_program), (vec![[0x9000, 0x9500]], 0x9000, true));
        assert_eq!(image.id, mix(0, &[7; 16]));
    }

    #[test]
    fn builds_differ_by_their_number_or_else_by_their_lengths() {
        let id = |commands: &[Vec<u8>]| read(&header(commands), 0, 0).unwrap().0.id;
        assert_eq!(id(&[uuid(1)]), id(&[segment(0, 1, 5), uuid(1)]));
        assert_ne!(id(&[uuid(1)]), id(&[uuid(2)]));
        assert_ne!(id(&[segment(0, 1, 5)]), id(&[segment(0, 2, 5)]));
    }

    #[test]
    fn what_is_cut_off_is_no_image() {
        let bytes = header(&[segment(0, 1, 5), uuid(1)]);
        assert!((0..bytes.len()).all(|end| read(&bytes[..end], 0, 0).is_none()));
        assert_eq!(length(&[0; HEADER]), None);
    }
}
