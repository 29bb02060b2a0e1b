//! Claims 5 and 6: leaving a circle, and being in several.

use super::stage::{ALARMLESS, Alone, Brackets, Stage, meet_and_check, word};
use crate::{
    circle::{Circle, Melded},
    nest::Name,
    tray::Tray,
};

pub(super) fn uphold(stage: &Stage) {
    one_after_the_other_leaves_and_the_rest_go_on(stage);
    circles_of_one_name_but_another_origin_or_part_are_apart(stage);
    a_leaver_waits_for_nothing_that_comes_after_its_last_meeting(stage);
    all_can_leave_at_once_and_meet_elsewhere(stage);
    circles_with_different_numbers_of_meetings_come_together_again(stage);
    overlapping_circles_keep_their_meetings_and_trays_apart(stage);
    a_circle_may_number_its_members_anew(stage);
}

/// Claim 5: the leaver's contribution counts, and the rest are one fewer from then on. Each time another place in the
/// circle falls vacant, until nobody is left.
fn one_after_the_other_leaves_and_the_rest_go_on(stage: &Stage) {
    stage.run(|root| {
        let mut outcome = Melded::default();
        let mut how = Brackets { wants_before: true };
        let mut owned: Option<Box<dyn Circle>> = None;
        for round in 0.. {
            let circle = owned.as_deref_mut().unwrap_or(&mut *root);
            let (rank, size) = (circle.rank(), circle.size());
            meet_and_check(circle, &mut how, &mut outcome, |rank| word(rank, round));
            let leaver = (5 * round + 1) % size;
            if rank == leaver {
                circle.leave(&word(rank, round + 100), &mut how).expect(ALARMLESS);
                return;
            }
            meet_and_check(circle, &mut how, &mut outcome, |rank| word(rank, round + 100));
            let rest: Vec<usize> = (0..size).filter(|&rank| rank != leaver).collect();
            let place = rest.iter().position(|&member| member == rank).expect("only the leaver is missing");
            owned = Some(circle.join(Name::new(1 + round as u64), &rest, place));
        }
    });
}

/// Claim 5: those who stay do nothing until the leavers say that they are gone.
fn a_leaver_waits_for_nothing_that_comes_after_its_last_meeting(stage: &Stage) {
    let gone = stage.counter();
    stage.run(|circle| {
        let mut alone = Alone::beside(circle);
        let mut how = Brackets { wants_before: false };
        let (rank, size) = (circle.rank(), circle.size());
        circle.wait().expect(ALARMLESS);
        if rank % 2 == 0 {
            circle.leave(&word(rank, 0), &mut how).expect(ALARMLESS);
            gone.add_one();
            return;
        }
        meet_and_check(circle, &mut how, &mut Melded::default(), |rank| word(rank, 0));
        alone.pass_until(|| gone.get() == size.div_ceil(2)).expect(ALARMLESS);
        let rest: Vec<usize> = (1..size).step_by(2).collect();
        let mut circle = circle.join(Name::new(1), &rest, rank / 2);
        for meeting in 0..5 {
            meet_and_check(&mut *circle, &mut how, &mut Melded::default(), |rank| word(rank, meeting));
        }
    });
}

/// Claim 5, when nobody stays.
fn all_can_leave_at_once_and_meet_elsewhere(stage: &Stage) {
    stage.run(|circle| {
        let mut how = Brackets { wants_before: true };
        let rank = circle.rank();
        let everybody: Vec<usize> = (0..stage.size).collect();
        let mut next = circle.join(Name::new(1), &everybody, rank);
        circle.leave(&word(rank, 0), &mut how).expect(ALARMLESS);
        for round in 0..10 {
            meet_and_check(&mut *next, &mut how, &mut Melded::default(), |rank| word(rank, round));
            let further = next.join(Name::new(2 + round as u64), &everybody, rank);
            next.leave(&word(rank, round), &mut how).expect(ALARMLESS);
            next = further;
        }
    });
}

/// Claim 6: parts of the whole meet as often as they like, some not at all.
fn circles_with_different_numbers_of_meetings_come_together_again(stage: &Stage) {
    const PARTS: usize = 3;
    stage.run(|circle| {
        let (rank, size) = (circle.rank(), circle.size());
        let mut how = Brackets { wants_before: true };
        let mut outcome = Melded::default();
        let part = rank % PARTS;
        let members: Vec<usize> = (part..size).step_by(PARTS).collect();
        let mut inner = circle.join(Name::new(1 + part as u64), &members, rank / PARTS);
        for round in 0..4 {
            for meeting in 0..10 * ((part + round) % PARTS) {
                meet_and_check(&mut *inner, &mut how, &mut outcome, |inner| word(part + PARTS * inner, meeting));
            }
            meet_and_check(circle, &mut how, &mut outcome, |rank| word(rank, round));
        }
    });
}

