//! Explores every way in which letters and counts can cross, to show that one wave is not enough and that two equal
//! ones are.
//!
//! The model is small: processors that have ended their bodies, some letters under way, and a count that each processor
//! enters at a moment of its own. When a letter is taken in, its processor may send up to two more, to whomever it
//! likes, as long as there are any left to send. A rule is wrong if it ever says that all is quiet while a letter is
//! under way.

use super::verdict::{Verdict, verdict};
use fabric::Counts;
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    /// Letters under way, by whom they are for.
    under_way: Vec<u8>,
    /// Letters that each has sent and taken in.
    sent: Vec<u8>,
    came: Vec<u8>,
    /// What each has entered in the count that is open.
    entered: Vec<Option<(u8, u8)>>,
    last: Option<Counts>,
    /// How many may still be sent.
    left: u8,
}

type Rule = fn(Option<Counts>, Counts) -> Verdict;

/// What is summed once, as the seed's fence does it.
fn one_wave(_: Option<Counts>, now: Counts) -> Verdict {
    if now[0] == now[1] { Verdict::Quiet } else { Verdict::Open }
}

impl World {
    /// Processor 0 has sent one letter in its body, and another `more` may follow.
    fn new(size: usize, to: usize, more: u8) -> Self {
        let mut world = Self {
            under_way: vec![0; size],
            sent: vec![0; size],
            came: vec![0; size],
            entered: vec![None; size],
            last: None,
            left: more,
        };
        world.under_way[to] = 1;
        world.sent[0] = 1;
        world
    }

    /// Takes in a letter and sends those of `targets`.
    fn take_in(&self, at: usize, targets: &[usize]) -> Option<Self> {
        let mut next = self.clone();
        next.under_way[at] = next.under_way[at].checked_sub(1)?;
        next.came[at] += 1;
        for &to in targets {
            next.left = next.left.checked_sub(1)?;
            next.sent[at] += 1;
            next.under_way[to] += 1;
        }
        Some(next)
    }

    /// Enters the count; an error if the rule says wrongly that all is quiet.
    fn enter(&self, at: usize, rule: Rule) -> Result<Option<Self>, ()> {
        if self.entered[at].is_some() {
            return Ok(None);
        }
        let mut next = self.clone();
        next.entered[at] = Some((self.sent[at], self.came[at]));
        if next.entered.iter().all(Option::is_some) {
            let sum = |of: fn(&(u8, u8)) -> u8| next.entered.iter().flatten().map(|it| u64::from(of(it))).sum();
            let sums = [sum(|it| it.0), sum(|it| it.1), 0, 0, 0];
            match rule(self.last, sums) {
                Verdict::Quiet if self.under_way.iter().any(|&letters| letters > 0) => return Err(()),
                Verdict::Quiet => return Ok(None),
                _ => {
                    next.entered.fill(None);
                    next.last = Some(sums);
                }
            }
        }
        Ok(Some(next))
    }

    /// Everything that can happen next, with words for it.
    fn nexts(&self, rule: Rule) -> Result<Vec<(String, Self)>, String> {
        let size = self.sent.len();
        let mut nexts = Vec::new();
        for at in 0..size {
            let others: Vec<usize> = (0..size).filter(|&to| to != at).collect();
            let mut sends: Vec<Vec<usize>> = vec![Vec::new()];
            sends.extend(others.iter().map(|&to| vec![to]));
            sends
                .extend(others.iter().flat_map(|&a| others.iter().filter(move |&&b| a <= b).map(move |&b| vec![a, b])));
            for targets in sends {
                if let Some(next) = self.take_in(at, &targets) {
                    nexts.push((format!("{at} takes a letter in and sends to {targets:?}"), next));
                }
            }
            match self.enter(at, rule) {
                Ok(Some(next)) => nexts.push((format!("{at} enters ({}, {})", self.sent[at], self.came[at]), next)),
                Ok(None) => {}
                Err(()) => return Err(format!("{at} enters last, and all seems quiet")),
            }
        }
        Ok(nexts)
    }
}

/// Searches every schedule; returns the shortest that ends too early, or how many states there are.
fn explore(size: usize, letters: u8, rule: Rule) -> Result<usize, Vec<String>> {
    let mut from: HashMap<World, Option<(World, String)>> = HashMap::new();
    let mut queue = VecDeque::new();
    for to in 1..size {
        let first = World::new(size, to, letters);
        from.insert(first.clone(), None);
        queue.push_back(first);
    }
    while let Some(world) = queue.pop_front() {
        match world.nexts(rule) {
            Ok(nexts) => {
                for (words, next) in nexts {
                    if !from.contains_key(&next) {
                        from.insert(next.clone(), Some((world.clone(), words)));
                        queue.push_back(next);
                    }
                }
            }
            Err(last) => {
                let mut path = vec![last];
                let mut at = &world;
                while let Some((before, words)) = &from[at] {
                    path.push(words.clone());
                    at = before;
                }
                path.reverse();
                return Err(path);
            }
        }
    }
    Ok(from.len())
}

/// The schedule of the README.
#[test]
fn one_wave_ends_too_early_with_three_processors() {
    let path = explore(3, 2, one_wave).expect_err("there is such a schedule");
    let early = [
        "0 enters (1, 0)",
        "1 enters (0, 0)",
        "1 takes a letter in and sends to [0, 2]",
        "2 takes a letter in and sends to []",
        "2 enters last, and all seems quiet",
    ];
    assert_eq!(path, early);
}

/// Two are enough where one of them is sent two letters.
#[test]
fn one_wave_ends_too_early_even_with_two_processors() {
    assert_eq!(explore(2, 2, one_wave).map_err(|path| path.len()), Err(4));
}

/// And with as few letters as can be, one wave is right.
#[test]
fn one_wave_is_enough_for_a_chain_between_two() {
    assert!(explore(2, 1, one_wave).is_ok());
}

#[test]
fn two_equal_waves_never_end_too_early() {
    for (size, letters) in [(2, 4), (3, 3), (4, 2)] {
        let states = explore(size, letters, verdict).unwrap_or_else(|path| panic!("{path:#?}"));
        assert!(states > 500, "{states} states of {size} processors");
    }
}
