//! Claims 9 and 10: letters and counts.

use super::stage::{ALARMLESS, Brackets, Stage, meet_and_check, scaled, word};
use crate::{
    circle::{Circle, Counts, Mail, Melded},
    failure::Failure,
    nest::Name,
    tray::Tray,
};

pub(super) fn uphold(stage: &Stage) {
    letters_arrive_whole_once_and_in_order(stage);
    letters_of_any_length_keep_their_order(stage);
    letters_pass_meetings_by(stage);
    letters_of_other_circles_do_not_arrive_here(stage);
    objects_move_in_letters_where_memory_is_shared(stage);
    a_count_is_the_sum_for_everybody_and_nobody_waits_in_it(stage);
    who_rests_is_woken_by_a_letter_and_by_a_sum(stage);
    whoever_rests_hears_the_alarm(stage);
}

fn letter(bytes: &[u8]) -> Tray {
    Tray::from(bytes.to_vec())
}

fn next(circle: &mut dyn Mail) -> (usize, Tray) {
    let mut tray = Tray::default();
    loop {
        if let Some(from) = circle.next_letter(&mut tray).expect(ALARMLESS) {
            return (from, tray);
        }
        circle.rest().expect(ALARMLESS);
    }
}

/// Everybody sends everybody `count` letters that `bytes` of sender, target and number make, and checks what comes.
fn exchange(circle: &mut dyn Circle, count: usize, bytes: impl Fn(usize, usize, usize) -> Vec<u8>) {
    let (me, size) = (circle.rank(), circle.size());
    let mut due = vec![0; size];
    let check = |from: usize, tray: &Tray, due: &mut [usize]| {
        assert!(tray.bytes == bytes(from, me, due[from]), "letter {} of {from} to {me}", due[from]);
        due[from] += 1;
    };
    let mut tray = Tray::default();
    for number in 0..count {
        for to in 0..size {
            circle.send_letter(to, &mut letter(&bytes(me, to, number))).expect(ALARMLESS);
            if let Some(from) = circle.next_letter(&mut tray).expect(ALARMLESS) {
                check(from, &tray, &mut due);
                tray.clear();
            }
        }
    }
    while due.iter().any(|&due| due < count) {
        let (from, tray) = next(circle);
        check(from, &tray, &mut due);
    }
    assert_eq!(circle.next_letter(&mut tray).expect(ALARMLESS), None);
}

/// Claim 9.
fn letters_arrive_whole_once_and_in_order(stage: &Stage) {
    stage.run(|circle| {
        exchange(circle, scaled(100), |from, to, number| word(7 * from + to, number));
        circle.wait().expect(ALARMLESS);
    });
}

/// Claim 9, with letters that take different ways.
fn letters_of_any_length_keep_their_order(stage: &Stage) {
    const LENGTHS: [usize; 8] = [1, scaled(100_000), 3, 0, scaled(40_000), 300, scaled(9_000), 255];
    stage.run(|circle| {
        exchange(circle, 16, |from, to, number| vec![(from + 3 * to + number) as u8; LENGTHS[(from + number) % 8]]);
        circle.wait().expect(ALARMLESS);
    });
}

/// Claim 9: a letter may be taken before any meeting, or many later.
fn letters_pass_meetings_by(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        let mut how = Brackets { wants_before: true };
        circle.send_letter((me + 1) % size, &mut letter(&[me as u8, 1])).expect(ALARMLESS);
        for meeting in 0..3 {
            meet_and_check(circle, &mut how, &mut Melded::default(), |rank| word(rank, meeting));
            let mut tray = letter(&[meeting as u8]);
            circle.post((me + 1) % size, &mut tray).expect(ALARMLESS);
        }
        circle.send_letter((me + 1) % size, &mut letter(&[me as u8, 2])).expect(ALARMLESS);
        for number in 1..=2 {
            let (from, tray) = next(circle);
            assert_eq!((from, tray.bytes), ((me + size - 1) % size, vec![from as u8, number]));
        }
        circle.wait().expect(ALARMLESS);
    });
}

