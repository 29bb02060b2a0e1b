//! Processes that belong together: forked from one, ended together, none left behind.
//!
//! The process that forks is process 0 and goes on. A thread of it watches the others: when one ends before it has said
//! that it is done, a failure is written on the board, which every wait of every process looks at, and those who do not
//! look are ended. When process 0 ends, by whatever cause, the kernel ends the others.

use super::{
    child::{Child, End, NOBODY},
    futex::Count,
    shared::{Common, Shared},
};
use crate::{
    circle::Alarm,
    failure::Failure,
    ground::Speaker,
    processes::{keeps_children, without_signals},
};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The most processes a team can have.
pub const MOST: usize = 1024;

/// What the processes of a team can all see.
#[repr(C)]
struct Board {
    /// Whether there is a failure: none, one that can be read, or one that a process is writing, by its number plus 1.
    raised: AtomicU32,
    /// Whether somebody has said why the team is stopped.
    spoken: AtomicU32,
    len: AtomicU32,
    failure: [AtomicU8; 1 << 16],
    seats: [Seat; MOST],
}

// SAFETY: atomics alone.
unsafe impl Common for Board {}

#[repr(C, align(128))]
struct Seat {
    /// 0 until it is known, and [`NOBODY`] where it must not be used.
    pid: AtomicI32,
    is_done: AtomicU32,
    /// For waits that are not part of a meeting of the ground.
    bell: Count,
}

const RAISED: u32 = u32::MAX;

/// What happens when a team fails.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How long those who compute have until they are ended.
    pub grace: Duration,
    /// What process 0 prints for a failure that has ended it; nothing if that is empty, or if somebody has said why.
    pub last_words: fn(&Failure) -> String,
}

