//! Beginning and ending: where processes come from and where they go.
//!
//! A program is before, inside or after its parallel part. Inside, the thread that has begun it owns the [`Machine`];
//! another thread of the same process has none and is told so. A process that the program forks for itself is none of
//! those that belong together: it has a copy of everything, and must touch nothing of it.

use crate::{
    failing::{Fault, fail, last_words, say},
    machine::{self, Ending, Machine},
    parting::{end_anyway, end_handlers, exit, flush},
};
use fabric::{
    Failure, Limits, Name,
    ground::{ByCircle, Ground, Speaker},
    mpi::{self, Session},
    procs::{self, Forked, Terms},
};
use std::{
    cell::Cell,
    env,
    ptr::null_mut,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const BEFORE: u8 = 0;
const INSIDE: u8 = 1;
const AFTER: u8 = 2;
/// In a process that the program has forked for itself after it had begun.
const STRANGE: u8 = 3;

static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
/// The process that has begun, or is about to.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static RANK: AtomicUsize = AtomicUsize::new(usize::MAX);
/// How many processes there are, or were.
static SIZE: AtomicUsize = AtomicUsize::new(0);
/// When this process began.
static BEGAN: OnceLock<Instant> = OnceLock::new();
/// Whether this process was forked since the library was loaded, by the program or by the library.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// How this process came to be one of several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Forked,
    Launched,
}

/// Says whether nobody in the job has spoken yet; for any thread.
static SPEAKER: OnceLock<Speaker> = OnceLock::new();

thread_local! {
    /// The machine of the thread that has begun; null elsewhere.
    static MACHINE: Cell<*mut Machine> = const { Cell::new(null_mut()) };
}

