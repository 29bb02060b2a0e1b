//! One process of a lamellar world.

use super::{
    arrays, messages,
    task::{ANSWER, Task},
};
use crate::{Sample, kernels::access::Shape};
use lamellar::{LamellarWorld, LamellarWorldBuilder, active_messaging::ActiveMessaging};
use std::{io, process::exit, thread, time::Instant};

/// Does a part and prints what came of it.
pub(super) fn run(task: Task, shape: Shape) {
    end_with_parent();
    pin();
    let world = LamellarWorldBuilder::new().build();
    let Sample { seconds, digest, .. } = match task {
        Task::IncrementAtomic => arrays::increment_atomic(&world, shape),
        Task::IncrementLocalLock => arrays::increment_local_lock(&world, shape),
        Task::IncrementMessages => messages::increment(&world, shape),
        Task::AddAtomic => arrays::add_atomic(&world, shape),
        Task::AddLocalLock => arrays::add_local_lock(&world, shape),
        Task::AddMessages => messages::add(&world, shape),
        Task::LoadAtomic => arrays::load_atomic(&world, shape),
        Task::LoadLocalLock => arrays::load_local_lock(&world, shape),
        Task::LoadReadOnly => arrays::load_read_only(&world, shape),
        Task::LoadMessages => messages::load(&world, shape),
        Task::StoreAtomic => arrays::store_atomic(&world, shape),
        Task::StoreLocalLock => arrays::store_local_lock(&world, shape),
        Task::XorAtomic => arrays::xor_atomic(&world, shape),
        Task::XorLocalLock => arrays::xor_local_lock(&world, shape),
        Task::XorMessages => messages::xor(&world, shape),
    };
    println!("{ANSWER}{seconds} {digest}");
    world.barrier();
}

/// Ends when standard input does, which the comparison holds open: a process whose world is gone outlives nobody.
fn end_with_parent() {
    thread::spawn(|| {
        // An error is as good an end as any.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        exit(1);
    });
}

/// Keeps to one core, each process to another. Lamellar pins its workers to the first cores it may use, so without this
/// the workers of all processes would share one.
fn pin() {
    let rank = std::env::var("LAMELLAR_PE_ID").ok().and_then(|rank| rank.parse::<usize>().ok()).unwrap_or(0);
    if let Some(cores) = core_affinity::get_core_ids().filter(|cores| !cores.is_empty()) {
        core_affinity::set_for_current(cores[rank % cores.len()]);
    }
}

/// How many seconds it takes until all processes have done their work.
pub(super) fn timed<R>(world: &LamellarWorld, work: impl FnOnce() -> R) -> (f64, R) {
    world.barrier();
    let start = Instant::now();
    let result = work();
    world.wait_all();
    world.barrier();
    (start.elapsed().as_secs_f64(), result)
}

/// Where this process's part of the whole begins.
pub(super) fn first(world: &LamellarWorld, per_process: usize) -> usize {
    world.my_pe() * per_process
}
