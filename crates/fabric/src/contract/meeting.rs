//! Claims 1 to 3: when a meeting ends, and with what.

use super::stage::{Alike, Brackets, Stage, meet_and_check, scaled, word};
use crate::circle::Melded;

/// Meetings in a row, so that every copy and counter of a fabric is used again and again.
const MANY: usize = scaled(300);

/// Nothing, what just fits into a cache line with its stamp, and what does not.
const LENGTHS: [usize; 7] = [0, 1, 39, 40, 41, 64, 1000];
/// What one rank at a time says beside those.
const LONG: usize = scaled(100_000);

pub(super) fn uphold(stage: &Stage) {
    nobody_returns_from_a_meeting_before_all_have_entered_it(stage);
    the_outcome_is_bracketed_as_the_tree_says(stage);
    contributions_of_every_length_arrive_whole(stage);
    contributions_that_are_alike_count_as_one_and_no_others_do(stage);
    an_outcome_is_overwritten_and_not_added_to(stage);
}

/// Claim 1.
fn nobody_returns_from_a_meeting_before_all_have_entered_it(stage: &Stage) {
    let entered = stage.counter();
    stage.run(|circle| {
        let mut outcome = Melded::default();
        for meeting in 1..=MANY {
            entered.add_one();
            if meeting % 3 == 0 {
                circle.wait().expect("nobody raised the alarm");
            } else {
                let mine = word(circle.rank(), meeting);
                circle.meet(&mine, &mut Brackets { wants_before: false }, &mut outcome).expect("nobody raised");
            }
            let seen = entered.get();
            assert!(seen >= meeting * stage.size, "only {seen} entries when meeting {meeting} ended");
            // The others may be in the next meeting, but I am not, so nobody is in the one after that.
            assert!(seen < (meeting + 1) * stage.size, "{seen} entries when meeting {meeting} ended");
        }
    });
}

/// Claims 2 and 3.
fn the_outcome_is_bracketed_as_the_tree_says(stage: &Stage) {
    stage.run(|circle| {
        let mut outcome = Melded::default();
        for meeting in 0..20 {
            let mut how = Brackets { wants_before: meeting % 3 != 0 };
            meet_and_check(circle, &mut how, &mut outcome, |rank| word(rank, meeting));
        }
    });
}

/// Claims 2 and 3, for contributions from nothing at all to 100 kB, at different ranks at the same time.
fn contributions_of_every_length_arrive_whole(stage: &Stage) {
    let says = |rank: usize, meeting: usize| -> Vec<u8> {
        let is_long = rank == 3 * meeting % stage.size;
        let length = if is_long { LONG } else { LENGTHS[(3 * rank + meeting) % LENGTHS.len()] };
        (0..length).map(|i| (i / 251 + i + 7 * rank + meeting) as u8).collect()
    };
    stage.run(|circle| {
        let mut outcome = Melded::default();
        for meeting in 0..=LENGTHS.len() {
            let mut how = Brackets { wants_before: meeting % 2 == 0 };
            meet_and_check(circle, &mut how, &mut outcome, |rank| says(rank, meeting));
        }
        for _ in 0..3 {
            meet_and_check(circle, &mut Brackets { wants_before: true }, &mut outcome, |_| Vec::new());
        }
    });
}

/// Claims 2 and 3, where a fabric may skip the melding: all say the same, then one at a time does not, then neighbours
/// agree and halves do not.
fn contributions_that_are_alike_count_as_one_and_no_others_do(stage: &Stage) {
    stage.run(|circle| {
        let mut outcome = Melded::default();
        for length in [0, 8, 100] {
            for wants_before in [false, true] {
                let mut how = Alike { wants_before };
                meet_and_check(circle, &mut how, &mut outcome, |_| vec![7; length]);
                for odd_one in 0..stage.size.min(20) {
                    let says = |rank| {
                        if rank == odd_one { vec![8; length + 1] } else { vec![7; length] }
                    };
                    meet_and_check(circle, &mut how, &mut outcome, says);
                }
                meet_and_check(circle, &mut how, &mut outcome, |rank| vec![(rank / 2) as u8; length]);
                meet_and_check(circle, &mut how, &mut outcome, |rank| vec![u8::from(2 * rank > stage.size); length]);
            }
        }
    });
}

/// Claims 2 and 3: buffers are handed in again and may hold anything.
fn an_outcome_is_overwritten_and_not_added_to(stage: &Stage) {
    stage.run(|circle| {
        for wants_before in [false, true] {
            let mut outcome = Melded { total: vec![9; 500], before: vec![9; 500] };
            meet_and_check(circle, &mut Brackets { wants_before }, &mut outcome, |rank| word(rank, 1));
            outcome = Melded { total: vec![9; 500], before: vec![9; 500] };
            meet_and_check(circle, &mut Alike { wants_before }, &mut outcome, |_| vec![1]);
        }
    });
}
