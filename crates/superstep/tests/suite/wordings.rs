//! What errors say: who, what of, and where in the program.

use crate::{SEVERAL, check, failing, here, is_everybodys, on_sizes};
use std::cell::Cell;
use superstep::{Any, Block, Cyclic, Error, ErrorKind, Every, Group, Local, Step, Sum};

/// S5: all who have ended are named.
#[test]
fn everybody_who_has_ended_is_named() {
    let cases: [(&[usize], &str); 3] = [
        (&[1], "rank 1 has ended while the others went on"),
        (&[0, 2], "ranks 0 and 2 have ended while the others went on"),
        (&[0, 1, 3], "ranks 0, 1 and 3 have ended while the others went on"),
    ];
    for (enders, words) in cases {
        failing(
            &[4, 9],
            |g| {
                if !enders.contains(&g.rank()) {
                    g.step(|_| ());
                }
            },
            |_, error| check(&error, ErrorKind::Departed, &[words, file!()]),
        );
    }
    failing(
        &[17],
        |g| {
            if g.rank() > 11 {
                g.step(|_| ());
            }
        },
        |_, error| {
            let words = "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 4 others have ended while the others went on";
            check(&error, ErrorKind::Departed, &[words]);
        },
    );
}

/// X1: an index or a section that is not there names the array and who asked for it.
#[test]
fn what_is_out_of_range_names_the_array_and_the_rank() {
    on_sizes(&[1, 3], |g| {
        let (a, made) = (g.array::<u16, Cyclic>(5), here());
        let (area, area_made) = (g.area::<u8>(2), here());
        let rank = g.rank();
        let errors: Vec<(Error, &str)> = g.step(|s| {
            Local(vec![
                (s.try_gather(&a, &[7]).unwrap_err(), "index 7 of an array of 5"),
                (s.try_scatter(&a, &[0, 9], &[1, 1], Any).unwrap_err(), "index 9 of an array of 5"),
                (s.try_mirror(&a, 3..6).unwrap_err(), "section 3..6 of 5 elements"),
                (s.try_update(&a, 5..3, &[]).unwrap_err(), "section 5..3 runs backwards"),
            ])
        });
        for (error, words) in errors {
            let array = format!("; rank {rank} means the array [5] of u16");
            check(&error, error.kind(), &[words, &array, &made, file!()]);
        }
        let errors: Vec<Error> = g.step(|s| {
            Local(vec![s.try_get(0, &area, 1..4).unwrap_err(), s.try_put(0, &[1; 3], &area, 0).unwrap_err()])
        });
        for error in errors {
            let words = format!("; rank {rank} means the area of u8 of {area_made}");
            check(&error, ErrorKind::OutOfBounds, &[&words]);
        }
    });
    let claim = |g: &mut Group| {
        let a = g.array_with::<u8, _, 2>([3, 4], Block::new());
        if g.rank() == 1 {
            a.owner([2, 4]);
        }
        g.step(|_| ());
    };
    failing(&[2, 3], claim, |_, error| {
        let says =
            ["index 4 in dimension 1 of an array of shape [3, 4]", "; rank 1 means the array [3, 4] of u8", file!()];
        check(&error, ErrorKind::IndexOutOfRange, &says);
    });
    let claim = |g: &mut Group| {
        let a = g.paged::<u8, 1>([4], [2]);
        if g.rank() == 1 {
            a.read([4]);
        }
        g.step(|_| ());
    };
    failing(&[2, 3], claim, |_, error| {
        check(&error, ErrorKind::IndexOutOfRange, &["index 4", "; rank 1 means the paged array [4] of u8", file!()]);
    });
}

/// A step that several callers share.
fn helper(g: &mut Group, verb: impl Fn(&Step)) -> Result<(), Error> {
    g.try_step(|s| verb(s))
}

/// S5: a helper has one place, whoever calls it; the places before it say where in the program that was.
#[test]
fn a_divergence_in_a_helper_says_where_the_members_came_by() {
    on_sizes(&SEVERAL, |g| {
        let (mut first, mut second) = (String::new(), String::new());
        for _ in 0..3 {
            (first, ()) = (here(), g.step(|_| ()));
        }
        for _ in 0..100 {
            (second, ()) = (here(), g.step(|_| ()));
        }
        let odd = g.rank() == 1;
        let error = helper(g, |s| if odd { drop(s.reduce(1, Sum)) } else { drop(s.prefix(1, Sum)) }).unwrap_err();
        let came_by = format!("; they came by {second}, then {first}");
        check(&error, ErrorKind::CombineMismatch, &["rank 0 calls prefix", "rank 1 reduce", &came_by]);
        is_everybodys(g, &error);
        // Where they have been at different places, because one of them has caught what it raised, both are named.
        let odd = g.rank() == 1;
        if odd {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                g.step(|_| -> () { std::panic::resume_unwind(Box::new("caught")) });
            }));
            assert!(caught.is_err());
        }
        let error = helper(g, |s| if odd { drop(s.reduce(1, Sum)) } else { drop(s.prefix(1, Sum)) }).unwrap_err();
        check(&error, ErrorKind::CombineMismatch, &["; rank 0 came by ", ", rank 1 by "]);
        is_everybodys(g, &error);
        // Where one came from does not hide who differs.
        let last = g.rank() == g.size() - 1;
        if odd {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                g.step(|_| -> () { std::panic::resume_unwind(Box::new("caught")) });
            }));
            assert!(caught.is_err());
        }
        let error = helper(g, |s| if last { drop(s.reduce(1, Sum)) } else { drop(s.prefix(1, Sum)) }).unwrap_err();
        let words =
            format!("rank 0 calls prefix::<i32, superstep::engine::operators::Sum>, rank {} reduce", g.size() - 1);
        check(&error, ErrorKind::CombineMismatch, &[&words]);
        is_everybodys(g, &error);
    });
}

