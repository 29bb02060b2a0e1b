//! Who joins which subgroup (G2 to G4).

use crate::{SEVERAL, SIZES, check, everywhere, is_everybodys, on_sizes};
use superstep::{By, Each, ErrorKind, Every, Group, Local, Split, Sum, Weighted};

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

/// G5: nothing of a subgroup is left, though a handle to something that it has made is kept.
#[test]
fn what_a_subgroup_has_made_ends_with_it() {
    everywhere(|g| {
        let alive = std::rc::Rc::new(());
        let kept = g.split(2, |sub| {
            sub.object(std::rc::Rc::clone(&alive));
            Local(sub.object(0))
        });
        assert_eq!(std::rc::Rc::strong_count(&alive), 1);
        drop(kept);
    });
}
