//! What a process that starts another one has to settle with the kernel: which signals it takes itself and passes on,
//! and that the other one does not outlive it.
//!
//! # Invariants
//!
//! - **Q1** A `sigset_t` and a `sigaction` are made of integers and addresses that may be null: zeros
//!   are a value of each.
//! - **Q2** A call reads and writes no more than the value behind the pointer it is handed, which lives in the caller,
//!   and null where it allows null.
//! - **Q3** Between fork and exec nothing but system calls is made: nothing allocates, locks or unwinds.

use crate::system;
use std::{
    io,
    mem::zeroed,
    os::unix::process::CommandExt,
    process::{Child, Command},
    ptr::null_mut,
};

/// A signal that asks something of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Somebody pressed Ctrl-C.
    Interrupt,
    /// Somebody used `kill`.
    Terminate,
    /// The terminal is gone.
    HangUp,
    /// What the program needs to go on is to be saved.
    Save,
}

impl Signal {
    const ALL: [Self; 4] = [Self::Interrupt, Self::Terminate, Self::HangUp, Self::Save];

    /// The kernel's number for it.
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::HangUp => libc::SIGHUP,
            Self::Save => libc::SIGUSR1,
        }
    }

    /// Whether this process was started with the order to ignore it, as by `nohup`.
    fn is_ignored(self) -> bool {
        action(self.number()).is_some_and(|action| action.sa_sigaction == libc::SIG_IGN)
    }
}

/// What this process does on a signal.
fn action(signal: i32) -> Option<libc::sigaction> {
    // SAFETY: Q1.
    let mut now = unsafe { zeroed::<libc::sigaction>() };
    // SAFETY: Q2.
    let code = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut now) };
    (code == 0).then_some(now)
}

/// What [`Signals::wait`] has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    /// A process that this one has started has ended or stopped.
    Child,
    /// The signal that asks for a save.
    Save,
    /// A signal to end.
    Ending {
        /// Which one.
        signal: Signal,
        /// Whether the kernel sent it for a terminal, and not another process. On macOS any interrupt counts as such.
        is_from_kernel: bool,
    },
}

/// The signals to end and to save, and the one that tells of a child, held back so that they can be waited for.
#[derive(Clone)]
pub struct Signals {
    held: libc::sigset_t,
    before: libc::sigset_t,
}

impl Signals {
    /// Holds them back from the calling thread and from those that it starts later, except any that this process was
    /// told to ignore.
    pub fn hold() -> io::Result<Self> {
        // SAFETY: Q1.
        let mut held = unsafe { zeroed::<libc::sigset_t>() };
        let mut before = held;
        // SAFETY: Q2.
        unsafe { libc::sigemptyset(&raw mut held) };
        let asking = Signal::ALL.into_iter().filter(|signal| !signal.is_ignored()).map(Signal::number);
        for number in asking.chain([libc::SIGCHLD]) {
            // SAFETY: Q2.
            unsafe { libc::sigaddset(&raw mut held, number) };
        }
        // SAFETY: this gives the signal its usual meaning; if it was ignored, children could not be waited for.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
        // SAFETY: Q2.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before) } {
            0 => Ok(Self { held, before }),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// Waits for one of them.
    pub fn wait(&self) -> io::Result<Caught> {
        loop {
            match system::wait_signal(&self.held) {
                Ok((libc::SIGCHLD, _)) => return Ok(Caught::Child),
                Ok((number, is_from_kernel)) => {
                    match Signal::ALL.into_iter().find(|signal| signal.number() == number) {
                        Some(Signal::Save) => return Ok(Caught::Save),
                        Some(signal) => return Ok(Caught::Ending { signal, is_from_kernel }),
                        None => {}
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Lets what `command` starts take signals as this process did before they were held back.
    pub fn release_in(&self, command: &mut Command) {
        let before = self.before;
        let release = move || {
            // SAFETY: Q2.
            match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut()) } {
                0 => Ok(()),
                code => Err(io::Error::from_raw_os_error(code)),
            }
        };
        // SAFETY: Q3.
        unsafe { command.pre_exec(release) };
    }
}

/// Lets what `command` starts get SIGTERM when the thread that starts it ends, by whatever cause: a process that is
/// killed outright cannot end its children itself. Start it from a thread that lasts, such as the main one. On macOS
/// the children go on.
pub fn die_with_parent(command: &mut Command) {
    system::die_with_parent(command);
}

/// Sends a signal to a child, or to the whole process group that it leads.
///
/// # Errors
///
/// If it has ended, or if the kernel refuses.
pub fn send(child: &mut Child, signal: Signal, to_its_group: bool) -> io::Result<()> {
    // The number of one that was waited for may be another's.
    if child.try_wait()?.is_some() {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    let pid = child.id() as libc::pid_t;
    // SAFETY: it takes numbers; nobody else can wait for the child meanwhile, so this one is still its own.
    let code = unsafe { libc::kill(if to_its_group { -pid } else { pid }, signal.number()) };
    if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
