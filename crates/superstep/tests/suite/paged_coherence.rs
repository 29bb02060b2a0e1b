//! Coherence of sections among sets of processors (C2, C3, S3).

use crate::{everywhere, on_sizes};
use superstep::{Config, Fabric, Group, Paged, strided};

fn everybody(g: &Group) -> Vec<usize> {
    (0..g.size()).collect()
}

/// Random numbers that are the same on every processor.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// C2: the neighbours of seed 004, in the order in which it calls them.
#[test]
fn neighbours_relax_a_grid_without_a_step() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (rows, n, sweeps) = (3, 8, 12);
        let height = rows * p;
        let start = |i: usize, j: usize| ((i * 37 + j * 11) % 17) as f64;
        let mut twin: Vec<f64> = (0..height * n).map(|at| start(at / n, at % n)).collect();
        for _ in 0..sweeps {
            let before = twin.clone();
            for i in 1..height - 1 {
                for j in 1..n - 1 {
                    let at = i * n + j;
                    twin[at] = 0.25 * (before[at + n] + before[at - n] + before[at + 1] + before[at - 1]);
                }
            }
        }
        let (a, b) = (g.paged::<f64, 2>([height, n], [rows, n]), g.paged::<f64, 2>([height, n], [rows, n]));
        for [i, j] in a.indices() {
            a.write([i, j], start(i, j));
            b.write([i, j], start(i, j));
        }
        let (first, last) = (rows * me, rows * (me + 1) - 1);
        for _ in 0..sweeps {
            if me != 0 {
                g.cohere(&a, (first - 1..=first, ..), &[me - 1, me]);
            }
            if me != p - 1 {
                g.cohere(&a, (last..=last + 1, ..), &[me, me + 1]);
            }
            for i in first.max(1)..=last.min(height - 2) {
                for j in 1..n - 1 {
                    let sum = a.read([i + 1, j]) + a.read([i - 1, j]) + a.read([i, j + 1]) + a.read([i, j - 1]);
                    b.write([i, j], 0.25 * sum);
                }
            }
            for i in first..=last {
                a.row_mut(i).copy_from_slice(&b.row(i));
            }
        }
        for (at, x) in twin.iter().enumerate().take((last + 1) * n).skip(first * n) {
            assert_eq!(a.read([at / n, at % n]).to_bits(), x.to_bits());
        }
    });
}

/// C2: nobody outside of the set waits, or is told.
#[test]
fn only_the_set_takes_part() {
    on_sizes(&[3, 4, 7], |g| {
        let a = g.paged::<u32, 1>([2 * g.size()], [2]);
        let me = g.rank();
        a.write(2 * me, me as u32);
        if me < 2 {
            for round in 0..50 {
                a.write(1, round);
                g.cohere(&a, 0..4, &[1, 0]);
                assert_eq!(a.read_section(0..4), [0, round, 1, 0]);
            }
        } else {
            assert!(!a.is_present(0));
        }
    });
}

/// S3: the last write of the lowest rank that wrote stands, its owner's being one of them.
#[test]
fn the_lowest_rank_that_wrote_wins() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let a = g.paged::<u64, 1>([p], [1]);
        let all = everybody(g);
        for writers in 0..1_usize << p.min(4) {
            let wrote = |rank: usize| writers >> rank & 1 == 1;
            for i in 0..p {
                a.is_owned(i).then(|| a.write(i, 999));
            }
            g.cohere(&a, .., &all);
            if me < 4 && wrote(me) {
                for i in 0..p {
                    a.write(i, 5);
                    a.write(i, 10 * me as u64 + 1);
                }
            }
            g.cohere(&a, .., &all);
            let winner = (0..p.min(4)).find(|&rank| wrote(rank));
            let wanted = winner.map_or(999, |rank| 10 * rank as u64 + 1);
            assert_eq!(a.read_section(..), vec![wanted; p], "writers {writers:b}");
        }
    });
}

/// C2: what is outside of the section is not taken in, and waits for a call that has it.
#[test]
fn writes_outside_of_the_section_wait_for_their_call() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let all = everybody(g);
        let a = g.paged::<usize, 2>([p, 9], [1, 9]);
        (0..9).for_each(|j| a.write([me, j], j));
        if me == p - 1 {
            (0..9).for_each(|j| a.write([0, j], 100 + j));
        }
        g.cohere(&a, (.., strided(0..9, 2)), &all);
        let is_lowest = p == 1;
        let row: Vec<usize> = (0..9).map(|j| if is_lowest { 100 + j } else { j }).collect();
        assert_eq!(a.read_section((0..1, strided(0..9, 2))), row.iter().step_by(2).copied().collect::<Vec<_>>());
        // The rest of what the last rank wrote is still its own.
        if me == p - 1 {
            assert_eq!((a.read([0, 1]), a.read([0, 7])), (101, 107));
        }
        a.write([me, 3], 33);
        g.cohere(&a, (.., ..), &all);
        // Rank 0 wrote its row before, too, and is the lowest of all writers.
        let first: Vec<usize> = (0..9).map(|j| if j == 3 { 33 } else { row[j] }).collect();
        assert_eq!(a.read_section((0..1, ..)), first);
    });
}

