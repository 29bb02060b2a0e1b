//! A thread that watches the runs of this process.
//!
//! It is started when the first run begins that wants to be watched, and kept. While there is no run it sleeps; it
//! goes to sleep only when a whole period has passed without one, so runs that follow each other quickly need not wake
//! it.

use super::{
    limits::Limits,
    lookout::{Lookout, Verdict},
    sighting::Sighting,
};
use crate::{alarm::Alarm, failure::Failure, system::without_signals, threads::exit::give_up};
use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// A run that is watched.
struct Watched {
    number: u64,
    sightings: Arc<[Sighting]>,
    lookout: Lookout,
    limits: Limits,
    alarm: Arc<dyn Alarm>,
    /// Since when the run is known to have failed.
    failed: Option<Instant>,
}

#[derive(Default)]
struct State {
    runs: Vec<Watched>,
    count: u64,
    is_started: bool,
    /// How long the thread sleeps; `None` while it does until it is woken.
    period: Option<Duration>,
}

static STATE: Mutex<State> = Mutex::new(State { runs: Vec::new(), count: 0, is_started: false, period: None });
static CALL: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the runs as they are while the process is forked.
pub(crate) fn hold() -> impl Sized {
    lock()
}

/// A run is watched while this lives.
pub(crate) struct Guard(Option<u64>);

/// Watches a run, whose processors have these sightings.
pub(crate) fn watch(sightings: &Arc<[Sighting]>, limits: Limits, alarm: Arc<dyn Alarm>) -> Guard {
    let Some(period) = limits.period() else { return Guard(None) };
    // Nothing is allocated later, in the middle of a run.
    let lookout = Lookout::new(sightings.len(), limits);
    let mut state = lock();
    state.count += 1;
    let number = state.count;
    state.runs.push(Watched { number, sightings: Arc::clone(sightings), lookout, limits, alarm, failed: None });
    let is_sooner = state.period.is_none_or(|current| period < current);
    if !state.is_started {
        state.is_started = true;
        let thread = std::thread::Builder::new().name("superstep monitor".into()).stack_size(256 << 10);
        // Without the thread nobody says who waits; nothing else is lost.
        if without_signals(|| thread.spawn(go)).is_ok() {
            // It has all that it needs before the run begins, and takes nothing in the middle of it.
            while state.period.is_none() {
                state = CALL.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    } else if is_sooner {
        state.period = Some(period);
        CALL.notify_one();
    }
    Guard(Some(number))
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            lock().runs.retain(|run| run.number != number);
        }
    }
}

fn go() {
    let mut state = lock();
    let mut last_count = 0;
    loop {
        let shortest = state.runs.iter().filter_map(|run| run.limits.period()).min();
        let is_idle = shortest.is_none() && state.count == last_count;
        last_count = state.count;
        state.period = if is_idle { None } else { shortest.or(Some(Duration::from_secs(1))) };
        // Who has started this thread waits for it.
        CALL.notify_all();
        state = match state.period {
            None => CALL.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(period) => CALL.wait_timeout(state, period).unwrap_or_else(PoisonError::into_inner).0,
        };
        let now = Instant::now();
        // What is to be said or raised may take its time, and then no run should wait to begin or end.
        let found: Vec<(Arc<dyn Alarm>, Verdict)> = state.runs.iter_mut().filter_map(|run| run.look(now)).collect();
        if !found.is_empty() {
            drop(state);
            for (alarm, verdict) in found {
                act(&*alarm, verdict);
            }
            state = lock();
        }
    }
}

/// Says or raises what has been found.
pub(crate) fn act(alarm: &dyn Alarm, verdict: Verdict) {
    match verdict {
        Verdict::Notice(line) => eprintln!("superstep: {line}"),
        Verdict::Stalled(words) => alarm.raise(Failure::Stalled { words }),
        // Nothing else ends a thread that does not come back, and so nothing else ends the run.
        Verdict::Over(words) => give_up(&words),
    }
}

impl Watched {
    fn look(&mut self, now: Instant) -> Option<(Arc<dyn Alarm>, Verdict)> {
        let sightings = &self.sightings;
        let lookout = &mut self.lookout;
        for (at, sighting) in sightings.iter().enumerate() {
            lookout.look(at, sighting.progress(), now);
        }
        let failure = self.alarm.raised().map(|failure| failure.to_string());
        let failed = failure.as_deref().map(|why| (why, now - *self.failed.get_or_insert(now)));
        let place = |at: usize| sightings.get(at).map_or_else(String::new, Sighting::place);
        let verdict = lookout.judge(now, failed, place)?;
        Some((Arc::clone(&self.alarm), verdict))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{pen::Pen, sighting::sightings},
        *,
    };

    struct Silent;

    impl Alarm for Silent {
        fn raise(&self, _: Failure) {}

        fn raised(&self) -> Option<Failure> {
            None
        }
    }

    #[test]
    fn a_run_that_ends_leaves_the_others_watched() {
        let limits = Limits { notice: Duration::from_secs(1000), most: Duration::ZERO };
        let [first, second, third] = [(); 3].map(|()| watch(&Vec::new().into(), limits, Arc::new(Silent)));
        let are_watched = |numbers: &[Option<u64>]| {
            let state = lock();
            numbers.iter().all(|number| state.runs.iter().any(|run| Some(run.number) == *number))
        };
        assert!(are_watched(&[first.0, second.0, third.0]));
        assert!(lock().is_started, "somebody looks");
        let ended = second.0;
        drop(second);
        assert!(are_watched(&[first.0, third.0]) && !are_watched(&[ended]));
    }

    #[derive(Default)]
    struct Heard(Mutex<Option<Failure>>);

    impl Alarm for Heard {
        fn raise(&self, failure: Failure) {
            *self.0.lock().unwrap() = Some(failure);
        }

        fn raised(&self) -> Option<Failure> {
            self.0.lock().unwrap().clone()
        }
    }

    #[test]
    fn who_has_waited_too_long_raises_the_alarm() {
        let (all, heard) = (sightings(2), Arc::new(Heard::default()));
        let pens = [0, 1].map(|at| Pen::here(&all, at));
        pens.iter().for_each(Pen::begin);
        assert!(pens[0].wait(|| Some(1)));
        let limits = Limits { notice: Duration::ZERO, most: Duration::from_secs(1) };
        let (lookout, alarm) = (Lookout::new(2, limits), Arc::clone(&heard) as Arc<dyn Alarm>);
        let mut run = Watched { number: 0, sightings: all, lookout, limits, alarm, failed: None };
        let now = Instant::now();
        assert!(run.look(now).is_none());
        let (alarm, verdict) = run.look(now + limits.most).expect("it has waited");
        act(&*alarm, verdict);
        let Some(Failure::Stalled { words }) = heard.raised() else { panic!("it was raised") };
        assert!(words.starts_with("processor 0 has waited for 1.0 s"), "{words}");
    }

    #[test]
    fn a_run_without_limits_is_not_watched() {
        let none = Limits { notice: Duration::ZERO, most: Duration::ZERO };
        assert_eq!(watch(&Vec::new().into(), none, Arc::new(Silent)).0, None);
    }
}
