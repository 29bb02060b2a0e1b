//! Leaving a group before it is over (G6).
//!
//! The group in question is always a subgroup of all, because the root group may not be left.

use crate::{SEVERAL, SIZES, everywhere, on_sizes};
use superstep::{By, Each, Group, Local, Max, Plain, Sum};

/// Everybody as one subgroup, which may be left.
pub(crate) fn inside<R: Plain>(g: &mut Group, body: impl FnOnce(&mut Group) -> R) -> R {
    g.split(1, body).expect("everybody is in it")
}

/// G6.
#[test]
fn those_who_stay_are_renumbered_and_the_lead_passes_on() {
    on_sizes(&SIZES, |g| {
        let me = g.rank();
        inside(g, |sub| {
            // In step i everybody of old rank i leaves: always the leader.
            for leaver in 0..sub.size() {
                assert_eq!((sub.rank(), sub.is_leader()), (me - leaver, me == leaver));
                if me == leaver {
                    return;
                }
                let (size, sum) = (sub.size(), sub.step(|s| s.reduce(1, Sum)));
                assert_eq!((sum, sub.size()), (size - 1, size - 1));
            }
        });
        g.step(|_| ());
    });
}

/// G6, S3 and R4: whoever is missing, everybody else's reductions are right at that very boundary.
#[test]
fn reductions_at_the_boundary_of_a_leaving_leave_out_the_leaver_alone() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in 0..p {
            inside(g, |sub| {
                if me == leaver {
                    return;
                }
                let text = format!("<{me}>");
                let append = |all: &mut String, one: &String| *all += one;
                let (all, below, upto, max, ranks) = sub.step(|s| {
                    let texts = (text.clone(), text.clone(), text);
                    let (all, below) = (s.reduce(texts.0, append), s.prefix(texts.1, append));
                    (all, below, s.prefix_inclusive(texts.2, append), s.reduce(me, Max), s.collect(me))
                });
                let stayed: Vec<usize> = (0..p).filter(|&rank| rank != leaver).collect();
                let listed = |end: usize| -> String {
                    let ranks = stayed.iter().filter(|&&rank| rank < end);
                    ranks.map(|rank| format!("<{rank}>")).collect()
                };
                assert_eq!((all, below, upto), (listed(p), listed(me), listed(me + 1)), "without {leaver}");
                assert_eq!((max, ranks), (*stayed.last().unwrap(), stayed));
            });
        }
    });
}

/// G6: any set of members may leave at one boundary, and others at later ones.
#[test]
fn many_may_leave_at_once_and_in_different_steps() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        for pattern in 0..8usize {
            inside(g, |sub| {
                // When each leaves: some at once, some in the middle, some as the last.
                let leaves_at = |rank: usize| (rank * (2 * pattern + 1) + pattern) % 5;
                for step in 0..leaves_at(me) {
                    let stayed: Vec<usize> = (0..p).filter(|&rank| leaves_at(rank) > step).collect();
                    let (sum, below) = sub.step(|s| (s.reduce(vec![me, 1], Each(Sum)), s.prefix(me + 1, Sum)));
                    assert_eq!(sum, [stayed.iter().sum::<usize>(), stayed.len()]);
                    assert_eq!(below, stayed.iter().filter(|&&rank| rank < me).map(|rank| rank + 1).sum::<usize>());
                    assert_eq!((sub.size(), stayed[sub.rank()]), (stayed.len(), me));
                }
            });
        }
    });
}

/// G6.
#[test]
fn everybody_may_leave_at_once() {
    on_sizes(&SIZES, |g| {
        for _ in 0..3 {
            inside(g, |_| ());
            inside(g, |sub| sub.step(|_| ()));
        }
        assert_eq!(g.step(|s| s.reduce(1, Sum)), g.size());
    });
}

/// G6.
#[test]
fn a_leader_block_that_nobody_leads_any_more_is_skipped() {
    on_sizes(&SEVERAL, |g| {
        inside(g, |sub| {
            if sub.is_leader() {
                return;
            }
            // The leader is gone, but nobody knows before the next boundary.
            assert_eq!(sub.leader(|| ()), None);
            sub.step(|_| ());
            assert_eq!(sub.leader(|| ()).is_some(), sub.rank() == 0);
            let leaders = sub.is_leader();
            assert_eq!(sub.step(|s| s.reduce(usize::from(leaders), Sum)), 1);
        });
    });
}