/// The non-blocking form: what is written meanwhile belongs to the next call.
#[test]
fn a_call_that_was_begun_leaves_room_for_work() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let all = everybody(g);
        let a = g.paged::<usize, 2>([p, 200], [1, 200]);
        (0..200).for_each(|j| a.write([me, j], 1));
        let begun = g.begin_cohere(&a, (.., ..), &all);
        a.write([me, 5], 2);
        a.write([(me + 1) % p, 7], 3);
        begun.finish();
        assert_eq!((a.read([me, 5]), a.read([(me + 1) % p, 7])), (2, 3));
        if p > 2 {
            assert_eq!((a.read([(me + 1) % p, 5]), a.read([(me + 2) % p, 7])), (1, 1));
        }
        g.cohere(&a, (.., ..), &all);
        for i in 0..p {
            let row: Vec<usize> = (0..200)
                .map(|j| match j {
                    5 => 2,
                    7 => 3,
                    _ => 1,
                })
                .collect();
            assert_eq!(a.read_section((i..i + 1, ..)), row);
        }
    });
}

/// C2: several calls may be under way, with different sets.
#[test]
fn calls_overlap() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let a = g.paged::<usize, 2>([p, 100], [1, 100]);
        for round in 0..5 {
            a.row_mut(me).fill(10 * round + me);
            let above = (me > 0).then(|| g.begin_cohere(&a, (me - 1..=me, ..), &[me - 1, me]));
            let below = (me + 1 < p).then(|| g.begin_cohere(&a, (me..=me + 1, ..), &[me + 1, me]));
            above.into_iter().chain(below).for_each(superstep::Cohering::finish);
            for i in me.saturating_sub(1)..(me + 2).min(p) {
                assert_eq!(*a.row(i), vec![10 * round + i; 100]);
            }
        }
    });
}

/// What a serial program makes of the same calls.
struct Model {
    coherent: Vec<u64>,
    /// What each processor sees; `None` where nothing is present.
    seen: Vec<Vec<Option<u64>>>,
    written: Vec<Vec<bool>>,
}

impl Model {
    fn cohere(&mut self, elements: &[usize], ranks: &[usize]) {
        for &at in elements {
            let writer = ranks.iter().copied().filter(|&rank| self.written[rank][at]).min();
            if let Some(value) = writer.and_then(|rank| self.seen[rank][at]) {
                self.coherent[at] = value;
            }
            for &rank in ranks {
                self.seen[rank][at] = Some(self.coherent[at]);
                self.written[rank][at] = false;
            }
        }
    }
}

/// Random writes, sections and sets against a serial model: everybody sees what it should, and nothing else.
fn follows_the_model(g: &mut Group, seed: u64, shape: [usize; 2], block: [usize; 2]) {
    let (me, p, len) = (g.rank(), g.size(), shape[0] * shape[1]);
    let a: Paged<u64, 2> = g.paged(shape, block);
    let owners: Vec<usize> = (0..len).map(|at| a.owner([at / shape[1], at % shape[1]])).collect();
    let seen = (0..p).map(|rank| owners.iter().map(|&owner| (owner == rank).then_some(0)).collect()).collect();
    let mut model = Model { coherent: vec![0; len], seen, written: vec![vec![false; len]; p] };
    let mut random = Random(seed);
    for round in 0..60 {
        for rank in 0..p {
            let (start, stride) = (random.below(len), 1 + random.below(3));
            for at in (start..len).step_by(stride).take(random.below(12)) {
                let value = (round * 1000 + at * 10 + rank) as u64;
                model.seen[rank][at] = Some(value);
                model.written[rank][at] = true;
                if rank == me {
                    a.write([at / shape[1], at % shape[1]], value);
                }
            }
        }
        let range = |random: &mut Random, extent: usize| {
            let first = random.below(extent);
            (first, first + 1 + random.below(extent - first), 1 + random.below(3))
        };
        let (rows, columns) = (range(&mut random, shape[0]), range(&mut random, shape[1]));
        let indices = |(first, end, step): (usize, usize, usize)| (first..end).step_by(step);
        let elements: Vec<usize> =
            indices(rows).flat_map(|i| indices(columns).map(move |j| i * shape[1] + j)).collect();
        let mut ranks: Vec<usize> = elements.iter().map(|&at| owners[at]).chain([random.below(p)]).collect();
        ranks.sort_unstable();
        ranks.dedup();
        model.cohere(&elements, &ranks);
        if ranks.contains(&me) {
            let of = |(first, end, step): (usize, usize, usize)| strided(first..end, step as isize);
            if random.below(2) == 0 {
                g.cohere(&a, (of(rows), of(columns)), &ranks);
            } else {
                g.begin_cohere(&a, (of(rows), of(columns)), &ranks).finish();
            }
        } else {
            random.below(2);
        }
        for at in 0..len {
            let place = [at / shape[1], at % shape[1]];
            let seen = a.is_present(place).then(|| a.read(place));
            assert_eq!(seen, model.seen[me][at], "seed {seed}, round {round}, element {place:?} on {me}");
        }
    }
}

