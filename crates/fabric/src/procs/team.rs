//! Processes that belong together: forked from one, ended together, none left behind.
//!
//! The process that forks is process 0 and goes on. A thread of it watches the others: when one ends before it has said
//! that it is done, a failure is written on the board, which every wait of every process looks at, and those who do not
//! look are ended. When process 0 ends, by whatever cause, the kernel ends the others.

use super::{
    board::{Board, MOST, RAISED, TeamAlarm, pid, raise, raised},
    child::{Child, NOBODY, keeps_ended},
    first_thread::{await_threads, see_to_threads},
    reach,
    watch::{Terms, watch},
};
use crate::{
    code,
    failure::Failure,
    mapping::Mapping,
    sight::{Pen, hold_sightings, monitor},
    signals,
    system::{self, without_signals},
    threads::{self, pool},
};
use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

const PAGE: usize = 4096;

/// Says whether nobody has asked before, in whichever process: who is first says why everybody is stopped.
pub type Speaker = Box<dyn Fn() -> bool + Send + Sync>;

/// One process among those that were forked together.
pub struct Team {
    shared: Arc<Mapping>,
    rank: usize,
    size: usize,
    /// In process 0.
    watch: Option<Watch>,
}

struct Watch {
    thread: JoinHandle<()>,
    children: Arc<[Child]>,
    /// Whether process 0 has ended its part, and must not be ended by force any more.
    is_home: Arc<AtomicBool>,
}

impl Team {
    /// Forks this process into `size`, with up to `memory` bytes in common, and returns in all of them. Only the
    /// calling thread goes on in the others.
    ///
    /// # Errors
    ///
    /// If the system has no room for so many; then none of them is left.
    ///
    /// # Panics
    ///
    /// If `size` is 0 or more than [`MOST`].
    pub fn fork(size: usize, memory: usize, terms: Terms) -> io::Result<Self> {
        assert!((1..=MOST).contains(&size));
        let least = size_of::<Board>().next_multiple_of(PAGE) + memory.min(1 << 24);
        let shared = Arc::new(Mapping::map(least, size_of::<Board>() + memory)?);
        let board: &Board = shared.get(0);
        // SAFETY: it takes nothing and cannot fail.
        let parent = unsafe { libc::getpid() };
        board.seats[0].pid.store(parent, Ordering::Relaxed);
        allow_reach();
        let _held = hold();
        // Numbers of children that the system forgets by itself may become those of others at any time.
        let are_kept = keeps_ended();
        let mut children: Vec<Child> = Vec::with_capacity(size - 1);
        // Whom to fork, and for which time.
        let mut wanted: VecDeque<(usize, u32)> = (1..size).map(|rank| (rank, 0)).collect();
        let mut begun = VecDeque::with_capacity(size - 1);
        while let Some((rank, time)) = wanted.pop_front().or_else(|| await_threads(board, &children, &mut begun)) {
            // SAFETY: the child goes on with a copy of this thread alone. It takes no lock of the library that another
            // thread might have held, and ends if it cannot start threads because of one of the standard library; of
            // other libraries the caller has to see to that.
            match unsafe { libc::fork() } {
                0 => {
                    be_child(parent);
                    see_to_threads(&board.seats[rank].starts_threads, time);
                    return Ok(Self { shared, rank, size, watch: None });
                }
                -1 => {
                    let error = io::Error::last_os_error();
                    end_all(&children);
                    return Err(error);
                }
                pid => {
                    board.seats[rank].pid.store(if are_kept { pid } else { NOBODY }, Ordering::Release);
                    let child = Child::new(pid);
                    match children.get_mut(rank - 1) {
                        Some(place) => std::mem::replace(place, child).forget(),
                        None => children.push(child),
                    }
                    begun.push_back((rank, time));
                }
            }
        }
        let children: Arc<[Child]> = children.into();
        let is_home = Arc::new(AtomicBool::new(false));
        let (watched, home, theirs) = (Arc::clone(&shared), Arc::clone(&is_home), Arc::clone(&children));
        let watching = std::thread::Builder::new().name("superstep watch".into()).stack_size(256 << 10);
        match without_signals(|| watching.spawn(move || watch(&watched, &theirs, &home, terms))) {
            Ok(thread) => Ok(Self { shared, rank: 0, size, watch: Some(Watch { thread, children, is_home }) }),
            Err(error) => {
                end_all(&children);
                Err(error)
            }
        }
    }

    /// The number of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The memory that the processes share.
    pub fn shared(&self) -> &Arc<Mapping> {
        &self.shared
    }

