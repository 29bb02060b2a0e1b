//! What every ground must do, held by one on threads, by simulated ones, and by forked processes.
//!
//! This has a main function of its own: forked processes are to be copies of a process with one thread.

#[path = "../src/ground/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the library, which uses all of it, has no other interface than C's")]
mod ground;

use fabric::{Circle, Failure, Limits, procs::Terms, sim, threads};
use ground::{ByCircle, CHANNELS, Forked, Ground, STREAMS, Stream, Words};
use std::{process::exit, time::Duration};

/// Bytes that tell from whom, to whom, in which turn and stream they are.
fn bytes(from: usize, to: usize, stream: usize, turn: usize) -> Vec<u8> {
    // Some are empty, most are short, and some are long.
    let len = match (from + 2 * to + 3 * stream + turn) % 7 {
        0 => 0,
        1 => 100_000 + turn,
        other => 11 * other + turn % 5,
    };
    // Piece by piece, because byte by byte takes minutes in a build for tests.
    let mut piece: [u8; 256] = std::array::from_fn(|at| (at * 31 + from * 7 + to * 5 + stream * 3 + turn) as u8);
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        piece[0] = piece[0].wrapping_add(1);
        bytes.extend_from_slice(&piece[..256.min(len - bytes.len())]);
    }
    bytes
}

struct Member {
    ground: Box<dyn Ground>,
    streams: [Vec<Stream>; CHANNELS],
    said: Vec<Words>,
}

impl Member {
    fn new(mut ground: Box<dyn Ground>) -> Self {
        let streams = [ground.streams(0), ground.streams(1)];
        assert!(streams.iter().all(|streams| streams.len() == STREAMS * ground.size()));
        Self { ground, streams, said: Vec::new() }
    }

    fn turn(&mut self, channel: usize, mine: &Words) -> Result<(), Failure> {
        self.ground.turn(channel, &mut self.streams[channel], mine, &mut self.said)
    }

    /// Everybody gets what everybody had for it, and hears what everybody says, turn after turn.
    fn exchange(&mut self) {
        let (rank, size) = (self.ground.rank(), self.ground.size());
        for turn in 0..60 {
            let channel = usize::from(turn % 3 == 2);
            for to in 0..size {
                for stream in 0..STREAMS {
                    assert!(self.streams[channel][to * STREAMS + stream].push(&bytes(rank, to, stream, turn)));
                }
            }
            // All say the same now and then, and most of the time they do not.
            let mut mine = [turn as u64; 7];
            mine[3] = if turn % 4 == 0 { 0 } else { rank as u64 };
            self.turn(channel, &mine).expect("nothing fails");
            assert!(self.streams[channel].iter().all(Stream::is_empty), "what was handed over is gone");
            assert_eq!(self.said.len(), size);
            for (from, said) in self.said.iter().enumerate() {
                assert_eq!(said[3], if turn % 4 == 0 { 0 } else { from as u64 });
                assert_eq!(said[6], turn as u64);
            }
            // It can be read while the next ones are filled, and more than once.
            assert!(self.streams[channel][0].push(b"early"));
            for _ in 0..2 {
                for (from, stream) in (0..size).flat_map(|from| (0..STREAMS).map(move |stream| (from, stream))) {
                    let come = self.ground.incoming(channel, from, stream);
                    let is_right = come == bytes(from, rank, stream, turn);
                    assert!(is_right, "turn {turn}, stream {stream} of {from}: {} bytes came", come.len());
                    assert!(come.is_empty() || come.as_ptr().addr().is_multiple_of(16), "any type may lie there");
                }
            }
            self.streams[channel][0].clear();
            self.ground.settle();
        }
    }

    /// Nobody gets a turn before everybody has taken it.
    fn wait(&mut self) {
        for turn in 0..200_u64 {
            self.turn(0, &[turn; 7]).expect("nothing fails");
            assert!(self.said.iter().all(|said| *said == [turn; 7]), "somebody is ahead or behind");
        }
    }

    /// Once one raises a failure, every turn of everybody fails with it.
    fn fail(&mut self) {
        let failure = Failure::GaveUp { rank: 0, report: b"enough"[..].into() };
        if self.ground.rank() == 0 {
            self.ground.raise(failure.clone());
        }
        loop {
            match self.turn(0, &[0; 7]) {
                Ok(()) => assert!(self.ground.rank() > 0 && self.ground.size() > 1),
                Err(first) => {
                    assert_eq!(first, failure);
                    break;
                }
            }
        }
        assert_eq!(self.turn(1, &[0; 7]), Err(failure));
    }
}

fn hold(ground: Box<dyn Ground>) -> Member {
    let mut member = Member::new(ground);
    member.exchange();
    member.wait();
    member
}

fn on_circle(circle: Box<dyn Circle>) {
    hold(Box::new(ByCircle::new(circle)));
}

fn on_circle_failing(circle: Box<dyn Circle>) {
    Member::new(Box::new(ByCircle::new(circle))).fail();
}