#[test]
fn random_sections_and_sets_follow_a_serial_model() {
    everywhere(|g| {
        follows_the_model(g, 1, [6, 9], [2, 9]);
        follows_the_model(g, 2, [6, 9], [6, 2]);
        follows_the_model(g, 3, [5, 13], [2, 5]);
        follows_the_model(g, 4, [4, 5], [1, 1]);
    });
}

/// S3: long runs, which are lent, and short ones, on every fabric and to the bit.
#[test]
fn long_and_short_runs_arrive_alike() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let all = everybody(g);
        for len in [1, 63, 64, 65, 1000, 17_000] {
            let a = g.paged::<u64, 2>([p, len], [1, len]);
            for round in 0..3 {
                for (j, x) in a.row_mut(me).iter_mut().enumerate() {
                    *x = (me * len + j) as u64 ^ round;
                }
                g.cohere(&a, (.., ..), &all);
                for i in 0..p {
                    let row = a.row(i);
                    assert!((0..len).all(|j| row[j] == (i * len + j) as u64 ^ round), "row {i} of {len}");
                }
            }
        }
    });
}

/// Whoever is lent a page may be slow: its owner waits with writing, and not with going on.
#[test]
fn owners_may_write_again_at_once() {
    let sums = Config::new().procs(2).fabric(Fabric::Threads).run_all(|g| {
        let a = g.paged::<u64, 2>([2, 4096], [1, 4096]);
        let me = g.rank();
        let mut sum = 0;
        for round in 0..300 {
            a.row_mut(me).fill(round);
            g.cohere(&a, (.., ..), &[0, 1]);
            a.write([me, 17], 0);
            assert!(a.row(1 - me).iter().all(|&x| x == round));
            sum += a.read([1 - me, 17]);
        }
        sum
    });
    assert_eq!(sums.unwrap(), [299 * 150; 2]);
}

/// C2: a section is the elements that it has, and not how they are named.
#[test]
fn members_may_name_a_section_in_different_ways() {
    on_sizes(&[2, 3], |g| {
        let (me, ranks) = (g.rank(), everybody(g));
        let a = g.paged::<usize, 2>([6, 6], [2, 6]);
        for round in 1..5 {
            for [i, j] in a.indices() {
                a.write([i, j], 100 * round + 10 * i + j);
            }
            match (me, round) {
                (0, 1) => g.cohere(&a, (0..1, 2..3), &ranks),
                (_, 1) => g.cohere(&a, (strided(0..1, 3), strided(2..=2, -1)), &ranks),
                (0, 2) => g.cohere(&a, (.., ..), &ranks),
                (_, 2) => g.cohere(&a, (.., strided(.., -1)), &ranks),
                (0, 3) => g.cohere(&a, (1..6, strided(.., 2)), &ranks),
                (_, 3) => g.cohere(&a, (strided(5..0, -1), strided(4..=0, -2)), &ranks),
                (0, _) => g.cohere(&a, (2..2, ..), &ranks),
                _ => g.cohere(&a, (strided(2..2, 4), strided(.., -1)), &ranks),
            }
            let (sections, counts) = ([(0, 2), (3, 5), (5, 4)], [1, 3, 2, 0]);
            for &(i, j) in sections.iter().skip(round - 1).take(counts[round - 1]) {
                assert_eq!(a.read([i, j]), 100 * round + 10 * i + j, "round {round}");
            }
        }
    });
}