/// The machine, for a call of `function` between begin and end.
///
/// The reference must not be used after the function of the library that asked for it has returned, or while a function
/// of the program runs that may call the library.
#[inline]
#[expect(clippy::mut_from_ref, reason = "it does not come from the name")]
pub(crate) fn machine(function: &'static str) -> &'static mut Machine {
    let machine = MACHINE.get();
    if machine.is_null() {
        fail(function, outside());
    }
    // SAFETY: the box behind it lives until `end` sets it to null. It is this thread's own, and the functions of the
    // library hold it one at a time: none calls another one that asks for it, and none is called by a signal handler.
    unsafe { &mut *machine }
}

fn outside() -> Fault {
    match PHASE.load(Ordering::Acquire) {
        _ if is_stranger() => Fault::Stranger,
        BEFORE => Fault::Before,
        INSIDE => Fault::Foreign,
        _ => Fault::After,
    }
}

/// Whether this process is a copy that the program has made for itself. One that was made before the program began, and
/// without a launcher, may begin on its own; under a launcher its parent alone has a place among the others.
pub(crate) fn is_stranger() -> bool {
    match PHASE.load(Ordering::Acquire) {
        STRANGE => true,
        BEFORE => IS_FORKED.load(Ordering::Acquire) && mpi::is_launched(),
        _ => false,
    }
}

/// Asks to be told of forks, in time for whatever the program forks. A linker may leave it out of a static library;
/// then this is done when the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = watch_forks;

extern "C" fn watch_forks() {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.swap(true, Ordering::AcqRel) {
        // SAFETY: the function may be called in any process that this one forks.
        unsafe { libc::pthread_atfork(None, None, Some(in_copy)) };
    }
}

/// What a process does first that was forked. The library itself forks only before the program has begun.
extern "C" fn in_copy() {
    IS_FORKED.store(true, Ordering::Release);
    MACHINE.set(null_mut());
    if PHASE.load(Ordering::Acquire) != BEFORE {
        PHASE.store(STRANGE, Ordering::Release);
    }
}

/// My number, inside.
pub(crate) fn rank() -> Option<usize> {
    Some(RANK.load(Ordering::Acquire)).filter(|&rank| rank != usize::MAX)
}

/// What the environment says about processes.
struct Wishes {
    procs: Option<usize>,
    origin: Origin,
}

impl Wishes {
    fn read(function: &'static str) -> Self {
        let bad = |name: &str, value: &std::ffi::OsStr, wanted: &str| -> ! {
            fail(function, Fault::BadConfig(format!("{name} is {}; it must be {wanted}", value.display())))
        };
        let origin = match env::var_os("SUPERSTEP_FABRIC") {
            None if mpi::is_launched() => Origin::Launched,
            None => Origin::Forked,
            Some(value) => match value.to_str() {
                Some("mpi") => Origin::Launched,
                Some("procs") => Origin::Forked,
                _ => bad("SUPERSTEP_FABRIC", &value, "procs or mpi"),
            },
        };
        if origin == Origin::Launched && is_stranger() {
            fail(function, Fault::Stranger);
        }
        // A launcher has counted its processes itself.
        let most = if origin == Origin::Forked { procs::MOST } else { usize::MAX };
        let mut procs = None;
        for name in ["BSP_PROCS", "SUPERSTEP_PROCS"] {
            if let Some(value) = env::var_os(name) {
                match value.to_str().map(|text| text.trim().parse::<usize>()) {
                    Some(Ok(number)) if (1..=most).contains(&number) => procs = procs.or(Some(number)),
                    _ => bad(name, &value, &format!("a number of processes from 1 to {}", procs::MOST)),
                }
            }
        }
        Self { procs, origin }
    }

    /// How many processes there can be.
    fn available(&self, function: &'static str) -> usize {
        match self.origin {
            Origin::Forked => self.procs.unwrap_or_else(fabric::threads::cores),
            Origin::Launched => match mpi::place() {
                Ok((_, processes)) => processes,
                Err(why) => fail(function, Fault::NoStart(why.to_string())),
            },
        }
    }
}

/// How many processes there are, were, or can be.
pub(crate) fn nprocs(function: &'static str) -> usize {
    if !MACHINE.get().is_null() {
        return machine(function).size;
    }
    match PHASE.load(Ordering::Acquire) {
        BEFORE => Wishes::read(function).available(function),
        AFTER => SIZE.load(Ordering::Acquire),
        _ => fail(function, outside()),
    }
}

/// How many seconds it is since this process began.
pub(crate) fn seconds(function: &'static str) -> f64 {
    if MACHINE.get().is_null() && PHASE.load(Ordering::Acquire) != AFTER {
        fail(function, outside());
    }
    BEGAN.get().map_or(0.0, |began| began.elapsed().as_secs_f64())
}

/// The function that was given to `bsp_init`.
type Spmd = extern "C" fn();

/// Whether `bsp_init` was called.
static IS_INITIALISED: AtomicBool = AtomicBool::new(false);

/// Notes that a program begins as one process. Under a launcher all others go straight to the parallel part.
pub(crate) fn init(spmd: Option<Spmd>) {
    const NAME: &str = "bsp_init";
    let Some(spmd) = spmd else { fail(NAME, Fault::NullPointer("the function")) };
    if PHASE.load(Ordering::Acquire) != BEFORE {
        fail(NAME, Fault::LateInit);
    }
    if IS_INITIALISED.swap(true, Ordering::AcqRel) {
        fail(NAME, Fault::SecondInit);
    }
    PROCESS.store(std::process::id(), Ordering::Release);
    watch_exit();
    if Wishes::read(NAME).origin == Origin::Launched {
        match mpi::place() {
            Ok((0, _)) => {}
            Ok(_) => {
                spmd();
                // Whoever has ended does not come back from there.
                if PHASE.load(Ordering::Acquire) == BEFORE {
                    fail(NAME, Fault::NoSpmdSection);
                }
                fail("bsp_end", Fault::MissingEnd);
            }
            Err(why) => fail(NAME, Fault::NoStart(why.to_string())),
        }
    }
}

/// Begins the parallel part.
pub(crate) fn begin(asked: i64) {
    const NAME: &str = "bsp_begin";
    if PHASE.load(Ordering::Acquire) != BEFORE {
        fail(NAME, Fault::AlreadyBegun);
    }
    let wishes = Wishes::read(NAME);
    // Of launched processes that of process 0 counts, and it need not have told the others.
    let is_follower = wishes.origin == Origin::Launched && mpi::place().is_ok_and(|(rank, _)| rank > 0);
    if asked < 1 && !is_follower {
        fail(NAME, Fault::BadProcs(asked));
    }
    let asked = usize::try_from(asked).unwrap_or(1);
    watch_exit();
    watch_forks();
    let ground: Box<dyn Ground> = match wishes.origin {
        Origin::Forked => {
            let size = asked.min(wishes.procs.unwrap_or(FORKED_MOST)).min(procs::MOST);
            flush();
            let limits = Limits::from_environment().unwrap_or_else(|why| fail(NAME, Fault::BadConfig(why)));
            match Forked::fork(size, Terms { grace: Duration::ZERO, last_words: parting_words, limits }) {
                Ok(forked) => Box::new(forked),
                Err(error) => fail(NAME, Fault::NoStart(format!("{size} processes cannot be started: {error}"))),
            }
        }
        Origin::Launched => launched(NAME, asked),
    };
    PROCESS.store(std::process::id(), Ordering::Release);
    RANK.store(ground.rank(), Ordering::Release);
    SIZE.store(ground.size(), Ordering::Release);
    if let Some(speaker) = ground.speaker() {
        let _ = SPEAKER.set(speaker);
    }
    watch_thread();
    let machine = Machine::new(ground, wishes.origin == Origin::Launched);
    MACHINE.set(Box::into_raw(Box::new(machine)));
    let _ = BEGAN.set(Instant::now());
    PHASE.store(INSIDE, Ordering::Release);
}

/// How many processes are forked at most, unless the environment asks for more.
const FORKED_MOST: usize = 256;

/// The ground of the first processes that were launched; the others end here when all do.
fn launched(name: &'static str, asked: usize) -> Box<dyn Ground> {
    let unable = |why: mpi::Unable| -> ! { fail(name, Fault::NoStart(why.to_string())) };
    let (session, all) = Session::begin(last_words).unwrap_or_else(|why| unable(why));
    let size = session.agree(asked as u64) as usize;
    if all.rank() >= size {
        let failure = session.end();
        SIZE.store(size, Ordering::Release);
        PHASE.store(AFTER, Ordering::Release);
        exit(i32::from(failure.is_some()));
    }
    let circle = if size < all.size() {
        let members: Vec<usize> = (0..size).collect();
        all.join(Name::new(1), &members, all.rank())
    } else {
        all
    };
    Box::new(ByCircle::new(circle).with_end(|| session.end()))
}

/// Ends the parallel part: process 0 goes on alone.
pub(crate) fn end() {
    const NAME: &str = "bsp_end";
    let machine = MACHINE.get();
    if machine.is_null() {
        fail(
            NAME,
            match outside() {
                Fault::Before => Fault::NotBegun,
                Fault::After => Fault::AlreadyEnded,
                fault => fault,
            },
        );
    }
    self::machine(NAME).boundary(Ending::End, 0);
    MACHINE.set(null_mut());
    PHASE.store(AFTER, Ordering::Release);
    // SAFETY: it was made by `Box::into_raw` in `begin`, and nobody finds it any more.
    let machine = unsafe { Box::from_raw(machine) };
    let (rank, is_launched) = (machine.rank, machine.is_launched);
    let failure = machine.ground.end();
    if let Some(failure) = failure {
        say(format!("{NAME}: {}", last_words(&failure)).as_bytes());
        stop();
    }
    if rank > 0 && is_launched {
        exit(0);
    }
    if rank > 0 {
        // Not as if main had returned: that would put back what this copy of process 0 has read ahead in its files, and
        // process 0 reads on in the same ones.
        flush();
        // SAFETY: it ends the process.
        unsafe { libc::_exit(0) };
    }
}

/// Asks to be told when the process ends.
fn watch_exit() {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if !IS_WATCHED.swap(true, Ordering::AcqRel) {
        // SAFETY: the function may be called when the process ends, and makes no use of what it is handed.
        unsafe { on_exit(at_exit, null_mut()) };
        // SAFETY: the function may be called when the process ends.
        unsafe { at_quick_exit(at_quick_end) };
    }
}

/// Asks to be told when this thread ends, which the process may outlive; the others would wait for it.
fn watch_thread() {
    let mut key = 0;
    // SAFETY: there is room for the key, and the function may be called when a thread ends.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_thread_end)) } == 0 {
        // Anything but null.
        // SAFETY: the key was just made, and nobody uses what is kept there.
        unsafe { libc::pthread_setspecific(key, (&raw const PHASE).cast()) };
    }
}

