//! Plans: what was worked out once gives what a gather and a scatter of the same indices give (P1, P2).

use crate::{
    SEVERAL, SIZES,
    array_life::inside,
    arrays::{fill, uneven},
    check, everywhere, failing, here, is_everybodys, on_sizes,
};
use superstep::{
    Any, Array, Block, BlockCyclic, Checked, Combine, Config, Cyclic, Distribution, Element, ErrorKind, Fabric, Fold,
    Group, Irregular, Leader, Max, Min, Or, Product, Same, Sum, Tiles, sim::Trace,
};

/// Lists of indices of an array of `len`: none, one, all in order and none where it was, and some with repetitions,
/// different on each rank.
fn lists(len: usize, me: usize) -> [Vec<usize>; 7] {
    let some = |count: usize| (0..count).map(|i| if i % 4 == 3 { 2 } else { (i * i + 11 * me) % len }).collect();
    let turned = (0..len).map(|i| (i + 1) % len).collect();
    [Vec::new(), vec![me % len], (0..len).collect(), turned, some(5), some(len + 1), some(10 * len)]
}

/// P1 and S2 (d): in every round, also with what is written in the same step.
#[test]
fn a_planned_gather_reads_what_a_gather_reads() {
    fn claim<D: Distribution>(g: &mut Group, len: usize, distribution: D) {
        let a = g.array_with::<u64, _, 1>([len], distribution);
        for at in lists(len, g.rank()) {
            let plan = g.plan(&a, &at);
            assert_eq!((plan.len(), plan.is_empty()), (at.len(), at.is_empty()));
            let mut room = Vec::new();
            for round in 0..3 {
                fill(&a, |i| 7 * i as u64 + round);
                let (planned, gathered, kept) = g.step(|s| {
                    let early = s.gather_by(&a, &plan);
                    s.scatter_one(&a, &[2, len - 1], 100, Sum);
                    (early, s.gather(&a, &at), s.gather_by_into(&a, &plan, std::mem::take(&mut room)))
                });
                assert_eq!((&planned, &kept), (&gathered, &gathered), "{} of {a:?}", at.len());
                room = kept;
            }
        }
    }
    on_sizes(&SIZES, |g| {
        claim(g, 30, Block::new());
        claim(g, 30, Cyclic::new());
        claim(g, 30, BlockCyclic::new(3));
        claim(g, 30, uneven(30, g.size()));
        claim(g, 30, Tiles([6]));
    });
    // Where memory is shared, so many lie in one piece.
    on_sizes(&[1, 2, 3], |g| {
        claim(g, 9000, Block::new());
        claim(g, 9000, Cyclic::new());
        claim(g, 9000, uneven(9000, g.size()));
    });
}

/// Scatters by a plan and by a list, several times and in turn with other writes, and compares all bits.
fn scatters_alike<T: Element, D: Distribution>(
    g: &mut Group,
    distribution: D,
    op: impl Combine<T>,
    value: impl Fn(usize) -> T,
) {
    let len = 30;
    let (a, b) = (g.array_with::<T, _, 1>([len], distribution.clone()), g.array_with::<T, _, 1>([len], distribution));
    let me = g.rank();
    for at in lists(len, me) {
        let plan = g.plan(&a, &at);
        fill(&a, |i| value(i + 1));
        fill(&b, |i| value(i + 1));
        for round in 0..3 {
            let values: Vec<T> = (0..at.len()).map(|i| value(i * 3 + 5 * me + round)).collect();
            let (first, last) = (value(3 * me), value(2 + me));
            g.step(|s| {
                s.scatter(&a, &[2], &[first], op);
                s.scatter_by(&a, &plan, &values, op);
                s.scatter(&a, &[2, 5], &[last, last], op);
                s.scatter(&b, &[2], &[first], op);
                s.scatter(&b, &at, &values, op);
                s.scatter(&b, &[2, 5], &[last, last], op);
            });
            let bytes = |a: &Array<T, D>| bytemuck::cast_slice::<T, u8>(&a.local()).to_vec();
            assert_eq!(bytes(&a), bytes(&b), "{} of {a:?} in round {round}", at.len());
        }
    }
}

