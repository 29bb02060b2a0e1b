//! The last things that a process does, in whatever state the program has left it.

use std::ptr::null_mut;

/// Ends the process as a program does that returns from its main function.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: it runs what the program wants to be run at its end, on the thread that would return from main.
    unsafe { libc::exit(code) }
}

/// Lets what the program has printed leave, so that no copy of this process prints it again.
pub(crate) fn flush() {
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

/// Lets no handler of the program run any more, on whichever thread: it might call the library again.
pub(crate) fn end_handlers() {
    for signal in 1..=libc::SIGRTMAX() {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: there is room for what is done on a signal; a number that is none fails.
        if unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) } != 0 {
            continue;
        }
        // SAFETY: it was written.
        let action = unsafe { action.assume_init() };
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
            let is_systems = SYSTEMS.contains(&signal);
            // SAFETY: it takes numbers.
            unsafe { libc::signal(signal, if is_systems { libc::SIG_DFL } else { libc::SIG_IGN }) };
        }
    }
}

/// What is left to the system: signals that come of faults, those that others end a process with, and that of a child.
const SYSTEMS: [i32; 10] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGABRT,
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGCHLD,
];

/// Sees to it that this process ends in a while, whatever it does; the job ends with it then.
pub(crate) fn end_anyway() {
    // SAFETY: it takes numbers.
    unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
    let mut alarm = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: there is room for a set.
    unsafe { libc::sigemptyset(alarm.as_mut_ptr()) };
    // SAFETY: the set was made.
    unsafe { libc::sigaddset(alarm.as_mut_ptr(), libc::SIGALRM) };
    // A handler of this very signal may be running.
    // SAFETY: the set was made, and the one before is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, alarm.as_ptr(), null_mut()) };
    // SAFETY: it takes a number.
    unsafe { libc::alarm(10) };
}

/// Ends a stranger, and nobody else. What it has printed is not written: part of it is its parent's.
pub(crate) fn leave(line: &[u8]) -> ! {
    let line = [line, b"\n"].concat();
    // SAFETY: the bytes are there. Locks might be held by a thread that this process has no copy of.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
    // SAFETY: it ends the process.
    unsafe { libc::_exit(1) }
}
