//! Nesting steps, ways out of steps, and what groups say of themselves.

use neststep::neststep;
use superstep::{
    Sum,
    testing::{everywhere, failing, on_sizes},
};

neststep! {
    fn even_split() -> (usize, usize, usize) {
        let mut found = (0, 0, 0);
        step<3> { found = (@, $, #); }
        found
    }

    fn every_one(k: usize) -> Vec<usize> {
        let mut found = Vec::new();
        step<k, #>=1> { found.push(@); }
        found
    }

    fn weighted() -> (usize, usize) {
        sh weight: [f64; 2] = [1.0, 3.0];
        let mut found = (9, 9);
        step<2, weight> { found = (@, #); }
        found
    }

    fn chosen() -> (usize, usize, String) {
        let mut found = (9, 9, String::new());
        neststep(2, @ = if $ % 3 == 2 { -1 } else { ($ % 3) as i64 }) {
            found = (thisgroup.gid(), thisgroup.size(), thisgroup.path());
        }
        found
    }

    /// Variables of the outer group are combined when the subgroups are done.
    fn outer_variables() -> (u64, u64) {
        sh<+> total: u64;
        sh<max> most: u64;
        step<2> {
            sh<+> inner: u64;
            step { inner = 1; }
            total = inner;
            most = inner;
            step { total += 1; }
        }
        (total, most)
    }

    fn recursive(depth: usize) -> usize {
        let mut sum = 1;
        if depth > 0 {
            step<2> { sum += recursive(depth - 1); }
        }
        sum
    }

    /// The `while` of section 2.1, whose condition differs between processors.
    fn iterating() -> (usize, usize) {
        sh<+> count: usize;
        let mut rounds = 0;
        let mut sizes = 0;
        let mut iterating = rounds < $ + 1;
        loop {
            step<1, @ = if iterating { 0 } else { -1 }> {
                step { rounds += 1; sizes += #; }
            }
            iterating = iterating && rounds < $ + 1;
            step { count = if iterating { 1 } else { 0 }; }
            if count == 0 { break; }
        }
        (rounds, sizes)
    }

    /// The `if` of section 2.1.
    fn either() -> usize {
        let mut found = 0;
        let cond = $ % 2 == 1;
        step<2; @ = if cond { 1 } else { 0 }> {
            if @ == 1 { found = counted() } else { found = 100 + counted() }
        }
        found
    }

    fn counted() -> usize {
        sh<+> n: usize;
        step { n = 1; }
        n
    }

    /// A processor that returns leaves the subgroup; the others go on without it.
    fn leaves() -> usize {
        sh<+> n: usize;
        step<1> {
            step { if $ == 0 { n = 100; } }
            if $ == 0 && # > 1 { return 7; }
            sh<+> rest: usize;
            step { rest = 1; }
            n = rest;
            step { }
        }
        n
    }

    fn leaves_with_an_error(fails: bool) -> Result<usize, String> {
        let mut seen = 0;
        step<1> {
            step { seen = #; }
            let n: usize = if fails { Err("no".to_owned())? } else { 3 };
            seen += n;
        }
        Ok(seen)
    }

    fn breaks() -> usize {
        let mut rounds = 0;
        'outer: loop {
            loop {
                rounds += 1;
                step { if rounds == 3 { break 'outer; } else { continue; } }
            }
        }
        rounds
    }

    fn led() -> usize {
        sh<0> x: usize;
        step seq { x = 41; }
        step { x = 1 + x + $; }
        x
    }
}

#[test]
fn processors_are_dealt_to_subgroups() {
    everywhere(|g| {
        let (id, rank, size) = even_split(g);
        assert_eq!((id, rank), (g.rank() % 3, g.rank() / 3));
        assert_eq!(size, (g.size() + 2 - g.rank() % 3) / 3);
        let found = every_one(g, 5);
        let all: usize = g.step(|s| s.collect(found)).iter().flatten().count();
        assert!(all == 5 || g.size() > 5);
    });
}

#[test]
fn weights_and_choices_say_who_goes_where() {
    on_sizes(&[4], |g| {
        assert_eq!(weighted(g), if g.rank() == 0 { (0, 1) } else { (1, 3) });
        let expected = [(0, 2, "0/0"), (1, 1, "0/1"), (9, 9, ""), (0, 2, "0/0")][g.rank()];
        let (id, size, path) = chosen(g);
        assert_eq!((id, size, &*path), expected);
    });
}

#[test]
fn outer_variables_are_combined_at_the_end_of_the_split() {
    everywhere(|g| {
        let p = g.size();
        let sizes = [p.div_ceil(2) as u64, (p / 2) as u64];
        let total: u64 = sizes.iter().map(|n| n * (n + 1)).sum();
        assert_eq!(outer_variables(g), (total, sizes[0]));
    });
}

#[test]
fn steps_nest_through_calls() {
    everywhere(|g| assert_eq!(recursive(g, 4), 5));
}

#[test]
fn conditions_that_differ_become_subgroups() {
    everywhere(|g| {
        let (p, rank) = (g.size(), g.rank());
        let (rounds, sizes) = iterating(g);
        assert_eq!((rounds, sizes), (rank + 1, (0..=rank).map(|gone| p - gone).sum()));
        let others = (0..p).filter(|other| other % 2 == rank % 2).count();
        assert_eq!(either(g), if rank % 2 == 1 { others } else { 100 + others });
    });
}

#[test]
fn who_returns_leaves_the_group() {
    everywhere(|g| {
        let (rank, p) = (g.rank(), g.size());
        let found = leaves(g);
        assert_eq!(
            found,
            if p == 1 {
                1
            } else if rank == 0 {
                7
            } else {
                100 + (p - 1) * (p - 1)
            }
        );
        assert_eq!(g.step(|s| s.reduce(1, Sum)), p);
        let fails = g.rank() == 0;
        let found = leaves_with_an_error(g, fails);
        assert_eq!(found, if fails { Err("no".to_owned()) } else { Ok(g.size() + 3) });
    });
}

#[test]
fn loops_are_left_behind_the_step() {
    everywhere(|g| {
        let steps = g.steps();
        assert_eq!(breaks(g), 3);
        assert_eq!(g.steps() - steps, 3);
    });
}

#[test]
fn the_leader_speaks() {
    everywhere(|g| assert_eq!(led(g), 42));
}

/// The line of the first step in `parted`.
const PARTED: u32 = line!() + 7;

neststep! {
    fn parted(first: bool) -> i64 {
        sh<+> x: i64;
        sh<+> y: i64;
        if first {
            step x = 1;
        } else {
            step y = 1;
        }
        x + y
    }
}

/// S5: two steps of one macro are two places.
#[test]
fn steps_of_one_macro_are_told_apart_by_their_lines() {
    let claim = |g: &mut superstep::Group| {
        let first = g.rank() == 0;
        parted(g, first)
    };
    failing(&[2, 3, 4], claim, |context, error| {
        assert_eq!(error.kind(), superstep::ErrorKind::StepMismatch, "{context}: {error}");
        let text = error.to_string();
        for line in [PARTED, PARTED + 2] {
            assert!(text.contains(&format!("nesting.rs:{line}")), "{context}: {text}");
        }
    });
}
