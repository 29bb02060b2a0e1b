//! Collectives (R5).

use crate::{SEVERAL, SIZES, check, failing, on_sizes};
use superstep::{By, ErrorKind, Group, Sum};

/// What rank `from` has for rank `to`: of a length of its own, and none at all where that happens to be 0.
fn part(from: usize, to: usize, scale: usize) -> Vec<u32> {
    vec![(from * 100 + to) as u32; (from + 2 * to) % 4 * scale]
}

/// Lengths at which values travel with the boundary, apart from it, and apart in many packets.
const SCALES: [usize; 3] = [1, 300, 90_000];

fn sizes_for(scale: usize) -> &'static [usize] {
    if scale < 1000 { &SIZES } else { &[1, 2, 3, 9] }
}

/// R5.
#[test]
fn a_broadcast_gives_the_roots_value_to_all() {
    for scale in SCALES {
        on_sizes(sizes_for(scale), |g| {
            for root in [0, g.size() - 1] {
                let value: Vec<u32> = part(root, 1, scale);
                let others = if g.rank() == root { Some(value.clone()) } else { None };
                let text = Some(format!("{} says {}", g.rank(), "x".repeat(scale)));
                let (got, slice, text, number) = g.step(|s| {
                    let slice = s.broadcast_slice(root, others.as_deref());
                    (s.broadcast(root, others), slice, s.broadcast(root, text), s.broadcast(root, Some(s.rank() as u8)))
                });
                assert!(got == value && slice == value);
                assert_eq!(text, format!("{root} says {}", "x".repeat(scale)));
                assert_eq!(number as usize, root);
            }
        });
    }
}

/// R5: a megabyte is a value too, and so is what does not divide into equal pieces.
#[test]
fn a_broadcast_of_any_length_arrives_whole() {
    on_sizes(&[2, 3, 8, 9], |g| {
        for len in [0, 1, 1022, 1023, 1024, 1025, 1026, 1 << 20] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let got = g.step(|s| s.broadcast(1, (s.rank() == 1).then(|| bytes.clone())));
            assert!(got == bytes, "{len} bytes");
        }
    });
}

/// R5.
#[test]
fn collect_gives_everybody_all_values_in_rank_order() {
    for scale in SCALES {
        on_sizes(sizes_for(scale), |g| {
            let (me, p) = (g.rank(), g.size());
            let mine = part(me, 1, scale);
            let all: Vec<_> = (0..p).map(|from| part(from, 1, scale)).collect();
            let (values, slices, texts) = g.step(|s| {
                let text = format!("{me}{}", "y".repeat(me * scale / 8));
                (s.collect(mine.clone()), s.collect_slice(&mine), s.collect(text))
            });
            assert!(values == all && slices == all);
            assert!(
                texts.iter().enumerate().all(|(from, text)| *text == format!("{from}{}", "y".repeat(from * scale / 8)))
            );
            for root in [0, p - 1] {
                let (values, slices) = g.step(|s| (s.collect_to(root, mine.clone()), s.collect_slice_to(root, &mine)));
                assert!(values == (me == root).then(|| all.clone()) && slices == values);
            }
        });
    }
}

/// R5.
#[test]
fn deal_hands_each_its_part() {
    for scale in SCALES {
        on_sizes(sizes_for(scale), |g| {
            let (me, p) = (g.rank(), g.size());
            for root in [0, p - 1] {
                let parts: Vec<_> = (0..p).map(|to| part(root, to, scale)).collect();
                let slices: Vec<&[u32]> = parts.iter().map(Vec::as_slice).collect();
                let give = me == root;
                let (value, slice, number) = g.step(|s| {
                    let number = s.deal(root, give.then(|| (0..p).collect()));
                    (s.deal(root, give.then(|| parts.clone())), s.deal_slices(root, give.then_some(&slices)), number)
                });
                assert!(value == parts[me] && slice == parts[me]);
                assert_eq!(number, me);
            }
        });
    }
}

/// R5.
#[test]
fn exchange_hands_each_what_everybody_has_for_it() {
    for scale in SCALES {
        on_sizes(sizes_for(scale), |g| {
            let (me, p) = (g.rank(), g.size());
            let mine: Vec<_> = (0..p).map(|to| part(me, to, scale)).collect();
            let slices: Vec<&[u32]> = mine.iter().map(Vec::as_slice).collect();
            let (values, slices, numbers) = g.step(|s| {
                let numbers = s.exchange((0..p).map(|to| me * 100 + to).collect());
                (s.exchange(mine.clone()), s.exchange_slices(&slices), numbers)
            });
            let expected: Vec<_> = (0..p).map(|from| part(from, me, scale)).collect();
            assert!(values == expected && slices == expected);
            assert_eq!(numbers, (0..p).map(|from| from * 100 + me).collect::<Vec<_>>());
        });
    }
}

