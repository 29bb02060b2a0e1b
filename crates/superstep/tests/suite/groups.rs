//! Groups and how they split (G1 to G5).

use crate::{SEVERAL, SIZES, check, is_everybodys};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use superstep::{
    Block, By, Config, Each, ErrorKind, Every, Fabric, Group, Irregular, Split, Sum, Weighted,
    testing::{everywhere, on_sizes},
};

/// G1.
#[test]
fn the_root_group_holds_everybody_and_tells_without_a_wait() {
    everywhere(|g| {
        let p = g.size();
        assert_eq!((g.id(), g.depth(), g.path(), g.steps()), (0, 0, "0".to_owned(), 0));
        assert!(g.parent().is_none());
        let ranks = g.step(|s| s.collect((s.rank(), s.size())));
        assert_eq!(ranks, (0..p).map(|rank| (rank, p)).collect::<Vec<_>>());
        assert_eq!(g.steps(), 1);
        assert_eq!(format!("{g:?}"), format!("Group(0, rank {} of {p})", g.rank()));
    });
}

/// G1.
#[test]
fn the_leader_is_rank_0_and_its_block_makes_nobody_wait() {
    everywhere(|g| {
        // Were it a boundary, the others would not get past theirs.
        let mine = g.leader(|| 7);
        assert_eq!(mine, (g.rank() == 0).then_some(7));
        assert_eq!(g.is_leader(), g.rank() == 0);
        assert_eq!(g.steps(), 0);
        let leaders = g.step(|s| s.reduce(usize::from(mine.is_some()), Sum));
        assert_eq!(leaders, 1);
    });
}

/// G1.
#[test]
fn a_subgroup_knows_the_way_up() {
    everywhere(|g| {
        let (rank, size) = (g.rank(), g.size());
        g.step(|_| ());
        g.split(2, |sub| {
            assert_eq!((sub.depth(), sub.steps()), (1, 0));
            sub.step(|_| ());
            let (sub_rank, sub_size, id) = (sub.rank(), sub.size(), sub.id());
            sub.split(1, |inner| {
                assert_eq!(inner.path(), format!("0/{id}/0"));
                let parent = inner.parent().unwrap();
                assert_eq!((parent.rank(), parent.size(), parent.id()), (sub_rank, sub_size, id));
                assert_eq!((parent.depth(), parent.path()), (1, format!("0/{id}")));
                // Its step, and the way into the split.
                assert_eq!(parent.steps(), 2);
                let root = parent.parent().unwrap();
                assert_eq!((root.rank(), root.size(), root.path()), (rank, size, "0".to_owned()));
                assert!(root.parent().is_none());
            });
        });
    });
}

/// The ranks in the parent of those in my subgroup, and what it is called.
fn members(g: &mut Group, how: Split<'_>) -> Option<(usize, Vec<usize>)> {
    let rank = g.rank();
    g.split(how, |sub| {
        let all = sub.step(|s| s.collect(rank));
        assert_eq!((all.len(), all[sub.rank()]), (sub.size(), rank));
        (sub.id(), all)
    })
}

