//! Groups and how they split (G1 to G5).

use crate::{SIZES, check, everywhere, on_sizes};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use superstep::{Block, By, Config, ErrorKind, Every, Fabric, Group, Irregular, Sum, Weighted};

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
            let (sent, moved) = (s.try_send(0, &queue, 1, 1), s.try_hp_put(0, vec![1], &area, 0));
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
