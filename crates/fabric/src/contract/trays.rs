//! Claims 4 and 8: what is handed over at a meeting.

use super::stage::{Brackets, Stage, meet_and_check, word};
use crate::{
    circle::{Circle, Melded},
    tray::Tray,
};

pub(super) fn uphold(stage: &Stage) {
    trays_arrive_with_the_meeting_whole_and_in_order(stage);
    what_was_not_taken_is_gone_after_the_next_meeting(stage);
    an_empty_tray_is_nothing(stage);
    short_trays_and_contributions_of_any_length_go_together(stage);
    objects_move_by_their_pointer_where_memory_is_shared(stage);
}

/// Meets, with or without an outcome.
fn meet(circle: &mut dyn Circle, meeting: usize) {
    if meeting.is_multiple_of(2) {
        circle.wait().expect("nobody raised the alarm");
    } else {
        let mine = word(circle.rank(), meeting);
        circle.meet(&mine, &mut Brackets { wants_before: false }, &mut Melded::default()).expect("nobody raised");
    }
}

fn post(circle: &mut dyn Circle, to: usize, bytes: Vec<u8>) {
    let mut tray = Tray::from(bytes);
    circle.post(to, &mut tray).expect("nobody raised the alarm");
    assert!(tray.is_empty(), "a tray came back with something in it");
}

fn take(circle: &mut dyn Circle, from: usize) -> Option<Tray> {
    let mut tray = Tray::default();
    let found = circle.take(from, &mut tray);
    assert_eq!(found, !tray.is_empty());
    found.then_some(tray)
}

/// Claim 4, with posts in meetings that follow each other, to others and to myself, some of them long.
fn trays_arrive_with_the_meeting_whole_and_in_order(stage: &Stage) {
    // Some pairs are silent at some meetings, and some meetings pass with no tray at all.
    let content = |from: usize, to: usize, meeting: usize| -> Option<Vec<u8>> {
        let length = [20, 3000, 1][(from + meeting) % 3];
        let says = meeting % 5 < 4 && (from + 2 * to + meeting) % 3 < 2;
        says.then(|| (0..length).map(|i| (i + 31 * from + 17 * to + 5 * meeting) as u8).collect())
    };
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        for meeting in 1..=20 {
            for to in 0..size {
                if let Some(bytes) = content(me, to, meeting) {
                    post(circle, to, bytes);
                }
            }
            meet(circle, meeting);
            // They may be asked for in any order, and once.
            for from in (0..size).map(|i| (i + meeting) % size) {
                let found = take(circle, from).map(|tray| tray.bytes);
                assert!(found == content(from, me, meeting), "from {from} to {me} at meeting {meeting}");
                assert!(take(circle, from).is_none(), "a tray was taken twice");
            }
        }
    });
}

/// Claims 2 and 4: a fabric may send a short tray with a contribution, as long as there is room for both.
fn short_trays_and_contributions_of_any_length_go_together(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        let (next, last) = ((me + 1) % size, (me + size - 1) % size);
        let mut how = Brackets { wants_before: false };
        for (round, said) in [0, 1, 50, 100, 103, 104, 105].into_iter().enumerate() {
            for length in [1, 3, 54, 104] {
                let content = |from: usize| (0..length).map(|at| (at + 3 * from + round) as u8).collect::<Vec<_>>();
                post(circle, next, content(me));
                let says = |rank: usize| vec![(rank + length) as u8; said];
                meet_and_check(circle, &mut how, &mut Melded::default(), says);
                assert!(take(circle, last).is_some_and(|tray| tray.bytes == content(last)), "{length} beside {said}");
            }
        }
    });
}

/// Claim 4: nothing is seen before the meeting, nor after the next, whether or not others are posted to then.
fn what_was_not_taken_is_gone_after_the_next_meeting(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        let nothing_to_take = |circle: &mut dyn Circle| (0..size).all(|from| take(circle, from).is_none());
        assert!(nothing_to_take(circle), "before the first meeting");
        for to in 0..size {
            post(circle, to, word(me, to));
        }
        assert!(nothing_to_take(circle), "before the meeting they were posted for");
        for meeting in 0..5 {
            meet(circle, meeting);
            for from in (0..size).filter(|_| meeting > 0) {
                let expected = from == me && me + 1 == size;
                assert_eq!(take(circle, from).is_some(), expected, "from {from} to {me}, {meeting} meetings later");
            }
            // From now on only the last rank posts, and only to itself.
            if me + 1 == size {
                post(circle, me, word(me, meeting));
            }
        }
        // A later tray from the same source to somebody else brings nothing back: a neighbour, one half round, and one
        // as far away as a set of 64 flags cannot tell apart.
        for distance in [1, size / 2, 64] {
            for to in 0..size {
                post(circle, to, word(me, to));
            }
            meet(circle, 0);
            meet(circle, 1);
            assert!(nothing_to_take(circle));
            if me + distance < size {
                post(circle, me + distance, vec![2]);
            }
            meet(circle, 2);
            for from in 0..size {
                let expected = (from + distance == me).then(|| vec![2]);
                assert_eq!(take(circle, from).map(|tray| tray.bytes), expected, "from {from} to {me}");
            }
        }
    });
}

/// Claim 4: a tray with nothing in it may be posted, and nobody finds anything.
fn an_empty_tray_is_nothing(stage: &Stage) {
    stage.run(|circle| {
        for to in 0..circle.size() {
            post(circle, to, Vec::new());
        }
        meet(circle, 1);
        for from in 0..circle.size() {
            assert!(take(circle, from).is_none());
        }
    });
}

/// Claim 8: what is taken is the very object that was posted, in the order of posting, beside its bytes.
fn objects_move_by_their_pointer_where_memory_is_shared(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        for meeting in 0..6 {
            for to in 0..size {
                if !circle.shares(to) {
                    continue;
                }
                let mut tray = Tray::default();
                for nth in 0..3 {
                    let object = Box::new([me, to, meeting, nth]);
                    tray.bytes.extend(std::ptr::from_ref(&*object).addr().to_le_bytes());
                    tray.moved.push(object);
                }
                circle.post(to, &mut tray).expect("nobody raised the alarm");
                assert!(tray.is_empty());
            }
            meet(circle, meeting);
            for from in 0..size {
                let Some(tray) = take(circle, from) else {
                    assert!(!circle.shares(from));
                    continue;
                };
                assert_eq!(tray.moved.len(), 3);
                let (addresses, _) = tray.bytes.as_chunks();
                for (nth, (object, &address)) in tray.moved.into_iter().zip(addresses).enumerate() {
                    let object = object.downcast::<[usize; 4]>().expect("it left with this type");
                    assert_eq!(*object, [from, me, meeting, nth]);
                    assert_eq!(std::ptr::from_ref(&*object).addr(), usize::from_le_bytes(address));
                }
            }
        }
    });
}
