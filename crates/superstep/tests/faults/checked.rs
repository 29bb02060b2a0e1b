//! Faults in a run that looks for conflicts.

use crate::{
    harmful::{is_crash, is_damage},
    outcome, replayed, seeds, simulated,
};
use std::sync::Arc;
use superstep::{Block, Check, Config, ErrorKind, Fabric, Group, Step, arrays::Edge, sim::Faults, strided};

const SIZES: [usize; 3] = [2, 3, 5];

/// Whether a step has a conflict. Any other error ends the run.
fn clashes(g: &mut Group, body: impl Fn(&Step)) -> bool {
    match g.try_step(|s| body(s)) {
        Ok(()) => false,
        Err(error) if error.kind() == ErrorKind::Conflict => true,
        Err(error) => std::panic::resume_unwind(Box::new(error)),
    }
}

/// Steps with conflicts and without, of arrays and areas.
fn program(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let (me, p) = (g.rank(), g.size());
    let (a, area) = (g.array::<u64, Block>(40), g.area::<u16>(64));
    let mut seen = Vec::new();
    for round in 0..3u64 {
        let halo = g.step(|s| {
            s.update(&a, me..=me, &[round]);
            s.halo(&a, [3], Edge::Periodic)
        });
        seen.extend(halo.row(halo.start()));
        let got = g.step(|s| {
            s.put((me + 1) % p, &[me as u16], &area, 3);
            s.hp_put((me + 1) % p, vec![1], &area, 63);
            s.get((me + 1) % p, &area, strided(.., 2))
        });
        seen.extend(got.into_iter().map(u64::from));
        seen.push(clashes(g, |s| s.update(&a, 5..6, &[1])).into());
        seen.push(clashes(g, |s| s.put(0, &[1; 3], &area, 0)).into());
        seen.push(clashes(g, |s| drop(s.get(0, &area, strided(.., -3)))).into());
    }
    seen
}

fn expected(size: usize) -> Vec<Vec<u64>> {
    let config = Config::new().procs(size).fabric(Fabric::Threads).check(Check::Conflicts);
    outcome(&config, program).expect("nothing goes wrong on threads")
}

#[test]
fn a_run_that_looks_for_conflicts_ends_as_every_other_does() {
    for size in SIZES {
        let right = expected(size);
        for faults in [Faults::DELAY | Faults::STALL, Faults::CRASH, Faults::DAMAGE, Faults::CUT] {
            for seed in seeds(12) {
                for shares_memory in [false, true] {
                    let config = simulated(size, seed, shares_memory).faults(faults).check(Check::Conflicts);
                    let words = replayed("conflicts", size, seed, shares_memory, faults);
                    match outcome(&config, program) {
                        Ok(found) => assert_eq!(found, right, "{words}"),
                        Err(error) => {
                            let is_meant = if faults == Faults::CRASH { is_crash } else { is_damage };
                            assert!(!faults.is_harmless() && is_meant(&error, seed, size), "{words}: {error}");
                        }
                    }
                }
            }
        }
    }
}

/// X5: whatever a record claims to have, no more is looked at than there is.
#[test]
fn garbled_records_of_what_is_touched_take_no_time_and_no_memory() {
    for size in SIZES {
        for seed in seeds(60) {
            let config = simulated(size, seed, false).faults(Faults::GARBLE).check(Check::Conflicts);
            if let Err(error) = outcome(&config, program) {
                let words = replayed("conflicts", size, seed, false, Faults::GARBLE);
                assert_ne!(error.kind(), ErrorKind::Panicked, "{words}: {error}");
            }
        }
    }
}
