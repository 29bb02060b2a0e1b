//! Claim 7: one failure ends everything, for everybody.

use super::stage::{Alone, Brackets, Counter, Stage, gave_up, scaled, word};
use crate::{
    circle::{Circle, Melded},
    failure::Failure,
    nest::Name,
    tray::Tray,
};
use std::sync::Mutex;

pub(super) fn uphold(stage: &Stage) {
    let mut ranks = vec![0, stage.size / 2, stage.size - 1];
    ranks.dedup();
    for rank in ranks {
        an_alarm_before_the_wait_ends_it(stage, rank);
        an_alarm_during_the_wait_ends_it(stage, rank);
        an_alarm_reaches_circles_that_lack_nobody(stage, rank);
        an_alarm_ends_what_is_carried(stage, rank);
    }
    the_first_of_several_alarms_is_the_one(stage);
}

/// Asserts that nothing can be done any more in `circle`, in circles made from it, and again.
fn assert_over(circle: &mut dyn Circle, failure: &Failure) {
    let over = Err(failure.clone());
    let mut how = Brackets { wants_before: true };
    let mut outcome = Melded::default();
    let everybody: Vec<usize> = (0..circle.size()).collect();
    let mut joined = circle.join(Name::new(1), &everybody, circle.rank());
    for _ in 0..3 {
        for circle in [&mut *circle, &mut *joined] {
            assert_eq!(circle.meet(&[1], &mut how, &mut outcome), over);
            assert_eq!(circle.wait(), over);
            for to in 0..circle.size() {
                assert_eq!(circle.post(to, &mut Tray::from(vec![1])), over);
                // There may be something left from the last meeting that was held; asking is harmless.
                circle.take(to, &mut Tray::default());
            }
            assert_eq!(circle.wait(), over);
            assert_eq!(circle.leave(&[1], &mut how), over);
        }
        assert_eq!(circle.alarm().raised().as_ref(), Some(failure));
    }
}

/// Holds some meetings and leaves their trays untaken. `warm` counts those who are through; before all are, an alarm
/// could end this for some.
fn warm_up(circle: &mut dyn Circle, warm: &Counter) {
    for meeting in 0..3 {
        for to in 0..circle.size() {
            circle.post(to, &mut Tray::from(vec![1])).expect("nobody raised the alarm");
        }
        let mine = word(circle.rank(), meeting);
        circle.meet(&mine, &mut Brackets { wants_before: true }, &mut Melded::default()).expect("nobody raised");
    }
    warm.add_one();
}

/// Raises the alarm when all are through with [`warm_up`], and have had the time to begin what they do next.
fn raise_late(stage: &Stage, circle: &dyn Circle, alone: &mut Alone, warm: &Counter, failure: &Failure) {
    alone.pass_until(|| warm.get() == stage.size).expect("I am the raiser");
    for _ in 0..100 {
        alone.pass().expect("I am the raiser");
    }
    circle.alarm().raise(failure.clone());
}

/// Claim 7, for waits that begin when the alarm is known, the raiser's own among them.
fn an_alarm_before_the_wait_ends_it(stage: &Stage, raiser: usize) {
    let failure = gave_up(raiser, "before");
    let warm = stage.counter();
    stage.run(|circle| {
        let (alarm, mut alone) = (circle.alarm(), Alone::beside(circle));
        assert_eq!(alarm.raised(), None);
        warm_up(circle, &warm);
        if circle.rank() == raiser {
            alone.pass_until(|| warm.get() == stage.size).expect("I am the raiser");
            alarm.raise(failure.clone());
        }
        // Time passes until the alarm stops it.
        let stopped = alone.pass_until(|| alarm.raised().is_some());
        assert!(stopped.is_ok() || stopped == Err(failure.clone()));
        assert_over(circle, &failure);
    });
}

/// Claim 7, for waits that began before: the raiser gives the others time to get there, and to fall asleep.
fn an_alarm_during_the_wait_ends_it(stage: &Stage, raiser: usize) {
    let failure = gave_up(raiser, "during");
    let warm = stage.counter();
    stage.run(|circle| {
        let mut alone = Alone::beside(circle);
        warm_up(circle, &warm);
        if circle.rank() == raiser {
            raise_late(stage, circle, &mut alone, &warm, &failure);
        } else {
            assert_eq!(circle.wait(), Err(failure.clone()));
        }
        assert_over(circle, &failure);
    });
}

/// Claim 7: those in a circle without the raiser could go on for ever, and must not.
fn an_alarm_reaches_circles_that_lack_nobody(stage: &Stage, raiser: usize) {
    let failure = gave_up(raiser, "elsewhere");
    let others: Vec<usize> = (0..stage.size).filter(|&rank| rank != raiser).collect();
    let meetings = stage.counter();
    stage.run(|circle| {
        if circle.rank() == raiser {
            let mut alone = Alone::beside(circle);
            let enough = 10 * others.len();
            alone.pass_until(|| meetings.get() >= enough).expect("I am the raiser");
            circle.alarm().raise(failure.clone());
        } else {
            let place = others.iter().position(|&rank| rank == circle.rank()).expect("all but the raiser are there");
            let mut inner = circle.join(Name::new(2), &others, place);
            let found = loop {
                match inner.wait() {
                    Ok(()) => meetings.add_one(),
                    Err(failure) => break failure,
                }
            };
            assert_eq!(found, failure);
            assert_over(&mut *inner, &failure);
        }
    });
}

/// Claim 7, for memory that is carried: one member raises the alarm instead of taking what is on its way to it, and
/// sends nothing that the others wait for. Their processes stay, and begin the next run.
fn an_alarm_ends_what_is_carried(stage: &Stage, raiser: usize) {
    let failure = gave_up(raiser, "instead");
    let warm = stage.counter();
    stage.run(|circle| {
        let mut alone = Alone::beside(circle);
        warm_up(circle, &warm);
        if circle.rank() == raiser {
            raise_late(stage, circle, &mut alone, &warm, &failure);
        } else if circle.carries() && !circle.shares(raiser) {
            let (piece, mut place) = (vec![7; scaled(1 << 20)], vec![0; scaled(1 << 20)]);
            let outcome = circle.carry(&[(raiser, &piece)], &mut [(raiser, &mut place)]);
            assert_eq!(outcome, Err(failure.clone()));
        } else {
            assert_eq!(circle.wait(), Err(failure.clone()));
        }
        assert_over(circle, &failure);
    });
}

/// Claim 7: everybody gets the same failure, however many were raised at the same time. Only processes that raised
/// theirs before they heard of another may each keep their own.
fn the_first_of_several_alarms_is_the_one(stage: &Stage) {
    let (warm, found) = (stage.counter(), Mutex::new(Vec::new()));
    stage.run(|circle| {
        warm_up(circle, &warm);
        // Others may be ahead and raise theirs while I still pass the time.
        let _ = Alone::beside(circle).pass_until(|| warm.get() == stage.size);
        let rank = circle.rank();
        if rank % 2 == 0 {
            circle.alarm().raise(gave_up(rank, "one of several"));
        }
        let failure = circle.wait().expect_err("rank 0 does not come before it has raised the alarm");
        assert_over(circle, &failure);
        found.lock().expect("nobody panicked yet").push(failure);
    });
    let found = found.into_inner().expect("nobody panicked");
    assert!(found.len() == stage.size || stage.folder.is_some());
    assert!(found.iter().all(|failure| *failure == found[0]), "{found:?}");
}
