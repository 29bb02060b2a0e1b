//! Short programs for a soak. Each knows its answer and says how many supersteps it took.

use superstep::{Block, Cyclic, Each, Epoch, Group, Max, Sum};

/// A program's outcome: its supersteps, or what came out wrong.
pub(super) type Made = Result<u64, String>;

/// A program, which the seed varies.
pub(super) type Program = fn(&mut Group, u64) -> Made;

pub(super) const PROGRAMS: [(&str, Program); 8] = [
    ("steps", steps),
    ("areas", areas),
    ("queues", queues),
    ("arrays", arrays),
    ("shared variables", variables),
    ("splits", splits),
    ("epochs", epochs),
    ("paged arrays", pages),
];

/// How many empty steps lie between two that say something.
const EMPTY: u64 = 500;

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} came out as {found:?} instead of {expected:?}")) }
}

/// Numbers that follow from a seed, the same on every processor.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Some(mixed ^ mixed >> 32)
    })
}

/// Empty steps, and now and then a reduction and a prefix.
fn steps(g: &mut Group, seed: u64) -> Made {
    let (rank, size) = (g.rank() as u64, g.size() as u64);
    for value in numbers(seed).take(40).map(|value| value % 1000) {
        for _ in 0..EMPTY {
            g.step(|_| ());
        }
        let (sum, before) = g.step(|s| (s.reduce(value + rank, Sum), s.prefix(value, Sum)));
        expect("a sum", sum, size * value + size * (size - 1) / 2)?;
        expect("a prefix", before, rank * value)?;
    }
    Ok(g.steps())
}

/// Puts to the next processor, and gets from the one before.
fn areas(g: &mut Group, seed: u64) -> Made {
    let (rank, size) = (g.rank(), g.size());
    let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
    let area = g.area::<u64>(64);
    for value in numbers(seed).take(200) {
        let values: Vec<u64> = (0..32).map(|at| value.wrapping_add((rank * 32 + at) as u64)).collect();
        let got = g.step(|s| {
            s.put(next, &values, &area, 16);
            s.get(last, &area, 0..8)
        });
        let theirs: Vec<u64> = (0..32).map(|at| value.wrapping_add((last * 32 + at) as u64)).collect();
        expect("what was put", area.local()[16..48].to_vec(), theirs)?;
        expect("what was got", got, vec![0; 8])?;
    }
    Ok(g.steps())
}

/// Messages of all to all.
fn queues(g: &mut Group, seed: u64) -> Made {
    let (rank, size) = (g.rank(), g.size());
    let queue = g.queue::<u32, Vec<u64>>();
    for value in numbers(seed).take(100) {
        g.step(|s| (0..size).for_each(|to| s.send(to, &queue, rank as u32, vec![value; 1 + to])));
        let came: Vec<(u32, Vec<u64>)> = queue.drain().collect();
        let expected: Vec<_> = (0..size as u32).map(|from| (from, vec![value; 1 + rank])).collect();
        expect("the messages", came, expected)?;
    }
    Ok(g.steps())
}

/// Counts keys in an array, and reads some of the counts.
fn arrays(g: &mut Group, seed: u64) -> Made {
    const LEN: usize = 1000;
    let (blocks, cycles) = (g.array::<u64, Block>(LEN), g.array::<u64, Cyclic>(LEN));
    let keys: Vec<usize> = numbers(seed).take(500).map(|value| value as usize % LEN).collect();
    for round in 1..=20 {
        let counts = g.step(|s| {
            s.scatter_one(&blocks, &keys, 1, Sum);
            s.gather(&blocks, &keys[..20])
        });
        g.step(|s| s.assign(&cycles, &blocks));
        let all = g.step(|s| s.mirror(&cycles, ..));
        let size = g.size() as u64;
        expect("all counts", all.iter().sum::<u64>(), round * size * keys.len() as u64)?;
        for (&key, count) in keys.iter().zip(counts) {
            let times = keys.iter().filter(|&&other| other == key).count() as u64;
            expect("a count", count, round * size * times)?;
        }
    }
    Ok(g.steps())
}

