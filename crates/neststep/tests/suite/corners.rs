//! Corners where constructs of Rust meet elements of others.

use neststep::neststep;
use superstep::{Array, Block, Cyclic, Group, Sum, distributions, testing::everywhere};

struct Tree {
    at: usize,
    below: Vec<Tree>,
}

macro_rules! add_up {
    ($a:expr, $b:expr) => {
        $a + $b
    };
}

neststep! {
    fn drained(sh a: [i64]</>, mut keys: Vec<usize>) -> (i64, usize) {
        let mut sum = 0;
        step { sum += a[keys.pop().unwrap()]; while keys.len() > 2 { sum += a[keys.remove(0)]; } }
        step for k in keys.drain(..) { sum += a[k]; }
        (sum, keys.len())
    }

    /// A walk over what is borrowed.
    fn walked(sh a: [i64]</>, tree: &Tree) -> i64 {
        let mut sum = 0;
        let mut todo = vec![tree];
        step while let Some(tree) = todo.pop() {
            sum += a[tree.at];
            for below in &tree.below { todo.push(below); }
        }
        sum
    }

    fn in_macros(sh a: [i64]</>, k: usize) -> i64 {
        let mut sum = 0;
        step {
            assert!(a[k] >= 0, "bad {}", a[k + 1]);
            let all = vec![a[0], a[1], add_up!(3, 4)];
            sum += a[k] + all.iter().sum::<i64>();
            sum += format!("{}-{}", a[2], k).len() as i64;
            debug_assert_eq!(a[3], 3);
            if matches!(a[4], 0..=100) { sum += 1; }
        }
        sum
    }

    fn in_expressions(sh a: [i64]</>, k: usize) -> Vec<i64> {
        let mut seen = Vec::new();
        step {
            seen.push(a[k].max(a[k + 1]).min(a[7]).pow(2));
            let (x, y) = (a[0], a[1]);
            let rest = [a[2], a[3]];
            seen.push(if x < y { rest[0] } else { rest[1] });
            seen.push({ let six = a[6]; six * 2 });
            let more = |x: i64| x + 1;
            seen.push(more(a[1]));
            let found = Some(a[4]);
            if let Some(found) = found { seen.push(found); }
            let Some(again) = found else { panic!("it is there") };
            seen.push(again + match a[3] { 3 => 1, n if n > 5 => 2, _ => 4 });
            let lent = &a[2];
            seen.push(*lent);
            seen.push(i64::from(a[2] < 1 && a[3] < 5 || a[4] == 4));
            seen.push(-a[1] + !a[2] % 7);
            seen.push((a[1]..a[5]).sum::<i64>());
        }
        seen
    }

    fn hidden_again(sh a: [usize]</>) -> Vec<usize> {
        let mut seen = Vec::new();
        let i = 2;
        step {
            seen.push(a[i]);
            let i = i + 1;
            { let i = i + 1; seen.push(a[i]); }
            for i in 0..2 { seen.push(a[i]); let i = 7 - i; seen.push(a[i]); }
            if let Some(i) = Some(i) { seen.push(a[i]); }
            match i { i if i > 2 => seen.push(a[i + 1]), _ => {} }
        }
        seen
    }

    fn parsed(sh a: [i64]</>, texts: &[&str]) -> Result<i64, std::num::ParseIntError> {
        let mut sum = 0;
        step for text in texts {
            let k: usize = text.parse()?;
            sum += a[k];
            if a[k] == 7 { return Ok(100); }
        }
        step sum += a[1];
        Ok(sum)
    }

    fn loops_in_loops(sh a: [usize]</>, n: usize) -> Vec<usize> {
        let (mut i, mut left, mut seen) = (0, n, Vec::new());
        step while i < n && left > 0 {
            seen.push(a[i]);
            if i == 3 { i += 2; continue; }
            let mut j = i;
            loop { if j >= n { break; } seen.push(a[j]); j += 3; }
            i += 1;
            left -= 1;
        }
        seen
    }

    fn sections_see_own_writes(sh a: [i64]</>) -> Vec<i64> {
        let mut seen = Vec::new();
        step {
            a[2] = 77;
            seen.extend(a[1:4]);
            a[1:3] = vec![5, 6, 7];
            seen.push(a[2]);
            seen.extend(a[..]);
            a[3] += 1;
            seen.extend(a[0:5:2]);
            a[4] = a[3] + a[1];
            seen.push(a[4]);
        }
        step seen.extend(a[..]);
        seen
    }

    fn sections_see_own_sums(sh<+> a: [i64]</>) -> Vec<i64> {
        let mut seen = Vec::new();
        step {
            a[2] += 7;
            seen.extend(a[1:4]);
            a[2] += a[3];
            seen.push(a[2]);
            for i in 0..5 { a[i] += i as i64; }
            seen.extend(a[..]);
        }
        step seen.extend(a[..]);
        seen
    }

    /// Arrays of nothing, and of less than there are processors.
    fn of_few(n: usize) -> (Vec<i64>, i64) {
        sh a: [i64; n]</>;
        sh<+> b: [i64; n]<%>;
        let (mut all, mut sum) = (Vec::new(), 0);
        step forall (i, a) a[i] = i as i64;
        step { all = a[..]; for i in 0..n { sum += a[i]; b[i] += 1; } }
        step for x in b[:] { sum += 10 * x; }
        step a[:] = b[:];
        step for i in 0..len(a) { sum += 100 * a[i]; }
        (all, sum)
    }

    fn rows(sh m: [f64]<%>[3], sh v: [f64]</>, sh out: [f64]<%>) {
        step forall (i, m) { let mut sum = 0.0; for j in 0..3 { sum += m[i][j] * v[j]; } out[i] = sum; }
    }

    fn by_replicas(sh a: [i64]</>) -> i64 {
        let mut sum = 0;
        sh places: [usize; 3] = [2, 0, 1];
        step for i in 0..3 { sum += a[places[i]]; }
        step places[0] = 1;
        step for i in 0..3 { sum += 100 * a[places[i]]; }
        sum
    }

    /// Subgroups write what belongs to the group around them.
    fn outer_variables() -> (i64, i64) {
        sh<+> total: i64;
        sh<max> most: i64;
        step<2> {
            sh<+> n: i64;
            step n = 1;
            seq total = n;
            if n > 0 { most = n; }
        }
        (total, most)
    }

    /// A copy that only some write, on some ways, and that leads out.
    fn written_by_some(to: usize) -> (i64, Option<i64>) {
        sh<+> sum: i64 = 5;
        sh<max> most: i64;
        let mut seen = None;
        'out: {
            step {
                if $ < to { sum = 1; sum += 1; most = sum; }
                if $ == 0 && to == 9 { seen = Some(sum); break 'out; }
                seen = Some(most + sum);
            }
        }
        (sum, seen)
    }
}

