//! A steady loop of steps allocates nothing, on any of its threads.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use superstep::{Config, Fabric, Group, Sum};

/// The system's allocator, with a count of how often it was asked for memory.
struct Counting;

static ASKED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every method hands its arguments on to the system's allocator, which keeps the contract of the trait.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(1, SeqCst);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(1, SeqCst);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same one.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ASKED.fetch_add(1, SeqCst);
        // SAFETY: the caller keeps the contract of `realloc`, and `pointer` came from the same allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and `pointer` came from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often memory was asked for in a thousand rounds of `step`, by all threads together, once it has warmed up.
fn asked_in_a_thousand(procs: usize, step: impl Fn(&mut Group, u64) + Sync) -> usize {
    let config = Config::new().procs(procs).fabric(Fabric::Threads);
    let asked = config.run_all(|g| {
        for round in 0..100 {
            step(g, round);
        }
        // Nobody counts before all have warmed up, and nobody goes on before all have counted.
        g.step(|_| ());
        let before = ASKED.load(SeqCst);
        g.step(|_| ());
        for round in 0..1000 {
            step(g, round);
        }
        g.step(|_| ());
        let after = ASKED.load(SeqCst);
        g.step(|_| ());
        after - before
    });
    asked.unwrap().into_iter().max().unwrap_or(0)
}

// One test, because the count is of the whole process.
#[test]
fn a_steady_loop_of_steps_allocates_nothing() {
    for procs in [2, 4] {
        let empty = asked_in_a_thousand(procs, |g, _| g.step(|_| ()));
        assert_eq!(empty, 0, "empty steps of {procs}");
        let sums = asked_in_a_thousand(procs, |g, round| {
            let (sum, below) = g.step(|s| (s.reduce(round, Sum), s.prefix(1usize, Sum)));
            assert_eq!((sum, below), (round * g.size() as u64, g.rank()));
        });
        assert_eq!(sums, 0, "steps of {procs} with a reduce and a prefix");
    }
}
