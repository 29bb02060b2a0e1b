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
    sight::{Limits, Lookout, Pen, Sighting, Stint, Verdict},
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
    /// What can be seen of the processes.
    sightings: [Sighting; MOST],
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
    /// How much time to itself one who computes has until it is ended: that in which it runs, or sleeps because it
    /// wants to. One who has heard of the failure, and is on its way out, has twenty times as much.
    pub grace: Duration,
    /// How long a process may wait.
    pub limits: Limits,
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

    /// With what this process writes down where it is.
    pub(super) fn pen(&self) -> Pen {
        Pen::of_team(Sheet(Arc::clone(&self.shared)), self.rank)
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

/// What can be seen of the processes of a team.
#[derive(Clone)]
pub(crate) struct Sheet(Arc<Shared>);

impl Sheet {
    /// That of one of them.
    #[inline]
    pub(crate) fn sighting(&self, rank: usize) -> &Sighting {
        &self.0.get::<Board>(0).sightings[rank]
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
        if self.is_raised() { Err(self.failure()) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn is_raised(&self) -> bool {
        self.board().raised.load(Ordering::Acquire) == RAISED
    }

    #[cold]
    fn failure(&self) -> Failure {
        Pen::of_team(Sheet(Arc::clone(&self.shared)), self.rank).hear();
        self.raised().unwrap_or(Failure::Damaged { rank: 0 })
    }

    /// The system's number of a process.
    pub(super) fn pid(&self, rank: usize) -> i32 {
        pid(self.board(), rank)
    }

    /// Waits until the watch has written down that a process has died, if it has.
    #[cold]
    pub(super) fn await_death_of(&self, rank: usize) {
        while !self.is_raised() && !is_alive(self.pid(rank)) {
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

/// Whether a process is there, and not only waiting to be waited for.
fn is_alive(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // The name before it may hold anything.
        Ok(stat) => !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X'])),
        // Where nothing is known of processes, or of this one, nothing is waited for.
        Err(_) => pid <= 0 || std::fs::metadata("/proc/self/stat").is_err(),
    }
}

/// How much more time one has who has heard of the failure.
pub(crate) const UNWINDING: u32 = 20;

/// Who of a team is left after it has failed, and how much time each has had since.
struct Stints {
    terms: Terms,
    /// For each process, once it is looked at.
    had: Vec<Option<Stint>>,
}

impl Stints {
    fn new(size: usize, terms: Terms) -> Self {
        Self { terms, had: (0..size).map(|_| None).collect() }
    }

    /// Whether a process has had all its time. It is looked at about every `period`.
    fn is_over(&mut self, board: &Board, rank: usize, period: Duration) -> bool {
        let (sighting, pid) = (&board.sightings[rank], board.seats[rank].pid.load(Ordering::Relaxed));
        let task = Some(sighting.task()).filter(|&task| task != 0).unwrap_or(pid);
        let had = self.had[rank].get_or_insert_with(|| Stint::of(pid, task)).had(period);
        had >= self.terms.grace * if sighting.has_heard() { UNWINDING } else { 1 }
    }
}

/// Waits for the ends of the children of process 0, and sees to it that all end if one does before its time. They are
/// not forgotten: others may be about to use their numbers.
fn watch(shared: &Shared, children: &[Child], is_home: &AtomicBool, terms: Terms) {
    let board: &Board = shared.get(0);
    let mut files: Vec<libc::pollfd> = children.iter().map(Child::watched).collect();
    let has_files = files.iter().all(|file| file.fd >= 0);
    let mut left: Vec<usize> = (0..children.len()).collect();
    let mut stints: Option<Stints> = None;
    let mut ended = Vec::new();
    let mut lookout = Lookout::new(children.len() + 1, terms.limits);
    let looks_every = terms.limits.period().unwrap_or(Duration::MAX);
    while !left.is_empty() {
        // A failure that is raised elsewhere is seen at the next look; without such files, an end is as well.
        let nap = if has_files && stints.is_none() { 100 } else { 5 + left.len() / 8 };
        let nap = Duration::from_millis(nap as u64).min(looks_every);
        // SAFETY: the list lives in this function, and its length is right.
        unsafe { libc::poll(files.as_mut_ptr(), files.len() as libc::nfds_t, nap.as_millis() as libc::c_int) };
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
        if board.raised.load(Ordering::Acquire) != RAISED {
            look_around(board, &mut lookout, children.len() + 1);
            continue;
        }
        let stints = stints.get_or_insert_with(|| Stints::new(children.len() + 1, terms));
        left.retain(|&at| {
            let is_over = stints.is_over(board, at + 1, nap);
            if is_over {
                children[at].end();
                ended.push(at + 1);
            }
            !is_over
        });
    }
    if !ended.is_empty() && !terms.grace.is_zero() {
        let names: Vec<String> = ended.iter().map(ToString::to_string).collect();
        eprintln!("superstep: processes that went on after the run had failed were ended: {}", names.join(", "));
    }
    // Process 0 itself may compute, and never hear of it.
    let Some(mut stints) = stints else { return };
    let nap = Duration::from_millis(5);
    while !is_home.load(Ordering::Acquire) {
        if !stints.is_over(board, 0, nap) {
            std::thread::sleep(nap);
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

/// Looks whether a process has waited long.
fn look_around(board: &Board, lookout: &mut Lookout, size: usize) {
    let now = Instant::now();
    for (rank, sighting) in board.sightings[..size].iter().enumerate() {
        lookout.look(rank, sighting.mark(), now);
    }
    match lookout.judge(now, None, |rank| board.sightings[rank].place()) {
        None => {}
        Some(Verdict::Notice(line)) => eprintln!("superstep: {line}"),
        Some(Verdict::Stalled(words)) => write(board, 0, 0, &Failure::Stalled { words }),
    }
}