/// Claim 6: a processor that is in the whole, in a twin of the whole and in pairs with both neighbours posts to the
/// same peer in all of them, and each tray stays in its circle.
fn overlapping_circles_keep_their_meetings_and_trays_apart(stage: &Stage) {
    fn post(circle: &mut dyn Circle, to: usize, from: usize, label: u8) {
        circle.post(to, &mut Tray::from(vec![label, from as u8])).expect(ALARMLESS);
    }
    fn check(circle: &mut dyn Circle, from: usize, sender: usize, label: u8) {
        circle.wait().expect(ALARMLESS);
        for other in (0..circle.size()).filter(|&other| other != from) {
            assert!(!circle.take(other, &mut Tray::default()), "a tray of another circle");
        }
        let mut tray = Tray::default();
        assert!(circle.take(from, &mut tray));
        assert_eq!(tray.bytes, [label, sender as u8]);
        assert!(!circle.take(from, &mut tray), "a tray of another circle");
    }
    stage.run(|circle| {
        let (rank, size) = (circle.rank(), circle.size());
        let everybody: Vec<usize> = (0..size).collect();
        let mut twin = circle.join(Name::new(1), &everybody, rank);
        // The pair of `i` and `i + 1` has key `2 + i`.
        let mut above = (rank + 1 < size).then(|| circle.join(Name::new(2 + rank as u64), &[rank, rank + 1], 0));
        let mut below = (rank > 0).then(|| circle.join(Name::new(1 + rank as u64), &[rank - 1, rank], 1));
        let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
        for _ in 0..5 {
            post(circle, next, rank, 1);
            post(&mut *twin, next, rank, 2);
            if let Some(pair) = &mut above {
                post(&mut **pair, 1, rank, 3);
            }
            if let Some(pair) = &mut below {
                post(&mut **pair, 0, rank, 4);
                check(&mut **pair, 0, rank - 1, 3);
            }
            if let Some(pair) = &mut above {
                check(&mut **pair, 1, rank + 1, 4);
            }
            check(&mut *twin, last, last, 2);
            check(circle, last, last, 1);
        }
    });
}

/// Claim 6: a name is one among those of the circles that are made from one circle, and so is each part of it.
fn circles_of_one_name_but_another_origin_or_part_are_apart(stage: &Stage) {
    stage.run(|circle| {
        let (rank, size) = (circle.rank(), circle.size());
        let everybody: Vec<usize> = (0..size).collect();
        let one = Name::new(1);
        let names = [one, Name { part: 1, ..one }, Name { purpose: 1, ..one }, Name { part: 1, ..Name::new(0) }];
        let mut all: Vec<_> = names.map(|name| circle.join(name, &everybody, rank)).into();
        let further: Vec<_> =
            all.iter().flat_map(|parent| names.map(|name| parent.join(name, &everybody, rank))).collect();
        all.extend(further);
        let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
        for (label, circle) in all.iter_mut().enumerate() {
            circle.post(next, &mut Tray::from(vec![label as u8])).expect(ALARMLESS);
        }
        for (label, circle) in all.iter_mut().enumerate().rev() {
            circle.wait().expect(ALARMLESS);
            let mut tray = Tray::default();
            assert!(circle.take(last, &mut tray));
            assert_eq!(tray.bytes, [label as u8], "a tray of another circle");
        }
    });
}

/// Claims 2 and 6: the order of the members in a circle is the order of its ranks.
fn a_circle_may_number_its_members_anew(stage: &Stage) {
    stage.run(|circle| {
        let (rank, size) = (circle.rank(), circle.size());
        let backwards: Vec<usize> = (0..size).rev().collect();
        let mut circle = circle.join(Name::new(1), &backwards, size - 1 - rank);
        let mut how = Brackets { wants_before: true };
        for meeting in 0..3 {
            meet_and_check(&mut *circle, &mut how, &mut Melded::default(), |rank| word(size - 1 - rank, meeting));
        }
        // In the run they have the numbers that they had.
        assert!((0..size).all(|rank| circle.number(rank) == size - 1 - rank));
        // And one of that one: ranks are those of the circle at hand.
        let half: Vec<usize> = (0..size).step_by(2).collect();
        if circle.rank() % 2 == 0 {
            let mut inner = circle.join(Name::new(2), &half, circle.rank() / 2);
            meet_and_check(&mut *inner, &mut how, &mut Melded::default(), |inner| word(2 * inner, 0));
        }
    });
}
