//! What a process that starts another one has to settle with the kernel: which signals it takes itself and passes on,
//! and that the other one does not outlive it.
//!
//! # Invariants
//!
//! - **Q1** A `sigset_t`, a `sigaction` and a `siginfo_t` are made of integers and addresses that may be null: zeros
//!   are a value of each.
//! - **Q2** A call reads and writes no more than the value behind the pointer it is handed, which lives in the caller,
//!   and null where it allows null.
//! - **Q3** Between fork and exec nothing but system calls is made: nothing allocates, locks or unwinds.

use std::{
    io,
    mem::zeroed,
    os::unix::process::CommandExt,
    process::{Child, Command},
    ptr::null_mut,
};

/// A signal that asks a program to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Somebody pressed Ctrl-C.
    Interrupt,
    /// Somebody used `kill`.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

impl Signal {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// The kernel's number for it.
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::HangUp => libc::SIGHUP,
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
    /// A signal to end.
    Ending {
        /// Which one.
        signal: Signal,
        /// Whether the kernel sent it for a terminal, and not another process.
        is_from_kernel: bool,
    },
}

/// The signals to end, and the one that tells of a child, held back so that they can be waited for.
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
        let to_end = Signal::ALL.into_iter().filter(|signal| !signal.is_ignored()).map(Signal::number);
        for number in to_end.chain([libc::SIGCHLD]) {
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
            // SAFETY: Q1.
            let mut about = unsafe { zeroed::<libc::siginfo_t>() };
            // SAFETY: Q2.
            let number = unsafe { libc::sigwaitinfo(&raw const self.held, &raw mut about) };
            if number == libc::SIGCHLD {
                return Ok(Caught::Child);
            }
            if let Some(signal) = Signal::ALL.into_iter().find(|signal| signal.number() == number) {
                return Ok(Caught::Ending { signal, is_from_kernel: about.si_code == libc::SI_KERNEL });
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
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

/// Does something while no signal reaches the calling thread. A thread that is started meanwhile never gets one:
/// signals to the process are for the threads of the program.
pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    // Miri has no signals.
    if cfg!(miri) {
        return work();
    }
    // SAFETY: Q1.
    let mut all = unsafe { zeroed::<libc::sigset_t>() };
    let mut before = all;
    // SAFETY: Q2.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: Q2.
    let code = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before) };
    let result = work();
    if code == 0 {
        // SAFETY: Q2.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, null_mut()) };
    }
    result
}

/// Lets what `command` starts get SIGTERM when the thread that starts it ends, by whatever cause: a process that is
/// killed outright cannot end its children itself. Start it from a thread that lasts, such as the main one.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // SAFETY: this option takes one number.
        if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // The parent may have ended before it was asked for.
        // SAFETY: it takes nothing and cannot fail.
        let now = unsafe { libc::getppid() };
        if now as u32 == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: Q3.
    unsafe { command.pre_exec(ask) };
}

/// Whether the system keeps the children of this process that have ended until they are waited for; else their numbers
/// may be those of other processes at once.
pub(crate) fn keeps_children() -> bool {
    let keeps = |now: libc::sigaction| now.sa_sigaction != libc::SIG_IGN && now.sa_flags & libc::SA_NOCLDWAIT == 0;
    action(libc::SIGCHLD).is_some_and(keeps)
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

/// The system's number of the calling thread.
pub(crate) fn own_task() -> i32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// Ends the process, with what has happened.
pub(crate) fn give_up(why: &str) -> ! {
    eprintln!("Error: {why}");
    // SAFETY: nothing of the program runs any more; its other threads wait for what will never come, or compute what
    // nobody will ask for.
    unsafe { libc::_exit(1) }
}

/// Whether a process is there, and not only waiting to be waited for. Where nothing is known of it, it is: the system
/// may have no files about processes, and this process may have no more files.
pub(crate) fn is_alive(pid: i32) -> bool {
    let is_gone = |why: &io::Error| {
        (why.kind() == io::ErrorKind::NotFound || why.raw_os_error() == Some(libc::ESRCH))
            && std::fs::metadata("/proc/self/stat").is_ok()
    };
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The name before it may hold anything.
        Ok(stat) => !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        Err(why) => pid <= 0 || !is_gone(&why),
    }
}

/// Whether this process has the rights of root.
pub fn is_root() -> bool {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_only_waits_to_be_waited_for_is_not_alive() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id().cast_signed();
        assert!(is_alive(pid) && is_alive(std::process::id().cast_signed()));
        child.kill().unwrap();
        // It has ended some time later, and nobody has waited for it.
        while is_alive(pid) {
            std::thread::yield_now();
        }
        assert!(std::fs::exists(format!("/proc/{pid}/stat")).unwrap());
        child.wait().unwrap();
        assert!(!is_alive(pid));
        assert!(is_alive(-1), "nothing is known of nobody");
    }
}
