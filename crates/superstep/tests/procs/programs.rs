//! The programs that the tests start.

use crate::digest::digest;
use std::{
    env, process,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use superstep::{Area, Config, Epoch, Fabric, Group, Handle, Sum};

/// Runs the program that the environment names, and ends the process as a program of its own would.
#[test]
#[ignore = "a program that the other tests start"]
fn program() {
    let name = env::var("SUPERSTEP_TEST_PROGRAM").expect("a test has started this");
    let outcome = match name.as_str() {
        "digest" => superstep::run(|g| digest(g, 10, 20_011, 100_000)),
        "numbers" => superstep::run_all(|g| (g.rank(), g.size(), process::id())).map(|all| {
            let [(rank, size, id)] = all[..] else { panic!("{all:?}") };
            println!("numbers {rank} of {size}, {}", if id == process::id() { "here" } else { "elsewhere" });
        }),
        "again" => again(),
        "beside" => {
            beside();
            Ok(())
        }
        "printing" => printing(),
        "nested" => superstep::run(|g| {
            let inner = Config::new().procs(2).fabric(Fabric::Threads).run(|_| ()).expect_err("it is refused");
            let kinds = g.step(|s| s.collect(format!("{:?}", inner.kind())));
            if g.is_leader() {
                println!("nested {}", kinds.join(" "));
            }
        }),
        "steps" => superstep::run(steps),
        "chain" => superstep::run(chain),
        "calls" => superstep::run(calls),
        "method-panic" => superstep::run(|g| {
            announce(g);
            let object = g.object(());
            let victim = victim();
            g.epoch(|e| e.send(victim, &object, "boom".to_owned(), |(), _, why| panic!("{why}")));
        }),
        "compute" => superstep::run(|g| {
            announce(g);
            thread::sleep(Duration::from_secs(600));
        }),
        "panic" => superstep::run(|g| {
            announce(g);
            g.step(|_| ());
            assert!(g.rank() != victim(), "boom");
            g.step(|_| ());
        }),
        "returned" => superstep::run(|g| {
            announce(g);
            for round in 0..100 {
                if g.rank() == victim() && round == 50 {
                    "12x".parse::<u8>()?;
                }
                g.step(|_| ());
            }
            Ok::<_, std::num::ParseIntError>(())
        }),
        "panic-while-others-compute" => superstep::run(|g| {
            announce(g);
            g.step(|_| ());
            assert!(g.rank() != victim(), "boom");
            thread::sleep(Duration::from_secs(600));
        }),
        "exit" => superstep::run(|g| {
            announce(g);
            g.step(|_| ());
            if g.rank() == victim() {
                process::exit(0);
            }
            g.step(|_| ());
        }),
        "misuse" => superstep::run(|g| {
            announce(g);
            let area = g.area::<u8>(1);
            g.step(|s| s.put(if s.rank() == victim() { 99 } else { 0 }, &[1], &area, 0));
        }),
        other => panic!("no program {other:?}"),
    };
    if let Err(error) = outcome {
        println!("error {:?} {error}", error.kind());
        process::exit(1);
    }
    process::exit(0);
}

/// Says which process a processor is.
fn announce(g: &Group) {
    println!("pid {} {}", g.rank(), process::id());
}

/// Who is at fault.
fn victim() -> usize {
    env::var("SUPERSTEP_TEST_VICTIM").expect("a test has named one").parse().expect("a number")
}

/// Steps without end, with messages of all lengths under way.
fn steps(g: &mut Group) {
    announce(g);
    let area: Area<u64> = g.area(1 << 17);
    for round in 0.. {
        let to = (g.rank() + 1) % g.size();
        let values = vec![round; 1 << (round % 18)];
        g.step(|s| s.put(to, &values, &area, 0));
    }
}

/// Requests that send themselves on without end, while everybody waits at the fence.
fn chain(g: &mut Group) {
    fn on(hops: &mut u64, e: &Epoch, (it, load): (Handle<u64>, Vec<u64>)) {
        *hops += 1;
        e.send((e.rank() + 1) % e.size(), &it, (it, load), on);
    }
    announce(g);
    let hops = g.object(0);
    g.epoch(|e| e.send((e.rank() + 1) % e.size(), &hops, (hops.handle(), vec![7; 3000 * e.rank()]), on));
}

/// Everybody calls everybody without end.
fn calls(g: &mut Group) {
    announce(g);
    let sum = g.object(0u64);
    g.epoch(|e| {
        for round in 0.. {
            let to = (e.rank() + 1 + round % (e.size() - 1)) % e.size();
            e.call(to, &sum, round as u64, |sum, _, x| {
                *sum = sum.wrapping_add(x);
                *sum
            });
        }
    });
}

/// Two good runs, and a bad one between them; and a run on threads before and after.
/// Forks again and again, while other threads begin and end runs of their own.
fn beside() {
    let is_over = AtomicBool::new(false);
    let run = |fabric| {
        Config::new().procs(2).fabric(fabric).run(|g| {
            let a = g.paged::<u64, 1>([64], [32]);
            let object = g.object(0);
            g.epoch(|e| e.send(0, &object, 1, |sum, _, x| *sum += x));
            g.step(|s| s.reduce(a.shape()[0], Sum))
        })
    };
    thread::scope(|scope| {
        for fabric in [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: true }] {
            let (run, is_over) = (&run, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    run(fabric).expect("nobody is in its way");
                }
            });
        }
        let found: Vec<_> = (0..40).map(|_| run(Fabric::Procs)).collect();
        is_over.store(true, Ordering::Relaxed);
        println!("beside {}", found.iter().filter(|found| matches!(found, Ok(128))).count());
    });
}

fn again() -> superstep::Result {
    let on_threads = || Config::new().procs(2).fabric(Fabric::Threads).run(|g| g.step(|s| s.reduce(1, Sum)));
    on_threads()?;
    let size = superstep::run(|g| g.step(|s| s.reduce(1, Sum)))?;
    let failed = superstep::run(|g| {
        let last = g.size() - 1;
        g.step(|s| assert!(s.rank() != last, "boom"));
    });
    let failed = if failed.is_err() { "failed" } else { "went well" };
    let after = superstep::run(|g| g.step(|s| s.reduce(1, Sum)))?;
    println!("again {size} {failed} {after} on threads {}", on_threads()?);
    Ok(())
}

/// Writes before the run and in it, without ends of lines, so that it is not written at once.
fn printing() -> superstep::Result {
    print!("before ");
    superstep::run(|g| {
        print!("without a new line {}. ", g.rank());
        g.step(|_| ());
    })
}
