//! A steady loop of steps allocates nothing, on any of its threads; what is dropped is freed; and irregular access
//! takes no more memory than a small multiple of what it moves.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use superstep::{Any, Array, Block, Config, Cyclic, Epoch, Fabric, Group, Object, Sum, Tuning};

/// The system's allocator, with a count of how often it was asked for memory, and of the bytes that are in use.
struct Counting;

static ASKED: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST_IN_USE: AtomicUsize = AtomicUsize::new(0);

/// Counts so many bytes that were asked for.
fn count(bytes: usize) {
    ASKED.fetch_add(1, SeqCst);
    let in_use = IN_USE.fetch_add(bytes, SeqCst) + bytes;
    MOST_IN_USE.fetch_max(in_use, SeqCst);
}

// SAFETY: every method hands its arguments on to the system's allocator, which keeps the contract of the trait.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same one.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both exist while the system moves one into the other.
        count(size);
        IN_USE.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller keeps the contract of `realloc`, and `pointer` came from the same allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller keeps the contract of `dealloc`, and `pointer` came from the same allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often memory was asked for in a thousand rounds of `step`, by all threads together, once it has warmed up. Where
/// buffers go to and fro, one more may be needed the first time that a thread is late, and whoever looks out for waits
/// that are long may ask where others are: so the quietest of several thousands counts.
fn asked_in_a_thousand<S>(
    procs: usize,
    thousands: usize,
    make: impl Fn(&mut Group) -> S + Sync,
    step: impl Fn(&mut Group, &mut S, usize) + Sync,
) -> usize {
    let config = Config::new().procs(procs).fabric(Fabric::Threads);
    let asked = config.run_all(|g| {
        let mut state = make(g);
        for round in 0..100 {
            step(g, &mut state, round);
        }
        let mut fewest = usize::MAX;
        for _ in 0..thousands {
            // Nobody counts before all have warmed up, and nobody goes on before all have counted.
            g.step(|_| ());
            let before = ASKED.load(SeqCst);
            g.step(|_| ());
            for round in 0..1000 {
                step(g, &mut state, round);
            }
            g.step(|_| ());
            let after = ASKED.load(SeqCst);
            g.step(|_| ());
            fewest = fewest.min(after - before);
        }
        fewest
    });
    asked.unwrap().into_iter().max().unwrap_or(0)
}

fn steps_with_nothing_or_numbers_allocate_nothing(procs: usize) {
    let empty = asked_in_a_thousand(procs, 6, |_| (), |g, (), _| g.step(|_| ()));
    assert_eq!(empty, 0, "empty steps of {procs}");
    let sums = asked_in_a_thousand(
        procs,
        6,
        |_| (),
        |g, (), round| {
            let (sum, below) = g.step(|s| (s.reduce(round, Sum), s.prefix(1usize, Sum)));
            assert_eq!((sum, below), (round * g.size(), g.rank()));
        },
    );
    assert_eq!(sums, 0, "steps of {procs} with a reduce and a prefix");
}

/// Updates that are short, long, of whole parts and with strides, scatters of one value and of many, and builders.
fn writes_to_arrays_allocate_nothing(procs: usize) {
    let make = |g: &mut Group| {
        let arrays: (Array<u64, Block>, Array<u32, Cyclic>) = (g.array(40_000), g.array(50));
        (arrays, vec![7u64; 40_000])
    };
    let asked = asked_in_a_thousand(procs, 6, make, |g, ((large, small), values), round| {
        let first = round % 4 * 10_000;
        g.step(|s| {
            s.scatter_one(small, &[1, 30, 30, round % 50], 1, Sum);
            s.update(large, first..first + 2000, &values[..2000]);
            match round % 3 {
                0 => s.update(small, superstep::strided(.., -5), &[3; 10]),
                1 => s.scatter(large, &[0, 39_999, first], &[1, 2, 3], Any),
                _ => {
                    let mut writes = s.scatterer(small, Any);
                    (0..40).for_each(|i| writes.push(i, i as u32));
                }
            }
            if round % 20 == 0 {
                s.update(large, .., values);
            }
        });
    });
    assert_eq!(asked, 0, "steps of {procs} that write to arrays");
}

/// P1: gathers and scatters by plans, with and without repetitions, in one piece of memory and in parts.
fn plans_allocate_nothing(procs: usize) {
    let make = |g: &mut Group| {
        let arrays: (Array<u64, Block>, Array<f64, Cyclic>) = (g.array(40_000), g.array(50));
        let repeated: Vec<usize> = (0..5000).map(|i| (i * 7919 + g.rank()) % 3000 * 13).collect();
        let few: Vec<usize> = (0..50).rev().collect();
        let plans = (g.plan(&arrays.0, &repeated), g.plan(&arrays.1, &few));
        (arrays, plans, (vec![7; 5000], vec![0.5; 50]), (Vec::new(), Vec::new()))
    };
    let asked = asked_in_a_thousand(procs, 6, make, |g, (arrays, plans, values, room), _| {
        let (large, small) = (std::mem::take(&mut room.0), std::mem::take(&mut room.1));
        *room = g.step(|s| {
            s.scatter_by(&arrays.0, &plans.0, &values.0, Sum);
            s.scatter_by(&arrays.1, &plans.1, &values.1, Sum);
            (s.gather_by_into(&arrays.0, &plans.0, large), s.gather_by_into(&arrays.1, &plans.1, small))
        });
        assert_eq!((room.0.len(), room.1.len()), (5000, 50));
    });
    assert_eq!(asked, 0, "steps of {procs} that follow plans");
}

