//! X3: what a panic carries runs code of the program when it is dropped, and that may panic again.

use superstep::{Config, Error, ErrorKind, Fabric, Group, Sum, testing};

const FABRICS: [Fabric; 3] =
    [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: false }, Fabric::Sim { seed: 2, shares_memory: true }];

/// What panics again when it is dropped, with another one of its kind.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        blow_up();
    }
}

/// Panics without a word on the terminal.
fn blow_up() {
    std::panic::resume_unwind(Box::new(Bomb))
}

#[track_caller]
fn check(error: &Error, kind: ErrorKind, says: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(says), "`{error}` does not say `{says}`");
}

/// Wherever it is caught, the others hear of a panic before what it carries is dropped.
#[test]
fn a_panic_whose_payload_panics_when_dropped_ends_everybody() {
    fn blow_up_if(at_fault: bool) {
        if at_fault {
            blow_up();
        }
    }
    let claims: [fn(&mut Group, bool); 4] = [
        |g, at_fault| {
            blow_up_if(at_fault);
            g.step(|_| ());
        },
        |g, at_fault| g.step(|_| blow_up_if(at_fault)),
        |g, at_fault| {
            g.split(1, |sub| {
                blow_up_if(at_fault);
                sub.step(|_| ());
            });
        },
        |g, at_fault| g.epoch(|_| blow_up_if(at_fault)),
    ];
    for claim in claims {
        for (size, fabric) in [2, 3, 9].into_iter().flat_map(|size| FABRICS.map(|fabric| (size, fabric))) {
            for rank in [0, size - 1] {
                let config = Config::new().procs(size).fabric(fabric);
                let run = config.run(|g| claim(g, g.rank() == rank));
                let error = run.expect_err("the run should have failed");
                check(&error, ErrorKind::Panicked, &format!("processor {rank} panicked: a panic that is not a text"));
            }
        }
    }
}

/// The same on all at once: the threads that are kept between runs are not lost.
#[test]
fn payloads_that_panic_when_dropped_leave_the_next_run_its_threads() {
    for fabric in FABRICS {
        let config = Config::new().procs(4).fabric(fabric);
        let error = config.run(|_| blow_up()).expect_err("the run should have failed");
        check(&error, ErrorKind::Panicked, "panicked: a panic that is not a text");
        assert_eq!(config.run(|g| g.step(|s| s.reduce(1, Sum))).expect("the next run has its threads"), 4);
    }
}

/// X2: in an operator and in a remote method such a panic is what any other one is.
#[test]
fn payloads_that_panic_when_dropped_are_caught_where_others_are() {
    testing::on_sizes(&[2, 3, 9], |g| {
        let blows_up = |_: &mut u64, _: &u64| blow_up();
        let error = g.try_step(|s| s.reduce(1u64, blows_up)).expect_err("the operator has panicked");
        check(&error, ErrorKind::Panicked, "a combine function panicked");
        let texts = g.step(|s| s.collect(error.to_string()));
        assert_eq!(texts, vec![error.to_string(); g.size()]);
        let object = g.object(());
        let error = g.try_epoch(|e| {
            if e.rank() == 0 {
                e.send(1, &object, (), |(), _, ()| blow_up());
            }
        });
        check(&error.expect_err("the method has panicked"), ErrorKind::RemotePanic, "processor 1 panicked");
        g.step(|_| ());
    });
}
