//! Hands the contract to every fabric, and tries what each promises beyond it.

#![forbid(unsafe_code)]

use fabric::{
    Circle, Common, Failure, Meld, Melded, Name,
    contract::{self, Launch},
    sim::{self, Faults, Memory, Plan},
    threads::{self, Options},
};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, mpsc},
    thread::{self, ThreadId},
    time::Duration,
};

/// Fails where `claim` takes longer than this: a contract that is broken often shows as a wait without end.
fn in_time(claim: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    let claim = thread::spawn(move || {
        // Dropped at the end whether or not the claim held.
        let _done: mpsc::Sender<()> = done;
        claim();
    });
    let waited = ended.recv_timeout(Duration::from_secs(3600));
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "some processor is left waiting");
    if let Err(payload) = claim.join() {
        std::panic::resume_unwind(payload);
    }
}

fn on_threads(options: Options) -> impl Fn(usize, &(dyn Fn(Box<dyn Circle>) + Sync)) {
    move |size, body| {
        threads::run(size, options, body).unwrap();
    }
}

fn simulated(seed: u64, memory: Memory) -> impl Fn(usize, &(dyn Fn(Box<dyn Circle>) + Sync)) {
    move |size, body| {
        sim::run(size, &Plan::new(seed, memory), Options::default(), body).unwrap();
    }
}

/// Tries all sizes under one seed, then the small ones under more.
fn uphold_under_seeds(memory: Memory) {
    contract::uphold(&simulated(1, memory));
    for seed in 2..if cfg!(miri) { 3 } else { 22 } {
        let launch: Launch = &simulated(seed, memory);
        for size in [2, 3, 5] {
            contract::uphold_at(launch, size);
        }
    }
}

