//! Threads that are kept between runs.
//!
//! Starting a thread costs tens of microseconds, handing work to one that is still looking for some costs less than
//! one. A run takes as many workers as it has processors, makes the missing ones, and gives them back at its end. An
//! idle worker yields for a while, in case another run follows at once, and then sleeps.
//!
//! # Invariants
//!
//! - **W1** A worker uses a job only between taking it and counting it as done, and [`Crew::work`] returns only when
//!   all jobs are counted as done. So whatever the job borrows outlives its use.

use super::{
    room,
    wait::{Crowd, idle},
};
use crate::{
    lock::lock,
    memory::Padded,
    sight::{Limits, remember_task},
    system,
};
use std::{
    any::Any,
    cell::Cell,
    io,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle, Thread},
};

/// How the threads of a run are set up.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether processor `i` stays on the `i`-th core this process may use, counted round.
    pub pin: bool,
    /// How much stack each processor has. Memory is taken only as it is used.
    pub stack_bytes: usize,
    /// The number of the first of them in a larger run: threads are named by their numbers.
    pub first: usize,
    /// How long a processor may wait.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self { pin: false, stack_bytes: 64 << 20, first: 0, limits: Limits::default() }
    }
}

type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// One processor's part of a run. The reference is good until `done` was counted (W1).
struct Job {
    work: &'static Work<'static>,
    rank: usize,
    pin: bool,
    done: Arc<Latch>,
}

struct Worker {
    /// How many were started before it.
    number: usize,
    number_in_run: usize,
    thread: JoinHandle<()>,
    slot: Arc<JobSlot>,
    stack_bytes: usize,
}

/// Where a worker finds its next job. If it is full and there is none, the worker ends.
#[derive(Default)]
struct JobSlot {
    job: Mutex<Option<Job>>,
    is_full: AtomicBool,
    is_asleep: AtomicBool,
}

/// Counts the jobs of a run down and wakes its caller.
struct Latch {
    left: AtomicUsize,
    caller: Thread,
    caller_asleep: AtomicBool,
    panics: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// Workers without a job, in the order of their age.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());
static STARTED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is a worker with a job.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a processor of a run that is under way.
pub fn is_processor() -> bool {
    BUSY.get()
}

/// Makes the calling thread a processor until it ends, though it is none of the workers.
pub(crate) fn be_processor() {
    BUSY.set(true);
}

/// Keeps the workers as they are while the process is forked.
pub(crate) fn hold() -> impl Sized {
    lock(&IDLE)
}

/// Forgets the workers in a process that was forked: only the thread that forked goes on there.
pub(crate) fn forget_workers() {
    // Another thread may have held it when the program forked by itself, and will not give it back.
    if let Ok(mut idle) = IDLE.try_lock() {
        // The handles have no threads here, so they must not be dropped.
        std::mem::forget(std::mem::take(&mut *idle));
    }
}

/// Workers that were taken for a run. They are given back when this is dropped.
pub(crate) struct Crew {
    workers: Vec<Worker>,
    pin: bool,
}

/// Drops what a panic carries. If that panics as well, nothing follows.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}

impl Crew {
    /// Takes idle workers with enough stack, the oldest first, and starts the missing ones. A worker has the same
    /// number in all its runs, so that its name can say it.
    ///
    /// So runs of one size have the same threads, in the same order: their caches are warm, and so are the arenas of
    /// the memory allocator, of which there are fewer than threads in a process that has run with many.
    ///
    /// # Errors
    ///
    /// If the system has not so many threads to give. Those that were started have ended then.
    ///
    /// # Panics
    ///
    /// If `processors` is 0.
    pub(crate) fn hire(processors: usize, options: Options) -> io::Result<Self> {
        assert!(processors > 0, "a run needs a processor");
        let Options { stack_bytes, first, pin, .. } = options;
        let mut crew = Self { workers: Vec::new(), pin };
        let mut idle = lock(&IDLE);
        // There may be no room for as many as were asked for.
        let most = processors.min(idle.len());
        crew.workers.reserve_exact(most);
        let mut is_taken: Vec<bool> = Vec::with_capacity(most);
        let mut fits = |worker: &mut Worker| {
            let rank = worker.number_in_run.wrapping_sub(first);
            if rank >= processors || worker.stack_bytes < stack_bytes {
                return false;
            }
            if is_taken.len() <= rank {
                is_taken.resize(rank + 1, false);
            }
            !std::mem::replace(&mut is_taken[rank], true)
        };
        crew.workers.extend(idle.extract_if(.., &mut fits));
        drop(idle);
        let kept = crew.workers.len();
        let missing = processors - kept;
        room::check(processors, missing)?;
        crew.workers.reserve_exact(missing);
        for rank in (0..processors).filter(|&rank| !is_taken.get(rank).is_some_and(|is_taken| *is_taken)) {
            match Worker::start(first + rank, stack_bytes) {
                Ok(worker) => crew.workers.push(worker),
                Err(error) => {
                    // What they had taken is free again before the caller learns of it.
                    let started = crew.workers.split_off(kept);
                    for worker in &started {
                        worker.give(None);
                    }
                    // Those without a job do nothing that could panic.
                    for worker in started {
                        let _ = worker.thread.join();
                    }
                    return Err(error);
                }
            }
        }
        crew.workers.sort_unstable_by_key(|worker| worker.number_in_run);
        Ok(crew)
    }

