//! Sections of areas that members say they read and write, as records.
//!
//! ```text
//! use u32 | note u32 | first element u64 | number of elements u64 | stride u64
//! ```
//!
//! A number and a stride of 1 are left out where nothing follows them: most records of many are of one element.

use super::{
    record::{damaged, read_words},
    watch::{Clash, How, Party},
};
use crate::error::Result;
use fabric::{Touch, Use, first_clash, wire::Writer as _};

/// Appends what a record says of a section: first element, stride and number.
pub(super) fn write(out: &mut Vec<u8>, how: Use, note: u32, (first, step, count): (usize, isize, usize)) {
    out.put([u64::from(note) << 32 | how as u64, first as u64]);
    if (step, count) != (1, 1) {
        out.put([count as u64]);
    }
    if step != 1 {
        out.put([step as u64]);
    }
}

/// Adds the section of a record, of a part with `len` elements. Of one with a stride each element is a range.
pub(super) fn read(mut bytes: &[u8], member: usize, (tenant, len): (u32, usize), touches: &mut Vec<Touch>) -> Result {
    let [head, first] = read_words(&mut bytes)?;
    let mut or_one = || if bytes.is_empty() { Ok([1]) } else { read_words(&mut bytes) };
    let ([count], [step]) = (or_one()?, or_one()?);
    let how = *Use::ALL.get((head & 0xFFFF_FFFF) as usize).ok_or_else(damaged)?;
    let (note, first, step, count) = ((head >> 32) as u32, first as usize, step as isize, count as usize);
    if count == 0 {
        return Ok(());
    }
    // However many are claimed, there are no more than the part has.
    let reach = step.checked_mul((count - 1).cast_signed()).filter(|_| count <= len && (step != 0 || count == 1));
    let last = reach.and_then(|reach| first.checked_add_signed(reach)).ok_or_else(damaged)?;
    if first.max(last) >= len {
        return Err(damaged());
    }
    let mut add = |range| touches.push(Touch { space: tenant, range, member: member as u32, note, how });
    if step == 1 {
        add(first..first + count);
    } else {
        let by = step.unsigned_abs().max(1);
        (first.min(last)..=first.max(last)).step_by(by).for_each(|at| add(at..at + 1));
    }
    Ok(())
}

/// The first two that get in each other's way on member `rank`, where `describe` names a tenant.
pub(super) fn look(touches: &mut [Touch], rank: usize, describe: impl Fn(u32) -> String) -> Option<Clash> {
    let (first, second) = first_clash(touches)?;
    let (start, end) = (first.range.start.max(second.range.start), first.range.end.min(second.range.end));
    let elements =
        if end - start == 1 { format!("element {start}") } else { format!("elements {start} to {}", end - 1) };
    let how = |touch: &Touch| match touch.how {
        Use::Read => How::Read,
        Use::Write => How::Put,
        Use::Transfer => How::Transfer,
    };
    Some(Clash {
        what: format!("{elements} of what rank {rank} has of the {}", describe(first.space)),
        how: [first, second].map(how),
        parties: [first, second].map(|touch| Party { rank: touch.member as usize, note: touch.note, at: (0, 0) }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_with_a_stride_is_its_elements_alone() {
        let mut touches = Vec::new();
        let mut add = |how, from, section| {
            let mut bytes = Vec::new();
            write(&mut bytes, how, 1, section);
            read(&bytes, from, (0, 9), &mut touches).unwrap();
            look(&mut touches.clone(), 0, |_| "area".to_owned())
        };
        assert_eq!(add(Use::Read, 0, (8, -2, 5)), None);
        assert_eq!(add(Use::Transfer, 1, (3, 1, 1)), None);
        assert_eq!(add(Use::Transfer, 1, (4, 1, 0)), None);
        let found = add(Use::Transfer, 2, (4, 1, 2)).expect("4 is read");
        assert_eq!(found.what, "element 4 of what rank 0 has of the area");
        assert_eq!(found.how, [How::Read, How::Transfer]);
    }

    #[test]
    fn a_damaged_record_is_an_error() {
        let read = |words: &[u64]| read(bytemuck::cast_slice(words), 0, (0, 7), &mut Vec::new());
        assert!(read(&[0, 5]).is_ok() && read(&[0, 5, 2]).is_ok() && read(&[0, 5, 2, -5i64 as u64]).is_ok());
        assert!(read(&[3, 5]).is_err() && read(&[0]).is_err());
        assert!(read(&[0, 7]).is_err() && read(&[0, 5, 3]).is_err() && read(&[0, 1, 3, 3]).is_err());
        assert!(read(&[0, u64::MAX]).is_err() && read(&[0, u64::MAX - 1, 2]).is_err());
        assert!(read(&[0, 1, 2, -2i64 as u64]).is_err());
        assert!(read(&[0, 5, 1, 0]).is_ok() && read(&[0, 5, 2, 0]).is_err(), "two elements are apart");
    }
}