/// Shared variables that all write to.
fn variables(g: &mut Group, seed: u64) -> Made {
    let (rank, size) = (g.rank() as u64, g.size() as u64);
    let (sum, most) = (g.shared(0u64, Sum), g.shared(vec![0u64; 3], Each(Max)));
    for value in numbers(seed).take(200).map(|value| value % 1000) {
        g.step(|_| {
            sum.set(value + rank);
            most.set(vec![rank, value, 1]);
        });
        expect("a shared sum", sum.get(), size * value + size * (size - 1) / 2)?;
        expect("the most of all", most.get(), vec![size - 1, value, 1])?;
    }
    Ok(g.steps())
}

/// Groups in groups, down to single processors.
fn splits(g: &mut Group, seed: u64) -> Made {
    fn down(g: &mut Group, value: u64) -> Made {
        let size = g.step(|s| s.reduce(1, Sum));
        expect("the members", size, g.size() as u64)?;
        let mut steps = g.steps();
        if size > 1 {
            let below = g.split(2, |sub| down(sub, value)).unwrap_or(0);
            let most = g.step(|s| s.reduce(below + value % 3, Max));
            steps += most - value % 3 + 1;
        }
        Ok(steps)
    }
    let mut steps = 0;
    for value in numbers(seed).take(60) {
        steps += down(g, value)?;
    }
    Ok(steps)
}

/// Requests without and with an answer.
fn epochs(g: &mut Group, seed: u64) -> Made {
    fn add(count: &mut u64, _: &Epoch, value: u64) {
        *count += value;
    }
    fn take(count: &mut u64, _: &Epoch, (): ()) -> u64 {
        std::mem::take(count)
    }
    let (rank, size) = (g.rank(), g.size());
    let count = g.object(0u64);
    for value in numbers(seed).take(50).map(|value| value % 100) {
        g.epoch(|e| (0..200).for_each(|at| e.send((rank + at) % size, &count, value, add)));
        let all = g.epoch(|e| if rank == 0 { e.call_all(&count, (), take) } else { Vec::new() });
        if rank == 0 {
            expect("what was counted", all.iter().sum::<u64>(), 200 * size as u64 * value)?;
        }
    }
    Ok(g.steps())
}

/// Rows that are written by their owner and read by all.
fn pages(g: &mut Group, seed: u64) -> Made {
    let (size, ranks) = (g.size(), (0..g.size()).collect::<Vec<_>>());
    let a = g.paged::<u64, 2>([8, 32], [1, 32]);
    for value in numbers(seed).take(20) {
        for row in (g.rank()..8).step_by(size) {
            (0..32).for_each(|column| a.write([row, column], value.wrapping_add((row * 32 + column) as u64)));
        }
        g.cohere(&a, (.., ..), &ranks);
        let all = a.read_section((.., ..));
        expect("the pages", all, (0..256).map(|at| value.wrapping_add(at)).collect())?;
        // Nobody writes the next round before all have read this one.
        g.step(|_| ());
    }
    Ok(g.steps())
}

#[cfg(test)]
mod tests {
    use super::*;
    use superstep::{Config, Fabric};

    #[test]
    fn every_program_knows_its_answer_on_every_fabric() {
        for (name, program) in PROGRAMS {
            for procs in [1, 2, 3] {
                for fabric in [Fabric::Threads, Fabric::Sim { seed: 1, shares_memory: false }] {
                    let made = Config::new().procs(procs).fabric(fabric).run(|g| program(g, 7));
                    assert!(made.is_ok_and(|steps| steps > 0), "{name} with {procs} on {fabric:?}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_said() {
        assert_eq!(expect("a sum", 3, 4), Err("a sum came out as 3 instead of 4".to_owned()));
    }
}
