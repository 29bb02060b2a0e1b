//! Trees of remote methods that a number decides, against what the same number comes to on one processor (E2 to E5).

use serde::{Deserialize, Serialize};
use superstep::{Epoch, Handle, Object, Tuning, testing::on_sizes};

/// How deep the trees are. Each level has an object of its own; the last one's methods do not wait, and only they are
/// waited for, so nobody can wait for itself.
const LEVELS: usize = 5;
const LEAVES: usize = LEVELS - 1;

/// What a processor's representative has seen: how often it was asked, and a sum that does not depend on the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    count: u64,
    sum: u64,
}

impl Seen {
    fn see(&mut self, seed: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(mix(seed, 99));
    }
}

fn mix(seed: u64, salt: u64) -> u64 {
    let mut z = (seed ^ salt.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How a child is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Send,
    Text,
    Ask,
    Call,
}

/// A child of a request: its number, its processor, and how it is asked for.
fn children(seed: u64, size: usize) -> impl Iterator<Item = (u64, usize, Verb)> {
    (0..mix(seed, 1) % 4).map(move |at| {
        let child = mix(seed, 10 + at);
        let verb = [Verb::Send, Verb::Text, Verb::Ask, Verb::Call][(mix(child, 2) % 4) as usize];
        (child, (mix(child, 3) % size as u64) as usize, verb)
    })
}

/// What a request returns: its own number, and those of the children that it waits for.
fn expected(seed: u64, at: usize, level: usize, size: usize, seen: &mut [[Seen; LEVELS]]) -> u64 {
    seen[at][level].see(seed);
    let mut answer = seed;
    for (child, to, verb) in children(seed, size).filter(|_| level < LEAVES) {
        if matches!(verb, Verb::Ask | Verb::Call) {
            answer = answer.wrapping_add(expected(child, to, LEAVES, size, seen));
        } else {
            expected(child, to, level + 1, size, seen);
        }
    }
    answer
}

#[derive(Clone, Serialize, Deserialize)]
struct Levels(Vec<Handle<Seen>>);

fn leaf(seen: &mut Seen, _: &Epoch, seed: u64) -> u64 {
    seen.see(seed);
    seed
}

fn request(seen: &mut Seen, e: &Epoch, (seed, level, levels): (u64, usize, Levels)) -> u64 {
    seen.see(seed);
    let mut answer = seed;
    let mut asked = Vec::new();
    if level == LEAVES {
        return answer;
    }
    let (next, leaves) = (&levels.0[level + 1], &levels.0[LEAVES]);
    for (child, to, verb) in children(seed, e.size()) {
        match verb {
            Verb::Send => e.send(to, next, (child, level + 1, levels.clone()), |seen, e, args| {
                request(seen, e, args);
            }),
            Verb::Text => {
                let args = (child.to_string(), level + 1, levels.clone());
                e.send(to, next, args, |seen, e, (text, level, levels)| {
                    request(seen, e, (text.parse().expect("a number"), level, levels));
                });
            }
            Verb::Ask => asked.push(e.ask(to, leaves, child, leaf)),
            Verb::Call => answer = answer.wrapping_add(e.call(to, leaves, child, leaf)),
        }
    }
    asked.into_iter().fold(answer, |answer, asked| answer.wrapping_add(e.take(asked)))
}

fn trees_come_to_the_same(sizes: &[usize], seeds: u64) {
    let tunings = [
        Tuning::new(),
        Tuning::new().near(0, 1).far(0, 1).window(1).poll_every(1),
        Tuning::new().near(200, 5).far(200, 5).window(2).poll_every(7),
    ];
    on_sizes(sizes, |g| {
        let (me, p) = (g.rank(), g.size());
        for (seed, tuning) in (0..seeds).flat_map(|seed| tunings.map(|tuning| (seed, tuning))) {
            let objects: Vec<_> = (0..LEVELS).map(|_| g.object(Seen::default())).collect();
            let levels = Levels(objects.iter().map(Object::handle).collect());
            let roots = |rank: usize| (0..3).map(move |at| mix(seed, 1000 * rank as u64 + at));
            let answers: Vec<u64> = g.epoch_with(tuning.nesting(10_000), |e| {
                let call =
                    |root| e.call((mix(root, 3) % p as u64) as usize, &objects[0], (root, 0, levels.clone()), request);
                roots(me).map(call).collect()
            });
            let mut seen = vec![[Seen::default(); LEVELS]; p];
            for rank in 0..p {
                for (at, root) in roots(rank).enumerate() {
                    let answer = expected(root, (mix(root, 3) % p as u64) as usize, 0, p, &mut seen);
                    assert!(rank != me || answers[at] == answer, "answer {at} of seed {seed}, {tuning:?}");
                }
            }
            let mine: Vec<Seen> = objects.iter().map(|object| object.with(|seen| *seen)).collect();
            assert_eq!(mine, seen[me], "seed {seed}, {tuning:?}");
        }
    });
}

#[test]
fn trees_of_methods_come_to_what_they_do_on_one_processor() {
    trees_come_to_the_same(&[1, 2, 3, 7], 4);
}

#[test]
#[ignore = "takes minutes; campaign.sh runs it"]
fn many_trees_of_methods_come_to_what_they_do_on_one_processor() {
    trees_come_to_the_same(&[1, 2, 3, 4, 8, 17], 300);
}