/// S5: the last three places before are told, each once, however many there were.
#[test]
fn the_last_places_are_told_each_once_however_many_there_were() {
    on_sizes(&[2, 9], |g| {
        let mut sites = Vec::new();
        for turn in 0..23 {
            let site = match turn % 5 {
                0 => (here(), g.step(|_| ())).0,
                1 => (here(), g.step(|_| ())).0,
                2 => (here(), g.step(|_| ())).0,
                3 => (here(), g.step(|_| ())).0,
                _ => (here(), g.step(|_| ())).0,
            };
            sites.push(site);
            let odd = g.rank() == 1;
            let error = helper(g, |s| if odd { drop(s.reduce(1, Sum)) } else { drop(s.prefix(1, Sum)) }).unwrap_err();
            let last: Vec<String> = sites.iter().rev().take(3).cloned().collect();
            check(&error, ErrorKind::CombineMismatch, &[&format!("; they came by {}", last.join(", then "))]);
        }
    });
}

/// G2: subgroups are made when it is their turn.
#[test]
fn a_split_into_more_subgroups_than_memory_holds_begins_to_run() {
    failing(
        &[1, 2, 3],
        |g| {
            let runs = Cell::new(0);
            g.split(Every(usize::MAX), |sub| {
                assert_eq!(sub.id(), sub.parent().unwrap().rank() + runs.get() * sub.parent().unwrap().size());
                runs.set(runs.get() + 1);
                if runs.get() == 3 {
                    std::panic::resume_unwind(Box::new("enough of them"));
                }
            });
        },
        |_, error| check(&error, ErrorKind::Panicked, &["enough of them"]),
    );
}

/// G7: the sections of more subgroups than memory holds are refused at the call, and the group goes on.
#[test]
fn an_import_into_more_subgroups_than_memory_holds_is_refused() {
    on_sizes(&[1, 2, 3], |g| {
        let a = g.array::<u8, Block>(4);
        let place = here();
        let tries: [fn(&mut Group, &superstep::Array<u8, Block>) -> Result<Option<()>, Error>; 2] = [
            |g, a| g.try_split_on(Every(usize::MAX), a, |_| 0..0, |_, _| ()),
            |g, a| g.try_split_on(superstep::By(usize::MAX, Some(3)), a, |_| 0..0, |_, _| ()),
        ];
        for split in tries {
            let error = split(g, &a).unwrap_err();
            let words = format!("no memory for the sections of {} subgroups", usize::MAX);
            check(&error, ErrorKind::OutOfMemory, &[&words, place.split(':').next().unwrap()]);
            is_everybodys(g, &error);
        }
    });
}

/// S5: what the members have not declared alike is void on all of them, and what they declare next is not.
#[test]
fn what_was_not_declared_alike_is_void_and_the_group_goes_on() {
    on_sizes(&SEVERAL, |g| {
        let before = g.shared(1, Sum);
        g.step(|_| before.set(1));
        let odd = g.rank() == 1;
        let (x, queue) = (odd.then(|| g.shared(1, Sum)), (!odd).then(|| g.queue::<u8, u8>()));
        let error = g.try_step(|_| ()).unwrap_err();
        check(&error, ErrorKind::DeclMismatch, &["rank 0 declared queue", "rank 1 shared i32", file!()]);
        is_everybodys(g, &error);
        let refused = g.step(|s| {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| x.as_ref().map(|x| x.set(3))));
            let sent = queue.as_ref().map(|queue| s.try_send(0, queue, 1, 1));
            Local((outcome.is_err(), sent))
        });
        match refused {
            (is_refused, None) => assert!(is_refused && odd),
            (_, Some(sent)) => check(&sent.unwrap_err(), ErrorKind::DeclMismatch, &["is void", "declare it again"]),
        }
        let (y, numbers) = (g.shared(0, Sum), g.queue::<(), usize>());
        g.step(|s| {
            y.set(2);
            before.set(10);
            s.send(0, &numbers, (), s.rank());
        });
        assert_eq!((y.get(), before.get()), (2 * g.size(), 10 * g.size()));
        assert_eq!(numbers.len(), if g.rank() == 0 { g.size() } else { 0 });
        drop((x, queue));
        // Numbers of what everybody has dropped are given again.
        for round in 0..5 {
            let z = g.shared(0, Sum);
            g.step(|_| z.set(round));
            assert_eq!(z.get(), round * g.size());
        }
    });
}

/// S5: an operator that the members did not declare alike is not the array's.
#[test]
fn an_operator_that_was_not_declared_alike_is_taken_back() {
    on_sizes(&SEVERAL, |g| {
        let a = g.array::<usize, Block>(2).combining(Sum);
        g.step(|_| ());
        let a = if g.rank() == 1 { a.combining(superstep::Max) } else { a };
        let error = g.try_step(|_| ()).unwrap_err();
        check(&error, ErrorKind::DeclMismatch, &["combining"]);
        is_everybodys(g, &error);
        g.step(|s| s.update(&a, .., &[1, 2]));
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [g.size(), 2 * g.size()]);
    });
}
