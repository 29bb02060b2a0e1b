//! Kernel `stream`: requests of 8 and of 24 bytes, each processor to the next one; and the shorter ones by two methods
//! in turn, so that no run is longer than one request.
//!
//! Whoever gets them checks that they come in order. The limit is a raw ring from each thread to the next that every
//! request goes through one by one.

use super::PROCS;
use crate::{
    array::job::count_name,
    clock::{WARM_UP, clocked, on_all, timed},
    contest::{Contest, Sample},
    digest::digest,
    options::Options,
    raw::{
        barrier::{Barrier, Gate},
        ring::{Reader, Ring},
        team::team,
    },
    report::Target,
};
use std::{marker::PhantomData, ops::Range};
use superstep::{Config, Epoch, Method, Object, Value};

const KERNEL: &str = "stream";

/// How many requests each processor sends in a round.
const REQUESTS: usize = 4_000_000;

/// A request: its number, and more.
trait Request: Value + PartialEq {
    fn new(number: u64) -> Self;
    fn number(&self) -> u64;
}

impl Request for u64 {
    #[inline]
    fn new(number: u64) -> Self {
        number
    }

    #[inline]
    fn number(&self) -> u64 {
        *self
    }
}

impl Request for [u64; 3] {
    #[inline]
    fn new(number: u64) -> Self {
        [number, 2 * number, 3 * number]
    }

    #[inline]
    fn number(&self) -> u64 {
        self[2] - self[1]
    }
}

/// What has come: how many, and whether each was the one after the last.
struct Came {
    next: u64,
    is_right: bool,
}

impl Came {
    fn new() -> Self {
        Self { next: 0, is_right: true }
    }

    #[inline]
    fn take(&mut self, number: u64) {
        self.is_right &= number == self.next;
        self.next += 1;
    }
}

/// Takes a request as the next one.
struct Take<R>(PhantomData<fn(R)>);

impl<R: Request> Method for Take<R> {
    type On = Came;
    type Args = R;
    type Answer = ();

    #[inline]
    fn run(came: &mut Came, _: &Epoch, request: R) {
        came.take(request.number());
    }
}

/// The same for every other one, which is written otherwise.
struct TakeOdd;

impl Method for TakeOdd {
    type On = Came;
    type Args = u64;
    type Answer = ();

    #[inline]
    fn run(came: &mut Came, _: &Epoch, number: u64) {
        came.take(!number + 1);
    }
}

/// Rounds in which `issue` sends the requests of a range to the next processor.
fn rounds_of(
    config: &Config,
    count: u64,
    rounds: u64,
    issue: impl Fn(&Epoch, usize, &Object<Came>, Range<u64>) + Sync,
) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let came = g.object(Came::new());
        let to = (g.rank() + 1) % g.size();
        let mut first = 0;
        let seconds = clocked(rounds, |_| {
            g.epoch(|e| issue(e, to, &came, first..first + count));
            first += count;
        });
        let sent = (WARM_UP + rounds) * count;
        came.with(|came| (seconds, came.is_right && came.next == sent, digest(&[came.next])))
    })
}

/// Rounds of `count` sends.
fn send<R: Request>(config: &Config, count: u64, rounds: u64) -> superstep::Result<Sample> {
    rounds_of(config, count, rounds, |e, to, came, numbers| {
        for number in numbers {
            e.send_by::<Take<R>>(to, came, R::new(number));
        }
    })
}

/// The same by two methods in turn.
fn send_in_turn(config: &Config, count: u64, rounds: u64) -> superstep::Result<Sample> {
    rounds_of(config, count, rounds, |e, to, came, numbers| {
        for number in numbers.step_by(2) {
            e.send_by::<Take<u64>>(to, came, number);
            e.send_by::<TakeOdd>(to, came, !number);
        }
    })
}

/// Messages that are read at once while the ring to the next thread is full, and else every so often.
const BATCH: u64 = 64;

/// Rounds of `count` messages through a ring from each thread to the next.
fn rings<const WORDS: usize>(procs: usize, count: u64, rounds: u64) -> Sample {
    let rings: Vec<Ring<WORDS>> = (0..procs).map(|_| Ring::new()).collect();
    let gate = Gate::for_team(procs);
    team(procs, |rank| {
        let mut out = rings[rank].writer();
        let mut into = rings[(rank + procs - 1) % procs].reader();
        let mut came = Came::new();
        let take = |into: &mut Reader<'_, WORDS>, came: &mut Came| {
            while let Some(message) = into.pop() {
                came.take(message[0]);
            }
        };
        let mut round = |number: u64| {
            let start = (number - 1) * count;
            for at in start..start + count {
                while !out.push([at; WORDS]) {
                    take(&mut into, &mut came);
                }
                if at % BATCH == 0 {
                    take(&mut into, &mut came);
                }
            }
            while came.next < start + count {
                take(&mut into, &mut came);
                std::thread::yield_now();
            }
            gate.wait(rank, number);
        };
        round(1);
        let seconds = timed(rounds, |number| round(1 + number));
        Sample::by_hand(seconds, came.is_right && came.next == (1 + rounds) * count)
    })
}

/// Plans a contest for each size of a request.
pub(crate) fn plan(options: &Options) -> Vec<Contest> {
    let (procs, count) = (options.procs.unwrap_or(PROCS), options.shrunk(REQUESTS).next_multiple_of(2));
    let (config, variant) = (options.config(procs), format!("8B/{}/two-methods", count_name(count)));
    let in_turn =
        Contest::of_elements(KERNEL, procs, (procs * count) as u64)
            .superstep(&variant, options, move |rounds| send_in_turn(&config, count as u64, rounds));
    vec![contest::<u64>("8B", rings::<1>, options), contest::<[u64; 3]>("24B", rings::<3>, options), in_turn]
}

fn contest<R: Request>(size: &str, rings: fn(usize, u64, u64) -> Sample, options: &Options) -> Contest {
    let (procs, count) = (options.procs.unwrap_or(PROCS), options.shrunk(REQUESTS));
    let (config, count, name) = (options.config(procs), count as u64, count_name(count));
    let (variant, limit) = (format!("{size}/{name}/send"), format!("{size}/{name}/raw-ring"));
    Contest::of_elements(KERNEL, procs, procs as u64 * count)
        .raw(&limit, move |rounds| Ok(rings(procs, count, rounds)))
        .superstep(&variant, options, move |rounds| send::<R>(&config, count, rounds))
        .claim(variant, [limit], Target::AtLeast(0.5))
}