/// R5.
#[test]
fn reduce_to_gives_the_result_to_one_alone() {
    on_sizes(&SIZES, |g| {
        for root in 0..g.size() {
            let (sum, text) = g.step(|s| {
                let append = |all: &mut String, one: &String| *all += one;
                (s.reduce_to(root, s.rank(), Sum), s.reduce_to(root, s.rank().to_string(), append))
            });
            let is_root = g.rank() == root;
            assert_eq!(sum, is_root.then(|| (0..g.size()).sum()));
            assert_eq!(text, is_root.then(|| (0..g.size()).map(|rank| rank.to_string()).collect()));
        }
    });
}

/// R5 and S2: many verbs in one step do not disturb each other, nor what else the step does.
#[test]
fn many_collectives_share_one_boundary() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let (area, queue, x) = (g.area::<usize>(p), g.queue::<usize, Vec<u8>>(), g.shared(0, Sum));
        let long = vec![me; 500];
        let (sums, lists, got, long_one, mine) = g.step(|s| {
            x.set(1);
            let sums: Vec<_> = (0..50).map(|at| s.reduce(at * me, Sum)).collect();
            s.send(p - 1 - me, &queue, me, vec![7; me]);
            let lists: Vec<_> = (0..3).map(|at| s.collect(vec![me; at * 400])).collect();
            for to in 0..p {
                s.put(to, &[me + 1], &area, me);
            }
            let got = s.get(p - 1 - me, &area, ..);
            (sums, lists, got, s.broadcast(p - 1, Some(long)), s.exchange(vec![vec![me; 300]; p]))
        });
        assert_eq!(sums, (0..50).map(|at| at * (p * (p - 1) / 2)).collect::<Vec<_>>());
        for (at, list) in lists.iter().enumerate() {
            assert_eq!(*list, (0..p).map(|from| vec![from; at * 400]).collect::<Vec<_>>());
        }
        assert_eq!((got, long_one, x.get()), (vec![0; p], vec![p - 1; 500], p));
        assert_eq!(mine, (0..p).map(|from| vec![from; 300]).collect::<Vec<_>>());
        assert_eq!(*area.local(), (1..=p).collect::<Vec<_>>());
        assert_eq!(queue.drain().collect::<Vec<_>>(), [(p - 1 - me, vec![7; p - 1 - me])]);
    });
}

/// R5 and G4: in subgroups that run side by side.
#[test]
fn subgroups_do_not_hear_each_other() {
    on_sizes(&SIZES, |g| {
        let me = g.rank();
        g.split(By(3, Some(me * 5 % 3)), |sub| {
            let id = sub.id();
            for round in 0..4 {
                let (all, long) = sub.step(|s| (s.collect((id, round)), s.broadcast(0, Some(vec![id + round; 2000]))));
                assert_eq!(all, vec![(id, round); sub.size()]);
                assert_eq!(long, vec![id + round; 2000]);
            }
        });
    });
}

/// X1: at the call, with its numbers, and the run ends with that error.
#[test]
fn bad_arguments_of_collectives_are_refused_at_the_call() {
    let verbs: [(ErrorKind, &[&str], fn(&mut Group)); 9] = [
        (ErrorKind::RankOutOfRange, &["rank 99 named in a group of"], |g| g.step(|s| drop(s.broadcast(99, Some(1))))),
        (ErrorKind::RankOutOfRange, &["rank 99 named"], |g| g.step(|s| drop(s.reduce_to(99, 1, Sum)))),
        (ErrorKind::RankOutOfRange, &["rank 99 named"], |g| g.step(|s| drop(s.collect_to(99, 1)))),
        (ErrorKind::RankOutOfRange, &["rank 99 named"], |g| g.step(|s| drop(s.deal(99, Some(vec![1]))))),
        (ErrorKind::NoValue, &["rank 0 is the root of this broadcast"], |g| {
            g.step(|s| drop(s.broadcast(0, None::<u8>)));
        }),
        (ErrorKind::NoValue, &["rank 0 is the root of this deal"], |g| g.step(|s| drop(s.deal(0, None::<Vec<u8>>)))),
        (ErrorKind::BadLength, &["5000 parts to deal in a group of"], |g| {
            g.step(|s| drop(s.deal(0, Some(vec![1; 5000]))));
        }),
        (ErrorKind::BadLength, &["5000 parts to exchange in a group of"], |g| {
            g.step(|s| drop(s.exchange(vec![1; 5000])));
        }),
        (ErrorKind::BadLength, &["0 parts to exchange in a group of"], |g| {
            g.step(|s| drop(s.exchange_slices::<u8>(&[])));
        }),
    ];
    for (kind, words, verb) in verbs {
        failing(&SIZES, verb, |context, error| {
            assert!(error.is_misuse(), "{context}: {error}");
            check(&error, kind, words);
            check(&error, kind, &["step 0 of group 0", file!()]);
        });
    }
}

/// R5 and S5: who gives nothing but is not the root gives nothing that counts.
#[test]
fn what_others_than_the_root_pass_is_not_looked_at() {
    on_sizes(&SEVERAL, |g| {
        let is_root = g.rank() == 1;
        let (value, part) = g.step(|s| {
            let junk = if is_root { Some(vec![1; s.size()]) } else { Some(vec![]) };
            (s.broadcast(1, junk.clone()), s.deal(1, junk))
        });
        assert_eq!((value, part), (vec![1; g.size()], 1));
    });
}