/// One process among those that were forked together.
pub struct Team {
    shared: Arc<Shared>,
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
        let shared = Arc::new(Shared::map(least, size_of::<Board>() + memory)?);
        let board: &Board = shared.get(0);
        // SAFETY: it takes nothing and cannot fail.
        let parent = unsafe { libc::getpid() };
        board.seats[0].pid.store(parent, Ordering::Relaxed);
        allow_reach();
        // What is found out once is found out now: another thread might be about to, and would never come to an end in
        // the copy.
        crate::threads::cores();
        crate::threads::allowed();
        let _book = crate::code::hold();
        // Numbers of children that the system forgets by itself may become those of others at any time.
        let are_kept = keeps_children();
        let mut children: Vec<Child> = Vec::with_capacity(size - 1);
        for rank in 1..size {
            // SAFETY: the child goes on with a copy of this thread alone. It takes no lock of the library that another
            // thread might have held; of other libraries the caller has to see to that.
            match unsafe { libc::fork() } {
                0 => {
                    be_child(parent);
                    return Ok(Self { shared, rank, size, watch: None });
                }
                -1 => {
                    let error = io::Error::last_os_error();
                    end_all(&children);
                    return Err(error);
                }
                pid => {
                    board.seats[rank].pid.store(if are_kept { pid } else { NOBODY }, Ordering::Release);
                    children.push(Child::new(pid));
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

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Where the memory begins that is not the team's own.
    pub(super) fn free_from() -> usize {
        size_of::<Board>().next_multiple_of(PAGE)
    }

    fn board(&self) -> &Board {
        self.shared.get(0)
    }

    /// The system's number of a process.
    pub(super) fn pid(&self, rank: usize) -> i32 {
        pid(self.board(), rank)
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

    #[inline]
    pub(super) fn is_raised(&self) -> bool {
        self.board().raised.load(Ordering::Acquire) == RAISED
    }

    /// What a process holds on to of its team; others may, beyond the team's end.
    pub(super) fn cord(&self) -> Cord {
        Cord { shared: Arc::clone(&self.shared), rank: self.rank }
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

/// The board of a team, and whose hand is on it.
#[derive(Clone)]
pub(super) struct Cord {
    shared: Arc<Shared>,
    rank: usize,
}

impl Cord {
    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    fn board(&self) -> &Board {
        self.shared.get(0)
    }

    /// Fails once the team was stopped.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.is_raised() { Err(self.raised().unwrap_or(Failure::Damaged { rank: 0 })) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn is_raised(&self) -> bool {
        self.board().raised.load(Ordering::Acquire) == RAISED
    }

    /// The system's number of a process.
    pub(super) fn pid(&self, rank: usize) -> i32 {
        pid(self.board(), rank)
    }

    /// Waits for a failure that should be known soon, if there is one.
    #[cold]
    pub(super) fn await_failure(&self) {
        let since = Instant::now();
        while !self.is_raised() && since.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether a process has said that it is done.
    pub(super) fn is_done(&self, rank: usize) -> bool {
        self.board().seats[rank].is_done.load(Ordering::Acquire) == 1
    }

    /// What process `rank` sleeps on when it waits for anything but a meeting of the ground.
    #[inline]
    pub(super) fn bell(&self, rank: usize) -> &Count {
        &self.board().seats[rank].bell
    }
}

impl Alarm for Cord {
    fn raise(&self, failure: Failure) {
        raise(self.board(), self.rank, &failure);
    }

    fn raised(&self) -> Option<Failure> {
        raised(self.board())
    }
}

const PAGE: usize = 4096;

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

/// The system's number of a process, or [`NOBODY`]. Process 0 notes them as it forks, and the others may be quicker
/// than that. It never is 0, which the system takes for the caller.
fn pid(board: &Board, rank: usize) -> i32 {
    loop {
        match board.seats[rank].pid.load(Ordering::Acquire) {
            0 if board.raised.load(Ordering::Acquire) != RAISED => std::thread::yield_now(),
            0 => return NOBODY,
            pid => return pid,
        }
    }
}

/// Writes a failure on the board if nobody has, and returns when there is one to be read. If its writer dies, the watch
/// writes another.
fn raise(board: &Board, rank: usize, failure: &Failure) {
    write(board, 0, rank, failure);
    while board.raised.load(Ordering::Acquire) != RAISED {
        std::thread::yield_now();
    }
}

/// Writes a failure on the board if nobody has, or if `before` says whose writing nobody will end.
fn write(board: &Board, before: u32, rank: usize, failure: &Failure) {
    if board.raised.compare_exchange(before, 1 + rank as u32, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        let bytes = failure.write();
        let len = bytes.len().min(board.failure.len());
        for (place, &byte) in board.failure.iter().zip(&bytes) {
            place.store(byte, Ordering::Relaxed);
        }
        board.len.store(len as u32, Ordering::Relaxed);
        board.raised.store(RAISED, Ordering::Release);
    }
    board.seats.iter().for_each(|seat| seat.bell.stir());
}

fn raised(board: &Board) -> Option<Failure> {
    if board.raised.load(Ordering::Acquire) != RAISED {
        return None;
    }
    let len = board.len.load(Ordering::Relaxed) as usize;
    let bytes: Vec<u8> = board.failure.iter().take(len).map(|byte| byte.load(Ordering::Relaxed)).collect();
    Some(Failure::read(&bytes).unwrap_or(Failure::Damaged { rank: 0 }))
}

/// Ends children and lets the system forget them.
fn end_all(children: &[Child]) {
    children.iter().for_each(Child::end);
    children.iter().for_each(Child::forget);
}

/// Waits for the ends of the children of process 0, and sees to it that all end if one does before its time. They are
/// not forgotten: others may be about to use their numbers.
fn watch(shared: &Shared, children: &[Child], is_home: &AtomicBool, terms: Terms) {
    let board: &Board = shared.get(0);
    let mut files: Vec<libc::pollfd> = children.iter().map(Child::watched).collect();
    let has_files = files.iter().all(|file| file.fd >= 0);
    let mut left: Vec<usize> = (0..children.len()).collect();
    let mut deadline: Option<Instant> = None;
    while !left.is_empty() {
        // A failure that is raised elsewhere is seen at the next look; without such files, an end is as well.
        let nap = if has_files && deadline.is_none() { 100 } else { 5 };
        // SAFETY: the list lives in this function, and its length is right.
        unsafe { libc::poll(files.as_mut_ptr(), files.len() as libc::nfds_t, nap) };
        left.retain(|&at| {
            let Some(end) = children[at].ended() else { return true };
            files[at].fd = -1;
            let has_said = board.seats[at + 1].is_done.load(Ordering::Acquire) == 1;
            let is_done = has_said && matches!(end, End::Code(0) | End::Unknown);
            if !is_done {
                let died = Failure::Died { process: at + 1, how: end.to_string() };
                write(board, 0, 0, &died);
                // It may have died while it was writing down another one.
                write(board, 2 + at as u32, 0, &died);
            }
            false
        });
        if board.raised.load(Ordering::Acquire) == RAISED && deadline.is_none() {
            deadline = Some(Instant::now() + terms.grace);
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            left.drain(..).for_each(|at| children[at].end());
        }
    }
    // Process 0 itself may compute, and never hear of it.
    let Some(deadline) = deadline else { return };
    while !is_home.load(Ordering::Acquire) {
        if Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let words = raised(board).map_or_else(String::new, |failure| (terms.last_words)(&failure));
        if !words.is_empty() && board.spoken.swap(1, Ordering::AcqRel) == 0 {
            eprintln!("{words}");
        }
        // SAFETY: it ends the process.
        unsafe { libc::_exit(1) };
    }
}
