//! The programs that the tests start.

use crate::digest::digest;
use std::{env, process, thread, time::Duration};
use superstep::{Block, Group, Max, Min, Step, Sum};

/// Runs the program that the environment names, and ends the process as a program of its own would.
#[test]
#[ignore = "a program that the other tests start"]
fn program() {
    let name = env::var("SUPERSTEP_TEST_PROGRAM").expect("a test has started this");
    let outcome = match name.as_str() {
        "digest" => superstep::run(|g| digest(g, 1, 101, 500)),
        "numbers" => superstep::run_all(|g| (g.rank(), g.size())).map(|all| {
            let ranks: Vec<String> = all.iter().map(|(rank, _)| rank.to_string()).collect();
            println!("numbers {} of {}", ranks.join(" "), all[0].1);
        }),
        "again" => again(),
        "panic" => superstep::run(|g| {
            for round in 0..1_000 {
                g.step(|_| ());
                assert!(g.rank() != 1 || round != 500, "boom");
            }
        }),
        "all-panic" => superstep::run(|g| {
            g.step(|_| ());
            panic!("boom {}", g.rank());
        }),
        "long" => {
            long();
            Ok(())
        }
        "nested" => superstep::run(nested),
        "returned" => superstep::run(|g| {
            for round in 0..100 {
                if g.rank() == 1 && round == 50 {
                    "12x".parse::<u8>()?;
                }
                g.step(|_| ());
            }
            Ok::<_, std::num::ParseIntError>(())
        }),
        "panic-while-others-compute" => superstep::run(|g| {
            if g.rank() == 1 {
                thread::sleep(Duration::from_millis(200));
                panic!("boom");
            }
            thread::sleep(Duration::from_secs(600));
        }),
        "exit" => superstep::run(|g| {
            g.step(|_| ());
            if g.rank() == 1 {
                process::exit(0);
            }
            g.step(|_| ());
        }),
        "calls" => superstep::run(|g| {
            println!("pid {} {}", g.rank(), process::id());
            let sum = g.object(0u64);
            g.epoch(|e| {
                for round in 0.. {
                    let to = (e.rank() + 1 + round % (e.size() - 1)) % e.size();
                    e.send(to, &sum, round as u64, |sum, _, x| *sum ^= x);
                    e.call(to, &sum, (), |sum, _, ()| *sum);
                }
            });
        }),
        "loop" => superstep::run(|g| {
            println!("pid {} {}", g.rank(), process::id());
            let stop = env::var_os("SUPERSTEP_TEST_STOP");
            let goes_on = || stop.as_ref().is_none_or(|stop| !std::path::Path::new(stop).exists());
            while g.step(|s| s.reduce(u8::from(goes_on()), Min)) == 1 {
                thread::sleep(Duration::from_millis(1));
            }
            println!("loop ended");
        }),
        "start" => superstep::run(|g| g.step(|_| ())),
        "closing" => superstep::run(|g| {
            g.step(|_| ());
            if g.rank() == 1 {
                crate::closing::close_files();
            }
            while g.step(|s| s.reduce(1, Min)) == 1 {
                thread::sleep(Duration::from_millis(1));
            }
        }),
        "closing-late" => superstep::run(|g| g.rank()).map(|rank| {
            if rank == 1 {
                crate::closing::close_files();
            }
        }),
        "contract" => {
            contract();
            Ok(())
        }
        "messages" => superstep::run(messages),
        "early" => superstep::run(early),
        "coherence" => superstep::run(coherence),
        "big" => superstep::run(big),
        other => panic!("no program {other:?}"),
    };
    if let Err(error) = outcome {
        // A launcher that stands still passes nothing on.
        write_down(&error.to_string());
        println!("error {:?} {error}", error.kind());
        process::exit(1);
    }
    process::exit(0);
}

/// Two good runs, and a bad one between them.
fn again() -> superstep::Result {
    let size = superstep::run(|g| g.step(|s| s.reduce(1, Sum)))?;
    let failed = superstep::run(|g| {
        let last = g.size() - 1;
        g.step(|s| assert!(s.rank() != last, "boom"));
    });
    let failed = failed.is_err();
    let after = superstep::run(|g| g.step(|s| s.reduce(1, Sum)))?;
    println!("again {size} {} {after}", if failed { "failed" } else { "went well" });
    Ok(())
}

/// Runs that fail with texts of several lengths. Launchers pass output on in pieces that are shorter than all of them.
fn long() {
    let mut lines = Vec::new();
    for len in [100, 900, 2_000, 70_000] {
        let returned = superstep::run(|g| {
            if g.rank() == 1 {
                return Err("x".repeat(len));
            }
            g.step(|_| ());
            Ok(())
        });
        let panicked = superstep::run(|g| {
            if g.rank() == 1 {
                std::panic::resume_unwind(Box::new("y".repeat(len)));
            }
            g.step(|_| ());
        });
        for error in [returned, panicked].map(|outcome| outcome.expect_err("it has failed")) {
            lines.push(format!("long {len} {:?} {error}", error.kind()));
        }
    }
    write_down(&lines.join("\n"));
}

/// Leaves a text in the folder that a test has made, if it has.
fn write_down(text: &str) {
    if let Ok(folder) = env::var("SUPERSTEP_TEST_ERRORS") {
        std::fs::write(format!("{folder}/{}", process::id()), text).expect("there is a folder");
    }
}

/// Threads of bodies start runs, on all processors and on one of them.
fn nested(g: &mut Group) {
    let inner = || thread::spawn(|| superstep::run(|g| g.step(|_| ()))).join().expect("it does not panic");
    let refused = inner().expect_err("a run is under way");
    g.step(|_| ());
    // The others may wait for this one.
    let alone = if g.rank() == 0 { inner() } else { Ok(()) };
    let sum = g.step(|s| s.reduce(usize::from(alone.is_err()), Sum));
    println!("nested {sum} {:?} {refused}", refused.kind());
}