/// Products with a sparse matrix and with its transpose.
fn products_allocate_nothing(procs: usize) {
    let make = |g: &mut Group| {
        let (x, y) = (g.array::<f64, Block>(500), g.array::<f64, Cyclic>(300));
        let matrix = g.sparse_rows(&y, &x, |i| (0..5).map(move |j| ((i + j * 77) % 500, 0.01)), Sum);
        (matrix, x, y)
    };
    let asked = asked_in_a_thousand(procs, 6, make, |g, (matrix, x, y), _| {
        matrix.spmv(g, x, y);
        matrix.spmv_transposed(g, y, x);
    });
    assert_eq!(asked, 0, "products of {procs}");
}

/// Bytes in use after many arrays have come, been written and read, and gone, on every fabric.
fn arrays_that_are_dropped_are_freed(procs: usize) {
    let fabrics =
        [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: false }, Fabric::Sim { seed: 1, shares_memory: true }];
    for fabric in fabrics {
        let grown = Config::new().procs(procs).fabric(fabric).run_all(|g| {
            let mut in_use = [0; 3];
            for (number, in_use) in in_use.iter_mut().enumerate() {
                if number == 2 {
                    // What was read last is not kept either, however large it is.
                    let large = g.array::<u64, Block>(200_000);
                    g.step(|s| (s.mirror(&large, 99_999..100_001), s.gather(&large, &[7])));
                }
                for round in if number < 2 { 0..300 } else { 0..0 } {
                    let a = g.array::<u64, Block>(1000);
                    let read = g.step(|s| {
                        s.scatter_one(&a, &[0, 999, round], 1, Sum);
                        s.update(&a, 100..200, &[5; 100]);
                        s.gather(&a, &[999])
                    });
                    assert_eq!(read, [g.size() as u64]);
                }
                // It is forgotten at the first boundary, and all have done so by the second.
                g.step(|_| ());
                g.step(|_| ());
                *in_use = IN_USE.load(SeqCst);
                g.step(|_| ());
            }
            [1, 2].map(|at| in_use[at].saturating_sub(in_use[0]))
        });
        // 300 arrays of 8000 bytes are far more than what any buffer may have grown by.
        let grown = grown.unwrap().into_iter().flatten().max().unwrap_or(0);
        assert!(grown < 100_000, "{grown} bytes on {fabric:?} with {procs}");
    }
}

/// A scatter and a gather of k elements each, for the first time and so with nothing to reuse: a place has 4 bytes and
/// a value 8, and all processors together may take three times that, what the reader gets included.
fn irregular_access_takes_at_most_three_times_what_it_moves(procs: usize) {
    const COUNT: usize = 300_000;
    /// What is not in proportion, per pair of processors.
    const REST: usize = 64 << 10;
    for fabric in [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: false }] {
        let taken = Config::new().procs(procs).fabric(fabric).run_all(|g| {
            let a = g.array::<u64, Block>(400_000 * g.size());
            let at: Vec<usize> = (0..COUNT).map(|i| (i * 7919 + g.rank()) * 104_729 % a.len()).collect();
            let values = vec![3; COUNT];
            let most_in = |g: &mut Group, work: &dyn Fn(&mut Group)| {
                g.step(|_| ());
                let before = IN_USE.load(SeqCst);
                MOST_IN_USE.store(before, SeqCst);
                g.step(|_| ());
                work(g);
                g.step(|_| ());
                MOST_IN_USE.load(SeqCst) - before
            };
            let scatter = most_in(g, &|g| g.step(|s| s.scatter(&a, &at, &values, Sum)));
            let gather = most_in(g, &|g| assert_eq!(g.step(|s| s.gather(&a, &at)).len(), COUNT));
            [scatter, gather]
        });
        let limit = 3 * 12 * COUNT * procs + REST * procs * procs;
        for [scatter, gather] in taken.unwrap() {
            assert!(scatter <= limit, "a scatter on {fabric:?} with {procs} took {scatter} bytes, {limit} are allowed");
            assert!(gather <= limit, "a gather on {fabric:?} with {procs} took {gather} bytes, {limit} are allowed");
        }
    }
}

