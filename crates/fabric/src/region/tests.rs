//! What regions keep to.

use super::{borrows::overlap, *};
use crate::memory::{Buffer, HUGE, LINE, PartedMemory};
use std::sync::Arc;

#[test]
fn a_region_starts_as_zeros_on_its_own_cache_lines() {
    for len in [0, 1, 1000, if cfg!(miri) { 2000 } else { HUGE / 8 + 1 }] {
        let region = Region::<u64>::new(len);
        assert_eq!((region.len(), region.is_empty()), (len, len == 0));
        assert_eq!((region.reach().len(), region.reach().is_empty()), (len, len == 0));
        assert!(region.as_slice().iter().all(|&x| x == 0));
        assert!(len == 0 || region.as_slice().as_ptr().addr().is_multiple_of(LINE));
    }
}

#[test]
fn a_swapped_region_shows_its_new_memory_to_those_who_reach_it() {
    let mut region = Region::<u16>::new(3);
    let peer = region.reach();
    region.open();
    assert_eq!(*peer.read(0..3).unwrap(), [0, 0, 0]);
    let mut buffer = Buffer::new(3).unwrap();
    buffer.as_mut_slice().copy_from_slice(&[1, 2, 3]);
    region.swap(&mut buffer);
    assert_eq!(peer.read(0..1).err(), Some(Refused::Closed));
    region.open();
    assert_eq!(*peer.read(0..3).unwrap(), [1, 2, 3]);
    assert_eq!(buffer.as_slice(), [0, 0, 0]);
}

#[test]
#[should_panic(expected = "while a peer was reading")]
fn a_region_cannot_be_swapped_under_a_reader() {
    let mut region = Region::<u8>::new(4);
    region.open();
    let peer = region.reach();
    let _loan = peer.read(0..1).unwrap();
    region.swap(&mut Buffer::new(4).unwrap());
}

#[test]
fn memory_that_does_not_exist_is_not_given() {
    assert!(Region::<u64>::try_new(usize::MAX).is_none());
    assert!(Buffer::<u8>::new(isize::MAX as usize).is_none());
}

#[test]
fn a_closed_region_lends_nothing() {
    let mut region = Region::<u8>::new(4);
    let peer = region.reach();
    region.open();
    region.as_mut_slice()[0] = 1;
    assert_eq!(peer.read(0..1).err(), Some(Refused::Closed));
    region.open();
    assert_eq!(peer.read(0..1).unwrap()[0], 1);
}

#[test]
#[should_panic(expected = "while a peer was reading")]
fn a_region_cannot_be_closed_under_a_reader() {
    let mut region = Region::<u8>::new(4);
    region.open();
    let peer = region.reach();
    let _loan = peer.read(0..1).unwrap();
    region.as_mut_slice();
}

#[test]
fn a_pull_copies_between_disjoint_ranges_and_refuses_overlap() {
    let mut region = Region::<u16>::new(4);
    region.as_mut_slice().copy_from_slice(&[1, 2, 3, 4]);
    region.open();
    let peer = region.reach();
    region.pull(2, &peer, 0..2).unwrap();
    assert_eq!(region.as_slice(), [1, 2, 1, 2]);
    assert_eq!(region.pull(1, &peer, 0..2), Err(Refused::Borrowed));
    assert_eq!(region.pull(3, &peer, 0..2), Err(Refused::Bounds { len: 4 }));
    assert_eq!(region.as_slice(), [1, 2, 1, 2]);
}

#[test]
fn an_empty_range_is_in_nobodys_way() {
    assert!(!overlap(&(2..2), &(0..4)));
    assert!(!overlap(&(0..4), &(2..2)));
    assert!(!overlap(&(2..2), &(2..2)));
    let mut region = Region::<u16>::new(4);
    region.open();
    let peer = region.reach();
    let _loan = peer.read(0..4).unwrap();
    region.pull(2, &peer, 1..1).unwrap();
}

#[test]
fn ranges_outside_are_refused_even_where_they_wrap() {
    let mut region = Region::<u16>::new(4);
    region.open();
    let peer = region.reach();
    assert_eq!(peer.read(3..5).err(), Some(Refused::Bounds { len: 4 }));
    assert_eq!(region.pull(usize::MAX, &peer, 0..2), Err(Refused::Bounds { len: 4 }));
}

#[test]
fn parts_are_read_as_one_if_all_are_there_where_they_were_made() {
    const LEN: usize = LINE / 8;
    let common = Arc::new(PartedMemory::<u64>::new(3, LEN).unwrap());
    let mut parts = [0, 1, 2].map(|number| Region::part_of(&common, number, LEN).unwrap());
    let reaches = parts.each_ref().map(|part| Some(part.reach()));
    assert_eq!(Flat::of(&reaches).err(), Some(Refused::Closed));
    for (part, value) in parts.iter_mut().zip(1..) {
        part.as_mut_slice().fill(value);
        part.open();
    }
    let flat = Flat::of(&reaches).unwrap().expect("all are there");
    let all: Vec<u64> = [[1; LEN], [2; LEN], [3; LEN]].concat();
    assert_eq!(*flat, all[..]);
    drop(flat);
    assert!(Flat::of(&reaches[..2]).unwrap().is_none() && Flat::of(&reaches[1..]).unwrap().is_none());
    parts[1].swap(&mut Buffer::new(LEN).unwrap());
    parts[1].open();
    assert!(Flat::of(&reaches).unwrap().is_none(), "the second part is elsewhere");
}
