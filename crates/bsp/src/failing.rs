//! The end of a job that cannot go on: one line that begins with the name of the function, and a code that is not 0.

use crate::{
    parting::{self, end_anyway, end_handlers, flush},
    phase::{self, Phase},
    watch::Conflict,
};
use fabric::{Failure, mpi, procs::Speaker};
use std::{
    fmt,
    io::Write,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// What a program has done wrong, or what has happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Before,
    After,
    Foreign,
    Stranger,
    AlreadyBegun,
    SecondInit,
    LateInit,
    AlreadyEnded,
    NotBegun,
    BadProcs(i64),
    NullPointer(&'static str),
    MissingEnd,
    ThreadEnded,
    NoSpmdSection,
    BadConfig(String),
    NoStart(String),
    BadSize { what: &'static str, value: i64 },
    HugeSize { what: &'static str, value: u64 },
    NoRoom { what: &'static str, value: u64 },
    Rank { pid: i64, size: usize },
    NotRegistered,
    NotYetActive,
    Bounds { offset: usize, len: usize, size: usize, rank: usize },
    Pop,
    EmptyQueue,
    OutOfMemory,
    Within(&'static str),
    NotAllocated,
    Damaged { from: usize },
    Endings { other: usize, names: [&'static str; 2] },
    Pushes(Vec<u64>),
    Pops(Vec<u64>),
    Slots([usize; 2]),
    TagCalls(Vec<u64>),
    TagSizes(Vec<u64>),
    Terms,
    Checks { other: usize },
    Conflict(Conflict),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before => write!(f, "called before bsp_begin"),
            Self::After => write!(f, "called after bsp_end"),
            Self::Foreign => write!(f, "called by a thread that has not called bsp_begin"),
            Self::Stranger => {
                write!(
                    f,
                    "called by a process that the program has forked; only those of bsp_begin may call the library"
                )
            }
            Self::SecondInit => write!(f, "called a second time; a program has one, as its first statement"),
            Self::LateInit => write!(f, "called after bsp_begin; it must be the program's first statement"),
            Self::AlreadyBegun => write!(f, "called a second time; a program has one bsp_begin and one bsp_end"),
            Self::AlreadyEnded => write!(f, "called a second time"),
            Self::NotBegun => write!(f, "called without bsp_begin"),
            Self::BadProcs(n) => write!(f, "{n} processes were asked for; there must be at least 1"),
            Self::NullPointer(what) => write!(f, "{what} is NULL"),
            Self::MissingEnd => write!(f, "the program has ended without calling it"),
            Self::ThreadEnded => write!(f, "the thread that has called bsp_begin has ended without calling it"),
            Self::NoSpmdSection => write!(f, "the function that was given to bsp_init has not called bsp_begin"),
            Self::BadConfig(what) | Self::NoStart(what) => f.write_str(what),
            Self::BadSize { what, value } => write!(f, "{what} is {value}; it must not be negative"),
            Self::HugeSize { what, value } => write!(f, "{what} is {value}; no memory is that large"),
            Self::NoRoom { what, value } => {
                write!(f, "{what} is {value}, which an int has no room for; define BSP_SIZE_T before bsp.h is included")
            }
            Self::Rank { pid, size } => write!(f, "there is no process {pid}; they are 0 to {}", size - 1),
            Self::NotRegistered => write!(f, "the address is not registered; use bsp_push_reg and then bsp_sync"),
            Self::NotYetActive => {
                write!(f, "the address was registered in this superstep; it can be used after the next bsp_sync")
            }
            Self::Bounds { offset, len, size, rank } => {
                let beyond = (*offset as u128 + *len as u128).saturating_sub(*size as u128);
                write!(
                    f,
                    "{len} bytes at offset {offset} are {beyond} bytes beyond the {size} that process {rank} has \
                     registered"
                )
            }
            Self::Pop => write!(f, "the address is not registered, or was popped already"),
            Self::EmptyQueue => write!(f, "there is no message left in the queue"),
            Self::OutOfMemory => write!(f, "there is no memory left for what is under way"),
            Self::Within(name) => {
                write!(f, "called before {name} has returned: by its function, by a signal handler or after a longjmp")
            }
            Self::NotAllocated => write!(f, "the address is not one that bsp_alloc gave"),
            Self::Damaged { from } => write!(f, "what came from process {from} makes no sense"),
            Self::Endings { other, names: [mine, theirs] } => {
                write!(f, "process 0 is in {mine}, but process {other} is in {theirs}")
            }
            Self::Pushes(counts) => {
                write!(f, "the processes have called bsp_push_reg a different number of times: {}", List(counts))
            }
            Self::Pops(counts) => {
                write!(f, "the processes have called bsp_pop_reg a different number of times: {}", List(counts))
            }
            Self::Slots([one, other]) => {
                write!(f, "bsp_pop_reg was called for different registrations by processes {one} and {other}")
            }
            Self::TagCalls(counts) => {
                write!(f, "the processes have called bsp_set_tagsize a different number of times: {}", List(counts))
            }
            Self::TagSizes(sizes) => {
                write!(f, "the processes have set different tag sizes with bsp_set_tagsize: {}", List(sizes))
            }
            Self::Checks { other } => {
                write!(f, "processes 0 and {other} have different values of SUPERSTEP_CHECK")
            }
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Terms => write!(f, "the processes have called it with a different root or a different size"),
        }
    }
}

/// A value of each process, as far as a line has room.
struct List<'a>(&'a [u64]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (rank, value) in self.0.iter().take(8).enumerate() {
            write!(f, "{}{value} on process {rank}", if rank == 0 { "" } else { ", " })?;
        }
        if self.0.len() > 8 { write!(f, ", …") } else { Ok(()) }
    }
}

/// Says whether nobody in the job has spoken yet; for any thread.
static SPEAKER: OnceLock<Speaker> = OnceLock::new();

/// Tells the others that this process ends the job, once there are others.
static TELL: OnceLock<fn()> = OnceLock::new();

/// Notes how others are told, and who may speak; without a speaker each process may.
pub(crate) fn begin(speaker: Option<Speaker>, tell: fn()) {
    if let Some(speaker) = speaker {
        let _ = SPEAKER.set(speaker);
    }
    let _ = TELL.set(tell);
}

/// Whether this process has said why the job ends.
static HAS_SPOKEN: AtomicBool = AtomicBool::new(false);

/// Prints one line, in one piece, unless this process has said something already.
pub(crate) fn say(line: &[u8]) {
    if !line.is_empty() && !HAS_SPOKEN.swap(true, Ordering::SeqCst) && SPEAKER.get().is_none_or(|may_speak| may_speak())
    {
        let end = line.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
        let _ = std::io::stderr().write_all(&[&line[..end], b"\n"].concat());
    }
}

/// Ends the job over something that this process alone has done or seen.
#[cold]
pub(crate) fn fail(function: &str, fault: Fault) -> ! {
    if phase::is_stranger() {
        parting::leave(format!("{function}: {}", Fault::Stranger).as_bytes());
    }
    let place = phase::rank().map_or_else(String::new, |rank| format!(" (process {rank})"));
    say(format!("{function}: {fault}{place}").as_bytes());
    stop()
}

/// Ends the job over something that all processes see at the same boundary: process 0 says so.
#[cold]
pub(crate) fn fail_together(function: &str, fault: &Fault) -> ! {
    if phase::rank() == Some(0) {
        say(format!("{function}: {fault}").as_bytes());
        stop();
    }
    await_end()
}

/// Ends this process because the job has been stopped elsewhere.
#[cold]
pub(crate) fn stopped(function: &str, failure: &Failure) -> ! {
    let words = last_words(failure);
    if !words.is_empty() {
        say(format!("{function}: {words}").as_bytes());
    }
    await_end()
}

/// A failure in words; none if the process that failed has said them.
pub(crate) fn last_words(failure: &Failure) -> String {
    match failure {
        Failure::GaveUp { .. } => String::new(),
        other => other.to_string(),
    }
}

/// Ends the whole job, from whichever process that belongs to it.
pub(crate) fn stop() -> ! {
    phase::go_to(Phase::After);
    end_handlers();
    flush();
    if let Some(tell) = TELL.get() {
        tell();
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

/// Waits to be ended, because the job is; and if nobody does that, ends.
fn await_end() -> ! {
    phase::go_to(Phase::After);
    end_handlers();
    flush();
    std::thread::sleep(Duration::from_secs(5));
    stop()
}
