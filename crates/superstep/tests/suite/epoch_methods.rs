//! How methods are named, and what requests that send others on take up (E2, E4, E6).

use crate::{SEVERAL, everywhere, on_sizes};
use superstep::{Epoch, Handle, Method, Tuning};

fn add<const N: u64>(sum: &mut u64, _: &Epoch, x: u64) {
    *sum += N * x;
}

struct Add<const N: u64>;
impl<const N: u64> Method for Add<N> {
    type On = u64;
    type Args = u64;
    type Answer = ();
    fn run(sum: &mut u64, _: &Epoch, x: u64) {
        *sum += N * x;
    }
}

struct Log;
impl Method for Log {
    type On = Vec<String>;
    type Args = (usize, String);
    type Answer = usize;
    fn run(log: &mut Vec<String>, e: &Epoch, (from, text): (usize, String)) -> usize {
        log.push(format!("{from} to {}: {text}", e.rank()));
        log.len()
    }
}

/// E2: functions of one signature are told apart, whether they are functions, closures, pointers or types.
#[test]
fn methods_of_one_signature_are_told_apart() {
    everywhere(|g| {
        let (sum, next, p) = (g.object(0u64), (g.rank() + 1) % g.size(), g.size() as u64);
        // A pointer that is chosen while the program runs.
        let chosen: fn(&mut u64, &Epoch, u64) = if p > 2 { add::<100_000> } else { add::<200_000> };
        g.epoch(|e| {
            for _ in 0..3 {
                e.send(next, &sum, 1, add::<1>);
                e.send(next, &sum, 1, add::<10>);
                e.send(next, &sum, 1, |sum, _, x| *sum += 100 * x);
                e.send_by::<Add<1000>>(next, &sum, 1);
                e.send_by::<Add<10_000>>(next, &sum, 1);
                e.send(next, &sum, 1, chosen);
            }
        });
        assert_eq!(sum.with(|sum| *sum), if p > 2 { 333_333 } else { 633_333 });
    });
}

/// E2, E3: a method that is named by its type answers like any other, and requests keep their order.
#[test]
fn a_method_can_be_named_by_its_type() {
    on_sizes(&[1, 2, 3, 7], |g| {
        let (me, p) = (g.rank(), g.size());
        let log = g.object(Vec::new());
        let next = (me + 1) % p;
        let lens = g.epoch(|e| {
            let first = e.call_by::<Log>(next, &log, (me, "a".to_owned()));
            let second = e.ask_by::<Log>(next, &log, (me, "b".to_owned()));
            let third = e.call(next, &log, (me, "c".to_owned()), Log::run);
            [first, e.take(second), third]
        });
        assert_eq!(lens, [1, 2, 3]);
        let from = (me + p - 1) % p;
        log.with(|log| assert_eq!(*log, ["a", "b", "c"].map(|text| format!("{from} to {me}: {text}"))));
    });
}

/// E2: what a method is called with may be more than is kept in mind of names.
#[test]
fn more_methods_than_are_kept_in_mind_are_all_found() {
    fn all<const N: u64>(e: &Epoch, to: usize, sum: &superstep::Object<u64>) {
        e.send(to, sum, 1, add::<N>);
        e.send_by::<Add<N>>(to, sum, 1);
        assert_eq!(e.call(to, sum, N, |_, _, n| n + 1), N + 1);
    }
    on_sizes(&SEVERAL[..3], |g| {
        let (sum, next) = (g.object(0u64), (g.rank() + 1) % g.size());
        let each =
            [all::<1>, all::<2>, all::<3>, all::<4>, all::<5>, all::<6>, all::<7>, all::<8>, all::<9>, all::<10>];
        for _ in 0..2 {
            g.epoch(|e| (0..3).for_each(|_| each.iter().for_each(|all| all(e, next, &sum))));
        }
        assert_eq!(sum.with(|sum| *sum), 2 * 3 * 2 * 55);
    });
}

/// Sends itself on to two others until `left` is 0.
fn multiply(count: &mut u64, e: &Epoch, (all, left): (Handle<u64>, u32)) {
    *count += 1;
    if left > 0 {
        for distance in 1..=2 {
            e.send((e.rank() + distance) % e.size(), &all, (all, left - 1), multiply);
        }
    }
}

/// E4, E5, E6: requests that multiply and go round take what room they need, and come to an end, however little may be
/// under way.
#[test]
fn requests_that_multiply_in_a_circle_come_to_an_end() {
    on_sizes(&[1, 2, 3, 4, 7], |g| {
        for tuning in [Tuning::new().near(0, 1).far(0, 1).window(1), Tuning::new().near(64, 4).far(64, 4).window(2)] {
            let (count, total) = (g.object(0u64), g.size() as u64 * 1023);
            g.epoch_with(tuning, |e| {
                e.send((e.rank() + 1) % e.size(), &count, (count.handle(), 9), multiply);
            });
            let mine = count.with(|count| *count);
            assert_eq!(g.step(|s| s.reduce(mine, superstep::Sum)), total);
        }
    });
}

/// E4, E6: and so do those that wait for an answer on their way, while a body waits for one too.
#[test]
fn answers_come_while_requests_wait_for_a_slow_processor() {
    fn ahead(sum: &mut u64, e: &Epoch, (far, near, x): (Handle<u64>, Handle<u64>, u64)) {
        let last = e.size() - 1;
        e.send(last, &far, x, |sum, _, x| *sum += x);
        e.send(last, &far, x, |sum, e, _| *sum += u64::from(e.rank() == 0));
        *sum += e.call(last, &near, x, |_, _, x| x);
    }
    on_sizes(&[2, 3, 4], |g| {
        let (middle, far, near) = (g.object(0u64), g.object(0u64), g.object(0u64));
        let tuning = Tuning::new().near(0, 1).far(0, 1).window(1).nesting(1000);
        g.epoch_with(tuning, |e| {
            if e.rank() == 0 {
                for x in 0..100 {
                    e.send(e.size() - 2, &middle, (far.handle(), near.handle(), x), ahead);
                }
            } else {
                assert_eq!(e.call(0, &near, 7, |_, _, x| x + 1), 8);
            }
        });
        let sums = [far.with(|sum| *sum), middle.with(|sum| *sum)];
        let sums = g.step(|s| s.reduce(sums, superstep::Each(superstep::Sum)));
        assert_eq!(sums, [4950, 4950]);
    });
}