/// Claims 6 and 9.
fn letters_of_other_circles_do_not_arrive_here(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        let all: Vec<usize> = (0..size).collect();
        let around: Vec<usize> = (0..size).rev().collect();
        let mut same = circle.join(Name::new(1), &all, me);
        let mut reversed = circle.join(Name::new(2), &around, size - 1 - me);
        for to in 0..size {
            circle.send_letter(to, &mut letter(b"root")).expect(ALARMLESS);
            same.send_letter(to, &mut letter(b"same")).expect(ALARMLESS);
            reversed.send_letter(to, &mut letter(&[size as u8 - 1 - me as u8])).expect(ALARMLESS);
        }
        for _ in 0..size {
            let (from, tray) = next(&mut *reversed);
            assert_eq!(tray.bytes, [from as u8]);
            assert_eq!(next(&mut *same).1.bytes, b"same");
        }
        for _ in 0..size {
            assert_eq!(next(circle).1.bytes, b"root");
        }
        circle.wait().expect(ALARMLESS);
    });
}

/// Claims 8 and 9.
fn objects_move_in_letters_where_memory_is_shared(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        let sharing: Vec<usize> = (0..size).filter(|&other| other != me && circle.shares(other)).collect();
        for &to in &sharing {
            let mut tray = Tray { bytes: vec![1], moved: vec![Box::new((me, to))] };
            circle.send_letter(to, &mut tray).expect(ALARMLESS);
        }
        for _ in &sharing {
            let (from, mut tray) = next(circle);
            let object = tray.moved.pop().expect("it has an object");
            assert_eq!(object.downcast_ref(), Some(&(from, me)));
        }
        circle.wait().expect(ALARMLESS);
    });
}

fn sum(circle: &mut dyn Mail) -> Counts {
    loop {
        if let Some(sum) = circle.counted().expect(ALARMLESS) {
            return sum;
        }
        circle.rest().expect(ALARMLESS);
    }
}

/// Claim 10: those who have entered go on and answer letters, or the last would never enter.
fn a_count_is_the_sum_for_everybody_and_nobody_waits_in_it(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        assert_eq!(circle.counted(), Ok(None));
        for round in 0..20u64 {
            let late = round as usize % size;
            if me == late {
                for other in (0..size).filter(|&other| other != me) {
                    circle.send_letter(other, &mut letter(&[1])).expect(ALARMLESS);
                    assert_eq!(next(circle).0, other);
                }
            }
            circle.enter_count([me as u64, round, 1, u64::MAX, 7]).expect(ALARMLESS);
            if me != late {
                assert_eq!(circle.counted(), Ok(None), "{late} has not entered");
                assert_eq!(next(circle).0, late);
                circle.send_letter(late, &mut letter(&[2])).expect(ALARMLESS);
            }
            let size = size as u64;
            assert_eq!(sum(circle), [size * (size - 1) / 2, size * round, size, 0u64.wrapping_sub(size), 7 * size]);
            assert_eq!(circle.counted(), Ok(None), "a sum is handed out once");
        }
        circle.wait().expect(ALARMLESS);
    });
}

/// Claims 9 and 10: one does nothing for a while, and the others sleep.
fn who_rests_is_woken_by_a_letter_and_by_a_sum(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        for late in 0..size.min(2) {
            if me == late {
                std::thread::sleep(std::time::Duration::from_millis(10));
                for other in (0..size).filter(|&other| other != me) {
                    circle.send_letter(other, &mut letter(&[1])).expect(ALARMLESS);
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            } else {
                assert_eq!(next(circle).0, late);
            }
            circle.enter_count([1, 0, 0, 0, 0]).expect(ALARMLESS);
            assert_eq!(sum(circle), [size as u64, 0, 0, 0, 0]);
        }
        circle.wait().expect(ALARMLESS);
    });
}

/// Claim 7, for those who rest.
fn whoever_rests_hears_the_alarm(stage: &Stage) {
    stage.run(|circle| {
        let (me, size) = (circle.rank(), circle.size());
        let failure = Failure::GaveUp { rank: size - 1, report: b"enough".as_slice().into() };
        // The alarm may be raised before this returns.
        let _ = circle.send_letter(size - 1, &mut letter(&[me as u8]));
        if me == size - 1 {
            for _ in 0..size {
                next(circle);
            }
            circle.alarm().raise(failure.clone());
        }
        let mut tray = Tray::default();
        let heard = loop {
            let outcome = circle.next_letter(&mut tray).and_then(|_| circle.rest());
            if let Err(failure) = outcome {
                break failure;
            }
        };
        assert_eq!(heard, failure);
    });
}
