//! A process that was forked, until it is forgotten.
//!
//! Once a parent has waited for a child, the system may give the child's number to another process. The processes of a
//! team copy from and to each other's memory by these numbers, and so they are kept: a child whose end was seen stays a
//! child, and is waited for only when nobody uses its number any more. Signals go by a file that names the child
//! itself, where the system has such files.
//!
//! # Invariant
//!
//! - **K1** A call reads and writes no more than the value behind the pointer it is handed, which lives in the caller.

use std::{
    fmt, io,
    mem::zeroed,
    os::fd::{AsRawFd, FromRawFd as _, OwnedFd},
};

/// In place of the number of a process that must not be used: no process has it.
pub(super) const NOBODY: i32 = -1;
/// The code with which a process ends that can start no threads.
pub(super) const NO_THREADS: i32 = 86;

#[derive(Debug)]
pub(super) struct Child {
    pub(super) pid: i32,
    file: Option<OwnedFd>,
}

/// How a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Code(i32),
    Signal(i32),
    /// The program wants to know nothing of its children, or has waited for this one itself.
    Unknown,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(NO_THREADS) => {
                write!(f, "has ended, because it could start no threads, however often it was forked")
            }
            Self::Code(code) => write!(f, "has ended with code {code} in the middle of the run"),
            Self::Signal(number) => write!(f, "was killed by signal {number}"),
            Self::Unknown => write!(f, "has ended in the middle of the run"),
        }
    }
}

/// Whether the system keeps the children of this process that have ended until they are waited for; else their numbers
/// may be those of other processes at once.
pub(super) fn keeps_ended() -> bool {
    // SAFETY: it is made of integers and addresses that may be null: zeros are a value of it.
    let mut now = unsafe { zeroed::<libc::sigaction>() };
    // SAFETY: K1.
    let code = unsafe { libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut now) };
    code == 0 && now.sa_sigaction != libc::SIG_IGN && now.sa_flags & libc::SA_NOCLDWAIT == 0
}

impl Child {
    /// The child with this number, which was forked just now.
    pub(super) fn new(pid: i32) -> Self {
        // SAFETY: it takes numbers, and gives a file or a number below 0.
        let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
        // SAFETY: the file was opened just now, and nobody else knows of it.
        let file = (file >= 0).then(|| unsafe { OwnedFd::from_raw_fd(file) });
        Self { pid, file }
    }

    /// What to poll for its end; nothing can be read from one below 0.
    pub(super) fn watched(&self) -> libc::pollfd {
        let fd = self.file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
    }

    /// How it has ended, if it has; its number stays its own.
    pub(super) fn ended(&self) -> Option<End> {
        self.look(libc::WNOHANG)
    }

    /// Ends it by force, and returns when it has ended; its number stays its own.
    pub(super) fn end(&self) {
        self.kill();
        self.look(0);
    }

    pub(super) fn kill(&self) {
        if self.file.as_ref().is_some_and(kill_by) {
            return;
        }
        // The program may have closed the file, as one does that closes all files it does not know.
        if self.ended() != Some(End::Unknown) {
            // SAFETY: it takes numbers, and nobody has waited for this child, so this one is still its own.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
        }
    }

    fn look(&self, options: i32) -> Option<End> {
        loop {
            // SAFETY: it is made of integers and addresses that may be null.
            let mut about = unsafe { zeroed::<libc::siginfo_t>() };
            let how = libc::WEXITED | libc::WNOWAIT | options;
            // SAFETY: K1.
            let code = unsafe { libc::waitid(libc::P_PID, self.pid.cast_unsigned(), &raw mut about, how) };
            if code == 0 {
                // SAFETY: it was filled in for a child, or there is none, and then this is 0 as it was.
                let pid = unsafe { about.si_pid() };
                // SAFETY: as above.
                let status = unsafe { about.si_status() };
                let end = if about.si_code == libc::CLD_EXITED { End::Code(status) } else { End::Signal(status) };
                return (pid != 0).then_some(end);
            }
            match io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::ECHILD) => return Some(End::Unknown),
                _ => return None,
            }
        }
    }

    /// Lets the system forget it, when it has ended: its number may become another's.
    pub(super) fn forget(&self) {
        // SAFETY: it takes numbers, and null where it is not to say how the child ended.
        while unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) } < 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)
        {}
    }
}

/// Ends the process that a file names; false if it names none.
fn kill_by(file: &OwnedFd) -> bool {
    let nothing = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: it takes numbers, and null for what the kernel is to make up itself.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, file.as_raw_fd(), libc::SIGKILL, nothing, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[expect(clippy::zombie_processes, reason = "whoever starts one has it forgotten")]
    fn start(command: &str) -> Child {
        let child = Command::new("sh").args(["-c", command]).spawn().unwrap();
        Child::new(child.id().cast_signed())
    }

    fn has_number(child: &Child) -> bool {
        std::fs::exists(format!("/proc/{}", child.pid)).unwrap()
    }

    #[test]
    fn a_child_that_has_ended_keeps_its_number_until_it_is_forgotten() {
        for (command, end) in [("exit 3", End::Code(3)), ("kill -TERM $$", End::Signal(15))] {
            let child = start(command);
            assert_eq!(child.look(0), Some(end));
            assert_eq!(child.ended(), Some(end), "it can be asked again");
            assert!(has_number(&child));
            let number = format!("/proc/{}", child.pid);
            child.forget();
            assert!(!std::fs::exists(number).unwrap());
        }
    }

    #[test]
    fn a_child_that_could_start_no_threads_says_so() {
        let child = start("exit 86");
        assert_eq!(child.look(0), Some(End::Code(NO_THREADS)));
        assert!(End::Code(NO_THREADS).to_string().contains("no threads"));
        child.forget();
    }

    #[test]
    fn a_child_is_ended_by_force_whichever_way_signals_go() {
        for has_file in [true, false] {
            let mut child = start("exec sleep 1000");
            assert_eq!(child.ended(), None);
            child.file = child.file.filter(|_| has_file);
            child.end();
            assert_eq!(child.ended(), Some(End::Signal(libc::SIGKILL)));
            assert!(has_number(&child));
            child.forget();
        }
    }

    /// The program has closed the file of a child, and opened another one.
    #[test]
    fn a_child_whose_file_is_not_its_own_any_more_is_ended_by_its_number() {
        let mut child = start("exec sleep 1000");
        child.file = Some(std::fs::File::open("/dev/null").unwrap().into());
        child.kill();
        assert_eq!(child.look(0), Some(End::Signal(libc::SIGKILL)));
        child.forget();
    }

    #[test]
    fn a_number_that_is_not_a_childs_is_not_signalled() {
        // This process is none of its own children, and goes on.
        let myself = Child { pid: std::process::id().cast_signed(), file: None };
        myself.kill();
        assert_eq!(myself.ended(), Some(End::Unknown));
        myself.forget();
        let mut gone = Command::new("true").spawn().unwrap();
        let child = Child::new(gone.id().cast_signed());
        gone.wait().unwrap();
        child.end();
        assert_eq!(child.ended(), Some(End::Unknown), "somebody else has waited for it");
    }
}