/// The thread that has begun ends, and the process does not.
extern "C" fn at_thread_end(_: *mut libc::c_void) {
    if !MACHINE.get().is_null() {
        fail("bsp_end", Fault::ThreadEnded);
    }
}

unsafe extern "C" {
    /// Lets a function be called with the code when the process ends.
    fn on_exit(call: extern "C" fn(i32, *mut libc::c_void), with: *mut libc::c_void) -> i32;

    /// Lets a function be called when the process ends in a hurry.
    fn at_quick_exit(call: extern "C" fn()) -> i32;
}

/// The process ends in a hurry.
extern "C" fn at_quick_end() {
    at_exit(1, null_mut());
}

/// The process ends: it should have ended its parallel part, and have had one.
extern "C" fn at_exit(code: i32, _: *mut libc::c_void) {
    if std::process::id() != PROCESS.load(Ordering::Acquire) {
        // A process that the program has forked for itself.
        return;
    }
    match PHASE.load(Ordering::Acquire) {
        INSIDE => fail("bsp_end", Fault::MissingEnd),
        BEFORE if IS_INITIALISED.load(Ordering::Acquire) => {
            if code == 0 {
                fail("bsp_init", Fault::NoSpmdSection);
            }
            // The program has its reasons, and need not say them to those that wait for it to begin.
            mpi::abort(code);
        }
        _ => {}
    }
}

