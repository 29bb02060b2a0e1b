//! NestStep among plain Rust: generics, closures, errors, matches, macros, and the library's own calls.

use neststep::neststep;
use superstep::{Sum, testing::everywhere};

neststep! {
    fn generic<T>(sh a: [T]</>, with: T) -> T
    where
        T: Copy + Default + superstep::values::Element + std::ops::AddAssign + PartialOrd,
    {
        let mut most = T::default();
        step forall (i, a) { a[i] += with; }
        step for i in 0..len(a) { let x = a[i]; if x > most { most = x; } }
        most
    }

    fn parsed(texts: &[&str]) -> Result<u64, std::num::ParseIntError> {
        sh<+> sum: u64;
        let mine: u64 = texts[$ % texts.len()].parse()?;
        step sum = mine;
        let name = |n: u64| format!("{n}");
        let told = match sum { 0 => name(0), n if n % 2 == 0 => name(n), _ => format!("{} {sum}", name(sum)) };
        Ok(told.len() as u64 * 1000 + sum)
    }

    fn tried(text: &str) -> Option<u32> {
        sh<max> most: u32;
        step { most = text.chars().nth($)?.to_digit(10)?; }
        Some(most)
    }

    fn both() -> usize {
        sh<+> n: usize;
        step n = 1;
        let all = thisgroup.step(|s| s.reduce(1, Sum));
        let inner = thisgroup.split(2, |sub| plain(sub)).unwrap_or(0);
        let deep = thisgroup.split(1, |sub| counted(sub)).unwrap_or(0);
        all + n + 100 * inner + 10_000 * deep
    }

    fn counted() -> usize {
        sh<+> n: usize;
        step { n = 1; }
        n
    }

    /// Helpers that read and write elements work in a step of their caller.
    fn with_helpers(sh a: [i64]</>) -> i64 {
        let mut seen = 0;
        step {
            put(a, ($ + 1) % #, 10 + $ as i64);
            seen = took(a, ($ + 1) % #);
        }
        seen
    }

    fn put(sh a: [i64]</>, at: usize, value: i64) { a[at] = value; }

    fn took(sh a: [i64]</>, at: usize) -> i64 { a[at] }

    fn variables_of_the_same_name() -> usize {
        let (step, seq, sh) = (1, 2, 3);
        let mut sum = step + seq;
        let pair = (sum, @);
        if let x @ 3..=5 = sum { sum += x; }
        #[allow(unused)]
        let unused = 1;
        sum + sh + pair.0
    }
}

fn plain(g: &mut superstep::Group) -> usize {
    g.step(|s| s.reduce(1, Sum))
}

#[test]
fn functions_are_generic() {
    everywhere(|g| {
        let a = g.array::<i32, superstep::Block>(6);
        let b = g.array::<f64, superstep::Block>(6);
        a.forall_mut(|i, x| *x = i as i32);
        assert_eq!(generic(g, &a, 3), 8);
        assert_eq!(generic(g, &b, 0.5), 0.5);
    });
}

#[test]
fn errors_and_matches_work() {
    everywhere(|g| {
        let p = g.size() as u64;
        let found = parsed(g, &["2"]).unwrap();
        assert_eq!(found, (2 * p).to_string().len() as u64 * 1000 + 2 * p);
        assert!(parsed(g, &["x"]).is_err());
        assert_eq!(tried(g, "12345678"), Some(p as u32));
        assert_eq!(tried(g, "xxxxxxxx"), None);
    });
}

#[test]
fn the_library_is_called_on_the_current_group() {
    everywhere(|g| {
        let (p, half) = (g.size(), (g.size() + 1 - g.rank() % 2) / 2);
        assert_eq!(both(g), 2 * p + 100 * half + 10_000 * p);
        let a = g.array::<i64, superstep::Block>(p);
        assert_eq!(with_helpers(g, &a), 10 + g.rank() as i64);
        assert_eq!(a.get(g.rank()), 10 + ((g.rank() + p - 1) % p) as i64);
        assert_eq!(variables_of_the_same_name(g), 6 + 3 + 3);
    });
}
