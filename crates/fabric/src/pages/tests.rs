//! What pages keep to.

use super::{entry::EXCLUSIVE, *};

/// Four lines of 6 elements, in pages of 4 and 2; the middle two lines are there.
fn pages() -> Pages<u16> {
    let pages = Pages::new(8, Lines { page: 4, line: 6, numbers: 2 }, &[2, 3, 4, 5]).unwrap();
    (2..6).for_each(|page| pages.show(page, 0..pages.room(page)));
    pages
}

#[test]
fn elements_are_where_they_were_put_and_nowhere_else() {
    let pages = pages();
    for page in 0..10 {
        for offset in 0..6 {
            let is_there = (2..6).contains(&page) && offset < [4, 2][page % 2];
            assert_eq!(pages.set(page, offset, 1), is_there, "{page} {offset}");
            assert_eq!(pages.get(page, offset), is_there.then_some(1));
            assert_eq!(pages.peek(page, offset), is_there.then_some(1));
        }
    }
    assert_eq!(pages.get(2, usize::MAX), None);
    assert!(!pages.poke(2, usize::MAX, 1) && !pages.fill(2, 3, &[1, 2]));
}

#[test]
fn writes_that_follow_each_other_are_one_run_and_others_are_refused() {
    let pages = pages();
    assert!(pages.set(2, 1, 5) && pages.set(2, 2, 6) && pages.set(2, 1, 7));
    assert_eq!(pages.noted(2), 1..3);
    assert!(!pages.set(2, 0, 8), "it would leave the run");
    assert_eq!(pages.get(2, 0), Some(0));
    pages.note(2, 0..0);
    assert!(pages.set(2, 3, 8));
    assert_eq!(pages.noted(2), 3..4);
}

#[test]
fn a_slice_runs_through_lines_and_keeps_others_from_writing() {
    let pages = pages();
    pages.fill(2, 0, &[1, 2, 3, 4]);
    pages.fill(3, 0, &[5, 6]);
    pages.fill(4, 0, &[7]);
    let slice = pages.slice(2, 1, 6).unwrap();
    assert_eq!(*slice, [2, 3, 4, 5, 6, 7]);
    assert!(!pages.set(2, 0, 9) && !pages.poke(3, 0, 9) && !pages.poke(4, 0, 9) && pages.set(5, 0, 9));
    assert!(pages.slice_mut(3, 0, 1).is_none() && pages.slice(3, 0, 2).is_some());
    assert_eq!(pages.get(4, 0), Some(7));
    drop(slice);
    assert!(pages.set(2, 0, 9) && !pages.has_slices());
    assert!(pages.slice(2, 0, 13).is_none() && pages.slice(0, 0, 1).is_none());
    let slice = pages.slice(2, 1, 4).unwrap();
    assert!(!pages.poke(3, 0, 9) && pages.poke(4, 0, 9), "one element of page 3 is lent");
    drop(slice);
}

