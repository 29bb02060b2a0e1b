//! Parts of elements, patterns that are assigned to, and loops over several dimensions.

use neststep::neststep;
use superstep::{
    Block, Element, ErrorKind, Group, Sum,
    testing::{everywhere, failing},
};

#[derive(Debug, Default, Element)]
#[repr(C)]
struct Cell {
    mass: i64,
    speed: [i64; 2],
}

neststep! {
    fn parts(sh cells: [Cell]</>, sh rows: [[i64; 3]]</>, sh grid: [[u8; 2]]</>[2]) -> Vec<i64> {
        let mut at = 0;
        step if $ == # - 1 {
            cells[0].mass += 1; cells[0].speed[1] = 9; cells[1].speed[0] += 3;
            rows[{ at += 1; at }][2] = { at += 1; at as i64 };
            grid[1][1][0] = 5;
        }
        step forall (i, rows) { rows[i][1] += i as i64; }
        let mut seen = Vec::new();
        step {
            seen.extend([cells[0].mass, cells[0].speed[1], cells[1].speed[0]]);
            seen.extend([rows[2][2], rows[3][1], grid[1][1][0].into(), rows[2:3][1][1]]);
            seen.push(format!("{}", rows[3][1]).len() as i64);
        }
        seen
    }

    fn patterns(sh a: [i64]</>) -> (i64, i64, i64, i64) {
        let (mut x, mut y) = (1, 2);
        sh<+> total, count: i64;
        step {
            (x, y) = (y + 2, x);
            if $ == 0 { (a[0], _) = (7, 8); [a[1], ..] = [5, 6, 7]; a[2] = 3; }
            (total, count) = (2, 1);
        }
        let mut sum = 0;
        step { sum = a[0] * 100 + a[1] * 10 + a[2] + a[x as usize]; }
        (sum, y, total, count)
    }

    /// What is combined is evaluated before the place, as in Rust.
    fn value_first(sh<+> a: [usize]</>) {
        let mut at = 0;
        step if $ == 0 { a[{ at += 1; at }] += { at += 1; at }; }
    }

    fn bounds(n: usize, m: usize) -> Vec<usize> {
        sh a: [usize; n]</>[m];
        sh b: [usize; n][m]<%>;
        let mut seen = Vec::new();
        step forall (i, a, 1, n - 2) seen.push(i);
        step forall (i, a, n - 1, 1, -2) seen.push(10 + i);
        step forall2 (i, j, b, 1, n - 2, 1, m - 2) seen.push(100 * i + j);
        step forall2 (i, j, b, 0, n - 1, 2, m - 1, 0, -2) seen.push(1000 + 100 * i + j);
        seen
    }

    fn raw(sh r#type: [usize]</>) -> usize {
        let mut r#fn = 0;
        sh<+> r#match: usize;
        step { r#fn += r#type[2]; r#match = 1; forall (i, r#type) r#fn += 0 * r#type[i]; }
        r#fn + r#match
    }

    fn too_long(sh a: [usize]</>) {
        let mut part = Vec::new();
        step part = a[3:9];
        drop(part);
    }
}

#[test]
fn parts_of_elements_are_read_and_written() {
    everywhere(|g| {
        let (cells, rows) = (g.array::<Cell, Block>(3), g.array::<[i64; 3], Block>(4));
        let grid = g.array_with::<[u8; 2], _, 2>([2, 2], superstep::distributions::Block::<1>);
        assert_eq!(parts(g, &cells, &rows, &grid), [1, 9, 3, 1, 3, 5, 3, 1]);
    });
}

#[test]
fn patterns_are_assigned_to() {
    everywhere(|g| {
        let (p, a) = (g.size() as i64, g.array::<i64, Block>(5));
        a.forall_mut(|i, x| *x = i as i64);
        assert_eq!(patterns(g, &a), (700 + 50 + 3 + 4, 1, 2 * p, p));
    });
}

#[test]
fn a_contribution_comes_before_its_place() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(4).combining(Sum);
        value_first(g, &a);
        assert_eq!(g.step(|s| s.mirror(&a, ..)), [0, 0, 1, 0]);
    });
}

#[test]
fn loops_over_several_dimensions_have_bounds() {
    everywhere(|g| {
        let seen = bounds(g, 5, 4);
        let owners = g.step(|s| s.collect(seen));
        let mut all: Vec<usize> = owners.concat();
        if g.size() == 1 {
            assert_eq!(all[..8], [1, 2, 3, 14, 12, 101, 102, 201]);
            assert_eq!(all[all.len() - 6..], [1003, 1001, 1203, 1201, 1403, 1401]);
        }
        all.sort_unstable();
        let expected = [1, 2, 3, 12, 14, 101, 102, 201, 202, 301, 302, 1001, 1003, 1201, 1203, 1401, 1403];
        assert_eq!(all, expected);
    });
}

#[test]
fn names_may_be_raw() {
    everywhere(|g| {
        let (p, a) = (g.size(), g.array::<usize, Block>(4));
        a.forall_mut(|i, x| *x = i);
        assert_eq!(raw(g, &a), 2 + p);
    });
}

#[test]
fn a_section_that_is_none_is_refused_with_its_line() {
    let claim = |g: &mut Group| {
        let a = g.array::<usize, Block>(9);
        too_long(g, &a);
    };
    let line = include_str!("parts.rs").lines().position(|line| line.contains("part = a[3:9]")).unwrap_or(0) + 1;
    failing(&[1, 2], claim, |context, error| {
        assert_eq!(error.kind(), ErrorKind::OutOfBounds, "{context}: {error}");
        assert!(error.to_string().contains(&format!("parts.rs:{line}")), "{context}: {error}");
    });
}