/// G6, G2 and G4.
#[test]
fn a_group_can_split_at_the_boundary_of_a_leaving() {
    on_sizes(&SEVERAL, |g| {
        let me = g.rank();
        for leaver in [0, g.size() - 1] {
            inside(g, |sub| {
                if me == leaver {
                    return;
                }
                let (id, size) = sub.split(2, |inner| (inner.id(), inner.step(|s| s.reduce(1, Sum)))).unwrap();
                assert_eq!((id, size), (sub.rank() % 2, (sub.size() + 1 - sub.rank() % 2) / 2));
            });
            inside(g, |sub| {
                if me == leaver {
                    return;
                }
                let ranks = sub.split(By(2, Some(me % 2)), |inner| inner.step(|s| s.collect(me))).unwrap();
                assert!(ranks.iter().all(|rank| rank % 2 == me % 2 && *rank != leaver));
                assert!(ranks.contains(&me));
            });
        }
    });
}

/// G6 and R2: a member that leaves has written to an outer variable all the same.
#[test]
fn a_leaver_takes_part_in_what_the_outer_group_combines() {
    on_sizes(&SIZES, |g| {
        let (me, p) = (g.rank(), g.size());
        let written = g.shared(0, Sum);
        inside(g, |sub| {
            written.set(1);
            for _ in 0..me {
                sub.step(|_| ());
            }
        });
        assert_eq!(written.get(), p);
    });
}

/// G6 and D1: handles that leavers have dropped do not count any more once they have left.
#[test]
fn an_area_lives_until_everybody_who_is_left_has_dropped_it() {
    on_sizes(&[3, 4, 9], |g| {
        let (me, p) = (g.rank(), g.size());
        inside(g, |sub| {
            let mut area = Some(sub.area::<usize>(1));
            // The first drops its handle, and then leaves.
            if me == 0 {
                area = None;
            }
            sub.step(|_| ());
            if me == 0 {
                return;
            }
            sub.step(|_| ());
            // Now all others but the last drop theirs.
            if me != p - 1 {
                area = None;
            }
            sub.step(|_| ());
            let rank = sub.rank();
            let got = sub.step(|s| {
                let own = area.as_ref();
                if let Some(area) = own {
                    s.put(rank, &[5], area, 0);
                }
                own.map(|area| s.get(rank, area, ..))
            });
            assert_eq!(got, (me == p - 1).then(|| vec![0]));
            assert_eq!(area.map(|area| area.local()[0]), (me == p - 1).then_some(5));
        });
    });
}

/// G6 and D1.
#[test]
fn those_who_stay_find_each_others_parts_of_an_area_under_their_new_ranks() {
    on_sizes(&SEVERAL, |g| {
        let me = g.rank();
        inside(g, |sub| {
            let area = sub.area::<usize>(me + 1);
            area.local_mut().fill(me);
            if me == 0 {
                return;
            }
            sub.step(|_| ());
            let got = sub.step(|s| (0..s.size()).map(|from| s.get(from, &area, ..)).collect::<Vec<_>>());
            assert_eq!(got, (1..=sub.size()).map(|old| vec![old; old + 1]).collect::<Vec<_>>());
        });
    });
}

/// G6: leaving a group inside of groups, while the outer ones go on.
#[test]
fn a_group_deep_inside_can_be_left() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let sums = inside(g, |outer| {
            let inner = inside(outer, |inner| {
                let mut sums = Vec::new();
                for _ in 0..me {
                    sums.push(inner.step(|s| s.reduce(1, Sum)));
                }
                sums
            });
            let all = outer.step(|s| (s.reduce(1, Sum), Local(())));
            assert_eq!(all.0, p);
            inner
        });
        assert_eq!(sums, (0..me).map(|step| p - 1 - step).collect::<Vec<_>>());
        assert_eq!(g.step(|s| s.reduce(1, Sum)), p);
    });
}