#[test]
fn threads_uphold_the_contract() {
    in_time(|| contract::uphold(&on_threads(Options::default())));
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no cores to bind threads to")]
fn pinned_threads_uphold_the_contract() {
    in_time(|| contract::uphold(&on_threads(Options { pin: true, ..Options::default() })));
}

#[test]
#[cfg_attr(miri, ignore = "takes hours in Miri")]
fn many_more_threads_than_cores_uphold_the_contract() {
    in_time(|| {
        for size in [64, 66] {
            contract::uphold_at(&on_threads(Options::default()), size);
        }
    });
}

#[test]
fn simulated_processors_apart_uphold_the_contract() {
    in_time(|| uphold_under_seeds(Memory::Apart));
}

#[test]
fn simulated_processors_that_share_memory_uphold_the_contract() {
    in_time(|| uphold_under_seeds(Memory::Shared));
}

#[test]
fn only_simulated_processors_apart_share_nothing() {
    let shares = |circle: Box<dyn Circle>| circle.shares(1);
    assert_eq!(threads::run(2, Options::default(), shares).unwrap(), [true; 2]);
    assert_eq!(sim::run(2, &Plan::new(0, Memory::Shared), Options::default(), shares).unwrap(), [true; 2]);
    assert_eq!(sim::run(2, &Plan::new(0, Memory::Apart), Options::default(), shares).unwrap(), [false; 2]);
}

#[test]
fn only_simulated_processors_apart_carry_memory() {
    let carries = |circle: Box<dyn Circle>| (circle.carries(), circle.is_mixed());
    for (size, apart) in [(1, false), (3, true)] {
        let simulated = |memory| sim::run(size, &Plan::new(0, memory), Options::default(), carries).unwrap();
        assert_eq!(threads::run(size, Options::default(), carries).unwrap(), vec![(false, false); size]);
        assert_eq!(simulated(Memory::Shared), vec![(false, false); size]);
        assert_eq!(simulated(Memory::Apart), vec![(apart, false); size]);
    }
    let carried = threads::run(1, Options::default(), |mut circle| circle.carry(&[], &mut [])).unwrap();
    assert_eq!(carried, [Err(Failure::Damaged { rank: 0 })]);
}

/// Puts one contribution after the other, and says no more of itself.
struct Chain;

impl Meld for Chain {
    fn meld(&mut self, left: &[u8], right: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(left);
        out.extend_from_slice(right);
    }
}

#[test]
fn equal_contributions_are_melded_and_what_is_before_is_left_out_unless_a_meld_says_otherwise() {
    let meets = |mut circle: Box<dyn Circle>| {
        let mut outcome = Melded::default();
        circle.meet(b"a", &mut Chain, &mut outcome).unwrap();
        (outcome.total, outcome.before)
    };
    let expected = vec![(b"aaa".to_vec(), Vec::<u8>::new()); 3];
    assert_eq!(threads::run(3, Options::default(), meets).unwrap(), expected);
    assert_eq!(sim::run(3, &Plan::new(0, Memory::Apart), Options::default(), meets).unwrap(), expected);
}

#[test]
fn who_is_alone_need_not_rest_and_nobody_rests_in_a_run_that_has_failed() {
    in_time(|| {
        let failure = Failure::GaveUp { rank: 0, report: b"on purpose"[..].into() };
        let rests = |mut circle: Box<dyn Circle>| {
            let alone = if circle.size() == 1 { circle.rest() } else { Ok(()) };
            circle.alarm().raise(failure.clone());
            [alone, circle.rest()]
        };
        for size in [1, 2] {
            let ended = sim::run(size, &Plan::new(0, Memory::Apart), Options::default(), rests).unwrap();
            assert_eq!(ended, vec![[Ok(()), Err(failure.clone())]; size]);
        }
    });
}

#[test]
fn threads_have_in_common_what_the_first_to_ask_has_made() {
    let found = threads::run(3, Options::default(), |circle| {
        let common = circle.common(Name::new(1), &mut || -> Common { Arc::new(circle.rank()) });
        common.and_then(|common| common.downcast_ref::<usize>().copied())
    })
    .unwrap();
    assert!(found[0].is_some() && found.iter().all(|one| *one == found[0]), "{found:?}");
}

#[test]
fn a_member_that_never_comes_is_seen_as_a_deadlock() {
    in_time(|| {
        for missing in 0..4 {
            for seed in 0..if cfg!(miri) { 1 } else { 20 } {
                let ended = sim::run(4, &Plan::new(seed, Memory::Apart), Options::default(), |mut circle| {
                    circle.wait().expect("all are there");
                    if circle.rank() == missing { Ok(()) } else { circle.wait() }
                })
                .unwrap();
                for (rank, ended) in ended.into_iter().enumerate() {
                    assert_eq!(ended, if rank == missing { Ok(()) } else { Err(Failure::Deadlock) });
                }
            }
        }
    });
}

#[test]
fn members_who_wait_for_each_other_in_different_circles_are_seen_as_a_deadlock() {
    in_time(|| {
        let ended = sim::run(2, &Plan::new(3, Memory::Shared), Options::default(), |mut circle| {
            let mut twin = circle.join(Name::new(1), &[0, 1], circle.rank());
            if circle.rank() == 0 { circle.wait() } else { twin.wait() }
        })
        .unwrap();
        assert_eq!(ended, [Err(Failure::Deadlock), Err(Failure::Deadlock)]);
    });
}

/// The order in which four processors come by between meetings, which nothing but the seed decides.
fn order_under(seed: u64) -> Vec<usize> {
    let order = Mutex::new(Vec::new());
    sim::run(4, &Plan::new(seed, Memory::Apart), Options::default(), |mut circle| {
        for _ in 0..10 {
            order.lock().unwrap().push(circle.rank());
            circle.wait().unwrap();
        }
    })
    .unwrap();
    order.into_inner().unwrap()
}

#[test]
fn a_seed_decides_the_order_and_decides_it_again() {
    in_time(|| {
        let orders: Vec<Vec<usize>> = (0..if cfg!(miri) { 2 } else { 10 }).map(order_under).collect();
        for (seed, order) in orders.iter().enumerate() {
            for _ in 0..if cfg!(miri) { 1 } else { 5 } {
                assert_eq!(order_under(seed as u64), *order, "seed {seed}");
            }
        }
        assert!(orders.iter().any(|order| *order != orders[0]), "every seed gave the same order");
    });
}

#[test]
fn results_come_back_by_rank() {
    let expected: Vec<usize> = (0..9).collect();
    assert_eq!(threads::run(9, Options::default(), |circle| circle.rank()).unwrap(), expected);
    assert_eq!(
        sim::run(9, &Plan::new(5, Memory::Apart), Options::default(), |circle| circle.rank()).unwrap(),
        expected
    );
}

#[test]
fn a_run_needs_a_processor() {
    let none = || threads::run(0, Options::default(), |_| ()).unwrap();
    assert!(std::panic::catch_unwind(none).is_err());
}

#[test]
fn a_panic_comes_out_of_the_run_when_all_have_ended() {
    in_time(|| {
        let ended = Mutex::new(0);
        let outcome = std::panic::catch_unwind(|| {
            threads::run(3, Options::default(), |mut circle| {
                if circle.rank() == 1 {
                    circle.alarm().raise(Failure::GaveUp { rank: 1, report: b"on purpose".as_slice().into() });
                    std::panic::panic_any("on purpose");
                }
                assert!(circle.wait().is_err());
                *ended.lock().unwrap() += 1;
            })
            .unwrap()
        });
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"on purpose"));
        assert_eq!(*ended.lock().unwrap(), 2);
    });
}

/// More than any other test asks for, so that these runs take no thread that another test started.
const OWN_STACK_BYTES: usize = 257 << 20;