    /// Runs `work(0)` to `work(processors - 1)`, each on a thread of its own, and returns what they returned.
    ///
    /// # Panics
    ///
    /// With the payload of the first of them that panicked, when all have ended.
    pub(crate) fn run<R: Send>(self, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        let outcomes: Vec<Padded<Mutex<Option<R>>>> = self.workers.iter().map(|_| Padded(Mutex::new(None))).collect();
        self.work(&|rank| *lock(&outcomes[rank].0) = Some(work(rank)));
        let take = |outcome: Mutex<Option<R>>| outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.into_iter().map(|outcome| take(outcome.0).expect("a processor that returned has a result")).collect()
    }

    /// Runs `work` as [`run`](Self::run) does, without results.
    fn work(self, work: &Work<'_>) {
        let _crowd = Crowd::enter(self.workers.len());
        // SAFETY: only the lifetimes change; W1 says that the reference is not used after this function returns.
        let work = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
        let latch = Arc::new(Latch {
            left: AtomicUsize::new(self.workers.len()),
            caller: thread::current(),
            caller_asleep: AtomicBool::new(false),
            panics: Mutex::new(Vec::new()),
        });
        for (rank, worker) in self.workers.iter().enumerate() {
            worker.give(Some(Job { work, rank, pin: self.pin, done: Arc::clone(&latch) }));
        }
        wait_for(&latch.caller_asleep, || latch.left.load(Ordering::SeqCst) == 0);
        drop(self);
        let mut panics = std::mem::take(&mut *lock(&latch.panics)).into_iter();
        if let Some(first) = panics.next() {
            panics.for_each(dispose);
            resume_unwind(first);
        }
    }
}

/// Gives the workers back, so that the idle ones are in the order of their age.
impl Drop for Crew {
    fn drop(&mut self) {
        let mut idle = lock(&IDLE);
        idle.append(&mut self.workers);
        idle.sort_unstable_by_key(|worker| worker.number);
    }
}

impl Worker {
    fn start(number_in_run: usize, stack_bytes: usize) -> io::Result<Self> {
        let slot = Arc::new(JobSlot::default());
        let mine = Arc::clone(&slot);
        let named = thread::Builder::new().name(format!("superstep {number_in_run}")).stack_size(stack_bytes);
        let thread = named.spawn(move || {
            remember_task();
            let mut pinned = false;
            while let Some(job) = mine.take() {
                job.run(&mut pinned);
            }
        })?;
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        Ok(Self { number, number_in_run, thread, slot, stack_bytes })
    }