/// P1 and S3: floats round, so every order and grouping has bits of its own; what does not commute says who was last.
#[test]
fn a_planned_scatter_makes_the_bits_that_a_scatter_makes() {
    fn claim<D: Distribution>(g: &mut Group, distribution: D) {
        let float = |i: usize| 1.0 / (i as f64 + 0.7);
        scatters_alike(g, distribution.clone(), Sum, float);
        scatters_alike(g, distribution.clone(), Product, float);
        scatters_alike(g, distribution.clone(), Min, |i| if i % 7 == 0 { f32::NAN } else { -(i as f32) });
        scatters_alike(g, distribution.clone(), Sum, |i| i as u64);
        scatters_alike(g, distribution.clone(), Product, |i| i as u8);
        scatters_alike(g, distribution.clone(), Max, |i| i as i64 % 9);
        scatters_alike(g, distribution.clone(), Or, |i| 1u16 << (i % 16));
        scatters_alike(g, distribution.clone(), Checked(Sum), |i| i as u32);
        scatters_alike(g, distribution.clone(), Any, |i| i as u32);
        scatters_alike(g, distribution.clone(), Leader, |i| i as u32);
        scatters_alike(g, distribution.clone(), Same, |_| 7u8);
        scatters_alike(g, distribution, Fold(|x: &mut u64, y: &u64| *x = x.wrapping_mul(31).wrapping_add(*y)), |i| {
            i as u64
        });
    }
    on_sizes(&[1, 2, 3, 7], |g| {
        claim(g, Cyclic::new());
        claim(g, uneven(30, g.size()));
    });
}

/// P1: a plan is for all arrays that lie alike, whatever their elements are; each member may use it or not.
#[test]
fn a_plan_serves_every_array_that_lies_like_its_own() {
    everywhere(|g| {
        let (me, p) = (g.rank(), g.size());
        let (a, b) =
            (g.array_with::<u64, _, 2>([5, 4], Tiles([2, 2])), g.array_with::<f32, _, 2>([5, 4], Tiles([2, 2])));
        let at: Vec<usize> = [[4, 3], [0, 0], [4, 3], [2, 1]].map(|place| a.index(place)).to_vec();
        let plan = g.plan(&a, &at);
        fill(&a, |i| i as u64);
        fill(&b, |i| 0.5 * i as f32);
        let (whole, half) = g.step(|s| (s.gather_by(&a, &plan), s.gather_by(&b, &plan)));
        assert_eq!((whole, half), (vec![19, 0, 19, 9], vec![9.5, 0.0, 9.5, 4.5]));
        let read = g.step(|s| {
            if me == p - 1 {
                s.scatter_by(&a, &plan, &[1, 2, 3, 4], Any);
            }
            (me % 2 == 0).then(|| s.gather_by(&a, &plan))
        });
        assert_eq!(read, (me % 2 == 0).then(|| vec![3, 2, 3, 4]));
        let read = g.step(|s| s.gather_by(&a, &plan));
        assert_eq!(read, [3, 2, 3, 4]);
    });
}

/// P1: what travels between processors that share no memory.
#[test]
fn no_index_travels_again_and_no_element_twice() {
    let words = |work: &(dyn Fn(&mut Group) + Sync)| {
        let (trace, fabric) = (Trace::new(), Fabric::Sim { seed: 0, shares_memory: false });
        Config::new().procs(2).fabric(fabric).trace(&trace).run(work).unwrap();
        trace.predicted().iter().map(|step| step.words).collect::<Vec<_>>()
    };
    // A hundred elements of each other, each named ten times; and as many of one's own.
    let at = |g: &Group| (0..2000).map(|i| 1000 * (i + g.rank()) % 2000 + i * 7 % 200).collect::<Vec<usize>>();
    let counted = |rounds: usize, is_planned: bool| {
        words(&move |g| {
            let (a, at) = (g.array::<u64, Block>(2000), at(g));
            let plan = g.plan(&a, &at);
            for _ in 0..rounds {
                if is_planned {
                    g.step(|s| s.gather_by(&a, &plan));
                    g.step(|s| s.scatter_by(&a, &plan, &vec![1; at.len()], Sum));
                } else {
                    g.step(|s| s.gather(&a, &at));
                    g.step(|s| s.scatter(&a, &at, &vec![1; at.len()], Sum));
                }
            }
        })
    };
    let total = |words: Vec<u64>| words.iter().sum::<u64>();
    let plan = total(counted(0, true));
    let [once, thrice, unplanned] =
        [counted(1, true), counted(3, true), counted(1, false)].map(|words| total(words) - plan);
    assert_eq!(thrice, 3 * once);
    // A hundred words there and a hundred back, with what says whom they are for.
    assert!((200..=220).contains(&once), "{once} words");
    assert!(unplanned > 5 * once, "{unplanned} words without a plan, {once} with one");
}