/// Upholds the contract of the fabric, with counters in a folder.
fn contract() {
    let folder = env::var("SUPERSTEP_TEST_FOLDER").expect("a test has made a folder");
    let threads = env::var("SUPERSTEP_THREADS").map_or(1, |text| text.parse().expect("a number"));
    let (_, processes) = fabric::mpi::place().expect("under a launcher");
    let launch = |_: usize, body: &(dyn Fn(Box<dyn fabric::Circle>) + Sync)| {
        let options = fabric::threads::Options::default();
        fabric::mpi::run(threads, options, ToString::to_string, body).map(drop).expect("a run can begin");
    };
    fabric::contract::uphold_across(&launch, processes * threads, folder.as_ref());
    println!("contract upheld");
}

/// What a step asks for.
type Traffic<'a> = &'a dyn Fn(&Step);

/// Counts the messages that processors send in a step, on average and the busiest one.
fn messages(g: &mut Group) {
    const ROUNDS: u64 = 50;
    let area = g.area::<u64>(g.size());
    let kinds: [(&str, Traffic<'_>); 3] = [
        ("none", &|_| ()),
        ("sparse", &|s| s.put((s.rank() + 1) % s.size(), &[1], &area, s.rank())),
        ("dense", &|s| (0..s.size()).filter(|&to| to != s.rank()).for_each(|to| s.put(to, &[1], &area, s.rank()))),
    ];
    let count = |g: &mut Group, name: &str, round: &dyn Fn(&mut Group)| {
        g.step(|_| ());
        let before = fabric::mpi::sent().expect("under a launcher");
        (0..ROUNDS).for_each(|_| round(g));
        let mine = fabric::mpi::sent().expect("under a launcher") - before;
        let (sum, most) = g.step(|s| (s.reduce(mine, Sum), s.reduce(mine, Max)));
        if g.is_leader() {
            let average = sum as f64 / (g.size() as u64 * ROUNDS) as f64;
            println!("messages {name} {average:.3} {}", most as f64 / ROUNDS as f64);
        }
    };
    for (name, traffic) in kinds {
        count(g, name, &|g| g.step(traffic));
    }
    count(g, "making", &|g| drop(g.array::<u64, Block>(1000)));
}

/// Asks for much, and says how many messages have left before the step ends.
fn early(g: &mut Group) {
    let a = g.array::<u64, Block>(1_000_000 * g.size());
    a.forall_mut(|index, x| *x = index as u64);
    let at: Vec<usize> = (0..50_000).map(|i| i * 7919 % a.len()).collect();
    let (area, mine) = (g.area::<u64>(10_000 * g.size()), vec![g.rank() as u64; 5_000]);
    let values = g.step(|s| {
        let before = fabric::mpi::sent().expect("under a launcher");
        let values = s.gather(&a, &at);
        for to in (0..s.size()).filter(|&to| to != s.rank()) {
            // Each of them is too short to be carried from memory to memory at the boundary; both fill a tray.
            s.put(to, &mine, &area, 10_000 * s.rank());
            s.put(to, &mine, &area, 10_000 * s.rank() + 5_000);
            s.put(to, &[7], &area, 10_000 * s.rank() + 1);
        }
        println!("early {}", fabric::mpi::sent().expect("under a launcher") - before);
        values
    });
    assert!(values.iter().zip(&at).all(|(&x, &index)| x == index as u64));
    for from in (0..g.size()).filter(|&from| from != g.rank()) {
        let part = &area.local()[10_000 * from..10_000 * (from + 1)];
        assert!(part.iter().enumerate().all(|(at, &x)| x == if at == 1 { 7 } else { from as u64 }));
    }
}

/// Counts the messages that a processor sends when it makes rows coherent with its neighbours, in the round with the
/// fewest: whoever waits for long asks once more whether others wait in a circle with it.
fn coherence(g: &mut Group) {
    let (me, last) = (g.rank(), g.size() - 1);
    for width in [16, 1024] {
        let a = g.paged::<u64, 2>([4 * g.size(), width], [4, width]);
        let mut fewest = u64::MAX;
        for round in 1..=50 {
            a.row_mut(4 * me).fill(round);
            a.row_mut(4 * me + 3).fill(round);
            let before = fabric::mpi::sent().expect("under a launcher");
            if me > 0 {
                g.cohere(&a, (4 * me - 1..=4 * me, ..), &[me - 1, me]);
            }
            if me < last {
                g.cohere(&a, (4 * me + 3..=4 * me + 4, ..), &[me, me + 1]);
            }
            fewest = fewest.min(fabric::mpi::sent().expect("under a launcher") - before);
            assert!(me == 0 || a.read([4 * me - 1, width - 1]) == round);
        }
        println!("coherence {me} {width} {fewest}");
    }
}

/// Moves more bytes at once than 32 bits can count.
fn big(g: &mut Group) {
    let len = (1usize << 32) + 1;
    let area = g.area::<u8>(if g.rank() == 1 { len } else { 0 });
    let values = if g.rank() == 0 { (0..len).map(|at| (at % 251) as u8).collect() } else { Vec::new() };
    g.step(|s| {
        if s.rank() == 0 {
            s.put(1, &values, &area, 0);
        }
    });
    let is_right = area.local().iter().enumerate().all(|(at, &x)| x == (at % 251) as u8);
    if g.rank() == 1 {
        println!("big {} {}", area.local().len(), if is_right { "right" } else { "wrong" });
    }
}
