//! Declarations: replicated variables and arrays, volatile ones, distributed arrays of several dimensions, sections.

use neststep::neststep;
use superstep::{
    Array, Block, Cyclic, ErrorKind,
    testing::{everywhere, failing, on_sizes},
};

fn longer(one: String, other: String) -> String {
    if other.len() > one.len() { other } else { one }
}

#[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
struct Pair {
    low: u32,
    high: u32,
}

neststep! {
    fn strategies() -> (usize, usize, usize, u64, u64, u32, u32, u32, i64, i64, String) {
        sh leader: usize;
        sh<0> first: usize;
        sh<=> same: usize;
        sh<+> sum: u64;
        sh<*> product: u64 = 1;
        sh<&> all: u32 = 0;
        sh<|> any: u32;
        sh<^> odd: u32;
        sh<min> low: i64;
        sh<max> high: i64;
        sh<longer> word: String;
        step {
            if $ > 0 || # == 1 { leader = $; }
            first = $ + 5;
            same = 17;
            sum = 2;
            product = 2;
            all = 6 | (1 << ($ % 3));
            any = 1 << $;
            odd = 1;
            low = -($ as i64);
            high = $ as i64;
            word = "x".repeat(($ * 7) % 5);
        }
        (leader, first, same, sum, product, all, any, odd, low, high, word.clone())
    }

    /// The second step asks for an element, and must not do so before the first one has ended.
    fn shown(sh a: [i64]</>) -> (String, Pair, i64) {
        sh<+> low: u32;
        sh<max> high: u32;
        let mut x = 0;
        step { low = 1; high = $ as u32; }
        let text = format!("{low:>3} {{high}}");
        step { x = a[0]; }
        (text, Pair { low, high }, x)
    }

    fn overridden() -> (i64, i64, i64, i64) {
        sh a, b, c: i64;
        let mut k = 0;
        step {
            a = 23;
            b = $ as i64 + 1;
            c = 2 * b;
        } combine (a<=>, b<+ : k>, c<+>)
        let _ = k;
        (a, b, c, k)
    }

    fn declared_prefix() -> Vec<i64> {
        let mut k = 0;
        let mut all = Vec::new();
        sh<+ : k> c: i64;
        for round in 0..3 {
            step { c = round + 1; }
            all.push(k);
        }
        all
    }

    /// Of a replicated array each element is combined by itself.
    fn by_element() -> (Vec<usize>, Vec<u32>, Vec<u32>) {
        let p = #;
        sh pivs: [usize; p];
        sh<+> size: [u32; 3] = [7, 7, 7];
        let mut pre = Vec::new();
        step { pivs[$] = 10 * $; }
        step {
            size[0] = 1;
            if $ == 0 { size[1] += 1; }
        } combine (size[..]<+ : pre[..]>)
        step { pivs.reverse(); }
        (pivs.to_vec(), size.to_vec(), pre)
    }

    fn structured() -> Pair {
        sh pair: Pair;
        step { if $ == # - 1 { pair.high = 9; pair.low += 2; } }
        step { }
        pair.clone()
    }

    fn unwritten() -> i64 {
        sh<+> x: i64 = 5;
        step { if $ > 100 { x = 1; } }
        x
    }

    fn passed() -> i64 {
        sh<+> x: i64;
        step { raise(x); }
        double(x);
        x
    }

    fn raise(sh<+> x: i64) { x += 1; x += 2; }

    fn double(sh<+> x: i64) {
        let twice = 2 * x;
        step { seq { x = twice; } }
    }

    fn written_outside(sh x: i64) { x = 1; }

    fn caller_outside() {
        sh x: i64;
        written_outside(x);
    }

    fn tickets() -> (u32, u32, Vec<u64>) {
        sh volatile<# - 1> next: u32 = 100;
        sh volatile list: [u64; 4] = 0;
        let mut mine = 0;
        epoch {
            mine = fetch_add(next, 1);
            list[$ % 4] += 1;
        }
        let mut end = 0;
        let mut all = Vec::new();
        epoch {
            end = next;
            for i in 0..4 { all.push(list[i]); }
        }
        epoch { if $ == 0 { next = 3; } }
        (mine, end, all)
    }

    fn two_dimensions() -> (Vec<i32>, i32) {
        sh a: [i32; 4][5]<%>[7];
        let mut seen = Vec::new();
        step forall2 (i, j, a) {
            for k in 0..7 { a[i][j][k] = (100 * i + 10 * j + k) as i32; }
            seen.push(a[i][j][6]);
        }
        let mut far = 0;
        step far = a[3][4][5] + a[0][1][2];
        (seen, far)
    }

    fn three_dimensions() -> usize {
        sh a: [usize; 2][3][2]</>;
        let mut count = 0;
        step forall3 (i, j, k, a) { a[i][j][k] = 6 * i + 2 * j + k; }
        step forall3 (i, j, k, a) { if a[i][j][k] == 6 * i + 2 * j + k && owned(a[i][j][k]) { count += 1 } }
        count
    }

    fn bounded() -> Vec<usize> {
        sh a: [u8; 20]<%>;
        let mut seen = Vec::new();
        forall (i, a, 3, 15, 4) seen.push(i);
        forall (i, a, 18, 6, -4) seen.push(100 + i);
        forall (i, a, 2, 3) { seen.push(200 + i); }
        seen
    }

    fn sections() -> (Vec<i64>, Vec<i64>) {
        sh a: [i64; 20]</>;
        sh b: [i64; 20]<%>;
        let mut odd: Vec<i64> = Vec::new();
        step forall (i, a) { a[i] = i as i64; }
        step { if $ == # - 1 { b[6:18:2] = a[0:6]; } }
        step { odd = b[5:11]; }
        let mut all = vec![0; 4];
        step { all[0:2] = a[17:19]; }
        (odd, all)
    }

    fn owners() -> (usize, usize, bool) {
        sh a: [u8; 10]</>;
        (owner(a[9]), len(a), owned(a[0]))
    }

    fn one_array_twice(sh a: [i64]</>, sh b: [i64]</>) {
        step forall (i, a) { a[i] = b[len(b) - 1 - i]; }
    }

    fn combining(sh<max> a: [i64]</>) { step a[0] = max(a[0], $ as i64); }
}

#[test]
fn names_in_texts_and_short_fields_are_variables() {
    everywhere(|g| {
        let a = g.array::<i64, Block>(2);
        a.local_mut().fill(9);
        let p = g.size() as u32;
        assert_eq!(shown(g, &a), (format!("{p:>3} {{high}}"), Pair { low: p, high: p - 1 }, 9));
    });
}

#[test]
fn every_strategy_combines_what_was_written() {
    everywhere(|g| {
        let p = g.size();
        let found = strategies(g);
        let all = (0..p).map(|rank| 6 | 1u32 << (rank % 3)).reduce(|one, other| one & other).unwrap();
        let word = "x".repeat((0..p).map(|rank| (rank * 7) % 5).max().unwrap());
        let expected = (
            usize::from(p > 1),
            5,
            17,
            2 * p as u64,
            1 << p,
            all,
            (1 << p) - 1,
            p as u32 % 2,
            1 - p as i64,
            p as i64 - 1,
            word,
        );
        assert_eq!(found, expected);
    });
}

#[test]
fn a_step_may_combine_otherwise() {
    everywhere(|g| {
        let (p, rank) = (g.size() as i64, g.rank() as i64);
        let sum = p * (p + 1) / 2;
        assert_eq!(overridden(g), (23, sum, 2 * sum, rank * (rank + 1) / 2));
        assert_eq!(declared_prefix(g), [rank, 2 * rank, 3 * rank]);
    });
}

#[test]
fn a_replicated_array_is_combined_by_element() {
    everywhere(|g| {
        let (p, rank) = (g.size(), g.rank() as u32);
        let (pivs, size, pre) = by_element(g);
        assert_eq!(pivs, (0..p).rev().map(|rank| 10 * rank).collect::<Vec<_>>());
        assert_eq!(size, [p as u32, 8, 7]);
        assert_eq!(pre, [rank, if rank > 0 { 8 } else { 0 }, 0]);
    });
}

#[test]
fn structs_unwritten_copies_and_parameters() {
    everywhere(|g| {
        assert_eq!(structured(g), Pair { low: 2, high: 9 });
        assert_eq!(unwritten(g), 5);
        assert_eq!(passed(g), 6 * g.size() as i64);
    });
    failing(&[2], caller_outside, |context, error| {
        assert_eq!(error.kind(), ErrorKind::OutsideStep, "{context}: {error}");
        assert!(error.to_string().contains("`x`") && error.to_string().contains("sharing.rs"), "{error}");
    });
}

#[test]
fn volatile_variables_are_plain_in_an_epoch() {
    everywhere(|g| {
        let p = g.size();
        let (mine, end, all) = tickets(g);
        let mut tickets = g.step(|s| s.collect(mine));
        tickets.sort_unstable();
        assert_eq!(tickets, (100..100 + p as u32).collect::<Vec<_>>());
        assert_eq!(end, 100 + p as u32);
        assert_eq!(all.iter().sum::<u64>(), p as u64);
    });
}

#[test]
fn several_dimensions_are_distributed() {
    everywhere(|g| {
        let (seen, far) = two_dimensions(g);
        let owned = (0..20).filter(|unit| unit % g.size() == g.rank());
        assert_eq!(seen, owned.map(|unit| (100 * (unit / 5) + 10 * (unit % 5) + 6) as i32).collect::<Vec<_>>());
        assert_eq!(far, 345 + 12);
        let count = three_dimensions(g);
        assert_eq!(g.step(|s| s.reduce(count, superstep::Sum)), 12);
    });
}

#[test]
fn loops_have_bounds_and_strides() {
    everywhere(|g| {
        let mine = |i: &usize| i % g.size() == g.rank();
        let mut expected: Vec<usize> = [3, 7, 11, 15].into_iter().filter(mine).collect();
        expected.extend([18, 14, 10, 6].into_iter().filter(mine).map(|i| 100 + i));
        expected.extend([2, 3].into_iter().filter(mine).map(|i| 200 + i));
        assert_eq!(bounded(g), expected);
    });
}

#[test]
fn sections_are_read_and_written() {
    everywhere(|g| {
        let (odd, all) = sections(g);
        assert_eq!(odd, [0, 0, 0, 1, 0, 2, 0]);
        assert_eq!(all, [17, 18, 19, 0]);
        let p = g.size();
        assert_eq!(owners(g), ((10 - 1) / 10usize.div_ceil(p), 10, g.rank() == 0));
    });
}

#[test]
fn an_array_is_not_taken_for_two_or_for_another() {
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<i64, Block>(4);
        one_array_twice(g, &a, &a);
    };
    failing(&[2], claim, |_, error| {
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.to_string().contains("`a` and `b` are the same array"), "{error}");
    });
    let claim = |g: &mut superstep::Group| {
        let a = g.array::<i64, Block>(4);
        combining(g, &a);
    };
    failing(&[2], claim, |_, error| assert_eq!(error.kind(), ErrorKind::CombineMismatch, "{error}"));
    on_sizes(&[3], |g| {
        let a: Array<i64, Block> = g.array::<i64, Block>(4).combining(superstep::Max);
        combining(g, &a);
        assert_eq!(g.step(|s| s.mirror(&a, ..1)), [2]);
        let _ = g.array::<i64, Cyclic>(1);
    });
}