#[test]
fn a_slice_leaves_out_the_numbers_that_a_line_has_no_pages_for() {
    let pages = Pages::<u16>::new(8, Lines { page: 2, line: 5, numbers: 4 }, &[0, 1, 2, 4, 5, 6]).unwrap();
    let all: [(usize, &[u16]); 6] = [(0, &[1, 2]), (1, &[3, 4]), (2, &[5]), (4, &[6, 7]), (5, &[8, 9]), (6, &[10])];
    assert!(all.iter().all(|(page, values)| pages.fill(*page, 0, values)));
    assert_eq!(*pages.slice(0, 1, 8).unwrap(), [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(*pages.slice(1, 0, 3).unwrap(), [3, 4, 5]);
    assert!(pages.slice(0, 0, 11).is_none(), "there are ten");
}

#[test]
fn there_are_never_so_many_slices_that_they_look_like_one_for_writing() {
    let pages = pages();
    pages.table[2].slices.set(EXCLUSIVE - 2);
    let last = pages.slice(2, 0, 1).unwrap();
    assert!(pages.slice(2, 0, 1).is_none() && pages.peek(2, 0).is_some());
    drop(last);
    assert!(pages.slice(2, 0, 1).is_some());
}

#[test]
fn a_table_says_how_large_it_is() {
    let bytes = |count| Pages::<u16>::new(count, Lines { page: 4, line: 4, numbers: 1 }, &[]).unwrap().table_bytes();
    // There is one entry more than pages.
    assert!(bytes(1) > 1);
    assert_eq!(bytes(9), 5 * bytes(1));
}

#[test]
fn pages_are_in_a_row_if_they_are_lines_that_follow_each_other() {
    let is_row = |numbers, rooted: [usize; 2]| {
        let pages = Pages::<u16>::new(4, Lines { page: 4, line: 4, numbers }, &rooted).unwrap();
        rooted.map(|page| pages.table[page].is_in_row.get())
    };
    assert_eq!(is_row(1, [1, 2]), [true; 2]);
    assert_eq!(is_row(1, [1, 3]), [false; 2]);
    assert_eq!(is_row(2, [0, 1]), [false; 2]);
}

#[test]
fn a_slice_for_writing_is_alone() {
    let pages = pages();
    let mut slice = pages.slice_mut(2, 0, 6).unwrap();
    slice.fill(3);
    assert_eq!(*slice, [3; 6]);
    assert!(pages.get(2, 0).is_none() && pages.peek(3, 0).is_none() && pages.slice(3, 0, 1).is_none());
    assert!(pages.lend(&[(2, 0, 1)]).is_none() && !pages.copy_out(2, 0..1, &mut Vec::new()));
    drop(slice);
    assert_eq!(pages.get(3, 1), Some(3));
}

#[test]
fn what_is_lent_to_a_peer_is_not_written_until_it_is_back() {
    let pages = pages();
    pages.fill(2, 0, &[1, 2, 3, 4]);
    let lent = pages.lend(&[(2, 1, 2), (5, 0, 1)]).unwrap();
    assert!(!pages.set(2, 0, 9) && !pages.poke(2, 1, 9) && pages.slice_mut(2, 0, 1).is_none());
    assert!(pages.poke(2, 0, 9) && pages.poke(2, 3, 9), "the rest of the page is not lent");
    assert!(!pages.poke(2, 2, 9) && !pages.fill(2, 2, &[9, 9]) && !pages.reclaim());
    let peer = std::thread::spawn(move || lent.runs().map(<[u16]>::to_vec).collect::<Vec<_>>());
    assert_eq!(peer.join().unwrap(), [vec![2, 3], vec![0]]);
    assert!(pages.reclaim() && pages.set(2, 1, 9));
    let lent = pages.lend(&[(2, 0, 2)]).unwrap();
    assert!(!pages.poke(2, 1, 8) && pages.poke(2, 2, 8));
    drop(lent);
}

#[test]
fn what_is_lent_can_be_taken_back_until_it_is_read() {
    let pages = pages();
    pages.fill(2, 0, &[1, 2, 3, 4]);
    let [unread, begun, dropped] = [(); 3].map(|()| pages.lend(&[(5, 0, 1), (2, 1, 2)]).unwrap());
    assert_eq!(begun.runs().nth(1), Some(&[2, 3][..]));
    drop(dropped);
    assert!(!pages.take_back(), "a peer reads");
    assert!(!pages.poke(2, 1, 9) && unread.lens().eq([1, 2]));
    drop(begun);
    assert!(pages.take_back() && pages.reclaim() && pages.set(2, 1, 9));
    assert_eq!(unread.runs().map(<[u16]>::to_vec).collect::<Vec<_>>(), [vec![0], vec![2, 3]]);
    drop(unread);
    assert!(pages.reclaim());
}

#[test]
fn a_peer_sees_all_of_what_was_lent_and_nothing_later() {
    let pages = Pages::<u64>::new(1, Lines { page: 64, line: 64, numbers: 1 }, &[0]).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel::<(u64, Lent<u64>)>();
    let peer = std::thread::spawn(move || {
        receiver.iter().all(|(round, lent)| lent.runs().all(|run| run.iter().all(|&x| x == round)))
    });
    for round in 0..if cfg!(miri) { 20 } else { 2_000 } {
        while !pages.fill(0, 0, &[round; 64]) {
            assert!(pages.take_back() || !pages.poke(0, 0, round));
        }
        sender.send((round, pages.lend(&[(0, 0, 32), (0, 32, 32)]).unwrap())).unwrap();
    }
    drop(sender);
    assert!(peer.join().unwrap());
}

#[test]
fn loans_that_are_back_are_forgotten_though_nobody_writes() {
    let pages = pages();
    let kept = pages.lend(&[(2, 0, 1)]).unwrap();
    for _ in 0..100 {
        drop(pages.lend(&[(3, 0, 1)]).unwrap());
    }
    assert!(pages.store.loans.borrow().len() < 3 && !pages.reclaim() && pages.set(3, 0, 1));
    drop(kept);
    assert!(pages.reclaim());
}

#[test]
fn pages_come_and_go_unless_they_were_there_from_the_start() {
    let pages = pages();
    assert!(!pages.has(0) && pages.add(0) && pages.has(0));
    pages.show(0, 1..3);
    assert!(pages.set(0, 1, 4) && !pages.set(0, 3, 4));
    assert!(pages.lend(&[(0, 1, 1)]).is_none(), "what may go cannot be lent");
    assert!(pages.slice(0, 0, 5).is_none(), "its neighbour is not there");
    let slice = pages.slice(0, 1, 2).unwrap();
    assert!(!pages.remove(0), "a slice of it is lent");
    drop(slice);
    assert!(pages.remove(0) && !pages.has(0) && pages.get(0, 1).is_none() && !pages.remove(0));
    assert!(!pages.remove(2) && !pages.add(8) && !pages.add(99));
}

#[test]
fn lines_that_are_pages_are_reached_by_their_number() {
    let pages = Pages::<u16>::new(4, Lines { page: 8, line: 6, numbers: 1 }, &[1, 2]).unwrap();
    pages.show(1, 0..6);
    assert!(!pages.set_line(1, 2, 7), "it is not noted yet");
    assert!(pages.set(1, 2, 7) && pages.set_line(1, 2, 8) && !pages.set_line(1, 3, 8));
    for line in [0, 1, 2, 3, 4, 5, usize::MAX] {
        for offset in [0, 2, 5, 6, usize::MAX] {
            let there = (line == 1 && offset < 6).then_some(if offset == 2 { 8 } else { 0 });
            assert_eq!(pages.get_line(line, offset), there, "{line} {offset}");
            assert_eq!(pages.set_line(line, offset, 8), line == 1 && offset == 2);
        }
    }
    let slice = pages.slice(1, 5, 1).unwrap();
    assert!(pages.get_line(1, 0).is_some() && !pages.set_line(1, 2, 1));
    drop(slice);
    let slice = pages.slice_mut(1, 5, 1).unwrap();
    assert!(pages.get_line(1, 0).is_none() && !pages.set_line(1, 2, 1));
    drop(slice);
    let lent = pages.lend(&[(1, 0, 1)]).unwrap();
    assert!(pages.get_line(1, 0).is_some() && !pages.set_line(1, 2, 1));
    drop(lent);
    assert!(pages.reclaim() && pages.set_line(1, 2, 1));
    // What is shown later in the page, or scattered, is for the slow way.
    pages.show(2, 1..6);
    assert!(pages.get_line(2, 1).is_none() && pages.get(2, 1).is_some());
    assert!(!self::pages().set_line(2, 0, 1) && self::pages().get_line(2, 0).is_none(), "lines of two pages");
    let pages = Pages::<u16>::new(2, Lines { page: 4, line: 6, numbers: 2 }, &[0, 1]).unwrap();
    pages.show(0, 0..4);
    assert!(pages.get(0, 0).is_some() && pages.get_line(0, 0).is_none());
}

#[test]
fn tables_that_cannot_be_are_not_made() {
    let line = |page, line, numbers| Lines { page, line, numbers };
    let refused = |count, lines, rooted: &[usize]| {
        let made = std::panic::catch_unwind(|| Pages::<u64>::new(count, lines, rooted).is_some());
        !made.unwrap_or(false)
    };
    assert!(refused(usize::MAX, line(1, 1, 1), &[]));
    assert!(refused(usize::MAX - 1, line(1, 1, 1), &[usize::MAX - 2]));
    // The second line would begin behind the memory.
    assert!(refused(4, line(2, 1000, 1), &[0, 1]));
    assert!(refused(4, line(2, usize::MAX, 2), &[0, 1]));
    assert!(refused(4, line(4, 4, 3), &[0]) && refused(4, line(4, 4, 0), &[0]));
    assert!(refused(4, line(1 << 32, 4, 1), &[0]));
    assert!(
        refused(4, line(4, 4, 1), &[4]) && refused(4, line(4, 4, 1), &[1, 0]) && refused(4, line(4, 4, 1), &[1, 1])
    );
    // More elements than there is memory for.
    let most = u32::MAX as usize;
    let rooted: Vec<usize> = (0..1 << 10).collect();
    assert!(Pages::<[u64; 4096]>::new(1 << 20, line(most, usize::MAX, 1 << 33), &rooted).is_none());
}

#[test]
fn elements_without_a_size_take_no_bytes() {
    let pages = Pages::<()>::new(2, Lines { page: 4, line: 4, numbers: 1 }, &[0]).unwrap();
    assert!(!pages.fill_bytes(0, 0, &[1, 2, 3]) && pages.fill_bytes(0, 4, &[]) && !pages.fill_bytes(1, 0, &[]));
    pages.show(0, 0..4);
    assert!(pages.fill(0, 0, &[(); 4]) && !pages.fill(0, 1, &[(); 4]) && pages.set(0, 3, ()) && !pages.set(0, 4, ()));
    assert_eq!((pages.get(0, 3), pages.get_line(0, 4), pages.peek(0, 4)), (Some(()), None, None));
    let mut bytes = Vec::new();
    assert!(pages.copy_bytes_out(0, 0..4, &mut bytes) && bytes.is_empty());
    assert_eq!(pages.slice(0, 1, 3).map(|slice| slice.len()), Some(3));
    let lent = pages.lend(&[(0, 0, 2), (0, 3, 1)]).unwrap();
    assert!(pages.take_back() && lent.runs().map(<[()]>::len).eq([2, 1]));
}