    /// Gives it a job, or none: then it ends.
    fn give(&self, job: Option<Job>) {
        *lock(&self.slot.job) = job;
        // Both sides store, then look, in one order for all: either the worker sees the job or we see it asleep.
        self.slot.is_full.store(true, Ordering::SeqCst);
        if self.slot.is_asleep.load(Ordering::SeqCst) {
            self.thread.thread().unpark();
        }
    }
}

impl JobSlot {
    fn take(&self) -> Option<Job> {
        wait_for(&self.is_asleep, || self.is_full.load(Ordering::SeqCst));
        self.is_full.store(false, Ordering::SeqCst);
        lock(&self.job).take()
    }
}

impl Job {
    fn run(self, pinned: &mut bool) {
        if self.pin || *pinned {
            system::bind(self.pin.then_some(self.rank));
            *pinned = self.pin;
        }
        BUSY.set(true);
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.work)(self.rank)));
        BUSY.set(false);
        if let Err(payload) = outcome {
            // None is dropped here: that runs code of the program, and a panic of it would end this worker.
            lock(&self.done.panics).push(payload);
        }
        self.done.count();
    }
}

impl Latch {
    fn count(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 && self.caller_asleep.load(Ordering::SeqCst) {
            self.caller.unpark();
        }
    }
}

/// Waits until it is `ready`. Whoever makes it so then looks whether to unpark this thread.
fn wait_for(is_asleep: &AtomicBool, ready: impl Fn() -> bool) {
    idle(&ready, || {
        is_asleep.store(true, Ordering::SeqCst);
        if !ready() {
            thread::park();
        }
        is_asleep.store(false, Ordering::SeqCst);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The addresses of a process have 47 bits here, so there is no room for stacks of 46 bits each.
    #[test]
    #[cfg_attr(miri, ignore = "Miri gives as many threads as it is asked for")]
    fn threads_that_the_system_does_not_give_are_an_error_and_later_runs_work() {
        let vast = Options { stack_bytes: 1 << 46, ..Options::default() };
        for _ in 0..3 {
            assert!(Crew::hire(4, vast).is_err());
            assert!(!lock(&IDLE).iter().any(|worker| worker.stack_bytes == vast.stack_bytes), "it is kept");
            assert_eq!(Crew::hire(4, Options::default()).unwrap().run(|rank| rank), [0, 1, 2, 3]);
        }
    }

    /// What a panic carries may panic when it is dropped; only the first one's goes to the caller.
    #[test]
    fn payloads_that_panic_when_they_are_dropped_leave_the_first_panic_to_the_caller() {
        struct Loud(usize);
        impl Drop for Loud {
            fn drop(&mut self) {
                resume_unwind(Box::new("dropped"));
            }
        }
        let crew = || Crew::hire(3, Options::default()).expect("there are threads");
        let run = AssertUnwindSafe(|| {
            crew().run(|rank| -> () { std::panic::resume_unwind(Box::new(Loud(rank))) });
        });
        let first = catch_unwind(run).expect_err("all have panicked").downcast::<Loud>();
        let first = first.expect("it is that of a processor, and not that of a drop");
        assert!(first.0 < 3);
        std::mem::forget(first);
        assert_eq!(crew().run(|rank| rank), [0, 1, 2], "they work on");
    }

    /// They need no room beside what they have.
    #[test]
    #[cfg_attr(miri, ignore = "so many threads take Miri minutes")]
    fn threads_that_are_kept_are_not_missing() {
        let options = Options { stack_bytes: 1 << 20, ..Options::default() };
        let all: Vec<usize> = (0..300).collect();
        for _ in 0..2 {
            let crew = Crew::hire(all.len(), options).expect("there are so many threads");
            assert_eq!(crew.run(|rank| rank), all);
        }
    }

    #[test]
    fn a_thread_that_is_no_worker_can_be_a_processor() {
        let both = thread::spawn(|| {
            let before = is_processor();
            be_processor();
            (before, is_processor())
        });
        assert_eq!(both.join().expect("it does not panic"), (false, true));
    }
}