/// How long what was printed is waited for to come out: as long as a slow machine may need for it, because what is not
/// out then is lost.
const PRINTING: Duration = Duration::from_secs(5);

/// What process 0 says when it is ended because another one has.
fn parting_words(failure: &Failure) -> String {
    // What it has printed is to come out. The thread that has just been stopped may be in the middle of printing, and
    // then nobody waits for it.
    let (done, is_done) = std::sync::mpsc::channel();
    let flushing = std::thread::Builder::new().spawn(move || {
        flush();
        let _ = done.send(());
    });
    if flushing.is_ok() {
        let _ = is_done.recv_timeout(PRINTING);
    }
    let words = last_words(failure);
    if words.is_empty() { words } else { format!("bsp_end: {words} before it has called bsp_end") }
}

/// Ends the whole job, from whichever process that belongs to it.
pub(crate) fn stop() -> ! {
    PHASE.store(AFTER, Ordering::Release);
    end_handlers();
    flush();
    let machine = MACHINE.replace(null_mut());
    if !machine.is_null() {
        // SAFETY: as in `machine`; whoever holds it does not come back.
        let ground = unsafe { &(*machine).ground };
        let rank = ground.rank();
        // The one that is left in the middle of its work by a signal handler would wait for itself; MPI ends it below.
        // SAFETY: as above.
        let is_launched = unsafe { (*machine).is_launched };
        if !(is_launched && machine::is_under_way()) {
            ground.raise(Failure::GaveUp { rank, report: [][..].into() });
        }
        ground.stop();
    }
    if mpi::is_launched() {
        // What was just printed has to come through the launcher before it hears that all is over.
        std::thread::sleep(Duration::from_millis(300));
        // A signal handler may have interrupted MPI itself, which then waits for itself.
        end_anyway();
        mpi::abort(1);
    }
    // SAFETY: it ends the process; what the program wants to be run at its end might wait for others.
    unsafe { libc::_exit(1) }
}

/// Whether this process is the first one that says why the job ends; where that cannot be known, each may.
pub(crate) fn may_speak() -> bool {
    SPEAKER.get().is_none_or(|may_speak| may_speak())
}

/// Waits to be ended, because the job is; and if nobody does that, ends.
pub(crate) fn await_end() -> ! {
    PHASE.store(AFTER, Ordering::Release);
    end_handlers();
    flush();
    std::thread::sleep(Duration::from_secs(5));
    stop()
}
