//! Beginning and ending: where processes come from and where they go.
//!
//! A program is before, inside or after its parallel part. Inside, the thread that has begun it owns the [`Machine`];
//! another thread of the same process has none and is told so.

use crate::{
    failing::{Fault, fail, last_words, say},
    machine::{Ending, Machine},
};
use fabric::{
    Failure, Limits,
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
        atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

const BEFORE: u8 = 0;
const INSIDE: u8 = 1;
const AFTER: u8 = 2;

static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
/// The process that has begun, or is about to.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static RANK: AtomicUsize = AtomicUsize::new(usize::MAX);

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
        BEFORE => Fault::Before,
        INSIDE => Fault::Foreign,
        _ => Fault::After,
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
        let mut procs = None;
        for name in ["BSP_PROCS", "SUPERSTEP_PROCS"] {
            if let Some(value) = env::var_os(name) {
                match value.to_str().and_then(|text| text.trim().parse::<usize>().ok()) {
                    Some(number @ 1..) => procs = procs.or(Some(number)),
                    _ => bad(name, &value, "a number of processes, at least 1"),
                }
            }
        }
        let origin = match env::var_os("SUPERSTEP_FABRIC") {
            None if mpi::is_launched() => Origin::Launched,
            None => Origin::Forked,
            Some(value) => match value.to_str() {
                Some("mpi") => Origin::Launched,
                Some("procs") => Origin::Forked,
                _ => bad("SUPERSTEP_FABRIC", &value, "procs or mpi"),
            },
        };
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

/// How many processes there are, or can be.
pub(crate) fn nprocs() -> usize {
    let machine = MACHINE.get();
    if machine.is_null() {
        if PHASE.load(Ordering::Acquire) != BEFORE {
            fail("bsp_nprocs", outside());
        }
        return Wishes::read("bsp_nprocs").available("bsp_nprocs");
    }
    self::machine("bsp_nprocs").size
}

/// The function that was given to `bsp_init`.
type Spmd = extern "C" fn();

/// Whether `bsp_init` was called.
static IS_INITIALISED: AtomicU8 = AtomicU8::new(0);

/// Notes that a program begins as one process. Under a launcher all others go straight to the parallel part.
pub(crate) fn init(spmd: Option<Spmd>) {
    const NAME: &str = "bsp_init";
    let Some(spmd) = spmd else { fail(NAME, Fault::NullPointer("the function")) };
    if PHASE.load(Ordering::Acquire) != BEFORE {
        fail(NAME, Fault::AlreadyBegun);
    }
    IS_INITIALISED.store(1, Ordering::Release);
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
    if let Some(speaker) = ground.speaker() {
        let _ = SPEAKER.set(speaker);
    }
    let machine = Machine::new(ground, wishes.origin == Origin::Launched);
    MACHINE.set(Box::into_raw(Box::new(machine)));
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
        PHASE.store(AFTER, Ordering::Release);
        exit(i32::from(failure.is_some()));
    }
    let circle = if size < all.size() {
        let members: Vec<usize> = (0..size).collect();
        all.join(1, &members, all.rank())
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
        say(&format!("{NAME}: {}", last_words(&failure)));
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

/// Ends the process as a program does that returns from its main function.
fn exit(code: i32) -> ! {
    // SAFETY: it runs what the program wants to be run at its end, on the thread that would return from main.
    unsafe { libc::exit(code) }
}

/// Lets what the program has printed leave, so that no copy of this process prints it again.
fn flush() {
    // SAFETY: null stands for all files.
    unsafe { libc::fflush(null_mut()) };
    // Fortran keeps buffers of its own, if it is there.
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_gfortran_flush_i4".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the function of that name takes the address of a unit's number, and null stands for all units.
        let flush = unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn(*const i32)>(found) };
        flush(std::ptr::null());
    }
}

/// Asks to be told when the process ends.
fn watch_exit() {
    static IS_WATCHED: AtomicU8 = AtomicU8::new(0);
    if IS_WATCHED.swap(1, Ordering::AcqRel) == 0 {
        // SAFETY: the function may be called when the process ends, and makes no use of what it is handed.
        unsafe { on_exit(at_exit, null_mut()) };
        // SAFETY: the function may be called when the process ends.
        unsafe { at_quick_exit(at_quick_end) };
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
        BEFORE if IS_INITIALISED.load(Ordering::Acquire) == 1 => {
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

/// Ends the whole job, from whichever process.
pub(crate) fn stop() -> ! {
    PHASE.store(AFTER, Ordering::Release);
    flush();
    let machine = MACHINE.replace(null_mut());
    if !machine.is_null() {
        // SAFETY: as in `machine`; whoever holds it does not come back.
        let ground = unsafe { &(*machine).ground };
        let rank = ground.rank();
        ground.raise(Failure::GaveUp { rank, report: [][..].into() });
        ground.stop();
    }
    if mpi::is_launched() {
        // What was just printed has to come through the launcher before it hears that all is over.
        std::thread::sleep(Duration::from_millis(300));
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
    flush();
    std::thread::sleep(Duration::from_secs(5));
    stop()
}
