//! Running a body in processes that are forked for it.

use super::{board::MOST, link::ProcsLink, ring::Layout, team::Team, watch::Terms};
use crate::{
    alarm::or_raise,
    circle::Circle,
    failure::Failure,
    messages::MessageCircle,
    nest::Name,
    secret::Secret,
    system,
    threads::{
        Options, exit,
        pool::{be_processor, forget_workers},
        wait::Crowd,
    },
};
use std::{
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
    time::Duration,
};

/// How much time to itself one who computes has to hear of a failure until it is ended.
const GRACE: Duration = Duration::from_millis(450);

/// Forks this process into `processors`, runs `body` in each of them with its end of the circle of all, and returns
/// what it returned in this one, which is process 0, with the failure that has ended the run, if one has, in whichever
/// process. The others end there. `words` says what a failure comes to, if this process has to be ended.
///
/// Each process begins with a copy of this one's memory, and only process 0 has its input. Of the threads of this
/// process none goes on in the others: a lock that another thread holds at that moment stays locked there for good. The
/// locks of standard output and standard error are seen to, and a process in which no thread can be started because of
/// such a lock is forked again. A program that has threads of its own should run this before it starts them.
///
/// # Errors
///
/// If the system has no room for so many processes, or there are none or more than [`MOST`]; then none is left.
///
/// # Panics
///
/// If `body` panics in this process, when all others have ended. In another process a panic is a failure.
pub fn run<R: Send>(
    processors: usize,
    options: Options,
    words: fn(&Failure) -> String,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<(Vec<R>, Option<Failure>)> {
    run_with(processors, options, words, true, body)
}

/// Runs; if processes may not reach each other's memory, everything goes through what they share.
fn run_with<R: Send>(
    processors: usize,
    options: Options,
    words: fn(&Failure) -> String,
    may_reach: bool,
    body: impl Fn(Box<dyn Circle>) -> R + Sync,
) -> io::Result<(Vec<R>, Option<Failure>)> {
    if !(1..=MOST).contains(&processors) {
        let why = format!("a run has 1 to {MOST} processes, and not {processors}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let secret = Secret::draw();
    let _underway = exit::watch();
    let team = fork(processors, Terms { grace: GRACE, last_words: words, limits: options.limits })?;
    let is_first = team.rank() == 0;
    let _crowd = if is_first {
        Crowd::enter(processors)
    } else {
        forget_workers();
        Crowd::enter_alone(processors)
    };
    let outcome = thread::scope(|scope| {
        let thread = thread::Builder::new().name(format!("superstep {}", team.rank())).stack_size(options.stack_bytes);
        thread
            .spawn_scoped(scope, || be_processor_of(&team, options, may_reach, secret, &body))
            .map(thread::ScopedJoinHandle::join)
    });
    if !is_first {
        leave(team, matches!(outcome, Ok(Ok(Some(_)))));
    }
    if matches!(outcome, Err(_) | Ok(Ok(None))) {
        team.end_others();
    }
    let failure = team.end();
    match outcome? {
        Ok(Some(result)) => Ok((vec![result], failure)),
        Ok(None) => Err(io::ErrorKind::OutOfMemory.into()),
        Err(payload) => resume_unwind(payload),
    }
}

/// Forks. What was written before is not to be written again by every process, and no other thread may be writing
/// meanwhile, or the others could never write anything.
fn fork(processors: usize, terms: Terms) -> io::Result<Team> {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    flush(&mut out);
    let _ = err.flush();
    Team::fork(processors, Layout::wanted(processors), terms)
}

/// Writes what is left to be written. There is nobody to tell if that fails.
fn flush(out: &mut impl io::Write) {
    let _ = out.flush();
    system::flush_streams();
}

/// Ends a process that was forked.
fn leave(team: Team, is_well: bool) -> ! {
    flush(&mut io::stdout());
    let failure = if is_well { team.end() } else { team.raised() };
    // What the program had registered for its end is for the process that began it.
    system::exit_now(i32::from(!is_well || failure.is_some()))
}

/// One process's part of a run; nothing if there is too little memory in common.
fn be_processor_of<R>(
    team: &Team,
    options: Options,
    may_reach: bool,
    secret: Secret,
    body: &(impl Fn(Box<dyn Circle>) -> R + Sync),
) -> Option<R> {
    let (rank, size, alarm) = (team.rank(), team.size(), team.alarm());
    be_processor();
    let pen = team.pen();
    pen.begin();
    if options.pin {
        system::bind(Some(rank));
    }
    let circle = MessageCircle::apart(ProcsLink::new(team, may_reach)?, size, rank, 0, secret);
    let all: Vec<usize> = (0..size).collect();
    let mut end = circle.join(Name::END, &all, rank);
    let result =
        catch_unwind(AssertUnwindSafe(|| or_raise(&alarm, rank, || exit::being(rank, || body(Box::new(circle))))));
    // Nobody's run has ended well before everybody's has. If one fails, the board says so.
    let _ = end.wait();
    pen.end();
    Some(result.unwrap_or_else(|payload| resume_unwind(payload)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tray::Tray;

    /// As it is where the system does not let processes read each other's memory.
    #[test]
    fn what_may_not_be_reached_goes_through_the_rings_in_pieces() {
        let lens = [0, 1, 31, 32, 33, 5_000, 70_000, 300_000, 3_000_001];
        let bytes = |from: usize, to: usize, len: usize| -> Vec<u8> {
            (0..len).map(|at| (at * 31 + at / 251 + 7 * from + 13 * to) as u8).collect()
        };
        for size in [2, 3, 20] {
            let run = run_with(size, Options::default(), ToString::to_string, false, |mut circle| {
                let me = circle.rank();
                for round in 0..lens.len() {
                    let len = |from: usize, to: usize| lens[(round + from + 3 * to) % lens.len()] / size;
                    for to in 0..size {
                        let mut tray = Tray::from(bytes(me, to, len(me, to)));
                        circle.post(to, &mut tray).expect("nobody raised");
                    }
                    circle.wait().expect("nobody raised");
                    for from in 0..size {
                        let mut tray = Tray::default();
                        circle.take(from, &mut tray);
                        assert!(tray.bytes == bytes(from, me, len(from, me)), "{from} to {me} in round {round}");
                    }
                    let out: Vec<_> = (0..size).map(|to| (to, bytes(me, to, len(me, to)))).collect();
                    let mut into: Vec<_> = (0..size).map(|from| (from, vec![0; len(from, me)])).collect();
                    let lent: Vec<_> = out.iter().map(|(to, piece)| (*to, piece.as_slice())).collect();
                    let mut places: Vec<_> =
                        into.iter_mut().map(|(from, place)| (*from, place.as_mut_slice())).collect();
                    circle.carry(&lent, &mut places).expect("nobody raised");
                    for (from, place) in &into {
                        assert!(*place == bytes(*from, me, len(*from, me)), "a piece of {from} in {round}");
                    }
                }
            });
            assert_eq!(run.expect("it can begin").1, None, "{size} processes");
        }
    }
}
