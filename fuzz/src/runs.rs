//! Whole runs of simulated processors whose packets are damaged on the way: each ends well or with a named error.
//!
//! The first three bytes choose the program, the number of processors and the seed; the rest plans the damage. A panic
//! anywhere is a finding, and so is memory beyond what a limit allows.
use std::time::Duration;
use superstep::{Any, Block, BlockCyclic, Config, Cyclic, Each, Fabric, Group, Leader, Max, Same, Sum};

/// Each is about the decoders of one part of the library.
pub const PROGRAMS: [fn(&mut Group); 8] = [collectives, areas, queues, arrays, carried, paged, epochs, groups];

/// Runs a program on a simulator that damages its packets.
pub fn run(bytes: &[u8]) {
    let &[which, procs, seed, ref plan @ ..] = bytes else { return };
    let program = PROGRAMS[usize::from(which) % PROGRAMS.len()];
    fabric::fuzzing::plan(plan);
    let config = Config::new().procs(2 + usize::from(procs) % 4).wait_notice(Duration::ZERO);
    let fabric = Fabric::Sim { seed: seed.into(), shares_memory: false };
    // A panic ends the program where it happens, whatever catches it.
    if let Err(error) = config.fabric(fabric).run(program) {
        assert!(!error.to_string().is_empty());
    }
    fabric::fuzzing::plan(&[]);
}

fn next(g: &Group) -> usize {
    (g.rank() + 1) % g.size()
}

fn collectives(g: &mut Group) {
    let me = g.rank() as u64;
    let _ = g.step(|s| (s.reduce(me, Sum), s.prefix(me, Sum), s.prefix_inclusive(vec![me, 1], Each(Max))));
    let _ = g.step(|s| (s.broadcast(0, (me == 0).then(|| "word".to_owned())), s.collect(format!("from {me}"))));
    let _ = g.step(|s| (s.collect_to(1, (me, 'x')), s.exchange((0..s.size()).map(|to| vec![to; 3]).collect())));
    let shared = g.shared(vec![0u32; 4], Each(Sum));
    shared.set(vec![me as u32; 4]);
    let _ = g.step(|s| s.combine(&shared, Each(Max)));
    let _ = g.try_step(|s| s.reduce(7, Same));
}

fn areas(g: &mut Group) {
    let to = next(g);
    let (area, other) = (g.area::<u32>(8 + g.rank()), g.area::<[u8; 3]>(4));
    let _ = g.step(|s| {
        s.put(to, &[1, 2, 3], &area, 2);
        s.put(0, &[[9; 3]], &other, 1);
        s.hp_put(to, vec![4u32; 2], &area, 0);
        (s.get(to, &area, 1..4), s.get(0, &other, ..))
    });
    g.step(|s| s.hp_get(to, &area, 0..2, &area, 5));
    drop(other);
    g.step(|_| ());
}

fn queues(g: &mut Group) {
    let to = next(g);
    let (words, numbers) = (g.queue::<u8, String>(), g.queue::<(), Vec<u64>>());
    g.step(|s| {
        s.send(to, &words, 7, "some text".to_owned());
        s.send(0, &numbers, (), vec![1, 2, 3]);
        s.send(0, &words, 8, String::new());
    });
    let _ = (words.drain().count(), numbers.drain().count());
    g.step(|_| ());
}

fn arrays(g: &mut Group) {
    let me = g.rank() as u64;
    let (a, b) = (g.array::<u64, Block>(40), g.array_with::<u64, _, 1>([40], BlockCyclic::new(3)));
    let places: Vec<usize> = (0..12).map(|at| (at * 7 + g.rank()) % 40).collect();
    let _ = g.step(|s| {
        s.scatter(&a, &places, &[me; 12], Sum);
        s.scatter_one(&b, &places, 5, Any);
        s.update(&b, 3..20, &[me; 17]);
        (s.gather(&a, &places), s.mirror(&b, 2..30), s.gather(&b, &places))
    });
    let c = g.array::<u64, Cyclic>(40);
    g.step(|s| s.assign(&c, &a));
    let _ = g.step(|s| s.mirror(&c, ..));
}

/// Batches, puts and vectors that are long enough to go from memory to memory, and in pieces.
fn carried(g: &mut Group) {
    let me = g.rank() as u32;
    let a = g.array::<u32, Block>(40_000);
    let places: Vec<usize> = (0..20_000).map(|at| (at * 3) % 40_000).collect();
    g.step(|s| {
        s.update_with(&a, .., &vec![me; 40_000], Leader);
        s.scatter(&a, &places, &vec![me; 20_000], Sum);
    });
    let _ = g.step(|s| s.gather(&a, &places));
    let (area, to) = (g.area::<u32>(30_000), next(g));
    let _ = g.step(|s| {
        s.put(to, &vec![me; 20_000], &area, 5_000);
        s.reduce(vec![me; 20_000], Each(Sum))
    });
}

fn paged(g: &mut Group) {
    let (me, p) = (g.rank(), g.size());
    let all: Vec<usize> = (0..p).collect();
    let a = g.paged::<u32, 2>([2 * p, 6], [2, 6]);
    for at in a.indices() {
        a.write(at, me as u32);
    }
    g.cohere(&a, (.., ..), &all);
    a.write([(2 * me + 2) % (2 * p), 1], 7);
    g.cohere(&a, (.., 0..3), &all);
    g.cohere(&a, (0..2, ..), &all);
    g.step(|_| ());
}

fn epochs(g: &mut Group) {
    let (to, me) = (next(g), g.rank() as u64);
    let (sum, text) = (g.object(0u64), g.object(String::new()));
    let cell = g.volatile(0, 0u64);
    let _ = g.epoch(|e| {
        for x in 0..3 {
            e.send(to, &sum, x, |sum, _, x| *sum = sum.wrapping_add(x));
        }
        e.send(0, &text, format!("from {me}"), |text, _, more| text.push_str(&more));
        let asked = e.ask(to, &sum, 1u32, |sum, _, x| (*sum, x));
        let called = e.call(to, &text, (), |text, _, ()| text.clone());
        let before = e.fetch_add(&cell, 1);
        e.send_all(&sum, me, |sum, _, x| *sum = sum.wrapping_mul(x));
        (e.take(asked), called, before)
    });
    let map = g.hash_map();
    g.epoch(|e| map.insert(e, me as u32, me));
}

fn groups(g: &mut Group) {
    let me = g.rank();
    let a = g.array::<u16, Block>(24);
    g.split(2, |sub| {
        let _ = sub.step(|s| s.reduce(me, Max));
    });
    g.split_on(
        2,
        &a,
        |id| if id == 0 { 0..10 } else { 10..24 },
        |sub, part| {
            sub.step(|s| s.update(part, 0..1, &[1]));
        },
    );
    g.split(superstep::By(2, Some(me % 2)), |sub| {
        if sub.rank() == 0 {
            return;
        }
        let _ = sub.step(|s| s.collect(me));
    });
}