/// P1: the making of a plan is one boundary, and so is a step that follows it.
#[test]
fn a_plan_is_made_in_one_boundary() {
    everywhere(|g| {
        let a = g.array::<u64, Block>(40);
        let before = g.steps();
        let plan = g.plan(&a, &[39, 0]);
        assert_eq!(g.steps(), before + 1);
        g.step(|s| s.gather_by(&a, &plan));
        assert_eq!(g.steps(), before + 2);
    });
}

/// S4 and P1.
#[test]
fn a_planned_read_takes_as_many_meetings_as_one_without() {
    let meetings = |is_planned: bool| {
        let (trace, fabric) = (Trace::new(), Fabric::Sim { seed: 0, shares_memory: false });
        let run = Config::new().procs(3).fabric(fabric).trace(&trace).run(|g| {
            let a = g.array::<u64, Block>(40);
            let plan = g.plan(&a, &[39, 0]);
            g.step(|s| if is_planned { s.gather_by(&a, &plan) } else { s.gather(&a, &[39, 0]) });
        });
        run.unwrap();
        trace.predicted().len()
    };
    assert_eq!(meetings(true), meetings(false));
}

/// P2 and X1: what a plan is not for is refused at the call, and nothing of it is queued.
#[test]
fn a_plan_is_refused_with_what_it_is_not_for() {
    on_sizes(&SIZES, |g| {
        let (a, other) = (g.array::<u64, Block>(6), g.array::<u64, Block>(7));
        let size = g.size();
        let sizes = |first: usize| {
            let mut sizes = vec![0; size];
            (sizes[0], sizes[size - 1]) = (first, 5 - first);
            Irregular(sizes)
        };
        let plan = g.plan(&a, &[5, 0]);
        let made = here();
        g.step(|s| {
            let (error, place) = (s.try_gather_by(&other, &plan).unwrap_err(), here());
            let says = ["plan for arrays of shape [6] (Block)", "does not fit", "means the array [7] of u64", &place];
            check(&error, ErrorKind::BadDistribution, &says);
            assert!(error.to_string().contains(made.split(':').next().unwrap()));
            let (error, place) = (s.try_scatter_by(&other, &plan, &[9, 9], Sum).unwrap_err(), here());
            check(&error, ErrorKind::BadDistribution, &["does not fit", &place]);
            let (error, place) = (s.try_scatter_by(&a, &plan, &[9], Sum).unwrap_err(), here());
            check(&error, ErrorKind::BadLength, &["a scatter of 1 values by a plan of 2 indices", &place]);
        });
        if g.size() >= 2 {
            let (b, c) = (g.array_with::<u8, _, 1>([5], sizes(2)), g.array_with::<u8, _, 1>([5], sizes(3)));
            let plan = g.plan(&b, &[1, 4]);
            g.step(|s| check(&s.try_gather_by(&c, &plan).unwrap_err(), ErrorKind::BadDistribution, &["does not fit"]));
        }
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0; 6]);
        assert_eq!(g.step(|s| s.mirror(&other, ..)), [0; 7]);
        for bad in [6, usize::MAX] {
            let (error, place) = (g.try_plan(&a, &[0, bad]).unwrap_err(), here());
            check(&error, ErrorKind::IndexOutOfRange, &[&format!("index {bad} of an array of 6"), &place]);
        }
    });
}

/// X2: where one member names what is not there, all have its error, and the group goes on.
#[test]
fn an_index_that_is_not_there_is_everybodys_error() {
    on_sizes(&SIZES, |g| {
        let a = g.array::<u64, Block>(6);
        for culprit in [0, g.size() - 1] {
            let index = if g.rank() == culprit { 9 } else { 5 };
            let (error, place) = (g.try_plan(&a, &[index]).unwrap_err(), here());
            let says = ["index 9 of an array of 6", &format!("rank {culprit} means the array"), &place];
            check(&error, ErrorKind::IndexOutOfRange, &says);
            is_everybodys(g, &error);
            let plan = g.plan(&a, &[5]);
            assert_eq!(g.step(|s| s.gather_by(&a, &plan)), [0]);
        }
    });
}

