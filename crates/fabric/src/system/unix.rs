//! What Linux and macOS have in common.
//!
//! # Invariants
//!
//! - **Q1** A `sigset_t` is made of integers, and a `sigaction` of these and of addresses that may be null: zeros are
//!   a value of both.
//! - **Q2** A call reads and writes no more than the value behind the pointer it is handed, which lives in the caller,
//!   and null where it allows null.

use crate::lock::lock;
use std::{
    ffi::{c_int, c_void},
    mem::zeroed,
    ptr::{NonNull, null_mut},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// Maps so many zeros on a border, which is a power of two and at least a page; nothing where there is no such memory.
pub(crate) fn map(len: usize, border: usize) -> Option<NonNull<u8>> {
    let (read_write, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    let asked = len.checked_add(border)?;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let base = unsafe { libc::mmap(null_mut(), asked, read_write, private, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    let start = base.map_addr(|address| address.next_multiple_of(border));
    let head = start.addr() - base.addr();
    // Both ends go back to the system. A refusal only wastes addresses, so its code is ignored.
    if head > 0 {
        // SAFETY: the first `head` bytes are ours and nothing points into them.
        unsafe { libc::munmap(base, head) };
    }
    // SAFETY: `start + len` lies inside the mapping, which has `border` bytes to spare.
    let end = unsafe { start.byte_add(len) };
    // SAFETY: the rest behind `end` is ours, nothing points into it, and there is some because `head` is less than
    // `border`.
    unsafe { libc::munmap(end, border - head) };
    NonNull::new(start.cast())
}

/// Gives memory back.
///
/// # Safety
///
/// It came from `map` with this length and border, and nobody uses it any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, len: usize, _border: usize) {
    // SAFETY: the caller's promise.
    let code = unsafe { libc::munmap(start.as_ptr().cast(), len) };
    debug_assert_eq!(code, 0, "munmap of a region");
}

/// Does something while no signal reaches the calling thread. A thread that is started meanwhile never gets one:
/// signals to the process are for the threads of the program.
pub(crate) fn without_signals<R>(work: impl FnOnce() -> R) -> R {
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

/// Something that is called when the process ends, with the code if it is known.
type Call = fn(Option<i32>);

/// What is to be called when the process ends.
static AT_EXIT: Mutex<Vec<Call>> = Mutex::new(Vec::new());

/// Keeps what is to be called as it is while the process is forked.
#[cfg(target_os = "linux")]
pub(crate) fn hold_exits() -> impl Sized {
    lock(&AT_EXIT)
}

/// Lets a function be called when the process ends, those that came last first, with the code if it is known: that of
/// C that is not GNU's does not say it.
pub(crate) fn at_exit(call: Call) {
    lock(&AT_EXIT).push(call);
    #[cfg(target_env = "gnu")]
    // SAFETY: the function may be called when the process ends, and makes no use of what it is handed.
    unsafe {
        on_exit(call_with_code, null_mut())
    };
    #[cfg(not(target_env = "gnu"))]
    // SAFETY: the function may be called when the process ends.
    unsafe {
        libc::atexit(call_without_code)
    };
}

/// Calls the one that came last. The system calls this as often as there are any.
fn call_last(code: Option<i32>) {
    let call = lock(&AT_EXIT).pop();
    if let Some(call) = call {
        call(code);
    }
}

#[cfg(target_env = "gnu")]
unsafe extern "C" {
    /// Lets a function be called with the code when the process ends.
    fn on_exit(call: extern "C" fn(c_int, *mut std::ffi::c_void), with: *mut std::ffi::c_void) -> c_int;
}

#[cfg(target_env = "gnu")]
extern "C" fn call_with_code(code: c_int, _: *mut std::ffi::c_void) {
    call_last(Some(code));
}

#[cfg(not(target_env = "gnu"))]
extern "C" fn call_without_code() {
    call_last(None);
}

/// Ends the process. Nothing more of the program runs.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: it ends the process; its other threads wait for what will never come, or compute what nobody will ask
    // for.
    unsafe { libc::_exit(code) }
}

/// Writes what the C library has buffered.
pub(crate) fn flush_streams() {
    // SAFETY: with nothing it flushes all streams of the C library.
    unsafe { libc::fflush(null_mut()) };
}

/// Whether this process has the rights of root.
pub fn is_root() -> bool {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// The signals that were caught, and what each did before.
pub(crate) struct Caught(Vec<(c_int, libc::sigaction)>);

/// Has `save` called on SIGUSR1, and `end` on the first SIGTERM; a second one ends the process as ever. Signals that do
/// not end a process now are left alone: the program, or who started it, has said so. But MPICH calls a function of its
/// own on SIGUSR1, and whatever was called before is called after `save`.
pub(crate) fn catch(save: extern "C" fn(c_int), end: extern "C" fn(c_int)) -> Caught {
    let mut caught = Vec::new();
    let signals =
        [(libc::SIGUSR1, save, libc::SA_RESTART), (libc::SIGTERM, end, libc::SA_RESTART | libc::SA_RESETHAND)];
    for (signal, call, flags) in signals {
        // SAFETY: Q1.
        let mut before = unsafe { zeroed::<libc::sigaction>() };
        // SAFETY: Q2.
        let code = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut before) };
        let is_called = before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN;
        let is_shared = is_called && signal == libc::SIGUSR1;
        if code != 0 || before.sa_sigaction != libc::SIG_DFL && !is_shared {
            continue;
        }
        let mut now = before;
        (now.sa_sigaction, now.sa_flags) = (call as libc::sighandler_t, flags);
        if is_shared {
            SAVE.store(call as usize, Ordering::Relaxed);
            BEFORE.store(before.sa_sigaction, Ordering::Relaxed);
            TAKES_MORE.store(before.sa_flags & libc::SA_SIGINFO != 0, Ordering::Relaxed);
            let both: Full = save_and_pass_on;
            (now.sa_sigaction, now.sa_flags) = (both as libc::sighandler_t, flags | libc::SA_SIGINFO);
        }
        // SAFETY: Q2. The function takes a number, and its caller promises that it may run at any moment.
        if unsafe { libc::sigaction(signal, &raw const now, null_mut()) } == 0 {
            caught.push((signal, before));
        }
    }
    Caught(caught)
}

/// A function that is told all there is to say about a signal.
type Full = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The function that is called for a save, the one that was called before, and whether that one is a [`Full`] one.
static SAVE: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static TAKES_MORE: AtomicBool = AtomicBool::new(false);

/// Asks for a save, and then does what was done before.
extern "C" fn save_and_pass_on(signal: c_int, about: *mut libc::siginfo_t, context: *mut c_void) {
    for (function, takes_more) in [(&SAVE, false), (&BEFORE, TAKES_MORE.load(Ordering::Relaxed))] {
        let function = function.load(Ordering::Relaxed) as *const ();
        if takes_more {
            // SAFETY: it is the address of such a function, written before this one could be called.
            let call = unsafe { std::mem::transmute::<*const (), Full>(function) };
            call(signal, about, context);
        } else {
            // SAFETY: as above.
            let call = unsafe { std::mem::transmute::<*const (), extern "C" fn(c_int)>(function) };
            call(signal);
        }
    }
}

/// Lets signals do again what they did before they were caught.
pub(crate) fn release(caught: &Caught) {
    for (signal, before) in &caught.0 {
        // SAFETY: Q2.
        unsafe { libc::sigaction(*signal, std::ptr::from_ref(before), null_mut()) };
    }
}

/// The name of this host, or nothing.
pub(crate) fn host_name() -> String {
    let mut name = [0u8; 256];
    // The last byte stays zero, also where a long name is cut.
    // SAFETY: Q2: it is told how many bytes there are.
    let code = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    if code == 0 { String::from_utf8_lossy(&name[..len]).into_owned() } else { String::new() }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use std::fs;

    /// The signals that the calling thread holds back, as the system shows them.
    fn held_back() -> u64 {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let signals = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("Linux shows them");
        u64::from_str_radix(signals.trim(), 16).unwrap()
    }

    #[test]
    fn no_signal_comes_meanwhile_and_those_of_before_come_again() {
        let before = held_back();
        let meanwhile = without_signals(held_back);
        for signal in [libc::SIGTERM, libc::SIGUSR1, libc::SIGINT] {
            assert!(meanwhile & 1 << (signal - 1) > 0, "{meanwhile:x}");
        }
        assert_eq!(held_back(), before);
    }

    #[test]
    fn this_host_and_user_are_those_that_the_system_shows() {
        assert_eq!(host_name(), fs::read_to_string("/proc/sys/kernel/hostname").unwrap().trim_end());
        let user = std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap());
        assert_eq!(is_root(), user == 0);
    }

    /// How many bytes of these addresses are mapped.
    fn mapped(start: usize, end: usize) -> usize {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let address = |text: &str| usize::from_str_radix(text, 16).unwrap();
        let ranges = maps.lines().map(|line| line.split([' ', '-']).take(2).map(address).collect::<Vec<_>>());
        ranges.map(|range| range[1].min(end).saturating_sub(range[0].max(start))).sum()
    }

    #[test]
    fn what_is_mapped_begins_on_the_border_and_the_rest_goes_back() {
        const PAGE: usize = 4096;
        const BORDER: usize = 1 << 24;
        // So wide that nothing else lies in between.
        let (len, border) = (3 * PAGE, BORDER);
        let start = map(len, border).expect("there is so much memory");
        let address = start.addr().get();
        assert!(address.is_multiple_of(border));
        assert_eq!(mapped(address, address + len), len);
        // SAFETY: so many bytes are mapped.
        let bytes = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), len) };
        assert!(bytes.iter().all(|&byte| byte == 0));
        bytes.fill(7);
        // SAFETY: it was mapped so, and is not used any more.
        unsafe { unmap(start, len, border) };
        assert!(map(usize::MAX - PAGE, border).is_none() && map(usize::MAX / 4, border).is_none());
    }

    /// Another thread may map something there meanwhile, but not each time.
    #[test]
    fn what_lies_before_the_border_goes_back_as_well() {
        const PAGE: usize = 4096;
        const BORDER: usize = 1 << 24;
        let is_free = |_| {
            let start = map(PAGE, BORDER).expect("there is so much memory");
            let address = start.addr().get();
            let before = mapped(address - PAGE, address);
            // SAFETY: it was mapped so, and is not used any more.
            unsafe { unmap(start, PAGE, BORDER) };
            before == 0
        };
        assert!((0..20).any(is_free), "it is mapped each time");
    }
}
