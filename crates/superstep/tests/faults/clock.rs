//! With r, g and l the clock of the simulator gives the numbers that are computed by hand.

use crate::simulated;
use superstep::{
    Config, Each, Group, Sum,
    sim::{Cost, Faults, Predicted, Trace},
};

/// r = 100 Mflop/s, so 1000 operations are 10 us; g = 50 ns a word; l = 3 us.
const COST: Cost = Cost { r_mflops: 100.0, g_ns: 50.0, l_us: 3.0 };
const L: f64 = 3.0;
const G: f64 = 0.05;

/// What is predicted for a program on four processors: the supersteps, and the whole, in microseconds.
fn predicted(program: impl Fn(&mut Group) + Sync) -> (Vec<Predicted>, f64) {
    let (trace, mut found) = (Trace::new(), None);
    for seed in 0..5 {
        simulated(4, seed, false).cost(COST).trace(&trace).run(&program).unwrap();
        let all = (trace.predicted(), 1e6 * trace.seconds());
        takes(found.map_or(all.1, |(_, before)| before), all.1);
        found = Some(all);
    }
    found.unwrap()
}

#[track_caller]
fn takes(found: f64, by_hand: f64) {
    assert!((found - by_hand).abs() < 1e-6, "{found} us, and {by_hand} us by hand");
}

#[test]
fn work_takes_as_long_as_it_takes_the_one_that_has_most() {
    let (steps, whole) = predicted(|g| {
        for _ in 0..5 {
            g.step(|s| s.work(1000 * (s.rank() as u64 + 1)));
        }
    });
    // Rank 3 works 4000 operations, 40 us. The end of the run is a meeting of its own.
    takes(whole, 5.0 * (40.0 + L) + L);
    assert_eq!(steps.len(), 6);
    assert!(steps[..5].iter().all(|step| (step.members, step.work, step.words) == (4, 4000, 0)));
    steps[..5].iter().for_each(|step| takes(1e6 * step.seconds, 40.0 + L));
}

#[test]
fn an_h_relation_takes_g_for_each_word_of_the_one_that_has_most() {
    let (steps, whole) = predicted(|g| {
        let area = g.area::<u64>(100);
        // All put 10 words to rank 0. With each put go its address, 1 word, and its offset, 1 word.
        g.step(|s| s.put(0, &[1; 10], &area, 10 * s.rank()));
        // Each puts 7 words to its right.
        g.step(|s| s.put((s.rank() + 1) % s.size(), &[1; 7], &area, 0));
    });
    // What rank 0 puts to itself does not travel. Making the area is a meeting.
    takes(whole, L + (3.0 * 12.0 * G + L) + (9.0 * G + L) + L);
    assert_eq!(steps.iter().map(|step| step.words).collect::<Vec<_>>(), [0, 36, 9, 0]);
}

#[test]
fn a_long_reduction_takes_g_for_each_word_and_a_short_one_comes_with_the_meeting() {
    let (steps, whole) = predicted(|g| {
        g.step(|s| s.reduce(1u64, Sum));
        g.step(|s| s.reduce(vec![1u64; 100], Each(Sum)));
    });
    // A contribution has 16 bytes for the step and 4 for the length of a value.
    let words = f64::from((16u32 + 4 + 800).div_ceil(8));
    takes(whole, L + (words * G + L) + L);
    assert_eq!(steps.iter().map(|step| step.words as f64).collect::<Vec<_>>(), [0.0, words, 0.0]);
}

#[test]
fn subgroups_take_their_own_time_and_the_group_that_of_the_longest() {
    let (_, whole) = predicted(|g| {
        g.split(2, |sub| {
            let steps = if sub.id() == 0 { 1 } else { 4 };
            for _ in 0..steps {
                sub.step(|s| s.work(100));
            }
        });
    });
    // The split is a meeting, the four steps of 1 us take 3 us each besides, and leaving a group is a meeting, of the
    // subgroup, of the split and of the run.
    takes(whole, L + 4.0 * (1.0 + L) + 3.0 * L);
}

#[test]
fn what_stands_still_or_is_late_takes_its_time() {
    let seconds = |faults| {
        let trace = Trace::new();
        let run = |g: &mut Group| (0..20).for_each(|_| g.step(|_| ()));
        simulated(3, 1, false).faults(faults).cost(COST).trace(&trace).run(run).unwrap();
        trace.seconds()
    };
    assert!(seconds(Faults::STALL) > seconds(Faults::NONE) && seconds(Faults::DELAY) > seconds(Faults::NONE));
}

#[test]
fn only_the_simulator_is_asked_for_what_only_it_has() {
    for (config, says) in [
        (Config::new().faults(Faults::DELAY), "faults were asked for"),
        (Config::new().cost(COST), "a cost was asked for"),
        (Config::new().trace(&Trace::new()), "a trace was asked for"),
        (simulated(2, 0, false).cost(Cost { r_mflops: 0.0, ..COST }), "r must be more than 0"),
    ] {
        let error = config.run(|_| ()).unwrap_err();
        assert_eq!(error.kind(), superstep::ErrorKind::BadConfig);
        assert!(error.to_string().contains(says), "{error}");
    }
}
