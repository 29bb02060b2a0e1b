//! The exchange by each of superstep's verbs.
//!
//! Every round writes its number into the first word of what it sends and looks for it in what came.

use super::{
    WORDS,
    pattern::{fill, is_complete, is_from, is_stamped, offset, others, source},
};
use crate::{
    clock::{WARM_UP, clocked, on_all},
    contest::Sample,
    digest::digest,
};
use std::time::{Duration, Instant};
use superstep::Config;

fn digest_of_parts(parts: &[Vec<u64>]) -> u64 {
    digest(&parts.iter().map(|part| digest(part)).collect::<Vec<_>>())
}

/// `exchange_slices`: what came is a vector that the receiver owns.
pub(super) fn exchange_slices(config: &Config, rounds: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let (mut mine, mut received, mut is_right) = (source(rank), Vec::new(), true);
        let seconds = clocked(rounds, |round| {
            mine[0] = round;
            received.clear();
            let parts: Vec<&[u64]> = (0..p).map(|to| if to == rank { &[][..] } else { &mine }).collect();
            received = g.step(|s| s.exchange_slices(&parts));
            is_right &= others(rank, p).all(|from| received[from][0] == round);
        });
        is_right &= others(rank, p).all(|from| is_from(&received[from], from, Some(WARM_UP + rounds)));
        (seconds, is_right, digest_of_parts(&received))
    })
}

/// `get`: what came is a vector that the receiver owns.
pub(super) fn get(config: &Config, rounds: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let area = g.area::<u64>(WORDS);
        fill(&mut area.local_mut(), rank);
        let (mut received, mut is_right) = (Vec::new(), true);
        let seconds = clocked(rounds, |round| {
            area.local_mut()[0] = round;
            received.clear();
            received = g.step(|s| others(rank, p).map(|from| s.get(from, &area, ..)).collect::<Vec<_>>());
            is_right &= received.iter().all(|part| part[0] == round);
        });
        is_right &= others(rank, p).zip(&received).all(|(from, part)| is_from(part, from, Some(WARM_UP + rounds)));
        (seconds, is_right && received.len() == p - 1, digest_of_parts(&received))
    })
}

/// `put` out of a vector into an area.
pub(super) fn put(config: &Config, rounds: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let target = g.area::<u64>((p - 1) * WORDS);
        let (mut mine, mut is_right) = (source(rank), true);
        let seconds = clocked(rounds, |round| {
            mine[0] = round;
            g.step(|s| others(rank, p).for_each(|to| s.put(to, &mine, &target, offset(rank, to, p))));
            is_right &= is_stamped(&target.local(), rank, p, round);
        });
        is_right &= is_complete(&target.local(), rank, p, Some(WARM_UP + rounds));
        (seconds, is_right, digest(&target.local()))
    })
}

/// `hp_put` out of one area into another.
pub(super) fn hp_put(config: &Config, rounds: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let (mine, target) = (g.area::<u64>(WORDS), g.area::<u64>((p - 1) * WORDS));
        fill(&mut mine.local_mut(), rank);
        let mut is_right = true;
        let seconds = clocked(rounds, |round| {
            mine.local_mut()[0] = round;
            g.step(|s| {
                others(rank, p).for_each(|to| s.hp_put(to, (&mine, 0..WORDS), &target, offset(rank, to, p)));
            });
            is_right &= is_stamped(&target.local(), rank, p, round);
        });
        is_right &= is_complete(&target.local(), rank, p, Some(WARM_UP + rounds));
        (seconds, is_right, digest(&target.local()))
    })
}

/// `hp_get` out of one area into another.
pub(super) fn hp_get(config: &Config, rounds: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let (mine, target) = (g.area::<u64>(WORDS), g.area::<u64>((p - 1) * WORDS));
        fill(&mut mine.local_mut(), rank);
        let mut is_right = true;
        let seconds = clocked(rounds, |round| {
            mine.local_mut()[0] = round;
            g.step(|s| others(rank, p).for_each(|from| s.hp_get(from, &mine, .., &target, offset(from, rank, p))));
            is_right &= is_stamped(&target.local(), rank, p, round);
        });
        is_right &= is_complete(&target.local(), rank, p, Some(WARM_UP + rounds));
        (seconds, is_right, digest(&target.local()))
    })
}

/// `hp_put` of vectors that are given away. A round needs new ones, so the clock runs only in the steps that move them.
pub(super) fn hp_put_given(config: &Config, rounds: u64) -> superstep::Result<Sample> {
    on_all(config, |g| {
        let (rank, p) = (g.rank(), g.size());
        let target = g.area::<u64>((p - 1) * WORDS);
        let (mut mine, mut is_right, mut elapsed) = (source(rank), true, Duration::ZERO);
        for round in 1..=WARM_UP + rounds {
            mine[0] = round;
            let given: Vec<_> = others(rank, p).map(|to| (to, mine.clone())).collect();
            g.step(|_| ());
            let start = Instant::now();
            g.step(|s| {
                for (to, values) in given {
                    s.hp_put(to, values, &target, offset(rank, to, p));
                }
            });
            if round > WARM_UP {
                elapsed += start.elapsed();
            }
            is_right &= is_stamped(&target.local(), rank, p, round);
        }
        is_right &= is_complete(&target.local(), rank, p, Some(WARM_UP + rounds));
        (elapsed.as_secs_f64(), is_right, digest(&target.local()))
    })
}
