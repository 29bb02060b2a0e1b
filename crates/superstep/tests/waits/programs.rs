//! The programs that the tests start.

use std::{env, fs, path::Path, process, thread, time::Duration};
use superstep::Group;

/// Runs the program that the environment names, and ends the process as a program of its own would.
#[test]
#[ignore = "a program that the other tests start"]
fn program() {
    let name = env::var("SUPERSTEP_TEST_PROGRAM").expect("a test has started this");
    let outcome = match name.as_str() {
        "late" => superstep::run(late),
        "late-in-a-group" => superstep::run(|g| {
            let is_late = g.rank() == victim();
            g.split(2, |sub| {
                sub.step(|_| ());
                linger_if(is_late);
                sub.step(|_| ());
            });
        }),
        "late-in-an-epoch" => superstep::run(|g| {
            let is_late = g.rank() == victim();
            g.epoch(|_| linger_if(is_late));
        }),
        "late-in-a-method" => superstep::run(|g| {
            let object = g.object(());
            g.epoch(|e| {
                if e.rank() == 0 {
                    // It is served while the other one waits for the epoch's end.
                    thread::sleep(Duration::from_millis(200));
                    e.send(victim(), &object, (), |(), _, ()| linger_if(true));
                }
            });
        }),
        "late-for-coherence" => superstep::run(|g| {
            let is_late = g.rank() == victim();
            let (a, all) = (g.paged::<u64, 1>([64], [8]), (0..g.size()).collect::<Vec<_>>());
            linger_if(is_late);
            g.cohere(&a, 0..64, &all);
        }),
        "stalled" => superstep::run(|g| {
            g.step(|_| ());
            linger_if(g.rank() == victim());
            let outcome = g.try_step(|_| ());
            // Now the one that they have waited for may go on, and finds the same error.
            fs::write(stop(), "").expect("a file can be made");
            println!("told {} {:?}", g.rank(), outcome.expect_err("it was late").kind());
        }),
        "endless" => superstep::run(|g| {
            g.step(|_| ());
            while g.rank() == victim() {
                thread::sleep(Duration::from_millis(1));
            }
            g.step(|_| ());
        }),
        "endless-after-a-panic" => superstep::run(|g| {
            assert!(g.rank() == victim(), "boom");
            while g.rank() == victim() {
                thread::sleep(Duration::from_millis(1));
            }
        }),
        "exit" => superstep::run(|g| {
            g.step(|_| ());
            if g.rank() == victim() {
                process::exit(env::var("SUPERSTEP_TEST_CODE").map_or(0, |code| code.parse().expect("a number")));
            }
            g.step(|_| ());
        }),
        "exit-elsewhere" => superstep::run(|g| {
            g.step(|_| ());
            if g.rank() == victim() {
                let code = env::var("SUPERSTEP_TEST_CODE").map_or(0, |code| code.parse().expect("a number"));
                let _ = thread::spawn(move || process::exit(code)).join();
            }
            g.step(|_| ());
        }),
        "slow-to-unwind" => {
            let _ = superstep::run(|g| {
                let slow = SlowToDrop(g.rank());
                g.step(|_| ());
                if g.rank() == victim() {
                    std::mem::forget(slow);
                    panic!("boom");
                }
                g.step(|_| ());
            });
            Ok(())
        }
        "slow-to-end" => {
            let outcome = superstep::run(|g| g.step(|s| assert!(s.rank() != victim(), "boom")));
            assert!(outcome.is_err(), "it has failed");
            // Some end at once, and one has something left to do.
            if env::var("OMPI_COMM_WORLD_RANK").or(env::var("PMI_RANK")).is_ok_and(|rank| rank == "1") {
                thread::sleep(Duration::from_secs(3));
            }
            println!("dealt with");
            Ok(())
        }
        "names" => superstep::run(|g| {
            let name = thread::current().name().map(ToOwned::to_owned);
            assert_eq!(name, Some(format!("superstep {}", g.rank())));
        }),
        other => panic!("no program {other:?}"),
    };
    if let Err(error) = outcome {
        println!("error {:?} {error}", error.kind());
        process::exit(1);
    }
    println!("went well");
    process::exit(0);
}

/// Who is late.
fn victim() -> usize {
    env::var("SUPERSTEP_TEST_VICTIM").expect("a test has named one").parse().expect("a number")
}

/// The file whose appearance lets the late one go on.
fn stop() -> String {
    env::var("SUPERSTEP_TEST_STOP").expect("a test has named one")
}

/// Is late, if so, until the test has seen enough.
fn linger_if(is_late: bool) {
    while is_late && !Path::new(&stop()).exists() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Something of the program that takes longer to drop than one has who has not heard of a failure.
struct SlowToDrop(usize);

impl Drop for SlowToDrop {
    fn drop(&mut self) {
        thread::sleep(Duration::from_secs(3));
        println!("unwound {}", self.0);
    }
}

/// Where `late` was last seen, and where it is waited for.
pub(crate) const LATE: [u32; 2] = [line!() + 4, line!() + 6];

fn late(g: &mut Group) {
    g.step(|_| ());
    g.step(|_| ());
    linger_if(g.rank() == victim());
    g.step(|_| ());
}