/// G2.
#[test]
fn an_even_split_deals_the_ranks_round_and_the_last_subgroups_may_not_run() {
    on_sizes(&SIZES, |g| {
        let (rank, p) = (g.rank(), g.size());
        for k in [1, 2, 3, 5, p, p + 1, 4 * p, usize::MAX] {
            let expected: Vec<usize> = (rank % k..p).step_by(k).collect();
            assert_eq!(members(g, Split::Even(k)), Some((rank % k, expected)));
            let size = g.split(k, |sub| sub.size()).unwrap();
            let sizes = g.step(|s| s.collect(size));
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
    });
}

/// G2.
#[test]
fn a_split_into_every_subgroup_runs_them_all() {
    on_sizes(&SIZES, |g| {
        let (rank, p) = (g.rank(), g.size());
        for k in [1, 2, p, p + 1, 3 * p + 2] {
            let mut ran = Vec::new();
            let last = g.split(Every(k), |sub| {
                let size = sub.step(|s| s.reduce(1, Sum));
                ran.push((sub.id(), size));
                sub.id()
            });
            if k <= p {
                assert_eq!(ran, [(rank % k, (rank % k..p).step_by(k).count())]);
            } else {
                assert_eq!(ran, (rank..k).step_by(p).map(|id| (id, 1)).collect::<Vec<_>>());
            }
            assert_eq!(last, ran.last().map(|ran| ran.0));
            let mut runs = vec![0; k];
            for &(id, size) in &ran {
                runs[id] += p / size;
            }
            let runs = g.step(|s| s.reduce(runs, Each(Sum)));
            assert!(runs.iter().all(|&runs| runs > 0), "{runs:?}");
        }
    });
}

/// G3, G2 and G4: a group that asks for no subgroups at all gets an error on every member, and can go on.
#[test]
fn a_split_into_0_subgroups_is_everybodys_error() {
    on_sizes(&SIZES, |g| {
        for how in [Split::Even(0), Split::Every(0), Split::By(0, None), Split::By(0, Some(0))] {
            let error = g.try_split(how, |_| panic!("there is no subgroup")).map(|_| ());
            let error = error.unwrap_err();
            check(&error, ErrorKind::BadGroupCount, &["step", "of group 0", "0 subgroups", file!()]);
            assert!(error.is_divergence());
            is_everybodys(g, &error);
        }
    });
}

/// How far `sizes` are from the ratios.
fn distance(weights: &[f64], sizes: &[usize]) -> f64 {
    let (sum, p) = (weights.iter().sum::<f64>(), sizes.iter().sum::<usize>());
    let off = |(weight, &size): (&f64, &usize)| (p as f64 * weight / sum - size as f64).abs();
    weights.iter().zip(sizes).map(off).sum()
}

/// G3.
#[test]
fn weights_share_the_processors_out_as_near_the_ratios_as_can_be() {
    let lists: [&[f64]; 6] = [&[1.0], &[1.0, 1.0], &[1.0, 2.0], &[0.0, 2.5, 1.0, 0.0], &[100.0, 1.0, 1.0], &[0.3; 5]];
    on_sizes(&SIZES, |g| {
        let (rank, p) = (g.rank(), g.size());
        for weights in lists {
            let part = members(g, Split::Weighted(weights)).expect("everybody is in a subgroup that has a weight");
            let mut sizes = vec![0; weights.len()];
            sizes[part.0] = 1;
            let sizes = g.step(|s| s.reduce(sizes, Each(Sum)));
            assert_eq!(sizes.iter().sum::<usize>(), p);
            let first = sizes[..part.0].iter().sum::<usize>();
            assert_eq!(part.1, (first..first + sizes[part.0]).collect::<Vec<_>>(), "rank {rank} of {sizes:?}");
            let run = weights.iter().filter(|&&weight| weight > 0.0).count();
            assert_eq!(sizes.iter().filter(|&&size| size > 0).count(), run.min(p));
            if run > p {
                continue;
            }
            for (from, to) in (0..sizes.len()).flat_map(|from| (0..sizes.len()).map(move |to| (from, to))) {
                if from != to && sizes[from] > 1 && weights[to] > 0.0 {
                    let mut other = sizes.clone();
                    other[from] -= 1;
                    other[to] += 1;
                    let nearer = distance(weights, &other) < distance(weights, &sizes) - 1e-9;
                    assert!(!nearer, "{weights:?}: {other:?} is nearer than {sizes:?}");
                }
            }
        }
    });
}

/// G3.
#[test]
fn the_lightest_do_not_run_where_there_are_too_few_processors() {
    on_sizes(&[3], |g| {
        let rank = g.rank();
        assert_eq!(g.split(Weighted(&[1.0, 3.0, 2.0, 4.0, 0.0]), |sub| sub.id()), Some([1, 2, 3][rank]));
        assert_eq!(g.split(Weighted(&[1.0; 5]), |sub| sub.id()), Some(rank));
        assert_eq!(g.split(Weighted(&[1.0, 2.0, 1.0, 2.0]), |sub| sub.id()), Some([0, 1, 3][rank]));
    });
}

/// G3.
#[test]
fn weights_of_any_size_work_and_zeros_do_not_run() {
    on_sizes(&SIZES, |g| {
        for none in [&[][..], &[0.0], &[0.0, -0.0, 0.0]] {
            assert_eq!(g.split(Weighted(none), |_| panic!("nobody runs")), None);
        }
        let p = g.size();
        for equal in [f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e308] {
            let size = g.split(Weighted(&[equal, equal]), |sub| (sub.id(), sub.size())).unwrap();
            assert_eq!(size.1, if size.0 == 0 { p.div_ceil(2) } else { p / 2 });
        }
        let size = g.split(Weighted(&[f64::MAX, 5e-324]), |sub| (sub.id(), sub.size())).unwrap();
        assert_eq!(size.1, if size.0 == 1 || p == 1 { 1 } else { p - 1 });
    });
}

/// G3: misuse that each member sees, and all get the same error.
#[test]
fn weights_that_are_negative_infinite_or_no_number_are_refused() {
    on_sizes(&SIZES, |g| {
        for (bad, words) in [
            (-1.0, "weight 1 is -1"),
            (f64::NAN, "weight 1 is NaN"),
            (f64::INFINITY, "weight 1 is inf"),
            (f64::NEG_INFINITY, "weight 1 is -inf"),
            (-5e-324, "weight 1 is -0.0000"),
        ] {
            let error = g.try_split(Weighted(&[1.0, bad]), |_| panic!("nobody runs")).map(|_| ());
            let error = error.unwrap_err();
            check(&error, ErrorKind::BadWeight, &["step", "of group 0", words, file!()]);
            is_everybodys(g, &error);
        }
    });
}

/// G3.
#[test]
fn weights_that_differ_between_members_are_everybodys_error() {
    on_sizes(&SEVERAL, |g| {
        for odd in [0, g.size() / 2, g.size() - 1] {
            let is_odd = g.rank() == odd;
            for other in [&[1.0, 2.5][..], &[1.0], &[1.0, 2.0, 0.0]] {
                let weights = if is_odd { other } else { &[1.0, 2.0] };
                let error = g.try_split(Weighted(weights), |_| ()).unwrap_err();
                check(&error, ErrorKind::ReplicaDiverged, &["step", "of group 0", "[1.0, 2.0]", &format!("{other:?}")]);
                is_everybodys(g, &error);
            }
        }
    });
}

/// G4.
#[test]
fn each_processor_may_name_its_subgroup_and_ranks_keep_their_order() {
    on_sizes(&SIZES, |g| {
        let (rank, p) = (g.rank(), g.size());
        for (k, choose) in [
            (3, (|rank| Some((rank * 7 + 1) % 3)) as fn(usize) -> Option<usize>),
            (3, |rank| (!rank.is_multiple_of(2)).then_some(rank % 3)),
            (2, |rank| Some(rank)),
            (1, |rank| if rank == 0 { Some(usize::MAX) } else { Some(0) }),
            (usize::MAX, |_| Some(usize::MAX - 1)),
            (5, |_| None),
            (5, |_| Some(5)),
        ] {
            let mine = choose(rank).filter(|&choice| choice < k);
            let expected = mine.map(|mine| (mine, (0..p).filter(|&other| choose(other) == Some(mine)).collect()));
            assert_eq!(members(g, By(k, choose(rank)).into()), expected, "of {k}");
        }
        g.step(|_| ());
    });
}

/// G4: it costs one boundary on the way in and one on the way out, like any other split.
#[test]
fn a_choice_costs_no_boundary_of_its_own() {
    everywhere(|g| {
        g.split(2, |_| ());
        let even = g.steps();
        g.split(By(2, Some(0)), |_| ());
        assert_eq!(g.steps(), 2 * even);
    });
}

/// S5 and G2 to G4: members that ask for different splits all get the same error.
#[test]
fn members_that_ask_for_different_splits_are_told_both() {
    on_sizes(&SEVERAL, |g| {
        let cases: [(Split<'_>, Split<'_>, [&str; 2]); 4] = [
            (Split::Even(2), Split::Even(3), ["2 subgroups", "3 subgroups"]),
            (Split::Even(2), Split::Every(2), ["2 subgroups", "every one of 2"]),
            (Split::By(2, Some(0)), Split::By(3, Some(0)), ["choice of 2", "choice of 3"]),
            (Split::Even(2), Split::Weighted(&[1.0, 1.0]), ["2 subgroups", "weights [1.0, 1.0]"]),
        ];
        for (most, odd, words) in cases {
            for odd_one in [0, g.size() - 1] {
                let how = if g.rank() == odd_one { odd } else { most };
                let error = g.try_split(how, |_| ()).unwrap_err();
                check(&error, ErrorKind::SplitMismatch, &["step", "of group 0", words[0], words[1], file!()]);
                is_everybodys(g, &error);
            }
        }
    });
}

/// S5: a choice carries a number that other splits do not, and is still seen as another split.
#[test]
fn a_choice_and_another_split_in_one_place_are_a_split_mismatch() {
    on_sizes(&SEVERAL, |g| {
        let how = if g.rank() == 0 { Split::By(2, None) } else { Split::Even(2) };
        let error = g.try_split(how, |_| ()).unwrap_err();
        assert!(error.is_divergence(), "{error}");
        is_everybodys(g, &error);
    });
}

/// G5.
#[test]
fn the_parent_resumes_when_all_subgroups_are_done() {
    let done = AtomicUsize::new(0);
    everywhere(|g| {
        let before = done.load(SeqCst);
        g.step(|_| ());
        let rank = g.rank();
        g.split(3, |sub| {
            for _ in 0..rank % 3 {
                sub.step(|_| std::thread::yield_now());
            }
            done.fetch_add(1, SeqCst);
        });
        assert_eq!(done.load(SeqCst), before + g.size());
        g.step(|_| ());
    });
}

/// G5.
#[test]
fn what_subgroups_wrote_to_variables_of_outer_groups_is_combined_at_the_end() {
    on_sizes(&SIZES, |g| {
        let p = g.size();
        let (outer, list) = (g.shared(100, Sum), g.shared(String::new(), |all: &mut String, one: &String| *all += one));
        let rank = g.rank();
        g.split(2, |mid| {
            let (size, inner) = (mid.size(), mid.shared(0, Sum));
            mid.split(2, |sub| {
                outer.set(1);
                inner.set(10);
                sub.step(|_| assert_eq!((outer.get(), inner.get()), (1, 10)));
            });
            // The middle group's own is combined as soon as that group goes on; the outer one's is still each copy's
            // own.
            assert_eq!(inner.get(), 10 * size);
            assert_eq!(outer.get(), 1);
            mid.step(|_| list.set(format!("<{rank}>")));
        });
        assert_eq!(outer.get(), p);
        assert_eq!(list.get(), (0..p).map(|rank| format!("<{rank}>")).collect::<String>());
    });
}

/// G5 and G2: where subgroups run one after another, the copy that each wrote last counts.
#[test]
fn serial_subgroups_write_one_copy_after_another() {
    everywhere(|g| {
        let (p, rank) = (g.size(), g.rank());
        let last = g.shared(0, Sum);
        let k = 2 * p + 1;
        g.split(Every(k), |sub| last.set(sub.id()));
        let expected: usize = (0..p).map(|rank| (rank..k).step_by(p).next_back().unwrap()).sum();
        assert_eq!(last.get(), expected, "rank {rank}");
    });
}

/// Splits on, in another form at each depth, and counts everybody at the bottom.
fn descend(g: &mut Group, depth: usize) -> usize {
    if depth == 6 {
        return g.step(|s| s.reduce(1, Sum));
    }
    let (rank, path) = (g.rank(), g.path());
    let deeper = |sub: &mut Group| {
        assert_eq!(sub.path(), format!("{path}/{}", sub.id()));
        assert_eq!(sub.depth(), depth + 1);
        descend(sub, depth + 1)
    };
    let inner = match depth {
        0 => g.split(1, deeper),
        1 => g.split(Every(2), deeper),
        2 => g.split(Weighted(&[1.0, 0.0, 1.0]), deeper),
        3 => g.split(By(2, Some((rank + 1) % 2)), deeper),
        4 => g.split(2, deeper),
        _ => g.split(Weighted(&[1.0]), deeper),
    };
    let sum = g.step(|s| s.reduce(1, Sum));
    assert_eq!(sum, g.size());
    assert!(inner.unwrap() <= sum);
    sum
}

/// G2 to G5.
#[test]
fn splits_nest_in_every_form() {
    on_sizes(&SIZES, |g| {
        let p = descend(g, 0);
        assert_eq!(p, g.size());
    });
}

fn sink(g: &mut Group, depth: usize) -> usize {
    if depth == 0 {
        return g.step(|s| s.reduce(g_depth(s), Sum));
    }
    g.split(1, |sub| sink(sub, depth - 1)).unwrap()
}

/// What a step's own description says of its group's depth: the number of slashes in its path.
fn g_depth(s: &superstep::Step) -> usize {
    format!("{s:?}").matches('/').count()
}

/// G1: groups may nest as deeply as the stack allows.
#[test]
fn ten_thousand_groups_deep_works() {
    on_sizes(&[1, 2], |g| assert_eq!(sink(g, 10_000), 10_000 * g.size()));
}

/// G5: a group that is over leaves nothing behind that would slow down or stop the next.
#[test]
fn a_hundred_thousand_groups_are_made_and_freed() {
    for procs in [1, 2] {
        let sum = Config::new().procs(procs).fabric(Fabric::Threads).run(|g| {
            let mut sum = 0;
            for round in 0..100_000 / procs {
                sum += g.split(procs, |sub| sub.id() + round).unwrap();
            }
            g.step(|s| s.reduce(sum, Sum))
        });
        let rounds = 100_000 / procs;
        assert_eq!(sum.unwrap(), procs * (rounds * (rounds - 1) / 2) + rounds * procs * (procs - 1) / 2);
    }
}

/// G1 and G6: a variable, area or queue of a subgroup that is over is refused, not touched.
#[test]
fn what_a_subgroup_made_cannot_be_used_outside_of_it() {
    everywhere(|g| {
        let (area, queue) = g.split(1, |sub| (sub.area::<u8>(1), sub.queue::<u8, u8>())).unwrap();
        g.step(|s| {
            let (put, got) = (s.try_put(0, &[1], &area, 0), s.try_get(0, &area, ..).map(|_| ()));
            let (sent, moved) = (s.try_send(&queue, 0, 1, 1), s.try_hp_put(0, vec![1], &area, 0));
            for refused in [put, got, sent, moved, s.try_hp_get(0, &area, .., &area, 0)] {
                check(&refused.unwrap_err(), ErrorKind::NotMember, &["step", "of group 0:", "group 0/0", file!()]);
            }
        });
        assert_eq!((area.local()[0], queue.len()), (0, 0));
    });
}

/// X1: an area of the parent may be read in a subgroup, but transfers need a step of its own group.
#[test]
fn what_the_parent_made_is_refused_in_a_step_of_a_subgroup() {
    everywhere(|g| {
        let (area, x) = (g.area::<u8>(1), g.shared(0, Sum));
        g.split(2, |sub| {
            sub.step(|s| {
                let error = s.try_put(0, &[1], &area, 0).unwrap_err();
                check(&error, ErrorKind::NotMember, &["belongs to group 0;", &format!("of group 0/{}", s_id(s))]);
                assert!(error.is_misuse());
            });
        });
        assert_eq!((area.local()[0], x.get()), (0, 0));
    });
}

fn s_id(s: &superstep::Step) -> String {
    format!("{s:?}").trim_end_matches(')').rsplit('/').next().unwrap().to_owned()
}

/// G4: the number of a subgroup is a choice of the program's. These two had one identity when that was a hash of it.
#[test]
fn subgroups_are_apart_whatever_numbers_a_program_chooses() {
    const ALIKE: [usize; 2] = [16_591_555_993_650_590_937, 10_563_395_784_222_683_642];
    on_sizes(&[4, 8], |g| {
        let (side, rank) = (g.rank() / (g.size() / 2), g.rank());
        for _ in 0..20 {
            let result = g.split(By(usize::MAX, Some(ALIKE[side])), |sub| {
                assert_eq!(sub.id(), ALIKE[side]);
                // Long enough to lie in one piece with those of the other members.
                let (mut all, per) = (Vec::new(), 8192);
                for _ in 0..4 {
                    let array = sub.array::<usize, Block>(per * sub.size());
                    array.local_mut().fill(rank);
                    sub.step(|_| ());
                    assert!(array.local().iter().all(|&value| value == rank), "somebody else writes to it");
                    all.push(array);
                }
                sub.step(|s| s.reduce(side, Sum))
            });
            assert_eq!(result, Some(side * g.size() / 2));
        }
    });
}

/// G1: a call that is refused on one member alone leaves the members in step.
#[test]
fn members_split_together_though_one_was_refused_memory_before() {
    on_sizes(&[2, 3, 4], |g| {
        // The last one alone would have something of it.
        let mut sizes = vec![0; g.size()];
        sizes[g.size() - 1] = 1 << 58;
        let error = g.try_array_with::<u64, _, 1>([1 << 58], Irregular(sizes)).expect_err("there is no such memory");
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        let sizes = g.split(1, |sub| sub.step(|s| s.reduce(1, Sum)));
        assert_eq!(sizes, Some(g.size()));
        let array = g.array::<u64, Block>(10_000);
        array.local_mut().fill(1);
        let sum = g.step(|s| s.mirror(&array, ..)).iter().sum::<u64>();
        assert_eq!(sum, 10_000);
    });
}