/// Holds it in processes that are forked here; the others end in here.
fn forked(size: usize) {
    let terms = Terms { grace: Duration::from_secs(10), last_words: ToString::to_string, limits: Limits::default() };
    let ground = Forked::fork(size, terms).expect("there is room for processes");
    let rank = ground.rank();
    let held = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| hold(Box::new(ground))));
    let Ok(Member { ground, .. }) = held else { exit(1) };
    let failure = ground.end();
    if rank > 0 {
        exit(0);
    }
    assert_eq!(failure, None, "all have ended well");
}

/// Once one raises a failure, all hear of it.
fn forked_failing(size: usize) {
    let terms = Terms { grace: Duration::from_secs(10), last_words: ToString::to_string, limits: Limits::default() };
    let ground = Forked::fork(size, terms).expect("there is room for processes");
    let rank = ground.rank();
    let mut member = Member::new(Box::new(ground));
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| member.fail())).is_err() {
        exit(1);
    }
    let failure = member.ground.end();
    if rank > 0 {
        exit(0);
    }
    assert!(matches!(failure, Some(Failure::GaveUp { .. })), "{failure:?}");
}

/// Shared memory is the same everywhere, and what is registered nowhere can be reached as well.
fn reached() {
    let terms = Terms { grace: Duration::from_secs(10), last_words: ToString::to_string, limits: Limits::default() };
    let mut ground = Forked::fork(2, terms).expect("there is room for processes");
    let (rank, other) = (ground.rank(), 1 - ground.rank());
    let common = ground.alloc(1000).expect("there is shared memory").as_ptr();
    let own = vec![rank as u8 + 1; 1000];
    let mut member = Member::new(Box::new(ground));
    let mine = [common.expose_provenance() as u64, own.as_ptr().expose_provenance() as u64, 0, 0, 0, 0, 0];
    member.turn(0, &mine).expect("nothing fails");
    member.ground.settle();
    assert!(member.ground.is_common(mine[0] as usize, 1000) && !member.ground.is_common(mine[1] as usize, 1));
    let theirs = member.said[other];
    // SAFETY: the other process has as many bytes there, and uses them only after the next turn.
    assert!(unsafe { member.ground.write_to(other, theirs[0] as usize, &own) });
    let mut found = [0; 1000];
    if member.ground.reaches() {
        // SAFETY: the other process has as many bytes there, and does not change them.
        assert!(unsafe { member.ground.read_from(other, theirs[1] as usize, &mut found) });
        assert_eq!(found, [other as u8 + 1; 1000]);
    }
    member.turn(0, &mine).expect("nothing fails");
    // SAFETY: the memory is this process's own, and the other one has written to it before the turn.
    assert_eq!(unsafe { std::slice::from_raw_parts(common, 1000) }, [other as u8 + 1; 1000]);
    assert!(member.ground.free(std::ptr::NonNull::new(common).expect("it is an address")));
    member.ground.end();
    if rank > 0 {
        exit(0);
    }
}

/// How much shared memory this process uses, in bytes.
fn shared_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("there is a status");
    let line = status.lines().find(|line| line.starts_with("RssShmem:")).expect("it knows of shared memory");
    let number = line.split_whitespace().nth(1).and_then(|number| number.parse::<usize>().ok());
    number.expect("it is a number of KiB") << 10
}

/// Memory that a stream had taken once is given back when it has had little in it for a while, and not before.
fn given_back() {
    const MUCH: usize = 200 << 20;
    let terms = Terms { grace: Duration::from_secs(10), last_words: ToString::to_string, limits: Limits::default() };
    let mut member = Member::new(Box::new(Forked::fork(1, terms).expect("there is room for one process")));
    let much = vec![7; MUCH];
    for turn in 0..40 {
        // It comes and goes first, and then it does not come again.
        if turn < 10 && turn % 2 == 0 {
            assert!(member.streams[0][0].push(&much));
        }
        member.turn(0, &[0; 7]).expect("nothing fails");
        if turn < 10 {
            assert!(shared_bytes() >= MUCH, "it is needed again soon");
        }
    }
    assert!(shared_bytes() < MUCH / 2, "{} bytes are kept", shared_bytes());
    assert!(member.streams[0][0].push(&much[..1000]));
    member.turn(0, &[0; 7]).expect("nothing fails");
    assert_eq!(member.ground.incoming(0, 0, 0), &much[..1000]);
    assert_eq!(member.ground.end(), None);
}

fn main() {
    given_back();
    println!("memory that is not needed any more: ok");
    for size in [1, 2, 3, 7] {
        forked(size);
        println!("forked processes, {size}: ok");
    }
    forked_failing(2);
    forked_failing(5);
    reached();
    println!("forked processes that fail, and that reach each other: ok");
    for size in [1, 2, 3, 5] {
        for body in [on_circle, on_circle_failing] {
            threads::run(size, threads::Options::default(), body).unwrap();
            for seed in 0..20 {
                sim::run(size, &sim::Plan::new(seed, sim::Memory::Apart), threads::Options::default(), body).unwrap();
            }
        }
        println!("threads and simulated processors, {size}: ok");
    }
}