/// E6: one floods another that does not look for a while. What is under way stays within the window, and all arrives.
fn a_sender_that_outruns_its_receiver_is_held_back() {
    const SENT: u64 = 5_000_000;
    let most = Config::new().procs(2).fabric(Fabric::Threads).run_all(|g| {
        let sum = g.object(0u64);
        g.step(|_| ());
        let before = IN_USE.load(SeqCst);
        MOST_IN_USE.store(before, SeqCst);
        g.step(|_| ());
        g.epoch(|e| {
            if e.rank() == 0 {
                for x in 0..SENT {
                    e.send(1, &sum, x, |sum, _, x| *sum += x);
                }
            } else {
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
        });
        let all = if g.rank() == 1 { SENT * (SENT - 1) / 2 } else { 0 };
        assert_eq!(sum.with(|sum| *sum), all);
        MOST_IN_USE.load(SeqCst) - before
    });
    // 40 MB were sent; a window is a megabyte.
    let most = most.unwrap().into_iter().max().unwrap_or(0);
    assert!(most < 8 << 20, "{most} bytes were in use");
}

/// How many requests a sender has issued.
static ISSUED: AtomicUsize = AtomicUsize::new(0);

/// Does not look for requests as long as their sender gets on: it has issued all, or none for a while.
fn look_away(all: u64) {
    let (mut issued, mut quiet) = (0, 0);
    while issued < all as usize && quiet < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let now = ISSUED.load(SeqCst);
        quiet = if now == issued { quiet + 1 } else { 0 };
        issued = now;
    }
}

/// The most bytes that were in use during an epoch, more than before it.
fn most_in_an_epoch(procs: usize, tuning: Tuning, body: impl Fn(&Epoch, &Object<u64>) + Sync, sum: u64) -> usize {
    ISSUED.store(0, SeqCst);
    let most = Config::new().procs(procs).fabric(Fabric::Threads).run_all(|g| {
        let object = g.object(0u64);
        g.step(|_| ());
        let before = IN_USE.load(SeqCst);
        MOST_IN_USE.store(before, SeqCst);
        g.step(|_| ());
        g.epoch_with(tuning, |e| body(e, &object));
        let mine = object.with(|sum| *sum);
        assert_eq!(g.step(|s| s.reduce(mine, Sum)), sum);
        MOST_IN_USE.load(SeqCst) - before
    });
    most.unwrap().into_iter().max().unwrap_or(0)
}

/// E6: bytes count wherever they are in an argument, so a letter is full in time.
fn a_window_holds_no_more_because_vectors_lie_inside_of_tuples() {
    const SENT: u64 = 200;
    let body = |e: &Epoch, sum: &Object<u64>| {
        if e.rank() == 0 {
            for x in 0..SENT {
                e.send(1, sum, (x, Some(vec![0u8; 1 << 20])), |sum, _, (x, _)| *sum += x);
                ISSUED.fetch_add(1, SeqCst);
            }
        } else {
            look_away(SENT);
        }
    };
    let most = most_in_an_epoch(2, Tuning::new().window(4), body, SENT * (SENT - 1) / 2);
    assert!(most < 24 << 20, "{most} bytes were in use, of {SENT} MiB that were sent");
}

/// E6: a method that sends requests on to a processor that does not look for a while holds back those who send them.
fn requests_that_are_sent_on_to_a_slow_processor_are_held_back() {
    const SENT: u64 = 3_000_000;
    let body = |e: &Epoch, sum: &Object<u64>| match e.rank() {
        0 => {
            for x in 0..SENT {
                e.send(1, sum, (sum.handle(), x), |_, e, (sum, x)| e.send(2, &sum, x, |sum, _, x| *sum += x));
                ISSUED.fetch_add(1, SeqCst);
            }
        }
        1 => {}
        _ => look_away(SENT),
    };
    // 24 MB were sent on, and 48 MB to be sent on; a window is a megabyte.
    let most = most_in_an_epoch(3, Tuning::new(), body, SENT * (SENT - 1) / 2);
    assert!(most < 12 << 20, "{most} bytes were in use");
}

/// Requests and answers that go to and fro take their room along.
fn epochs_of_a_steady_loop_allocate_little(procs: usize) {
    let asked = asked_in_a_thousand(
        procs,
        5,
        |g| g.object(0u64),
        |g, sum, _| {
            g.epoch(|e| {
                for x in 0..10 {
                    e.send((e.rank() + 1) % e.size(), sum, x, |sum, _, x| *sum += x);
                }
            });
        },
    );
    assert!(asked <= 1000 * procs, "{asked} times in a thousand epochs of {procs} processors");
}

// One test, because the count is of the whole process.
#[test]
fn a_steady_loop_of_steps_allocates_nothing_and_what_is_dropped_is_freed() {
    a_sender_that_outruns_its_receiver_is_held_back();
    a_window_holds_no_more_because_vectors_lie_inside_of_tuples();
    requests_that_are_sent_on_to_a_slow_processor_are_held_back();
    epochs_of_a_steady_loop_allocate_little(2);
    for procs in [2, 4] {
        steps_with_nothing_or_numbers_allocate_nothing(procs);
        writes_to_arrays_allocate_nothing(procs);
        plans_allocate_nothing(procs);
        products_allocate_nothing(procs);
        arrays_that_are_dropped_are_freed(procs);
        irregular_access_takes_at_most_three_times_what_it_moves(procs);
    }
}
