//! Linux.
//!
//! # Invariants
//!
//! - **B1** A `cpu_set_t` is an array of integers: zeros are a value of it, and every index below `CPU_SETSIZE` is in
//!   it.
//! - **B2** The kernel reads and writes no more of a set than the size it is told, and it is told that of a
//!   `cpu_set_t`.
//! - **B3** `membarrier` takes integers alone and touches no memory of the caller.
//! - **B4** Between fork and exec nothing but system calls is made: nothing allocates, locks or unwinds.

use std::{
    fs, io,
    mem::zeroed,
    os::unix::process::CommandExt,
    process::Command,
    ptr::{NonNull, null_mut},
    sync::OnceLock,
};

/// Asks for huge pages in a range of memory that is the caller's. Advice that is not taken costs speed only.
pub(crate) fn advise_huge(start: *mut u8, len: usize) {
    // SAFETY: advice changes nothing that is in the memory, and a range that is not there is refused.
    unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
}

/// New memory of so many bytes, all of them zeros, which processes have in common that are forked later.
pub(crate) fn map_shared(len: usize) -> io::Result<NonNull<u8>> {
    let (read_write, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: it asks for new memory and touches none that is there.
    let start = unsafe { libc::mmap(null_mut(), len, read_write, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // Otherwise a crash would write all of it to a core file.
    // SAFETY: the range was mapped just now. Advice that is not taken does no harm.
    unsafe { libc::madvise(start, len, libc::MADV_DONTDUMP) };
    NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Gives memory back.
///
/// # Safety
///
/// It came from `map_shared` with this length, and nobody uses it any more.
pub(crate) unsafe fn unmap_shared(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(start.as_ptr().cast(), len) };
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: B3.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0) == 0 }
}

/// Whether there is a fence for all cores at once. Ask once: it also tells the kernel that it will be used.
pub(crate) fn offers_fence() -> bool {
    membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// Runs a full fence on every core that runs a thread of this process.
pub(crate) fn fence_all() {
    assert!(membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED), "membarrier was offered and then refused");
}

type Set = libc::cpu_set_t;
const SIZE: usize = size_of::<Set>();

/// The cores that a thread may use, 0 being the calling one.
fn of_thread(thread: libc::pid_t) -> Option<Set> {
    // SAFETY: B1.
    let mut set = unsafe { zeroed::<Set>() };
    // SAFETY: B2.
    let code = unsafe { libc::sched_getaffinity(thread, SIZE, &raw mut set) };
    (code == 0).then_some(set)
}

/// Lets the calling thread use just these cores.
fn allow(set: &Set) -> bool {
    // SAFETY: B2; 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, SIZE, set) == 0 }
}

fn cores(set: &Set) -> Vec<usize> {
    // SAFETY: B1.
    (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, set) }).collect()
}

/// The cores that this process may use, if the kernel tells: one with more cores than a set has room for does not.
pub(crate) fn allowed() -> Option<Set> {
    static ALLOWED: OnceLock<Option<Set>> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        // SAFETY: it takes nothing and cannot fail.
        let process = unsafe { libc::getpid() };
        of_thread(process)
    })
}

/// Binds the calling thread to the `rank`-th core that this process may use, counted round, or to all of them again.
/// Where the kernel does not tell which these are, or takes one of them away later, the thread stays as it is.
pub(crate) fn bind(rank: Option<usize>) {
    let Some(allowed) = allowed() else { return };
    let set = rank.map_or(allowed, |rank| {
        let cores = cores(&allowed);
        // SAFETY: B1.
        let mut one = unsafe { zeroed::<Set>() };
        // SAFETY: B1; the core's number came out of a set.
        unsafe { libc::CPU_SET(cores[rank % cores.len()], &mut one) };
        one
    });
    allow(&set);
}

/// Moves the calling thread to another core than the one it is on, if it may use any other, and lets it go where it
/// likes after that.
pub(crate) fn step_aside() {
    // SAFETY: it takes nothing; a negative answer means that it does not know.
    let here = unsafe { libc::sched_getcpu() };
    let Some(allowed) = of_thread(0).filter(|_| here >= 0) else { return };
    let mut others = allowed;
    // SAFETY: B1; the kernel numbers cores below CPU_SETSIZE, and the macro ignores others.
    unsafe { libc::CPU_CLR(here as usize, &mut others) };
    // SAFETY: B1.
    let count = unsafe { libc::CPU_COUNT(&others) };
    if count > 0 && allow(&others) {
        // Nothing is lost if this fails: the thread then stays among the others.
        allow(&allowed);
    }
}

/// How far back the calling thread goes: beside a thread that computes, it has a twentieth of a core.
const BACK: i32 = 13;

/// Lets every other thread go before the calling one, for good.
pub fn give_way() {
    // SAFETY: it takes numbers; 0 is the calling thread. Nothing is lost where it is refused.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, BACK) };
}