fn counted<T: superstep::Element + From<u8>>(g: &mut Group, n: usize) -> Array<T, Block> {
    let a = g.array::<T, Block>(n);
    a.forall_mut(|i, x| *x = T::from(i as u8));
    a
}

#[test]
fn collections_are_used_up() {
    everywhere(|g| {
        let a = counted(g, 8);
        assert_eq!(drained(g, &a, vec![7, 5, 0, 3, 2]), (17, 0));
        let leaf = |at| Tree { at, below: Vec::new() };
        let tree = Tree { at: 2, below: vec![leaf(3), Tree { at: 1, below: vec![leaf(7)] }] };
        assert_eq!(walked(g, &a, &tree), 13);
    });
}

#[test]
fn elements_stand_in_any_expression() {
    everywhere(|g| {
        let a = counted(g, 8);
        assert_eq!(in_macros(g, &a, 5), 5 + 8 + 3 + 1);
        assert_eq!(in_expressions(g, &a, 2), [9, 2, 12, 2, 4, 5, 2, 1, -4, 10]);
        let b: Array<u64, Block> = counted(g, 1);
        assert_eq!(b.len(), 1);
    });
}

#[test]
fn names_are_hidden_in_layers() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(9);
        a.forall_mut(|i, x| *x = i);
        assert_eq!(hidden_again(g, &a), [2, 4, 0, 7, 1, 6, 3, 4]);
    });
}

#[test]
fn a_step_may_end_with_an_error() {
    everywhere(|g| {
        let a = counted(g, 8);
        assert_eq!(parsed(g, &a, &["1", "2"]), Ok(4));
        assert!(parsed(g, &a, &["1", "x", "3"]).is_err());
        assert_eq!(parsed(g, &a, &["7", "x"]), Ok(100));
    });
}

#[test]
fn loops_in_loops_are_followed() {
    everywhere(|g| {
        let a = g.array::<usize, Block>(7);
        a.forall_mut(|i, x| *x = i);
        let expected = [0, 0, 3, 6, 1, 1, 4, 2, 2, 5, 3, 5, 5, 6, 6];
        assert_eq!(loops_in_loops(g, &a, 7), expected);
    });
}

#[test]
fn sections_are_what_this_processor_has_made_of_them() {
    everywhere(|g| {
        let a = counted(g, 6);
        let expected = [1, 77, 3, 4, 6, 0, 5, 6, 7, 4, 5, 0, 6, 4, 13, 0, 5, 6, 8, 13, 5];
        assert_eq!(sections_see_own_writes(g, &a), expected);
        let (p, sums) = (g.size() as i64, counted(g, 5).combining(Sum));
        let expected = [1, 9, 3, 4, 12, 0, 2, 14, 6, 8, 0, 1 + p, 2 + 12 * p, 3 + 3 * p, 4 + 4 * p];
        assert_eq!(sections_see_own_sums(g, &sums), expected);
    });
}

#[test]
fn arrays_may_be_shorter_than_the_group() {
    everywhere(|g| {
        let p = g.size() as i64;
        assert_eq!(of_few(g, 0), (vec![], 0));
        assert_eq!(of_few(g, 2), (vec![0, 1], 1 + 20 * p + 200 * p));
    });
}

#[test]
fn rows_meet_elements_of_others() {
    everywhere(|g| {
        let m = g.array_with::<f64, _, 2>([4, 3], distributions::Cyclic::<1>);
        let (v, out) = (counted(g, 3), g.array::<f64, Cyclic>(4));
        m.local_mut().fill(2.0);
        rows(g, &m, &v, &out);
        assert_eq!(g.step(|s| s.mirror(&out, ..)), [6.0; 4]);
    });
}

#[test]
fn replicas_lead_to_elements() {
    everywhere(|g| {
        let a = counted(g, 4);
        assert_eq!(by_replicas(g, &a), 3 + 100 * 2);
    });
}

#[test]
fn subgroups_write_outer_variables() {
    everywhere(|g| {
        let p = g.size() as i64;
        assert_eq!(outer_variables(g), (p, (p + 1) / 2));
    });
}

#[test]
fn a_copy_counts_where_it_was_written() {
    everywhere(|g| {
        let (p, me) = (g.size(), g.rank());
        for to in [0, 1, 3] {
            let sum = if to == 0 { 5 } else { 2 * to.min(p) as i64 };
            assert_eq!(written_by_some(g, to), (sum, Some(if me < to { 4 } else { 5 })));
        }
        let all = written_by_some(g, 9);
        assert_eq!(all, (2 * p as i64, Some(if me == 0 { 2 } else { 4 })));
    });
}
