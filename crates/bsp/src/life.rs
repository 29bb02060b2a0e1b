//! Beginning and ending: where processes come from and where they go.
//!
//! Inside the parallel part the thread that has begun it owns the [`Machine`]; another thread of the same process has
//! none and is told so. A process that the program forks for itself is none of those that belong together: it has a
//! copy of everything, and must touch nothing of it.

use crate::{
    ending::Ending,
    exits::{initialise, parting_words, watch_exit},
    failing::{self, Fault, fail, last_words, say, stop},
    ground::{ByCircle, Forked, Ground},
    machine::{self, Machine},
    parting::{exit, flush},
    phase::{self, Phase},
    wishes::{Origin, Wishes},
};
use fabric::{
    Failure, Limits, Name,
    mpi::{self, Session},
    procs::{self, Terms},
};
use std::{
    cell::Cell,
    ptr::null_mut,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// When this process began.
static BEGAN: OnceLock<Instant> = OnceLock::new();

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
    match phase::now() {
        _ if phase::is_stranger() => Fault::Stranger,
        Phase::Before => Fault::Before,
        Phase::Inside => Fault::Foreign,
        _ => Fault::After,
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

/// What a forked process does first.
extern "C" fn in_copy() {
    MACHINE.set(null_mut());
    phase::note_fork();
}

/// How many processes there are, were, or can be.
pub(crate) fn nprocs(function: &'static str) -> usize {
    if !MACHINE.get().is_null() {
        return machine(function).size;
    }
    match phase::now() {
        Phase::Before => Wishes::read(function).available(function),
        Phase::After => phase::size(),
        _ => fail(function, outside()),
    }
}

/// How many seconds it is since this process began.
pub(crate) fn seconds(function: &'static str) -> f64 {
    if MACHINE.get().is_null() && phase::now() != Phase::After {
        fail(function, outside());
    }
    BEGAN.get().map_or(0.0, |began| began.elapsed().as_secs_f64())
}

/// The function that was given to `bsp_init`.
type Spmd = extern "C" fn();

/// Notes that a program begins as one process. Under a launcher all others go straight to the parallel part.
pub(crate) fn init(spmd: Option<Spmd>) {
    const NAME: &str = "bsp_init";
    let Some(spmd) = spmd else { fail(NAME, Fault::NullPointer("the function")) };
    if phase::now() != Phase::Before {
        fail(NAME, Fault::LateInit);
    }
    if initialise() {
        fail(NAME, Fault::SecondInit);
    }
    phase::adopt();
    watch_exit();
    if Wishes::read(NAME).origin == Origin::Launched {
        match mpi::place() {
            Ok((0, _)) => {}
            Ok(_) => {
                spmd();
                // Whoever has ended does not come back from there.
                if phase::now() == Phase::Before {
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
    if phase::now() != Phase::Before {
        fail(NAME, Fault::AlreadyBegun);
    }
    let wishes = Wishes::read(NAME);
    // Of launched processes the number of process 0 counts, and it need not have told the others.
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
    phase::adopt();
    phase::take_place(ground.rank(), ground.size());
    failing::begin(ground.speaker(), tell_others);
    watch_thread();
    let machine = Machine::new(ground, wishes.origin == Origin::Launched, wishes.watches);
    MACHINE.set(Box::into_raw(Box::new(machine)));
    let _ = BEGAN.set(Instant::now());
    phase::go_to(Phase::Inside);
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
        phase::take_place(usize::MAX, size);
        phase::go_to(Phase::After);
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
    phase::go_to(Phase::After);
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

/// Asks to be told when this thread ends, which the process may outlive; the others would wait for it.
fn watch_thread() {
    let mut key = 0;
    // SAFETY: there is room for the key, and the function may be called when a thread ends.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(at_thread_end)) } == 0 {
        // Anything but null.
        // SAFETY: the key was just made, and nobody uses what is kept there.
        unsafe { libc::pthread_setspecific(key, (&raw const BEGAN).cast()) };
    }
}

/// The thread that has begun ends, and the process does not.
extern "C" fn at_thread_end(_: *mut libc::c_void) {
    if !MACHINE.get().is_null() {
        fail("bsp_end", Fault::ThreadEnded);
    }
}

/// Tells the others that this process ends the job.
fn tell_others() {
    let machine = MACHINE.replace(null_mut());
    if machine.is_null() {
        return;
    }
    // SAFETY: as in `machine`; whoever holds it does not come back.
    let Machine { ground, is_launched, .. } = unsafe { &*machine };
    // A boundary that a signal handler has interrupted would wait for itself; MPI ends this process.
    if !(*is_launched && machine::is_under_way()) {
        ground.raise(Failure::GaveUp { rank: ground.rank(), report: [][..].into() });
    }
    ground.stop();
}