/// The system's number of the calling thread.
pub(crate) fn own_task() -> i32 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// Waits for one of these signals, which are held back: which one came, and whether the kernel sent it for a terminal.
pub(crate) fn wait_signal(held: &libc::sigset_t) -> io::Result<(i32, bool)> {
    // SAFETY: it is made of integers and addresses that may be null: zeros are a value of it.
    let mut about = unsafe { zeroed::<libc::siginfo_t>() };
    // SAFETY: it reads the one and writes the other.
    match unsafe { libc::sigwaitinfo(held, &raw mut about) } {
        -1 => Err(io::Error::last_os_error()),
        number => Ok((number, about.si_code == libc::SI_KERNEL)),
    }
}

/// Lets what `command` starts get SIGTERM when the thread that starts it ends.
pub(crate) fn die_with_parent(command: &mut Command) {
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
    // SAFETY: B4.
    unsafe { command.pre_exec(ask) };
}

/// A text for this start of this machine, and for what of its processes can be seen from here.
pub(crate) fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned());
    boot + &space.unwrap_or_default()
}

/// Whether a process is there, with memory: not one that only waits to be waited for, nor one that is about to. Where
/// nothing is known of it, it is: the system may have no files about processes, and this process no more files.
pub(crate) fn is_alive(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => is_said_alive(&stat, || fs::read_to_string("/proc/self/stat").unwrap_or_default()),
        Err(why) => pid <= 0 || !(is_gone(&why) && fs::metadata("/proc/self/stat").is_ok()),
    }
}

/// Whether a file of a process could not be read because there is no such process, or none any more.
fn is_gone(why: &io::Error) -> bool {
    why.kind() == io::ErrorKind::NotFound || why.raw_os_error() == Some(libc::ESRCH)
}

/// What the system says of a process, as to whether it is alive. One that ends has no memory for a while before it is
/// said to be dead, and cannot be read any more. Some systems say that no process has any: `own` is what this one says
/// of a process that surely has.
fn is_said_alive(stat: &str, own: impl FnOnce() -> String) -> bool {
    match about(stat) {
        (Some("Z" | "X"), _) => false,
        (_, Some("0")) => about(&own()).1 == Some("0"),
        _ => true,
    }
}

/// The state of a process and the bytes it has, as far as the text tells.
fn about(stat: &str) -> (Option<&str>, Option<&str>) {
    // The name, in brackets, may hold anything. Behind it are the state, and twenty places further the bytes.
    let mut behind = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    (behind.next(), behind.nth(19))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_without_memory_is_about_to_be_dead() {
        let stat = |state: &str, bytes: u64| format!("7 (a) 0 (b) {state} {}{bytes} 0 17", "1 ".repeat(19));
        let alive = |state, bytes| is_said_alive(&stat(state, bytes), || stat("R", 4096));
        assert!(alive("R", 4096) && alive("S", 1));
        assert!(!alive("R", 0) && !alive("Z", 0) && !alive("Z", 4096) && !alive("X", 0));
        assert!(is_said_alive("7 (a) R", || unreachable!()), "nothing is known");
    }

    #[test]
    fn where_nobody_is_said_to_have_memory_the_state_tells() {
        let stat = |state: &str| format!("7 (a) {state} {}0 0 17", "1 ".repeat(19));
        let alive = |state| is_said_alive(&stat(state), || stat("R"));
        assert!(alive("R") && alive("S"));
        assert!(!alive("Z") && !alive("X"));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri shows no files of the system")]
    fn what_is_said_of_this_machine_and_thread_is_what_its_files_say() {
        let machine = machine();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        assert!(machine.starts_with(&boot) && machine[boot.len()..].starts_with("pid:["), "{machine}");
        let task = std::thread::spawn(|| (own_task(), fs::read_link("/proc/thread-self").unwrap())).join().unwrap();
        assert!(task.1.ends_with(task.0.to_string()), "{task:?}");
        assert_ne!(task.0, own_task());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri binds no threads")]
    fn a_thread_is_bound_to_one_core_and_set_free_again() {
        let free = allowed().expect("the kernel tells");
        let all = cores(&free);
        assert!(!all.is_empty());
        std::thread::spawn(move || {
            for rank in 0..=all.len() {
                bind(Some(rank));
                assert_eq!(of_thread(0).map(|set| cores(&set)), Some(vec![all[rank % all.len()]]));
            }
            bind(None);
            assert_eq!(of_thread(0).map(|set| cores(&set)), Some(all.clone()));
            step_aside();
            assert_eq!(of_thread(0).map(|set| cores(&set)), Some(all));
        })
        .join()
        .unwrap();
        assert!(of_thread(i32::MAX).is_none(), "there is no such thread");
    }

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

    #[test]
    fn only_what_is_not_there_is_gone() {
        let is_gone = |code| is_gone(&io::Error::from_raw_os_error(code));
        assert!(is_gone(libc::ENOENT) && is_gone(libc::ESRCH));
        assert!(!is_gone(libc::EMFILE) && !is_gone(libc::EACCES));
    }

    #[test]
    fn a_fence_that_is_unknown_is_refused() {
        assert!(!membarrier(-1));
    }
}
