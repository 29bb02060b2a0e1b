//! What the header of an image of Windows says.

use super::image::{Image, mix};
use crate::wire::Reader;

/// Where the header says where it goes on.
const FURTHER: usize = 0x3C;
/// What an image for 64 bits has in front of its optional part.
const PLUS: u16 = 0x20B;
/// Where the optional part begins that is the same wherever the image was loaded: behind its address.
const FIXED: usize = 32;
/// The flag of a section that may be run.
const MAY_RUN: u32 = 0x2000_0000;

/// The image that begins at this address with these bytes.
pub(super) fn read(bytes: &[u8], base: usize) -> Option<Image> {
    let start = Reader::new(bytes.get(FURTHER..)?).get::<u32>().ok()? as usize;
    let mut reader = Reader::new(bytes.get(start..).filter(|_| bytes.starts_with(b"MZ"))?);
    if reader.bytes(4).ok()? != b"PE\0\0" {
        return None;
    }
    let file = reader.bytes(20).ok()?;
    let field = |at: usize| u16::from_le_bytes([file[at], file[at + 1]]);
    let (count, len) = (field(2), field(16));
    let optional = reader.bytes(usize::from(len)).ok()?;
    let fixed = optional.get(FIXED..).filter(|_| optional.starts_with(&PLUS.to_le_bytes()))?;
    let (mut id, mut code) = (mix(mix(0, file), fixed), Vec::new());
    for _ in 0..count {
        let section = reader.bytes(40).ok()?;
        id = mix(id, section);
        let mut fields = Reader::new(&section[8..]);
        let [size, place, _, _, _, _, _, flags] = fields.get::<[u32; 8]>().ok()?;
        if flags & MAY_RUN != 0 {
            let start = base.saturating_add(place as usize);
            code.push(start..start.saturating_add(size as usize));
        }
    }
    Some(Image { id, base, code })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Writer as _;

    fn image(stamp: u32, address: u64, sections: &[[u32; 3]]) -> Vec<u8> {
        let mut bytes = vec![0; 0x80];
        bytes[..2].copy_from_slice(b"MZ");
        bytes[FURTHER] = 0x80;
        bytes.bytes(b"PE\0\0");
        bytes.put([0x8664u16, sections.len() as u16]);
        bytes.put([stamp, 0, 0]);
        bytes.put([112u16, 0x22]);
        bytes.put([PLUS, 0]);
        bytes.put([0u32; 5]);
        bytes.put(address);
        bytes.bytes(&[0; 80]);
        for &[size, place, flags] in sections {
            bytes.bytes(b".text\0\0\0");
            bytes.put([size, place, size, 0, 0, 0, 0, flags]);
        }
        bytes
    }

    #[test]
    fn code_is_where_a_section_may_be_run() {
        let bytes = image(5, 0, &[[0x500, 0x1000, MAY_RUN], [0x100, 0x2000, 0]]);
        let image = read(&bytes, 0x40_0000).unwrap();
        let code: Vec<_> = image.code.iter().map(|code| [code.start, code.end]).collect();
        assert_eq!((code, image.base), (vec![[0x40_1000, 0x40_1500]], 0x40_0000));
    }

    #[test]
    fn builds_differ_and_where_they_were_loaded_does_not_matter() {
        let id = |bytes: &[u8]| read(bytes, 0).unwrap().id;
        let sections = [[0x500, 0x1000, MAY_RUN]];
        assert_eq!(id(&image(5, 0x1_4000_0000, &sections)), id(&image(5, 0x7_0000_0000, &sections)));
        assert_ne!(id(&image(5, 0, &sections)), id(&image(6, 0, &sections)));
        assert_ne!(id(&image(5, 0, &sections)), id(&image(5, 0, &[[0x501, 0x1000, MAY_RUN]])));
    }

    #[test]
    fn what_is_cut_off_is_no_image() {
        let bytes = image(5, 0, &[[0x500, 0x1000, MAY_RUN]]);
        assert!((0..bytes.len()).all(|end| read(&bytes[..end], 0).is_none()));
    }
}
