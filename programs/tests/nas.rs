//! The kernels of the NAS benchmarks have their official answers, on every fabric that needs no launcher.

use superstep::{Config, Fabric, Local};
use superstep_programs::nas::{self, Class, Kernel};

#[track_caller]
fn verified(fabric: Fabric, procs: usize, kernel: Kernel) -> Vec<u64> {
    let outcome = Config::new().procs(procs).fabric(fabric).run(|g| Local(nas::run(g, kernel, Class::S))).unwrap();
    assert!(outcome.is_right(), "{procs} on {fabric:?}: {outcome}");
    assert!(kernel == Kernel::Is || !outcome.values.is_empty());
    outcome.values.iter().map(|value| value.found.to_bits()).collect()
}

/// As many processors have the same bits on every fabric.
#[track_caller]
fn verified_everywhere(kernel: Kernel) {
    verified(Fabric::Threads, 1, kernel);
    verified(Fabric::Threads, 2, kernel);
    let bits = verified(Fabric::Threads, 3, kernel);
    assert_eq!(verified(Fabric::Procs, 3, kernel), bits);
    assert_eq!(verified(Fabric::Sim { seed: 1, shares_memory: false }, 3, kernel), bits);
    verified(Fabric::Sim { seed: 2, shares_memory: true }, 5, kernel);
}

#[test]
fn pairs_are_counted() {
    verified(Fabric::Threads, 2, Kernel::Ep);
}

#[test]
fn integers_are_ranked() {
    verified_everywhere(Kernel::Is);
}

#[test]
fn an_eigenvalue_is_found() {
    verified_everywhere(Kernel::Cg);
}

#[test]
fn a_cube_is_solved_grid_by_grid() {
    verified_everywhere(Kernel::Mg);
    // There are more processors than planes of the second largest grid.
    verified(Fabric::Threads, 20, Kernel::Mg);
}

#[test]
fn a_cube_is_transformed() {
    verified_everywhere(Kernel::Ft);
}
