//! Programs that touch every phase of a run, of which all results are known.

use std::sync::Arc;
use superstep::{Any, Array, Block, By, Cyclic, Each, Epoch, Every, Group, Handle, Max, Sum, Weighted};

/// What runs on each processor. What it keeps of the token must be gone when the run has ended.
pub(crate) type Program = fn(&mut Group, &Arc<()>) -> Vec<u64>;

pub(crate) const PROGRAMS: [(&str, Program); 9] = [
    ("steps", steps),
    ("areas", areas),
    ("queues", queues),
    ("arrays", arrays),
    ("splits", splits),
    ("leaving", leaving),
    ("epochs", epochs),
    ("coherence", coherence),
    ("errors", errors),
];

/// A sum that any numbers have, whatever packets bring.
fn total(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
}

fn steps(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let shared = g.shared(1u64, Sum);
    let mut seen = Vec::new();
    for round in 0..6 {
        let (sum, below, all) = g.step(|s| {
            shared.set(round + s.rank() as u64);
            (s.reduce(round + 1, Sum), s.prefix(s.rank() as u64, Max), s.collect(s.rank() as u64))
        });
        let long = g.step(|s| s.reduce(vec![round; 40], Each(Sum)));
        let got = g.step(|s| (s.broadcast(0, Some(round)), s.exchange(vec![s.rank() as u64; s.size()])));
        seen.extend([sum, below, total(&all), total(&long), got.0, total(&got.1), shared.get()]);
    }
    seen
}

fn areas(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let (me, p) = (g.rank(), g.size());
    let area = g.area::<u64>(600);
    let mut seen = Vec::new();
    for round in 0..4u64 {
        let got = g.step(|s| {
            s.put((me + 1) % p, &[round, me as u64], &area, 0);
            s.hp_put((me + 1) % p, vec![round + me as u64; 500], &area, 10);
            s.get((me + p - 1) % p, &area, 0..20)
        });
        seen.extend(got);
        let small = g.area::<u8>(me);
        seen.push(small.len_of(p - 1) as u64);
        seen.push(total(&area.local()));
    }
    seen
}

fn queues(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let queue = g.queue::<u64, Vec<u64>>();
    let mut seen = vec![Arc::strong_count(token).min(1) as u64];
    for round in 0..5 {
        g.step(|s| {
            for to in 0..s.size() {
                s.send(to, &queue, round, vec![s.rank() as u64; to + 1]);
            }
        });
        seen.extend(queue.drain().map(|(tag, values)| total(&values).wrapping_add(tag)));
    }
    seen
}

fn arrays(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let (me, p) = (g.rank(), g.size());
    let n = 40 * p;
    let a: Array<u64, Block> = g.array(n);
    let b: Array<u64, Cyclic> = g.array(n);
    let mut seen = Vec::new();
    for round in 0..3u64 {
        let indices: Vec<usize> = (0..n).map(|i| (i * 7 + me) % n).collect();
        let (mirrored, gathered) = g.step(|s| {
            s.update(&a, 5 * me..5 * me + 10, &[round + me as u64; 10]);
            s.scatter(&b, &indices, &vec![1; n], Sum);
            (s.mirror(&a, 0..n / 2), s.gather(&b, &indices[..9]))
        });
        seen.extend([total(&mirrored), total(&gathered)]);
        g.step(|s| s.assign(&a, &b));
        seen.push(total(&a.local()));
    }
    seen
}

fn splits(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let me = g.rank();
    let variable = g.shared(0u64, Sum);
    let mut seen = Vec::new();
    let inner = |sub: &mut Group| {
        let size = sub.size() as u64;
        let sum = sub.step(|s| s.reduce(s.rank() as u64, Sum));
        let deeper = sub.split(2, |deep| deep.step(|s| s.reduce(1u64, Sum)));
        total(&[size, sum, deeper.unwrap_or(7)])
    };
    seen.extend(g.split(2, inner));
    seen.extend(g.split(Weighted(&[1.0, 2.0]), inner));
    seen.extend(g.split(By(3, Some(me % 3)), inner));
    g.split(Every(3), |sub| seen.push(inner(sub)));
    g.step(|_| variable.set(me as u64));
    seen.push(variable.get());
    seen
}

fn leaving(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let mut seen = Vec::new();
    g.split(1, |sub| {
        // The first one goes after one step, the next after two, and so on.
        let rounds = sub.rank() + 1;
        for _ in 0..rounds {
            seen.push(sub.step(|s| s.reduce(1u64, Sum)));
        }
    });
    seen.push(g.step(|s| s.reduce(1u64, Sum)));
    seen
}

fn visit(part: &mut u64, e: &Epoch, (object, hops): (Handle<u64>, u64)) {
    *part = part.wrapping_add(hops);
    // A garbled letter may ask for any number.
    if (1..100).contains(&hops) {
        e.send((e.rank() + 1) % e.size(), &object, (object, hops - 1), visit);
    }
}

fn epochs(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let (me, p) = (g.rank(), g.size());
    let object = g.object(0u64);
    let counter = g.volatile(0, 0u64);
    let mut seen = Vec::new();
    for round in 0..3 {
        let answers = g.epoch(|e| {
            e.send((me + 1) % p, &object, (object.handle(), 5 + round), visit);
            e.fetch_add(&counter, 1);
            let ask = |to| e.call(to, &object, me as u64, |_, e, x: u64| x.wrapping_add(e.rank() as u64));
            total(&(0..p).map(ask).collect::<Vec<_>>())
        });
        seen.extend([answers, object.with(|sum| *sum)]);
    }
    seen.push(g.epoch(|e| e.load(&counter)));
    seen
}

fn coherence(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    const PART: usize = 40;
    let _kept = Arc::clone(token);
    let (me, p) = (g.rank(), g.size());
    let rod = g.paged::<u64, 1>([PART * p], [PART]);
    for i in PART * me..PART * (me + 1) {
        rod.write(i, i as u64);
    }
    let everybody: Vec<usize> = (0..p).collect();
    for round in 0..3u64 {
        if me > 0 {
            g.cohere(&rod, PART * me - 1..=PART * me, &[me - 1, me]);
        }
        if me + 1 < p {
            g.cohere(&rod, PART * (me + 1) - 1..=PART * (me + 1), &[me, me + 1]);
        }
        let left = if me > 0 { rod.read(PART * me - 1) } else { round };
        rod.write(PART * me + 3, left.wrapping_add(round));
    }
    g.cohere(&rod, .., &everybody);
    let sum = total(&(0..PART * p).map(|i| rod.read(i)).collect::<Vec<_>>());
    let after = g.step(|s| s.reduce(sum, Max));
    vec![sum, after]
}

/// Goes on after errors that a program can go on after.
fn errors(g: &mut Group, token: &Arc<()>) -> Vec<u64> {
    let _kept = Arc::clone(token);
    let mut seen = Vec::new();
    for round in 0..4u64 {
        let me = g.rank() as u64;
        let wrong = g.try_step(|s| s.agree(if me == 1 { Err("no") } else { Ok(round) }));
        seen.push(match wrong {
            Ok(value) => value,
            Err(error) if error.is_program() => 77,
            Err(error) => std::panic::resume_unwind(Box::new(error)),
        });
        seen.push(g.step(|s| s.reduce(me, Any)));
    }
    seen
}