#[test]
fn threads_are_kept_between_runs() {
    in_time(|| {
        let options = Options { stack_bytes: OWN_STACK_BYTES, ..Options::default() };
        let ids = || threads::run(3, options, |_| thread::current().id()).unwrap();
        // Other tests run meanwhile and may borrow a thread, so not every run must find the same ones; most do.
        let runs: Vec<Vec<ThreadId>> = (0..if cfg!(miri) { 5 } else { 100 }).map(|_| ids()).collect();
        let mut seen: Vec<ThreadId> = Vec::new();
        for run in &runs {
            assert!(run[0] != run[1] && run[1] != run[2] && run[0] != run[2], "each processor has its own thread");
            seen.extend(run.iter().filter(|id| !seen.contains(id)).collect::<Vec<_>>());
        }
        let count = runs.len();
        assert!(seen.len() < count, "{count} runs of 3 used {} threads", seen.len());
    });
}

/// The cores that the calling thread may run on, from the kernel's list of numbers and ranges.
fn allowed_cores() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        first.parse::<usize>().unwrap()..=last.parse().unwrap()
    };
    list.trim().split(',').flat_map(range).collect()
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no cores to bind threads to")]
fn a_pinned_processor_has_one_core_counted_round_and_is_set_free_by_the_next_run() {
    in_time(|| {
        let all = allowed_cores();
        // One more than there are cores, so that the first is given out again.
        let size = all.len() + 1;
        let pinned = threads::run(size, Options { pin: true, ..Options::default() }, |_| allowed_cores()).unwrap();
        for (rank, cores) in pinned.into_iter().enumerate() {
            assert_eq!(cores, [all[rank % all.len()]], "rank {rank}");
        }
        let free = threads::run(size, Options::default(), |_| allowed_cores()).unwrap();
        assert!(free.iter().all(|cores| *cores == all), "{free:?}");
    });
}

#[test]
fn a_thread_knows_whether_it_is_a_processor() {
    assert!(!threads::is_processor());
    assert_eq!(threads::run(2, Options::default(), |_| threads::is_processor()).unwrap(), [true; 2]);
    assert!(!threads::is_processor());
}

/// Nobody need raise an alarm for a body that panics.
#[test]
fn a_body_that_panics_ends_the_waits_of_the_others() {
    in_time(|| {
        let launches: [Launch; 3] =
            [&on_threads(Options::default()), &simulated(1, Memory::Apart), &simulated(2, Memory::Shared)];
        for launch in launches {
            for size in [2, 3, if cfg!(miri) { 4 } else { 9 }] {
                let failures = Mutex::new(Vec::new());
                let run = panic::catch_unwind(AssertUnwindSafe(|| {
                    launch(size, &|mut circle| {
                        if circle.rank() == 1 {
                            panic::resume_unwind(Box::new("boom"));
                        }
                        let failure = circle.wait().expect_err("rank 1 never comes");
                        failures.lock().expect("nobody panics here").push(failure);
                    });
                }));
                assert_eq!(run.expect_err("it goes on to the caller").downcast_ref(), Some(&"boom"));
                let failures = failures.into_inner().expect("nobody panics there");
                assert_eq!(failures, vec![Failure::GaveUp { rank: 1, report: b"boom"[..].into() }; size - 1]);
            }
        }
    });
}

/// Nobody else has seen what one member could not read, and all of them end.
#[test]
fn bytes_that_make_no_sense_end_the_run_for_all() {
    in_time(|| {
        let mut failed = 0;
        for seed in 0..100 {
            let plan = Plan { faults: Faults::GARBLE, ..Plan::new(seed, Memory::Apart) };
            let ended = sim::run(5, &plan, Options::default(), |mut circle| {
                for _ in 0..20 {
                    circle.wait()?;
                }
                Ok(())
            });
            let failures: Vec<Failure> = ended.unwrap().into_iter().filter_map(Result::err).collect();
            assert!(failures.iter().all(|failure| *failure == failures[0]), "seed {seed}: {failures:?}");
            assert!(!failures.contains(&Failure::Deadlock), "seed {seed}");
            failed += usize::from(!failures.is_empty());
        }
        assert!(failed > 0, "every packet was read");
    });
}

#[test]
fn the_contract_holds_while_packets_are_late_and_processors_stand_still() {
    in_time(|| {
        for seed in 0..3 {
            for memory in [Memory::Apart, Memory::Shared] {
                let plan = Plan { faults: Faults::DELAY | Faults::STALL, ..Plan::new(seed, memory) };
                let launch: Launch = &|size, body| drop(sim::run(size, &plan, Options::default(), body).unwrap());
                for size in [1, 2, 3, 5] {
                    contract::uphold_at(launch, size);
                }
            }
        }
    });
}