    /// Where the part of it begins that is not the team's own.
    pub fn free_from() -> usize {
        size_of::<Board>().next_multiple_of(PAGE)
    }

    fn board(&self) -> &Board {
        self.shared.get(0)
    }

    /// Whether the system lets this process copy from and to the memory of another one.
    pub fn reaches(&self, rank: usize) -> bool {
        reach::is_allowed(pid(self.board(), rank))
    }

    /// Fills bytes from an address of another process; false if the system does not let us, or there is no such memory.
    pub fn read(&self, from: usize, address: usize, into: &mut [u8]) -> bool {
        reach::read(pid(self.board(), from), address, into)
    }

    /// Writes bytes to an address of another process; false if the system does not let us, or there is no such memory.
    ///
    /// # Safety
    ///
    /// There are as many bytes at that address of that process, and nobody else uses them meanwhile.
    pub unsafe fn write(&self, to: usize, address: usize, bytes: &[u8]) -> bool {
        reach::write(pid(self.board(), to), address, bytes)
    }

    /// Stops the team: every wait of every process fails with this failure, or with one that was first.
    pub fn raise(&self, failure: &Failure) {
        raise(self.board(), self.rank, failure);
    }

    /// Says whether nobody in the team has asked before: who is first says why it is stopped.
    pub fn speaker(&self) -> Speaker {
        let shared = Arc::clone(&self.shared);
        Box::new(move || shared.get::<Board>(0).spoken.swap(1, Ordering::AcqRel) == 0)
    }

    /// What has stopped the team, if anything has.
    pub fn raised(&self) -> Option<Failure> {
        raised(self.board())
    }

    /// Whether anything has stopped the team.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.board().raised.load(Ordering::Acquire) == RAISED
    }

    pub(super) fn pen(&self) -> Pen {
        self.alarm().pen()
    }

    /// The alarm of the team, which may outlive it.
    pub(super) fn alarm(&self) -> TeamAlarm {
        TeamAlarm { shared: Arc::clone(&self.shared), rank: self.rank }
    }

    /// Says that this process is done: its end is no failure. Process 0 returns when all others have ended, with what
    /// has stopped the team, if anything has; the others go on and end themselves.
    pub fn end(mut self) -> Option<Failure> {
        self.excuse();
        if let Some(Watch { thread, children, is_home }) = self.watch.take() {
            is_home.store(true, Ordering::Release);
            let _ = thread.join();
            // Whoever used their numbers has ended, but for this process, which is here.
            self.board().seats.iter().for_each(|seat| seat.pid.store(NOBODY, Ordering::Release));
            children.iter().for_each(Child::forget);
        }
        self.raised()
    }

    /// Says that the end of this process is no failure, though the team goes on.
    pub fn excuse(&self) {
        self.board().seats[self.rank].is_done.store(1, Ordering::Release);
    }

    /// Ends all others at once; for a process 0 that ends itself.
    pub fn end_others(&self) {
        if let Some(Watch { children, .. }) = &self.watch {
            children.iter().for_each(Child::kill);
        }
    }
}

/// Keeps everything as it is that another thread of the library might be about to change: it would never come to an end
/// in the copy. What is found out once is found out now, for the same reason.
fn hold() -> impl Sized {
    threads::cores();
    threads::finds_fences();
    system::allowed();
    (code::hold(), monitor::hold(), hold_sightings(), pool::hold(), signals::hold(), system::hold_exits())
}

/// Lets the processes of a team copy each other's memory, where the system asks for leave.
fn allow_reach() {
    // SAFETY: this option takes one number. A system that knows nothing of it needs no leave either.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::c_ulong::MAX) };
}

/// What a process does first when it was forked.
fn be_child(parent: i32) {
    allow_reach();
    // SAFETY: this option takes one number.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) };
    // SAFETY: it takes nothing and cannot fail.
    if unsafe { libc::getppid() } != parent {
        // SAFETY: process 0 ended before the kernel was told to end this one with it.
        unsafe { libc::_exit(1) };
    }
    // Input is for process 0.
    // SAFETY: the text ends with a zero.
    let nothing = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) };
    if nothing > 0 {
        // SAFETY: both are files that are open, or numbers that fail.
        unsafe { libc::dup2(nothing, 0) };
        // SAFETY: it was opened here.
        unsafe { libc::close(nothing) };
    }
}

fn end_all(children: &[Child]) {
    children.iter().for_each(Child::end);
    children.iter().for_each(Child::forget);
}