/// P2 and G7: a plan belongs to its group.
#[test]
fn a_plan_of_another_group_is_refused() {
    everywhere(|g| {
        let a = g.array::<u64, Block>(6);
        let plan = g.plan(&a, &[5]);
        inside(g, |sub| {
            let b = sub.array::<u64, Block>(6);
            let error = sub.try_plan(&a, &[5]).unwrap_err();
            check(&error, ErrorKind::NotMember, &["this array belongs to group 0", file!()]);
            sub.step(|s| {
                let error = s.try_gather_by(&b, &plan).unwrap_err();
                check(&error, ErrorKind::NotMember, &["this plan belongs to group 0", file!()]);
                let error = s.try_scatter_by(&a, &plan, &[1], Sum).unwrap_err();
                check(&error, ErrorKind::NotMember, &["this array belongs to group 0", file!()]);
            });
        });
    });
}

/// P2 and G6: nobody can follow a plan any more when a member has left; what is under way still arrives.
#[test]
fn a_plan_of_a_group_that_lost_a_member_is_refused() {
    on_sizes(&SEVERAL, |g| {
        let (me, p) = (g.rank(), g.size());
        for leaver in [0, p / 2, p - 1] {
            inside(g, |sub| {
                let a = sub.array::<usize, Cyclic>(2 * p);
                let everything: Vec<usize> = (0..2 * p).collect();
                let plan = sub.plan(&a, &everything);
                if me == leaver {
                    return;
                }
                sub.step(|s| s.scatter_by(&a, &plan, &vec![1; 2 * p], Sum));
                assert_eq!(*a.local(), [p - 1, p - 1]);
                let b = sub.array::<usize, Cyclic>(2 * p);
                sub.step(|s| {
                    let who = format!("rank {leaver} has left the group that made the plan");
                    check(&s.try_gather_by(&b, &plan).unwrap_err(), ErrorKind::Departed, &[&who, file!()]);
                    let error = s.try_scatter_by(&b, &plan, &vec![1; 2 * p], Sum).unwrap_err();
                    check(&error, ErrorKind::Departed, &[&who, file!()]);
                });
            });
        }
    });
}

/// G6 and X2.
#[test]
fn a_planned_read_from_an_owner_that_leaves_ends_with_departed() {
    failing(
        &SEVERAL,
        |g| {
            let last = g.size() - 1;
            inside(g, |sub| {
                let a = sub.array::<u8, Block>(40);
                let plan = sub.plan(&a, &[39]);
                if sub.rank() < last {
                    sub.step(|s| s.gather_by(&a, &plan));
                }
            });
        },
        |_, error| check(&error, ErrorKind::Departed, &["left the group before this planned gather", file!()]),
    );
}

/// X2: members that plan for different arrays, or of which one does not plan, have one error.
#[test]
fn members_plan_for_the_same_array() {
    failing(
        &SEVERAL,
        |g| {
            let a = g.array::<u8, Block>(4);
            let b = g.array::<u8, Block>(4);
            let mine = if g.rank() == 0 { &a } else { &b };
            g.plan(mine, &[0]);
        },
        |context, error| assert_eq!(error.kind(), ErrorKind::DeclMismatch, "{context}: {error}"),
    );
}

/// X6 and E1: what was made again under the number of what was dropped is not taken for it.
#[test]
fn plans_come_and_go() {
    everywhere(|g| {
        let (a, p) = (g.array::<usize, Cyclic>(11), g.size());
        for round in 0..20 {
            let at = [round % 11, (round + g.rank()) % 11];
            let plan = g.plan(&a, &at);
            fill(&a, |i| i);
            let read = g.step(|s| {
                s.scatter_by(&a, &plan, &[100, 0], Sum);
                s.gather_by(&a, &plan)
            });
            let expected = at.map(|i| if i == round % 11 { i + 100 * p } else { i });
            assert_eq!(read, expected);
        }
    });
}
